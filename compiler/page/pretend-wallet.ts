import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Wallet, WalletError } from './wallet.ts';

/** TEST-ONLY: an account without money that signs whatever it is asked, for shops that pretend payments. */
export function pretendWallet(): Wallet {
  const account = privateKeyToAccount(generatePrivateKey());
  let chainId = '0x1';
  return {
    name: 'a pretend wallet',
    provider: {
      async request({ method, params = [] }) {
        switch (method) {
          case 'eth_requestAccounts':
            return [account.address];
          case 'eth_chainId':
            return chainId;
          case 'wallet_switchEthereumChain':
            ({ chainId } = params[0] as { chainId: string });
            return null;
          case 'eth_signTypedData_v4':
            return account.signTypedData(JSON.parse(String(params[1])));
          case 'personal_sign':
            return account.signMessage({ message: { raw: params[0] as `0x${string}` } });
          default:
            throw new WalletError(`A pretend wallet has no "${method}"`);
        }
      },
    },
  };
}

import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  hashTypedData,
  type LocalAccount,
  parseAbi,
  serializeErc6492Signature,
  stringToHex,
} from 'viem';
import { type Authorization, priceOf, type X402Version } from '../../gatekeeper/settle/payment.ts';
import { freshNonce, headerOf, typedTransfer } from '../gatekeeper/payer.ts';
import { type Purchase, termsOf } from './buyer.ts';
import type { Chain } from './chain.ts';
import { contractOf } from './compile-solidity.ts';

/** Makes a signature over a digest. */
export type Signs = (digest: Hex) => Promise<Hex>;

const FACTORY_ABI = parseAbi([
  'function create(address owner)',
  'function addressOf(address owner) view returns (address)',
]);
const PREFIX = stringToHex('wallet', { size: 32 });
const WINDOW_S = 300;

/** The address of a contract of Wallets.sol that was deployed just now. */
export async function deployed(chain: Chain, name: string, owner?: string): Promise<Hex> {
  const { bytecode } = contractOf('Wallets.sol', name);
  const args = owner === undefined ? '0x' : encodeAbiParameters(OWNER, [owner as Hex]);
  return deployedCode(chain, concatHex([bytecode, args]));
}

const OWNER = [{ type: 'address' }] as const;

async function deployedCode({ client, relayer }: Chain, data: Hex): Promise<Hex> {
  const account = await relayer();
  const hash = await client.sendTransaction({ account, data });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (contractAddress == null) throw new Error('Cannot deploy: no address');
  return getAddress(contractAddress);
}

/** Puts Multicall3 where every chain has it, and where published facilitators simulate with it. */
export async function withMulticall(chain: Chain): Promise<void> {
  const bytecode = contractOf('Wallets.sol', 'Multicall3').deployed;
  await chain.client.setCode({ address: MULTICALL3, bytecode });
}

const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';

/** Where the wallet of an owner will be, and the call that puts it there. */
export async function undeployed({ client }: Chain, factory: Hex, owner: string) {
  const args = [owner as Hex] as const;
  const read = { address: factory, abi: FACTORY_ABI, functionName: 'addressOf', args } as const;
  const create = encodeFunctionData({ abi: FACTORY_ABI, functionName: 'create', args });
  return { address: await client.readContract(read), create };
}

/** Lets a key's account run code of Wallets.sol (EIP-7702). */
export async function delegates(chain: Chain, owner: LocalAccount, code: Hex): Promise<void> {
  const { client, relayer } = chain;
  const account = await relayer();
  const authorization = await client.signAuthorization({
    account: owner,
    contractAddress: code,
    chainId: chain.network.chainId,
    nonce: await client.getTransactionCount({ address: owner.address }),
  });
  const to = account.address;
  const hash = await client.sendTransaction({ account, to, authorizationList: [authorization] });
  await client.waitForTransactionReceipt({ hash });
}

/** What `Wallet` and `Delegate` take: the owner's signature behind a prefix. */
export const prefixed =
  (owner: LocalAccount): Signs =>
  async (digest) =>
    encodeAbiParameters(
      [{ type: 'bytes32' }, { type: 'bytes' }],
      [PREFIX, await (owner.sign?.({ hash: digest }) ?? Promise.reject(new Error('no key')))],
    );

/** The same with the call that deploys the wallet (ERC-6492). */
export const withDeployment =
  (signs: Signs, factory: Hex, create: Hex): Signs =>
  async (digest) =>
    serializeErc6492Signature({
      address: factory,
      data: create,
      signature: await signs(digest),
    });

/** Signs for a purchase as an account with code does. */
export async function signedBy(
  { network }: Chain,
  { from, signs }: { readonly from: string; readonly signs: Signs },
  request: {
    readonly base: string;
    readonly target: string;
    readonly version?: X402Version;
    readonly over?: Partial<Authorization>;
  },
): Promise<Purchase> {
  const { base, target, version = 1, over = {} } = request;
  const terms = await termsOf(base + target, version);
  const now = Math.floor(Date.now() / 1000);
  const authorization: Authorization = {
    from,
    to: terms.payTo,
    value: priceOf(terms),
    validAfter: String(now - 600),
    validBefore: String(now + WINDOW_S),
    nonce: freshNonce(),
    ...over,
  };
  const signature = await signs(hashTypedData(typedTransfer(network, authorization)));
  const payment = { authorization, signature };
  const price = BigInt(authorization.value);
  return { target, version, header: headerOf(terms, payment), payment, price };
}

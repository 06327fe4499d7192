import { USDC, usdAmount } from '../products/shapes/price.ts';

// A wallet of the browser signs the transfer that the 402 asks for (EIP-3009, as EIP-712 data). The page asks it through
// EIP-1193, finds it by EIP-6963, and sends nothing but the signed request.

/** What a wallet puts into the page. */
export interface WalletProvider {
  request(call: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
}

export interface Wallet {
  readonly name: string;
  readonly provider: WalletProvider;
}

/** An account that a person chose in the wallet. */
export interface WalletAccount {
  readonly address: string;
  readonly signMessage: (text: { readonly message: string }) => Promise<string>;
  /** A fetch that signs what a 402 asks for, where it costs no more than so many atomic units. */
  readonly pay: (send: typeof fetch, maxAtomic: bigint) => typeof fetch;
}

/** Why a wallet did not pay, in words for a person. Nothing was signed, or what was signed was not sent. */
export class WalletError extends Error {
  override readonly name = 'WalletError';
}

const NAME_CHARS_MAX = 40;
/** Wallets of before EIP-6963 announce nothing: they are looked for when nobody has answered. */
const ANNOUNCED_MS = 400;
/** Longest wait for a person. */
const PERSON_MS = 180_000;

/** Tells each wallet of the browser once, as it answers. */
export function findWallets(found: (wallet: Wallet) => void): void {
  const known = new Set<unknown>();
  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent).detail as {
      readonly info: { readonly name: string };
      readonly provider: WalletProvider;
    };
    if (known.has(provider)) return;
    known.add(provider);
    found({ name: String(info.name).slice(0, NAME_CHARS_MAX), provider });
  });
  dispatchEvent(new Event('eip6963:requestProvider'));
  setTimeout(() => {
    const { ethereum } = globalThis as { readonly ethereum?: WalletProvider };
    if (known.size === 0 && ethereum !== undefined)
      found({ name: 'your wallet', provider: ethereum });
  }, ANNOUNCED_MS);
}

/** Asks for an account; throws a WalletError where the person or the wallet gives none. */
export async function openAccount({ provider }: Wallet): Promise<WalletAccount> {
  const [address] = (await ask(provider, 'eth_requestAccounts')) as readonly string[];
  if (address === undefined) throw new WalletError('Your wallet has no account. Nothing was paid.');
  const hexOf = (text: string): string =>
    `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return {
    address,
    signMessage: async ({ message }) =>
      (await ask(provider, 'personal_sign', [hexOf(message), address])) as string,
    pay: (send, maxAtomic) => async (input, init) => {
      const request = new Request(input, init);
      const answer = await send(request.clone());
      if (answer.status !== 402) return answer;
      const { accepts } = (await answer.json()) as { readonly accepts: readonly Terms[] };
      const payable = accepts.filter((one) => BigInt(one.maxAmountRequired) <= maxAtomic);
      const terms = await termsOnNetwork(provider, payable);
      await requireBalance(provider, terms, address);
      const headers = new Headers(request.headers);
      headers.set('x-payment', await signedPayment(provider, terms, address));
      return send(new Request(request, { headers }));
    },
  };
}

/** One way to pay, as a 402 of version 1 names it. */
interface Terms {
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxAmountRequired: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

function chainIdOf({ network }: Terms): number {
  const caip2 = Object.entries(USDC).find(([name]) => name === network)?.[1].caip2;
  return Number(caip2?.slice('eip155:'.length));
}

/** Terms on the network that the wallet is on, else on the first one, after the wallet has changed to it. */
async function termsOnNetwork(provider: WalletProvider, all: readonly Terms[]): Promise<Terms> {
  const known = all.filter((one) => Number.isSafeInteger(chainIdOf(one)));
  const current = Number(await ask(provider, 'eth_chainId'));
  const [first] = known;
  if (first === undefined)
    throw new WalletError(
      'This shop asks for money that this page does not know. Nothing was paid.',
    );
  const here = known.find((one) => chainIdOf(one) === current);
  if (here !== undefined) return here;
  const chainId = `0x${chainIdOf(first).toString(16)}`;
  await ask(provider, 'wallet_switchEthereumChain', [{ chainId }]).catch((error: unknown) => {
    if (!(error instanceof WalletError) || !isUnknownChain(error.cause)) throw error;
    throw new WalletError(
      `Your wallet does not know the network ${first.network} (${chainIdOf(first)}). Add it there, then try again. Nothing was paid.`,
      { cause: error },
    );
  });
  if (Number(await ask(provider, 'eth_chainId')) === chainIdOf(first)) return first;
  throw new WalletError(
    `Your wallet is on another network. Change it to ${first.network} (${chainIdOf(first)}), then try again. Nothing was paid.`,
  );
}

/** `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231';
const WORD_DIGITS = 64;

/** A wallet that cannot say what it holds is asked to sign all the same: the shop looks, too. */
async function requireBalance(
  provider: WalletProvider,
  { asset, maxAmountRequired, network, extra }: Terms,
  address: string,
): Promise<void> {
  const data = BALANCE_OF + address.slice(2).padStart(WORD_DIGITS, '0');
  const held = await ask(provider, 'eth_call', [{ to: asset, data }, 'latest']).catch(() => null);
  if (typeof held !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(held)) return;
  if (BigInt(held) >= BigInt(maxAmountRequired)) return;
  const [has, needs] = [usdAmount(String(BigInt(held))), usdAmount(maxAmountRequired)];
  throw new WalletError(
    `Too little money: this account holds ${has} ${extra.name} on ${network}, and the price is ${needs}. Nothing was paid.`,
  );
}

/** An authorization counts from a little before now: clocks differ. */
const BEFORE_S = 600;
const NONCE_BYTES = 32;
const DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];
const TRANSFER = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
];

/** The value of `X-PAYMENT`. */
async function signedPayment(
  provider: WalletProvider,
  terms: Terms,
  from: string,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const random = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const authorization = {
    from,
    to: terms.payTo,
    value: terms.maxAmountRequired,
    validAfter: String(now - BEFORE_S),
    validBefore: String(now + terms.maxTimeoutSeconds),
    nonce: `0x${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
  };
  const typed = {
    types: { EIP712Domain: DOMAIN, TransferWithAuthorization: TRANSFER },
    primaryType: 'TransferWithAuthorization',
    domain: { ...terms.extra, chainId: chainIdOf(terms), verifyingContract: terms.asset },
    message: authorization,
  };
  const signature = await ask(provider, 'eth_signTypedData_v4', [from, JSON.stringify(typed)]);
  const payload = { signature, authorization };
  const { network } = terms;
  return btoa(JSON.stringify({ x402Version: 1, scheme: 'exact', network, payload }));
}

const REFUSED = 4001;
const BUSY = -32002;
const UNKNOWN_CHAIN = 4902;

function isUnknownChain(cause: unknown): boolean {
  const { code, message } = (cause ?? {}) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  return code === UNKNOWN_CHAIN || /unrecognized chain/i.test(String(message));
}

async function ask(
  provider: WalletProvider,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  let timer = 0;
  const late = new Promise<never>((_, reject) => {
    timer = Number(
      setTimeout(
        () =>
          reject(new WalletError('Your wallet did not answer in three minutes. Nothing was paid.')),
        PERSON_MS,
      ),
    );
  });
  try {
    return await Promise.race([provider.request({ method, params }), late]);
  } catch (cause) {
    if (cause instanceof WalletError) throw cause;
    const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
    if (code === REFUSED)
      throw new WalletError('You refused in your wallet. Nothing was paid.', { cause });
    if (code === BUSY)
      throw new WalletError('Your wallet waits for an answer of yours. Open it, then try again.', {
        cause,
      });
    throw new WalletError(`Your wallet failed: ${String(message ?? cause)}. Nothing was paid.`, {
      cause,
    });
  } finally {
    clearTimeout(timer);
  }
}

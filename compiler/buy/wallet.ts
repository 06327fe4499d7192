import { randomBytes } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import type { PayingFetch } from '../client/payment-trip.ts';
import { USDC } from '../contract/price.ts';
import { readPlain } from '../verify/plain-file.ts';

// Signs x402 payments of version 2: an EIP-3009 authorization (EIP-712) for a token that the shop names. The amount is held
// to a cap by the client that this wallet is given to.

const KEY_BYTES_MAX = 4096;
/** A clock that is behind by this much still signs what is valid now. */
const CLOCK_ALLOWANCE_S = 600;
const NONCE_BYTES = 32;

/** Only of a token that is worth a dollar does a price in USD bound what a shop may ask for. */
const PAID_IN: ReadonlyMap<string, string> = new Map(
  Object.values(USDC).map(({ caip2, asset }) => [caip2, asset]),
);

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const hexAddress = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{40}$/)]);
const entry = z.object({
  scheme: z.literal('exact'),
  network: z.string().regex(/^eip155:[1-9][0-9]{0,9}$/),
  amount: z.string().regex(/^[0-9]{1,30}$/),
  asset: hexAddress,
  payTo: hexAddress,
  maxTimeoutSeconds: z.int().min(1).max(3600),
  extra: z.looseObject({ name: z.string(), version: z.string() }),
});

const challenge = z.object({ resource: z.unknown(), accepts: z.array(z.unknown()).max(64) });

type BuyerAccount = ReturnType<typeof privateKeyToAccount>;

/** The account of a key file of 64 hex digits; one that nobody else has, and that owns nothing, without a file. */
export function accountOf(file: string | undefined): BuyerAccount {
  if (file === undefined) return privateKeyToAccount(generatePrivateKey());
  const [, digits] =
    /^(?:0x)?([0-9a-f]{64})\s*$/i.exec(readPlain(file, KEY_BYTES_MAX).toString()) ?? [];
  if (digits !== undefined) return privateKeyToAccount(`0x${digits}`);
  // The text itself may be most of a key, so it is not repeated.
  throw new RangeError(`Cannot pay from "${file}": not a key of 64 hex digits; name another file`);
}

/** Who pays, when, and where. */
interface WalletOptions {
  readonly account: BuyerAccount;
  /** In milliseconds. */
  readonly now: () => number;
  /** CAIP-2 names of the networks on which the account may pay. */
  readonly networks: readonly string[];
}

/** CAIP-2 names of the networks that a buyer named in either form, of all without a name; throws a RangeError for an unknown one. */
export function networksNamed(names: readonly string[] | undefined): string[] {
  if (names === undefined) return [...PAID_IN.keys()];
  return names.map((name) => {
    const known = Object.entries(USDC).find(([own, { caip2 }]) => [own, caip2].includes(name));
    if (known !== undefined) return known[1].caip2;
    throw new RangeError(
      `Cannot pay on "${name}": not one of ${Object.keys(USDC).join(', ')}; name one of them`,
    );
  });
}

/** Pays a challenge with an account, once: the first entry in USDC on one of its networks. */
export function wallet(options: WalletOptions): PayingFetch {
  return (ask) => async (input, init) => {
    const asked = await ask(input, init);
    if (asked.status !== 402) return asked;
    const header = asked.headers.get('payment-required');
    if (header === null)
      throw new Error('Cannot pay: the shop asks for no payment of x402 version 2');
    const { account, now, networks } = options;
    const { resource, accepts } = challengeIn(header);
    const readable = accepts.flatMap((one) => entry.safeParse(one).data ?? []);
    const payable = readable.filter(
      ({ network, asset }) => PAID_IN.get(network)?.toLowerCase() === asset.toLowerCase(),
    );
    const accepted = payable.find(({ network }) => networks.includes(network));
    if (accepted === undefined) {
      const taken = payable.map(({ network }) => nameOf(network)).join(', ');
      const where = networks.map(nameOf).join(', ');
      throw new Error(
        `Cannot pay: the shop takes no USDC on ${where}${taken === '' ? '' : `, but on ${taken}`}`,
      );
    }
    const payload = await signedTransfer(accepted, account, now());
    const value = btoa(JSON.stringify({ x402Version: 2, resource, accepted, payload }));
    return ask(input, { ...init, headers: { 'PAYMENT-SIGNATURE': value } });
  };
}

function nameOf(network: string): string {
  const known = Object.entries(USDC).find(([, { caip2 }]) => caip2 === network);
  return known?.[0] ?? network;
}

function challengeIn(header: string): z.infer<typeof challenge> {
  try {
    return challenge.parse(JSON.parse(atob(header)));
  } catch (cause) {
    throw new Error('Cannot pay: what the shop asks for is not readable as x402 version 2', {
      cause,
    });
  }
}

async function signedTransfer(
  accepted: z.infer<typeof entry>,
  account: BuyerAccount,
  nowMs: number,
) {
  const { network, asset, payTo, amount, extra, maxTimeoutSeconds } = accepted;
  const nowS = Math.floor(nowMs / 1000);
  const message = {
    from: account.address,
    to: payTo,
    value: amount,
    validAfter: String(nowS - CLOCK_ALLOWANCE_S),
    validBefore: String(nowS + maxTimeoutSeconds),
    nonce: `0x${randomBytes(NONCE_BYTES).toString('hex')}` as const,
  };
  const signature = await account.signTypedData({
    domain: {
      name: extra.name,
      version: extra.version,
      chainId: Number(network.slice('eip155:'.length)),
      verifyingContract: asset,
    },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...message,
      value: BigInt(message.value),
      validAfter: BigInt(message.validAfter),
      validBefore: BigInt(message.validBefore),
    },
  });
  return { signature, authorization: message };
}

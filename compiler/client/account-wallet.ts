import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { USDC } from '../products/shapes/price.ts';
import type { SigningAccount } from './buyer-proof.ts';
import { type PayingFetch, tooExpensive } from './payment-trip.ts';

// Signs x402 payments of version 2: an EIP-3009 authorization (EIP-712) for a token that the shop names. The amount is held
// to a cap by the client that this wallet is given to.

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

/** An account that signs what moves money, as those of viem do. */
export type PayingAccount = SigningAccount & Required<Pick<SigningAccount, 'signTypedData'>>;

/** Pays a challenge with an account, once: the first entry in USDC on one of its networks. */
export function wallet({
  account,
  now,
  networks,
}: {
  readonly account: PayingAccount;
  readonly now: () => number;
  /** Names of the networks on which it may pay, in either form; null for any. */
  readonly networks: readonly string[] | null;
}): PayingFetch {
  return (ask, maxAtomic) => async (input, init) => {
    const asked = await ask(input, init);
    if (asked.status !== 402) return asked;
    const header = asked.headers.get('payment-required');
    if (header === null)
      throw new Error('Cannot pay: the shop asks for no payment of x402 version 2');
    const { resource, accepts } = challengeIn(header);
    const readable = accepts.flatMap((one) => entry.safeParse(one).data ?? []);
    const payable = readable.filter(
      ({ network, asset }) => PAID_IN.get(network)?.toLowerCase() === asset.toLowerCase(),
    );
    const accepted = payable.find(
      ({ network }) =>
        networks === null || networks.includes(network) || networks.includes(nameOf(network)),
    );
    if (accepted === undefined) {
      const taken = payable.map(({ network }) => nameOf(network)).join(', ');
      const where = (networks ?? [...PAID_IN.keys()]).map(nameOf).join(', ');
      throw new Error(
        `Cannot pay: the shop takes no USDC on ${where}${taken === '' ? '' : `, but on ${taken}`}`,
      );
    }
    const amount = BigInt(accepted.amount);
    if (amount > maxAtomic) throw tooExpensive(amount, maxAtomic, null);
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
  account: PayingAccount,
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
    nonce: `0x${bytesToHex(randomBytes(NONCE_BYTES))}` as const,
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

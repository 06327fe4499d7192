import { isSameToken } from '../money/further-tokens.ts';
import { findNetwork, type Network } from '../money/networks.ts';
import type { Payment } from '../money/payment.ts';
import { SIGNATURE_CHARS } from '../money/signature.ts';
import { isSignedByKey } from './payment-check.ts';
import type { SignaturePool } from './signature-pool.ts';

type Tokens = readonly [Network, ...Network[]];

/** What a payment of version 1 was found to be for, so that its signature is recovered once for each token. */
const found = new WeakMap<Payment, Network>();

/**
 * The token that a payment is for, of those that are offered. Version 2 names it. Version 1 names the network alone, but
 * its signature is over the domain of one token: the key of the payer signed for that one. Where no token fits, it is the
 * first on the network, or the first of all, whose terms the payment does not meet. So an account with code, whose
 * signature tells nothing, pays in version 1 with the first token of the network.
 */
function tokenOf(payment: Payment, tokens: Tokens): Network {
  const candidates = candidatesOf(payment, tokens);
  const [first, ...others] = candidates;
  if (others.length === 0 || !isByKey(payment)) return first;
  const known = found.get(payment);
  if (known !== undefined) return known;
  const token = candidates.find((one) => isSignedByKey(payment, one)) ?? first;
  found.set(payment, token);
  return token;
}

/** The same, and who signed is known afterwards; where another thread recovers signers, it does. */
export async function judgedToken(
  payment: Payment,
  tokens: Tokens,
  signatures: Pick<SignaturePool, 'judge'> | undefined,
): Promise<Network> {
  if (signatures === undefined || !isByKey(payment)) return tokenOf(payment, tokens);
  const known = found.get(payment);
  const candidates: Tokens = known === undefined ? candidatesOf(payment, tokens) : [known];
  const [first] = candidates;
  for (const token of candidates) {
    await signatures.judge(payment, token);
    if (candidates.length === 1) return token;
    if (!isSignedByKey(payment, token)) continue;
    found.set(payment, token);
    return token;
  }
  found.set(payment, first);
  return first;
}

/** The other thread takes signatures of 65 bytes, and no other one can be a key's. */
function isByKey({ signature }: Payment): boolean {
  return signature.length === SIGNATURE_CHARS;
}

/** The tokens that a payment may be for, before its signature tells which: one, but for version 1 all on its network. */
export function candidatesOf(
  { version, network: named, accepted }: Payment,
  tokens: Tokens,
): Tokens {
  const isNamed = ({ name, caip2 }: Network): boolean => named === (version === 1 ? name : caip2);
  const [first, ...others] = tokens.filter(isNamed);
  if (first === undefined) return [tokens[0]];
  if (accepted === null) return [first, ...others];
  const asset = accepted.asset.toLowerCase();
  return [[first, ...others].find((one) => one.asset.toLowerCase() === asset) ?? first];
}

/**
 * The tokens that a payment may be for though they are not offered, as far as keys name them: settings may have offered them
 * before. Version 1 names none, so it may be for each of the network that payments of before were in (`network|asset`).
 */
export function unofferedTokens(
  { network: named, accepted }: Payment,
  tokens: Tokens,
  before: readonly string[],
): Pick<Network, 'name' | 'asset'>[] {
  const network = findNetwork(named);
  if (network === undefined) return [];
  const { name } = network;
  const own = before.filter((token) => token.startsWith(`${name}|`));
  const assets = own.map((token) => token.slice(name.length + 1));
  const places = (accepted === null ? [network.asset, ...assets] : [accepted.asset]).map(
    (asset) => ({ name, asset }),
  );
  return places.filter((place) => !tokens.some((one) => isSameToken(one, place)));
}

import { parseDidKey } from '../format/did-key.ts';
import {
  hasEnded,
  type KeyHistory,
  keyStanding,
  rootKeysOf,
  vouchedDids,
} from '../format/key-history.ts';

export interface Trusted {
  /** DIDs of the issuers that are believed; `any` judges the text without believing who signed it. */
  readonly trust: readonly string[] | 'any';
  /** DIDs of root keys: they vouch for a list of keys, as many together as a version of its root needs, and sign nothing else. */
  readonly roots?: readonly string[];
}

/** Whom a reader trusts, and what is known about the keys of that issuer over time. */
export interface KeyTrust extends Trusted {
  /** Keys that follow the trusted one, when each stopped, and which were revoked; the trusted DIDs alone without it. */
  readonly keys?: KeyHistory | undefined;
}

/** The DIDs that a reader passed; throws for one that is no did:key, and for one in both places. */
export function trustedBy(issuers: readonly string[] = [], roots: readonly string[] = []): Trusted {
  for (const did of [...issuers, ...roots]) parseDidKey(did);
  const both = roots.find((did) => issuers.includes(did));
  if (both !== undefined) throw new RangeError(`Cannot trust the keys: ${asIssuer(both)}`);
  if (roots.length > 0) return { trust: issuers, roots };
  return { trust: issuers.length === 0 ? 'any' : issuers };
}

function asIssuer(did: string): string {
  return `${did} is a root key, which no issuer signs with; pass it as a root key alone (--root, or "root" of the client)`;
}

/** Why a list of keys is not one that the root keys of a reader vouch for, or that takes one of them for an issuer; null where it does. */
export function listFault(keys: KeyHistory, { trust, roots = [] }: Trusted): string | null {
  const issuers = trust === 'any' ? [] : trust;
  const rootKeys = rootKeysOf(keys);
  const misused = issuers.find((did) => rootKeys.has(did));
  if (misused !== undefined) return asIssuer(misused);
  if (roots.length === 0 || vouchedDids(keys, { issuers, roots }).length > 0) return null;
  return 'it has no version of a root that enough of the trusted root keys signed';
}

/** Takes a list of keys that a reader was given; throws a RangeError for one that is refused. */
export function trustedList(keys: KeyHistory, trusted: Trusted): KeyHistory {
  const fault = listFault(keys, trusted);
  if (fault === null) return keys;
  throw new RangeError(`Cannot trust the list of issuer keys: ${fault}`);
}

/**
 * The keys that may have signed: those that are trusted, and those of the list that trust reaches. Whoever trusts nobody asks
 * for the key that is named, and those behind it. A root key never signs what an issuer says.
 */
export function believedDids(
  { trust, roots = [], keys }: KeyTrust,
  named: string | undefined,
): string[] {
  const issuers = trust !== 'any' ? trust : named === undefined ? [] : [named];
  if (keys === undefined) return [...issuers];
  const all = new Set([...issuers, ...vouchedDids(keys, { issuers, roots })]);
  for (const did of rootKeysOf(keys)) all.delete(did);
  return [...all];
}

/** The keys that no list revokes: a statement without a proven time may come from a thief. */
export function unrevoked(dids: readonly string[], lists: readonly KeyHistory[]): string[] {
  const revoked = new Set(
    lists.flatMap(({ keys }) =>
      keys.flatMap(({ did, revoked_from }) => (revoked_from === null ? [] : [did])),
    ),
  );
  return dids.filter((did) => !revoked.has(did));
}

/** Why what a key signed that has ended proves nothing of itself. */
export const WHOEVER_HAS_IT = 'whoever has that key now may have made it';

/**
 * Until when a key was in use that has ended by any of these lists, ISO-8601; null for one that is still in use. Whoever has it
 * by now may have made what it signed, whatever the date.
 */
export function endOf(
  did: string,
  lists: readonly KeyHistory[],
  now: number | undefined,
): string | null {
  const ends = lists.flatMap((list) => {
    const until = list.keys.find((key) => key.did === did)?.valid_until ?? null;
    return until !== null && hasEnded(list, did, now) ? [until] : [];
  });
  return ends[0] ?? null;
}

/** What is said of something that holds in every way: verified only where it was told beforehand whose it must be. */
export type SoundVerdict = 'verified' | 'issuer_unknown';

export function soundVerdict(trust: KeyTrust['trust']): SoundVerdict {
  return trust === 'any' ? 'issuer_unknown' : 'verified';
}

/** `suspect`: revoked from a later time on, so that only an anchor shows that it was signed before. */
interface JudgedSigner {
  readonly status: 'trusted' | 'refused' | 'suspect' | 'unpinned';
  readonly detail: string;
}

/**
 * Judges who signed something of a time. A statement of a key that was not valid yet is accepted: a new key signs old
 * readings too, and what it may sign from when on is checked where releases are.
 */
export function judgeSigner(trusted: KeyTrust, did: string, time: string): JudgedSigner {
  const { trust, keys } = trusted;
  const standing = keys === undefined ? 'unknown' : keyStanding(keys, did, time);
  const key = keys?.keys.find((each) => each.did === did);
  const refused = (detail: string): JudgedSigner => ({ status: 'refused', detail });
  if (standing === 'revoked') return refused(`${did} is revoked from ${key?.revoked_from} on`);
  if (standing === 'stopped') return refused(`${did} was in use until ${key?.valid_until} only`);
  if (!believedDids(trusted, did).includes(did)) {
    return refused(`${did} is not one of the trusted issuers`);
  }
  if (standing === 'suspect') {
    const detail = `${did} is revoked from ${key?.revoked_from} on: what it signed before counts only if its release is shown to be from before`;
    return { status: 'suspect', detail };
  }
  if (trust === 'any') return { status: 'unpinned', detail: 'no issuer was pinned' };
  const detail = trust.includes(did) ? `${did} is trusted` : `${did} follows a trusted key`;
  return { status: 'trusted', detail };
}

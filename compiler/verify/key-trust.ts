import { type KeyHistory, keyStanding, vouchedDids } from '../contract/key-history.ts';

/** Whom a reader trusts, and what is known about the keys of that issuer over time. */
export interface KeyTrust {
  /** DIDs of the issuers that are believed; `any` judges the text without believing who signed it. */
  readonly trust: readonly string[] | 'any';
  /** Keys that follow the trusted one, when each stopped, and which were revoked; the trusted DIDs alone without it. */
  readonly keys?: KeyHistory;
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
export function judgeSigner({ trust, keys }: KeyTrust, did: string, time: string): JudgedSigner {
  const standing = keys === undefined ? 'unknown' : keyStanding(keys, did, time);
  const key = keys?.keys.find((each) => each.did === did);
  const refused = (detail: string): JudgedSigner => ({ status: 'refused', detail });
  if (standing === 'revoked') return refused(`${did} is revoked from ${key?.revoked_from} on`);
  if (standing === 'stopped') return refused(`${did} was in use until ${key?.valid_until} only`);
  // Root keys are trusted together, and sign versions of the root alone: one that was stolen signs nothing else.
  const isRootKey = keys?.roots?.some(({ root_keys }) => root_keys.includes(did)) === true;
  const isTrusted =
    trust === 'any' ||
    (trust.includes(did) && !isRootKey) ||
    (keys !== undefined && vouchedDids(keys, trust).includes(did));
  if (!isTrusted) return refused(`${did} is not one of the trusted issuers`);
  if (standing === 'suspect') {
    const detail = `${did} is revoked from ${key?.revoked_from} on: what it signed before counts only if it was anchored before`;
    return { status: 'suspect', detail };
  }
  if (trust === 'any') return { status: 'unpinned', detail: 'no issuer was pinned' };
  const detail = trust.includes(did) ? `${did} is trusted` : `${did} follows a trusted key`;
  return { status: 'trusted', detail };
}

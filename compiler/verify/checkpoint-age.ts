import { hasEnded, type KeyHistory } from '../contract/key-history.ts';
import type { Release } from '../contract/release.ts';
import { believedDids, endOf, type KeyTrust, WHOEVER_HAS_IT } from './key-trust.ts';
import { judgeNote } from './log-notes.ts';
import { judgeByPolicy, type PolicyTrust } from './policy-check.ts';
import { CLOCK_SKEW_MS } from './request-time-checks.ts';

/** A key that was revoked or has ended: a checkpoint that it signed shows no time that a thief of it could not choose. */
interface PastKey {
  readonly did: string;
  /** Until when it counted, ISO-8601. */
  readonly until: string;
  readonly detail: string;
}

function pastKeys(keys: KeyHistory, now: number | undefined): PastKey[] {
  return keys.keys.flatMap(({ did, revoked_from, valid_until }) => {
    const signed = `${did}, which signed its checkpoint,`;
    if (revoked_from !== null) {
      return [{ did, until: revoked_from, detail: `${signed} is revoked from ${revoked_from} on` }];
    }
    if (valid_until === null || !hasEnded(keys, did, now)) return [];
    return [{ did, until: valid_until, detail: `${signed} was in use until ${valid_until}` }];
  });
}

/** Who signed a checkpoint: a key that is still in use, or else the past one that counted the shortest; neither without a list. */
interface CheckpointSigner {
  readonly isPresent: boolean;
  readonly past: PastKey | null;
}

/** Whether a key of the list that is still in use signed a checkpoint; an overlap has two. */
export function checkpointSigner(note: string, trusted: KeyTrust & PolicyTrust): CheckpointSigner {
  const { keys, now, isSignature } = trusted;
  if (keys === undefined) return { isPresent: false, past: null };
  const past = new Map(pastKeys(keys, now).map((key) => [key.did, key]));
  const believed = believedDids(trusted, keys.keys[0]?.did);
  const listed = keys.keys.flatMap(({ did }) => (believed.includes(did) ? [did] : []));
  const { signers } = judgeNote(note, listed, isSignature);
  const over = signers.flatMap((did) => past.get(did) ?? []);
  if (over.length < signers.length) return { isPresent: true, past: null };
  const [shortest = null] = over.sort((a, b) => Date.parse(a.until) - Date.parse(b.until));
  return { isPresent: false, past: shortest };
}

/** Whether the quorum of the reader's policy cosigned a checkpoint before a time, ISO-8601. */
export function isWitnessed(note: string, { policy, now }: PolicyTrust, before: string): boolean {
  if (policy === undefined || policy.quorum === null) return false;
  // A cosignature of a moment behind `now` counts up to the allowed skew of clocks; here none does.
  const latest = Math.min(now ?? Number.POSITIVE_INFINITY, Date.parse(before) - 1 - CLOCK_SKEW_MS);
  const { fault, witnessed } = judgeByPolicy(note, { policy, now: latest });
  return fault === null && witnessed.length > 0;
}

/** Why whoever has a key that has ended may have made a release; null where a key in use signed it or its log, or witnesses saw that in time. */
export function pastRelease(
  { issuer_did: did }: Pick<Release, 'issuer_did'>,
  note: string | null,
  trusted: KeyTrust & PolicyTrust,
): string | null {
  const { keys, now } = trusted;
  const end = keys === undefined ? null : endOf(did, [keys], now);
  if (end === null || (note !== null && pastSigner(note, trusted) === null)) return null;
  return `signed by ${did}, which was in use until ${end}: ${WHOEVER_HAS_IT}`;
}

/** Why a checkpoint shows nothing; null where a key that is still in use signed it, or witnesses saw it while its key was. */
export function pastSigner(note: string, trusted: KeyTrust & PolicyTrust): string | null {
  const { past } = checkpointSigner(note, trusted);
  return past === null || isWitnessed(note, trusted, past.until) ? null : past.detail;
}

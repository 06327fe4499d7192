// How the keys of a list stand: from when until when each counts, and which of them a reader believes.

import type { IssuerKey, KeyHistory, ReceiptKey } from './key-history.ts';
import { isRootedIn } from './root-statement.ts';

/** How a key counts at a time; `suspect`: it was revoked later, so a thief could have back-dated the signature. */
type KeyStanding = 'valid' | 'unknown' | 'early' | 'stopped' | 'revoked' | 'suspect';

/** How a key of the history counts at a time, ISO-8601; a text that is not a time is never inside a window. */
export function keyStanding(history: KeyHistory, keyDid: string, at: string): KeyStanding {
  const index = history.keys.findIndex((each) => each.did === keyDid);
  const key = history.keys[index];
  if (key === undefined) return 'unknown';
  const now = Date.parse(at);
  if (key.revoked_from !== null) return now < Date.parse(key.revoked_from) ? 'suspect' : 'revoked';
  if (key.valid_until !== null && !(now <= Date.parse(key.valid_until))) return 'stopped';
  return startsBy(history, index, now) ? 'valid' : 'early';
}

/** A key that was announced takes over at once when the one before it is revoked. */
function startsBy({ keys }: KeyHistory, index: number, now: number): boolean {
  const from = keys[index]?.valid_from ?? null;
  const revoked = keys[index - 1]?.revoked_from ?? null;
  const starts = [from, revoked].flatMap((time) => (time === null ? [] : Date.parse(time)));
  return from === null || now >= Math.min(...starts);
}

/**
 * Whether the time of a key is over: by a clock, milliseconds since 1970, or, whatever the clock says, by what was stated
 * later. What it signs from then on may carry any date.
 */
export function hasEnded(
  history: KeyHistory,
  keyDid: string,
  now = Number.NEGATIVE_INFINITY,
): boolean {
  const until = history.keys.find(({ did }) => did === keyDid)?.valid_until ?? null;
  return until !== null && Date.parse(until) < Math.max(now, newestStatement(history));
}

/** When the newest statement of a list was made, milliseconds since 1970. */
function newestStatement({ keys, revocations, receipt_keys = [], roots = [] }: KeyHistory): number {
  const statements = [...keys.flatMap(({ statement }) => statement ?? []), ...revocations];
  const times = [...statements, ...receipt_keys, ...roots].map(({ stated_at }) => stated_at);
  return Math.max(Number.NEGATIVE_INFINITY, ...times.map((time) => Date.parse(time)));
}

/** How a receipt key counts at a time; `unlisted`: no statement about it counts. */
type ReceiptKeyStanding = 'listed' | 'unlisted' | 'early' | 'ended';

/**
 * How a receipt key counts at a time, ISO-8601. What a key stated outside of its own window counts for nothing, and nothing
 * of what a revoked key stated does, because a thief could have back-dated it: the next key lists the receipt keys again.
 */
export function receiptKeyStanding(
  history: KeyHistory,
  keyDid: string,
  at: string,
): ReceiptKeyStanding {
  const statements = receiptKeyWindows(history, keyDid);
  if (statements.length === 0) return 'unlisted';
  const now = Date.parse(at);
  if (!statements.every(({ since }) => now >= Date.parse(since))) return 'early';
  const isOpen = statements.every(({ until }) => until === null || now <= Date.parse(until));
  return isOpen ? 'listed' : 'ended';
}

/** The windows of a receipt key that count: all of them where issuer keys stated them, or the one of the newest version of a root. */
export function receiptKeyWindows(
  history: KeyHistory,
  keyDid: string,
): Pick<ReceiptKey, 'since' | 'until'>[] {
  const root = history.roots?.at(-1);
  if (root !== undefined) return root.receipt_keys.filter((key) => key.did === keyDid);
  return (history.receipt_keys ?? []).filter(({ did: subject, signed_by, stated_at }) => {
    return subject === keyDid && keyStanding(history, signed_by, stated_at) === 'valid';
  });
}

/** The keys that a release of this time may be signed with, oldest first: two in an overlap. */
export function validKeysAt(history: KeyHistory, at: string): IssuerKey[] {
  return history.keys.filter((key) => keyStanding(history, key.did, at) === 'valid');
}

/** Whom a reader trusts: issuer keys, each by itself, and root keys, which only vouch together. */
interface TrustedDids {
  readonly issuers: readonly string[];
  readonly roots?: readonly string[];
}

/**
 * The keys of a list that trust reaches: each trusted issuer key and all behind it. Whoever names root keys trusts every key
 * of a list with a version that enough of them signed, and none of any other list.
 */
export function vouchedDids(history: KeyHistory, { issuers, roots = [] }: TrustedDids): string[] {
  const dids = history.keys.map((key) => key.did);
  if (roots.length > 0) {
    return history.roots?.some((root) => isRootedIn(root, roots)) === true ? dids : [];
  }
  const first = dids.findIndex((did) => issuers.includes(did));
  return first < 0 ? [] : dids.slice(first);
}

/** The root keys of all versions in a list: they sign versions of the root and nothing else. */
export function rootKeysOf({ roots = [] }: KeyHistory): ReadonlySet<string> {
  return new Set(roots.flatMap(({ root_keys }) => root_keys));
}

/** What a list says at a time, ISO-8601, in one line; null for one key that was never revoked and stands under no root. */
export function keysInWords(history: KeyHistory, at: string): string | null {
  const { keys, roots = [] } = history;
  const root = roots.at(-1);
  const revoked = keys.filter(({ revoked_from }) => revoked_from !== null).length;
  if (root === undefined && keys.length === 1 && revoked === 0) return null;
  const valid = validKeysAt(history, at).length;
  const counts = `${keys.length} issuer keys: ${valid} valid at ${at}, ${revoked} revoked`;
  if (root === undefined) return `${counts}; no root keys stand above them`;
  const { version, threshold, root_keys } = root;
  return `${counts}; named by version ${version} of a root, ${threshold} of ${root_keys.length} keys`;
}

import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import {
  firstHistory,
  historyOf,
  type KeyHistory,
  keyStanding,
  type ReceiptKey,
  type Revocation,
  type Rotation,
  receiptKeyStanding,
  rootDid,
  statementBytes,
  validKeysAt,
  withReceiptKeys,
} from '../../format/key-history.ts';
import { issuerDid, signBytes, signingKey } from '../../system/sealer.ts';
import { changeKeys, KeyError, keepKeys, readKeys } from './key-store.ts';
import { keyWarnings, rootLines } from './root-draft.ts';

/** How long an old key may keep signing next to the new one, by default. */
export const OVERLAP_DAYS = 30;
/** A longer overlap would not be a rotation. */
const OVERLAP_DAYS_MAX = 3660;

/** The days of --overlap; throws a KeyError for a text that is none. */
export function daysOf(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) <= OVERLAP_DAYS_MAX) return Number(text);
  throw new KeyError(
    `Cannot use --overlap "${text}": not a number of days from 0 to ${OVERLAP_DAYS_MAX}; pass one such as 30`,
  );
}

interface Rotate {
  data: string;
  /** Seed of the key that signs now, and of the one that follows it. */
  old: Uint8Array;
  next: Uint8Array;
  /** When the new key may start to sign, and how many days the old one still may. */
  from: string;
  overlapDays: number;
  /** The time of the statement, ISO-8601 UTC. */
  now: string;
}

/** Announces a new issuer key under the old one; throws a KeyError when the old one may not do so, a LockedError beside a compile. */
export function rotateKey(rotate: Rotate): KeyHistory {
  return changeKeys(rotate.data, () => rotated(rotate));
}

function rotated({ data, old, next, from, overlapDays, now }: Rotate): KeyHistory {
  const [old_did, new_did] = [issuerDid(signingKey(old)), issuerDid(signingKey(next))];
  const history = readKeys(data) ?? firstHistory(old_did);
  refuseRooted(history, 'rotate');
  const newest = history.keys.at(-1)?.did;
  if (newest !== old_did) {
    throw new KeyError(
      `Cannot rotate "${old_did}": the newest key is "${newest}"; pass that one with --key`,
    );
  }
  if (history.keys.some(({ did }) => did === new_did)) {
    throw new KeyError(
      `Cannot rotate to "${new_did}": it is a key of this issuer already; make a new one with keygen`,
    );
  }
  if (!(overlapDays >= 0) || !Number.isFinite(overlapDays)) {
    throw new KeyError(
      `Cannot rotate with an overlap of "${overlapDays}" days: not a number of days`,
    );
  }
  const overlap_until = isoTime(Date.parse(from) + overlapDays * DAY_MS);
  // A rotation is never taken back, and what the old key signed after its end counts for nothing.
  if (Date.parse(overlap_until) < Date.parse(now)) {
    throw new KeyError(
      `Cannot rotate "${old_did}": it would have stopped at ${overlap_until}, and what it signed since would not verify; pass a later --from or a longer --overlap`,
    );
  }
  const dids = { old_did, new_did };
  const times = { stated_at: now, valid_from: from, overlap_until };
  const signed = { type: 'rotation' as const, ...dids, ...times };
  const statement: Rotation = { ...signed, signature: signatureOf(signed, old) };
  const rotations = [...rotationsOf(history), statement];
  const announced = historyOf(rootDid(history), rotations, history.revocations);
  return keepKeys(data, withReceiptKeys(announced, history.receipt_keys));
}

interface Revoke {
  data: string;
  seed: Uint8Array;
  did: string;
  from: string;
  now: string;
}

/**
 * Revokes a key from a given time on, signed by that key or a later one; throws a KeyError if the revocation would not
 * count.
 */
export function revokeKey(revoke: Revoke): KeyHistory {
  return changeKeys(revoke.data, () => revoked(revoke));
}

function revoked({ data, seed, did, from, now }: Revoke): KeyHistory {
  const signer = issuerDid(signingKey(seed));
  const history = readKeys(data) ?? firstHistory(signer);
  refuseRooted(history, 'revoke');
  const place = (each: string): number => history.keys.findIndex((key) => key.did === each);
  if (place(did) < 0) {
    throw new KeyError(
      `Cannot revoke "${did}": not a key of this issuer; see "signalpress key list"`,
    );
  }
  if (place(signer) < place(did)) {
    throw new KeyError(
      `Cannot revoke "${did}" with "${signer}": only the key itself or a later one may; pass it with --key`,
    );
  }
  const signed = { type: 'revocation' as const, did, revoked_from: from, stated_at: now };
  const named = { ...signed, signed_by: signer };
  const statement: Revocation = { ...named, signature: signatureOf(named, seed) };
  const next = historyOf(rootDid(history), rotationsOf(history), [
    ...history.revocations,
    statement,
  ]);
  if (keyStanding(next, did, from) !== 'revoked') {
    throw new KeyError(
      `Cannot revoke "${did}" with "${signer}": that key is revoked itself; pass a later one`,
    );
  }
  return keepKeys(data, withReceiptKeys(next, history.receipt_keys));
}

interface ListReceiptKey {
  data: string;
  /** Seed of an issuer key that is valid now. */
  seed: Uint8Array;
  did: string;
  /** From when and until when it may, ISO-8601 UTC; null for no end. */
  since: string;
  until: string | null;
  now: string;
}

/** Lists a key that signs receipts, or ends a listed one; throws a KeyError when the statement would not count. */
export function listReceiptKey(list: ListReceiptKey): KeyHistory {
  return changeKeys(list.data, () => listed(list));
}

function listed({ data, seed, did, since, until, now }: ListReceiptKey): KeyHistory {
  const signer = issuerDid(signingKey(seed));
  const history = readKeys(data) ?? firstHistory(signer);
  refuseRooted(history, 'list');
  refuseKey(history, signer, now);
  if (until !== null && Date.parse(until) < Date.parse(since)) {
    throw new KeyError(
      `Cannot list "${did}": it would end at ${until}, before it begins at ${since}; pass a later --until or an earlier --since`,
    );
  }
  const signed = { type: 'receipt_key' as const, did, since, until, stated_at: now };
  const named = { ...signed, signed_by: signer };
  const statement: ReceiptKey = { ...named, signature: signatureOf(named, seed) };
  return keepKeys(data, withReceiptKeys(history, [...(history.receipt_keys ?? []), statement]));
}

/** Since when a list names a receipt key, whether that counts still or not; undefined where it never did. */
export function namedSince(
  { receipt_keys = [], roots = [] }: KeyHistory,
  did: string,
): string | undefined {
  const named = [...receipt_keys, ...roots.flatMap((root) => root.receipt_keys)];
  return named.find((key) => key.did === did)?.since;
}

/** Under a root no issuer key states anything about keys: a thief of one could, too. */
function refuseRooted({ roots }: KeyHistory, verb: string): void {
  if (roots === undefined) return;
  throw new KeyError(
    `Cannot ${verb} with an issuer key: the keys of this issuer are under a root; draft its next version with "signalpress root draft"`,
  );
}

function rotationsOf({ keys }: KeyHistory): Rotation[] {
  return keys.flatMap(({ statement }) => statement ?? []);
}

function signatureOf(
  signed:
    | Omit<Rotation, 'signature'>
    | Omit<Revocation, 'signature'>
    | Omit<ReceiptKey, 'signature'>,
  seed: Uint8Array,
): string {
  return signBytes(statementBytes({ ...signed, signature: '' }), signingKey(seed));
}

/** Throws a KeyError that says what to do when a release of this time may not be signed with a key. */
export function refuseKey(history: KeyHistory, did: string, asOf: string): void {
  const standing = keyStanding(history, did, asOf);
  if (standing === 'valid') return;
  const usable = validKeysAt(history, asOf).map((key) => key.did);
  const next =
    usable.length === 0
      ? 'no key of this issuer is valid at that time: announce the next one with "signalpress key rotate" before the last one ends, ' +
        'or publish into a new folder and tell readers the new DID'
      : `sign with "${usable.join('" or "')}"`;
  const command = history.roots === undefined ? 'key rotate' : 'root draft';
  const announce =
    standing === 'unknown' ? `, or announce it first with "signalpress ${command}"` : '';
  throw new KeyError(
    `Cannot sign with "${did}": ${STATES[standing]} at ${asOf}; ${next}${announce}`,
  );
}

/**
 * Whether a key signs checkpoints beside the one that signs the release: while it is valid too. Throws a KeyError for a key of
 * nobody, and for the one that signs anyway.
 */
export function isOverlapKey(
  history: KeyHistory,
  { did, signs }: { did: string; signs: string },
  asOf: string,
): boolean {
  const standing = keyStanding(history, did, asOf);
  if (did !== signs && standing !== 'unknown') return standing === 'valid';
  const state = did === signs ? 'it signs the release already' : STATES.unknown;
  throw new KeyError(
    `Cannot sign the log with the overlap key "${did}": ${state}; pass the other key of the overlap, or none`,
  );
}

const STATES = {
  unknown: 'not a key of this issuer',
  early: 'not valid yet',
  stopped: 'it is no longer valid',
  revoked: 'it is revoked',
  suspect: 'it is revoked from a later time on, so nothing new may be signed with it',
} as const;

/** One line per key, oldest first, then one for each receipt key. */
export function keysText(history: KeyHistory | null, now: string): string {
  if (history === null)
    return 'no release and no rotation yet: the first compile makes its key the first one';
  const lines = history.keys.map(({ did, valid_from, valid_until, revoked_from }) => {
    const revoked = revoked_from === null ? '' : `, revoked from ${revoked_from}`;
    const window = `${valid_from ?? 'the beginning'} to ${valid_until ?? 'now on'}${revoked}`;
    const mark = keyStanding(history, did, now) === 'valid' ? '*' : ' ';
    return `${mark} ${did}  ${window}`;
  });
  const root = history.roots?.at(-1);
  const roots = root === undefined ? [] : rootLines(root);
  const closing = [...roots, ...keyWarnings(history, now)];
  const listed = history.roots?.at(-1)?.receipt_keys ?? history.receipt_keys ?? [];
  const dids = new Set(listed.map(({ did }) => did));
  return [
    ...lines,
    ...[...dids].map((did) => {
      const standing = receiptKeyStanding(history, did, now);
      return `${standing === 'listed' ? '*' : ' '} ${did}  receipts: ${standing}`;
    }),
    ...closing,
  ].join('\n');
}

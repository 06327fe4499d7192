import { z } from 'zod';
import { canonicalJson } from '../../format/canonical.ts';
import { messageOf } from '../../format/errors.ts';
import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import {
  adoptedKeys,
  beforeRoots,
  formatKeyHistory,
  KEYS_BYTES_MAX,
  type KeyHistory,
  readKeyHistory,
  receiptKeyWindows,
  rootDid,
  withRoots,
} from '../../format/key-history.ts';
import {
  checkStated,
  KEYS_MAX,
  missingSigners,
  possibleSigners,
  ROOT_THRESHOLD_MIN,
  ROOT_VERSIONS_MAX,
  type RootPlace,
  type RootStatement,
  rootBytes,
  rootStatement,
} from '../../format/root-statement.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { issuerDid, signBytes, signingKey } from '../../system/sealer.ts';
import { isSignedBy } from '../../verify/verify-citation.ts';
import { KeyError } from './key-store.ts';

/** Longest draft that is read, in bytes: it carries the whole list of keys. */
export const DRAFT_BYTES_MAX = 4_194_304;

const draftSchema = z.strictObject({
  format: z.literal('signalpress-root-draft/1'),
  list: z.unknown(),
  statement: rootStatement,
});

/** A version of a root that collects signatures, with the list that it is to follow: a machine without a network judges it by the file alone. */
export interface RootDraft {
  readonly list: KeyHistory;
  readonly statement: RootStatement;
}

/** A key, and the time from which something is stated about it, ISO-8601 UTC. */
export interface KeyTime {
  readonly did: string;
  readonly at: string;
}

export interface RootChange {
  /** The root keys, where they are to be others; the first version needs them. */
  readonly rootKeys?: readonly string[];
  readonly threshold?: number;
  /** New issuer keys, the last valid time of others, and from when some are revoked. */
  readonly add: readonly KeyTime[];
  readonly end: readonly KeyTime[];
  readonly revoke: readonly KeyTime[];
  /** How many days the newest key may still sign beside the first new one, unless its end or revocation is stated. */
  readonly overlapDays: number;
  /** New receipt keys, and the last valid time of others. */
  readonly receipt: readonly KeyTime[];
  readonly endReceipt: readonly KeyTime[];
  /** The time of the statement, ISO-8601 UTC. */
  readonly now: string;
}

/** The next version of a root, without a signature; throws a KeyError that says what is wrong. */
export function draftRoot(list: KeyHistory, change: RootChange): RootDraft {
  const before = list.roots?.at(-1);
  const root_keys = change.rootKeys ?? before?.root_keys;
  if (root_keys === undefined) {
    throw new KeyError(
      'Cannot draft the first version of a root: it has no root keys; make three with "signalpress root keygen" and name each with --root',
    );
  }
  const threshold = change.threshold ?? before?.threshold ?? ROOT_THRESHOLD_MIN;
  if (root_keys.length < threshold) {
    throw new KeyError(
      `Cannot draft a root of ${root_keys.length} root ${root_keys.length === 1 ? 'key' : 'keys'}: ${threshold} have to sign; name at least ${threshold}, each with --root`,
    );
  }
  const statement: RootStatement = {
    type: 'root',
    issuer: rootDid(list),
    version: (before?.version ?? 0) + 1,
    stated_at: change.now,
    threshold,
    root_keys: [...root_keys],
    issuer_keys: issuerKeys(list, change),
    receipt_keys: receiptKeys(list, change),
    signatures: [],
  };
  return checkedDraft({ list, statement });
}

function issuerKeys({ keys }: KeyHistory, change: RootChange): RootStatement['issuer_keys'] {
  const stated = keys.map(({ did, valid_from, valid_until, revoked_from }) => {
    return { did, valid_from, valid_until, revoked_from };
  });
  const added = change.add.map(({ did, at }) => {
    return { did, valid_from: at, valid_until: null, revoked_from: null };
  });
  const all = [...stated, ...added];
  const known = all.map(({ did }) => did);
  for (const { did } of [...change.end, ...change.revoke]) refuseStranger(did, known);
  return all.map((key) => ({
    ...key,
    valid_until: timeOf(change.end, key.did) ?? key.valid_until ?? overlapEnd(key.did, all, change),
    revoked_from: timeOf(change.revoke, key.did) ?? key.revoked_from,
  }));
}

/** When the newest key ends because another follows it; null for every other. */
function overlapEnd(
  did: string,
  keys: RootStatement['issuer_keys'],
  { add, revoke, overlapDays }: RootChange,
): string | null {
  const [first] = add;
  const isFollowed = first !== undefined && keys[keys.length - add.length - 1]?.did === did;
  if (!isFollowed || timeOf(revoke, did) !== undefined) return null;
  return isoTime(Date.parse(first.at) + overlapDays * DAY_MS);
}

function receiptKeys(list: KeyHistory, change: RootChange): RootStatement['receipt_keys'] {
  const named = list.roots?.at(-1)?.receipt_keys ?? list.receipt_keys ?? [];
  const stated = [...new Set(named.map(({ did }) => did))].flatMap((did) => {
    const windows = receiptKeyWindows(list, did);
    if (windows.length === 0) return [];
    const since = windows.map((each) => each.since).reduce((a, b) => (isBefore(a, b) ? b : a));
    const ends = windows.flatMap(({ until }) => until ?? []);
    const until = ends.length === 0 ? null : ends.reduce((a, b) => (isBefore(a, b) ? a : b));
    return [{ did, since, until }];
  });
  const added = change.receipt.map(({ did, at }) => ({ did, since: at, until: null }));
  const all = [...stated, ...added];
  for (const { did } of change.endReceipt) {
    refuseStranger(
      did,
      all.map((key) => key.did),
    );
  }
  return all.map((key) => ({ ...key, until: timeOf(change.endReceipt, key.did) ?? key.until }));
}

const isBefore = (a: string, b: string): boolean => Date.parse(a) < Date.parse(b);

function timeOf(times: readonly KeyTime[], did: string): string | undefined {
  return times.find((each) => each.did === did)?.at;
}

function refuseStranger(did: string, known: readonly string[]): void {
  if (known.includes(did)) return;
  throw new KeyError(
    `Cannot change "${did}": not a key of this issuer; see "signalpress key list", or name it with --add or --receipt`,
  );
}

/** Reads a draft and checks the list, the statement and each signature so far; throws a KeyError that says what is wrong. */
export function readDraft(bytes: Uint8Array): RootDraft {
  try {
    const { list, statement } = draftParts(bytes);
    return checkedDraft({ list: readKeyHistory(list, isSignedBy), statement });
  } catch (cause) {
    if (cause instanceof KeyError) throw cause;
    throw unusable(messageOf(cause), cause);
  }
}

function draftParts(bytes: Uint8Array): z.infer<typeof draftSchema> {
  try {
    return draftSchema.parse(parseJson(decodeUtf8(bytes)));
  } catch (cause) {
    throw new KeyError(
      'Cannot read the draft: not the draft of a root statement; name a file that "signalpress root draft" wrote',
      { cause },
    );
  }
}

function checkedDraft(draft: RootDraft): RootDraft {
  try {
    checkStated(draft.statement, placeOf(draft), isSignedBy);
  } catch (cause) {
    throw unusable(messageOf(cause), cause);
  }
  return draft;
}

function unusable(why: string, cause: unknown): KeyError {
  return new KeyError(`Cannot use the root statement: ${why}; draft it again`, { cause });
}

export function formatDraft({ list, statement }: RootDraft): string {
  const draft = { format: 'signalpress-root-draft/1', list, statement };
  return `${JSON.stringify(draft, null, 2)}\n`;
}

function placeOf({ list }: RootDraft): RootPlace {
  return { before: list.roots?.at(-1) ?? null, adopted: adoptedKeys(beforeRoots(list)) };
}

/** Adds the signature of a key; throws a KeyError for one that signed, or whose signature would count for nothing. */
export function signDraft(draft: RootDraft, seed: Uint8Array): RootDraft {
  const { list, statement } = draft;
  const key = signingKey(seed);
  const did = issuerDid(key);
  const what = `version ${statement.version} of the root with "${did}"`;
  if (statement.signatures.some((each) => each.did === did)) {
    throw new KeyError(`Cannot sign ${what}: it has signed already; pass another key`);
  }
  if (!possibleSigners(statement, placeOf(draft)).includes(did)) {
    throw new KeyError(
      `Cannot sign ${what}: its signature would count for nothing; pass a root key, or an issuer key that is still missing`,
    );
  }
  const signature = { did, signature: signBytes(rootBytes(statement), key) };
  return { list, statement: { ...statement, signatures: [...statement.signatures, signature] } };
}

/** The list under a finished version; throws a KeyError when it is not that which the draft follows, or a signature is missing. */
export function adoptedList(list: KeyHistory, draft: RootDraft): KeyHistory {
  if (canonicalJson(list) !== canonicalJson(draft.list)) {
    throw new KeyError(
      'Cannot adopt the root statement: the list of keys is not the one that it was drafted for; draft it again',
    );
  }
  const [lack] = missingOf(draft);
  if (lack !== undefined) {
    throw new KeyError(
      `Cannot adopt the root statement: it lacks ${lack}; add it with "signalpress root sign"`,
    );
  }
  return withVersion(draft);
}

function withVersion({ list, statement }: RootDraft): KeyHistory {
  return withRoots(beforeRoots(list), [...(list.roots ?? []), statement]);
}

export function missingOf(draft: RootDraft): string[] {
  return missingSigners(draft.statement, placeOf(draft));
}

export function draftText(draft: RootDraft): string {
  const { statement } = draft;
  const missing = missingOf(draft);
  return [
    ...rootLines(statement),
    ...statement.issuer_keys.map((key) => {
      const revoked = key.revoked_from === null ? '' : `, revoked from ${key.revoked_from}`;
      const window = `${key.valid_from ?? 'the beginning'} to ${key.valid_until ?? 'now on'}`;
      return `  issuer key ${key.did}  ${window}${revoked}`;
    }),
    ...statement.receipt_keys.map(({ did, since, until }) => {
      return `  receipt key ${did}  ${since} to ${until ?? 'now on'}`;
    }),
    ...keyWarnings(withVersion(draft), statement.stated_at),
    ...(missing.length === 0
      ? ['Complete: take it up with "signalpress root adopt"']
      : missing.map((each) => `Missing: ${each}`)),
  ].join('\n');
}

export function rootLines({
  version,
  threshold,
  root_keys,
  issuer,
  ...rest
}: RootStatement): string[] {
  const signers = new Set(rest.signatures.map(({ did }) => did));
  const keys = root_keys.map((did) => `  root key ${did}${signers.has(did) ? '  signed' : ''}`);
  const words = `stated at ${rest.stated_at}, ${threshold} of ${root_keys.length} root keys sign`;
  return [`Root version ${version} of ${issuer}, ${words}`, ...keys];
}

/** From this part of what a list may hold on it is said: of versions of a root, one a quarter, four years are left. */
const WARNED_PART = 0.75;
/** So long before no key is left to sign with it is said: one version of a root a quarter. */
const END_WARNED_MS = 90 * DAY_MS;

/** What will keep a later release or change of keys from being published, a line each. */
export function keyWarnings(history: KeyHistory, now: string): string[] {
  return [...roomSentences(history), ...endSentence(history, now)].map(
    (text) => `Warning: ${text}`,
  );
}

function roomSentences(history: KeyHistory): string[] {
  const { keys, revocations, receipt_keys = [], roots = [] } = history;
  const rooted = roots.at(-1)?.receipt_keys ?? [];
  const used = [
    ['versions of a root', roots.length, ROOT_VERSIONS_MAX],
    ['issuer keys', keys.length, KEYS_MAX],
    ['revocations', revocations.length, KEYS_MAX],
    ['receipt keys', Math.max(receipt_keys.length, rooted.length), KEYS_MAX],
    ['bytes', Buffer.byteLength(formatKeyHistory(history)), KEYS_BYTES_MAX],
  ] as const;
  return used
    .filter(([, count, most]) => count >= WARNED_PART * most)
    .map(
      ([what, count, most]) =>
        `the list of keys holds ${count} of at most ${most} ${what}; before it is full, begin a new list in a new folder, and tell readers its first key`,
    );
}

/** Under a root the newest key may have an end, too. */
function endSentence({ keys }: KeyHistory, now: string): string[] {
  const used = keys.filter(({ revoked_from }) => revoked_from === null);
  const ends = used.map(({ valid_until }) =>
    valid_until === null ? Number.POSITIVE_INFINITY : Date.parse(valid_until),
  );
  const last = Math.max(...ends);
  if (ends.length === 0 || last - Date.parse(now) > END_WARNED_MS) return [];
  return [
    `no issuer key signs after ${isoTime(last)}; name the next one before, with "signalpress root draft --add"`,
  ];
}

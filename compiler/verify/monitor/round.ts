import { KEYS_URL, RELEASE_URL } from '../../catalog/static-files.ts';
import { messageOf } from '../../format/errors.ts';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import {
  isContinued,
  KEYS_BYTES_MAX,
  type KeyHistory,
  vouchedDids,
} from '../../format/key-history.ts';
import type { LogPolicy } from '../../format/log-policy.ts';
import { isStale, type Release, releaseName, releaseSchema } from '../../format/release.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import {
  believedDids,
  endOf,
  type KeyTrust,
  listFault,
  unrevoked,
  WHOEVER_HAS_IT,
} from '../key-trust.ts';
import { signedHead } from '../signed-head.ts';
import type { CheckpointFile } from './checkpoint-file.ts';
import { headsContradiction, keysContradiction, keysOfText, readingIn } from './evidence.ts';
import type { LogClient } from './log-client.ts';
import {
  type AddressState,
  type Finding,
  GAPS_MAX,
  type MonitorState,
  newestHeads,
  READINGS_MAX,
} from './monitor-state.ts';

/** One look at one address: what is known is changed in place, and written when the look is over. */
export interface Round {
  readonly address: string;
  readonly client: LogClient;
  /** Other addresses of the same service: they may still have tiles of a tree that this one hides. */
  readonly others: readonly LogClient[];
  /** Epoch milliseconds. */
  readonly now: number;
  readonly state: MonitorState;
  /** The list of keys in the state, judged once: every version of a root costs some signatures. */
  keys: KeyHistory | undefined;
  readonly own: AddressState;
  readonly policy: LogPolicy | undefined;
  readonly seen: CheckpointFile;
  readonly readings: ReadingBodies;
  readonly findings: Finding[];
  /** What changed, a line each. */
  readonly news: string[];
}

export interface ReadingBodies {
  read(hash: string): string | null;
  write(hash: string, text: string): void;
  remove(hash: string): void;
}

export function trustOf({ state, keys }: Round): KeyTrust & { readonly trust: readonly string[] } {
  return { trust: state.issuers, roots: state.roots, keys };
}

/** DIDs whose signature is believed: of a note no time is known, so no key that was revoked is among them. */
export function signersOf(round: Round): string[] {
  const { keys } = round;
  return unrevoked(believedDids(trustOf(round), undefined), keys === undefined ? [] : [keys]);
}

/**
 * Why nothing is learnt from a statement of these signers; null where one of them is in use, or none is known. What was kept
 * was seen while its key was in use.
 */
export function endedFault({ keys, now }: Round, signers: readonly string[]): string | null {
  const lists = keys === undefined ? [] : [keys];
  const ends = signers.map((did) => ({ did, until: endOf(did, lists, now) }));
  const [first] = ends;
  if (first === undefined || ends.some(({ until }) => until === null)) return null;
  return `signed by ${first.did}, which was in use until ${first.until}: ${WHOEVER_HAS_IT}`;
}

/** The same of several statements, each of one signer: null where every one of them is in use. */
function anyEnded(round: Round, signers: readonly string[]): string | null {
  return signers.flatMap((did) => endedFault(round, [did]) ?? [])[0] ?? null;
}

/** A log is silent after so many times its longest time between releases. */
const SILENCE_FACTOR = 3;
/** Times between releases from which a rhythm is known. */
const GAPS_MIN = 3;

/** A head that an address shows, signed by a key that is believed. */
export interface ShownHead {
  readonly head: Release;
  readonly text: string;
}

/** The issuer of the first head is believed where none was named. */
export function believeFirst(round: Round, bytes: Uint8Array | null): void {
  const { state, news } = round;
  if (state.issuers.length + state.roots.length > 0 || bytes === null) return;
  let isSound = true;
  const head = signedHead(bytes, { trust: 'any' }, () => {
    isSound = false;
  });
  if (head === null || !isSound) return;
  state.issuers = [head.issuer_did];
  news.push(`no --issuer was given: ${head.issuer_did}, which signs now, is believed from here on`);
}

/** Judges a head by itself and against those that were seen; null where it cannot be believed. */
export function followHead(round: Round, bytes: Uint8Array | null): ShownHead | null {
  const { state, findings } = round;
  const faults: { readonly where: string; readonly detail: string }[] = [];
  const report = (where: string, detail: string) => faults.push({ where, detail });
  const head = bytes === null ? null : signedHead(bytes, trustOf(round), report);
  const [fault] = faults;
  if (bytes === null || head === null || fault !== undefined) {
    const kind = fault?.where === 'issuer_did' ? 'unknown_key' : 'unreadable';
    const detail = fault === undefined ? 'it shows no release' : `its release: ${fault.detail}`;
    findings.push({ kind, about: RELEASE_URL, detail });
    return null;
  }
  const shown = { head, text: decodeUtf8(bytes) };
  const past = state.heads.includes(shown.text) ? null : endedFault(round, [head.issuer_did]);
  if (past !== null) {
    findings.push({ kind: 'unknown_key', about: RELEASE_URL, detail: `its release: ${past}` });
    return null;
  }
  compareHead(round, shown);
  return shown;
}

function compareHead(round: Round, { head, text }: ShownHead): void {
  const { state, own, findings, news, now } = round;
  const known = state.heads.map((each) => ({
    text: each,
    head: releaseSchema.parse(parseJson(each)),
  }));
  const newest = known.at(-1)?.head;
  const [fork] = known.flatMap((other): Finding[] => {
    const detail = headsContradiction(other.head, head);
    const proof = { kind: 'heads' as const, heads: [other.text, text] as [string, string] };
    return detail === null ? [] : [{ kind: 'release_fork', detail, proof }];
  });
  const isNew = fork === undefined && (newest === undefined || head.sequence > newest.sequence);
  if (fork !== undefined) findings.push(fork);
  else {
    if (head.sequence < own.sequence) {
      const detail = `it shows the release ${head.sequence}, and showed ${own.sequence} before`;
      findings.push({ kind: 'rollback', about: RELEASE_URL, detail });
    }
    own.sequence = Math.max(own.sequence, head.sequence);
  }
  if (isNew) {
    if (newest !== undefined) {
      const ms = Date.parse(head.as_of) - Date.parse(newest.as_of);
      const gap = Math.max(0, Math.round(ms / (head.sequence - newest.sequence)));
      state.gaps_ms = [...state.gaps_ms, gap].slice(-GAPS_MAX);
    }
    state.heads = newestHeads([...state.heads, text]);
    state.head_seen_at = isoTime(now);
    news.push(`release ${releaseName(head)}`);
  }
  const isNewest = isNew || head.sequence === newest?.sequence;
  freshness(round, head, isNewest ? state.head_seen_at : head.as_of);
}

/** `since` says when it came: an address that shows an older head than others do has had nothing new since that. */
function freshness({ state, findings, now }: Round, head: Release, since: string | null): void {
  if (isStale(head, now)) {
    const detail = `release ${head.sequence} promised a newer one by ${head.valid_until}, and there is none`;
    findings.push({ kind: 'frozen', detail });
  }
  if (state.gaps_ms.length < GAPS_MIN || since === null) return;
  const silentMs = now - Date.parse(since);
  if (silentMs <= Math.max(HOUR_MS, SILENCE_FACTOR * Math.max(...state.gaps_ms))) return;
  const hours = Math.round(silentMs / HOUR_MS);
  const detail = `nothing new for ${hours} hours, ${SILENCE_FACTOR} times as long as ever before`;
  findings.push({ kind: 'silent', detail });
}

/** Reads the list of keys, which may only grow. */
export async function followKeys(round: Round): Promise<void> {
  const { state, findings } = round;
  const bytes = await round.client.get(KEYS_URL, KEYS_BYTES_MAX);
  if (bytes === null) {
    if (state.keys !== null)
      findings.push({ kind: 'key_unlisted', detail: 'its list of keys is gone' });
    return;
  }
  try {
    const text = decodeUtf8(bytes);
    compareKeys(round, text, keysOfText(text));
  } catch (error) {
    findings.push({ kind: 'unreadable', about: KEYS_URL, detail: messageOf(error) });
  }
}

function compareKeys(round: Round, text: string, next: KeyHistory): void {
  const { state, findings, keys: old } = round;
  const fault = (kind: Finding['kind'], words: string): void => {
    findings.push({ kind, about: KEYS_URL, detail: `its list of keys: ${words}` });
  };
  const take = (): void => {
    state.keys = text;
    round.keys = next;
  };
  if (old === undefined || state.keys === null) {
    const isKnown = vouchedDids(next, { issuers: state.issuers, roots: state.roots }).length > 0;
    const stranger = isKnown
      ? null
      : 'it names none that is believed; pass the right one with --issuer, or its root keys with --root';
    const refusal = listFault(next, trustOf(round)) ?? stranger;
    if (refusal === null) take();
    else fault('unknown_key', refusal);
    return;
  }
  if (isContinued(old, next)) {
    round.news.push(...keyNews(old, next));
    take();
    return;
  }
  const found = keysContradiction(old, next);
  if (found === null) {
    findings.push({ kind: 'key_unlisted', detail: unlistedDetail(old, next) });
    return;
  }
  const { says: detail, signers, isByRoot } = found;
  const past = isByRoot ? null : anyEnded(round, signers);
  const proof = { kind: 'keys' as const, lists: [state.keys, text] as [string, string] };
  if (past === null) findings.push({ kind: 'key_fork', detail, proof });
  else fault('unknown_key', `${detail}; ${past}`);
}

function unlistedDetail(old: KeyHistory, next: KeyHistory): string {
  const gone = old.keys.find(({ did }) => !next.keys.some((key) => key.did === did));
  if (gone !== undefined) return `${gone.did} is no longer in its list of keys`;
  const version = old.roots?.length ?? 0;
  if ((next.roots?.length ?? 0) < version) {
    return `version ${version} of its root is no longer in its list of keys`;
  }
  return 'a statement that was in its list of keys no longer is';
}

function keyNews(old: KeyHistory, next: KeyHistory): string[] {
  const before = new Set(old.keys.flatMap((key) => (key.revoked_from === null ? [] : [key.did])));
  const roots = (next.roots ?? []).slice(old.roots?.length ?? 0);
  return [
    ...roots.map(
      ({ version, threshold, root_keys }) =>
        `version ${version} of a root stands above its keys: ${threshold} of ${root_keys.join(', ')}`,
    ),
    ...next.keys.slice(old.keys.length).map(({ did }) => `new issuer key ${did}`),
    ...next.keys.flatMap(({ did, revoked_from }) =>
      revoked_from === null || before.has(did) ? [] : [`${did} is revoked from ${revoked_from} on`],
    ),
  ];
}

/** Longest free sample that is read, in bytes: a record has some thousand. */
const SAMPLE_BYTES_MAX = 131_072;
const SAMPLE_URL = '/gauge/sample';

/**
 * Reads free samples: a reading that was said must not be said again in another way. Other times are sold, so nobody sees
 * them all.
 */
export async function followReadings(round: Round, signals: readonly string[]): Promise<void> {
  const paths = signals.map((id) => `${SAMPLE_URL}?signal_id=${encodeURIComponent(id)}`);
  for (const path of [SAMPLE_URL, ...paths]) {
    const bytes = await round.client.get(path, SAMPLE_BYTES_MAX);
    if (bytes !== null) compareReading(round, path, bytes);
  }
}

function compareReading(round: Round, path: string, bytes: Uint8Array): void {
  const { state, readings, findings } = round;
  const believed = signersOf(round);
  let why = 'not a signed reading';
  let text = '';
  let said: ReturnType<typeof readingIn> = null;
  try {
    text = decodeUtf8(bytes);
    said = readingIn(text, believed);
  } catch (error) {
    why = messageOf(error);
  }
  if (said === null) {
    // Under a key that nobody vouches for no sample holds either.
    if (findings.some(({ kind }) => kind === 'unknown_key')) return;
    findings.push({
      kind: 'unreadable',
      about: path,
      detail: `its free sample does not hold: ${why}`,
    });
    return;
  }
  const { subject, hash, issuer } = said;
  const known = state.readings.find(([each]) => each === subject)?.[1];
  if (known === hash) return;
  const before = known === undefined ? null : readings.read(known);
  if (before !== null) {
    const detail = `${subject} was said in two ways: ${known}, then ${hash}; a correction by its source is one honest reason`;
    const finding = { kind: 'rewritten', about: `${subject} ${hash}`, detail } as const;
    const earlier = signerOf(before, believed);
    const past =
      earlier === null
        ? 'one is signed by a key that counts no longer'
        : anyEnded(round, [earlier, issuer]);
    findings.push(
      past === null
        ? { ...finding, proof: { kind: 'readings', bodies: [before, text] } }
        : { ...finding, detail: `${detail}; ${past}` },
    );
    return;
  }
  readings.write(hash, text);
  const kept = state.readings.filter(([each]) => each !== subject);
  for (const [, old] of kept.slice(0, Math.max(0, kept.length + 1 - READINGS_MAX)))
    readings.remove(old);
  state.readings = [...kept, [subject, hash] as [string, string]].slice(-READINGS_MAX);
}

/** Who signed a reading that was kept; null where that is nobody who is believed any more. */
function signerOf(text: string, believed: readonly string[]): string | null {
  try {
    return readingIn(text, believed)?.issuer ?? null;
  } catch {
    return null;
  }
}

import { messageOf } from '../contract/errors.ts';
import { HOUR_MS, isoTime } from '../contract/iso-time.ts';
import {
  isContinued,
  KEYS_BYTES_MAX,
  type KeyHistory,
  vouchedDids,
} from '../contract/key-history.ts';
import type { LogPolicy } from '../contract/log-policy.ts';
import {
  HEAD_BYTES_MAX,
  isStale,
  type Release,
  releaseName,
  releaseSchema,
} from '../contract/release.ts';
import { KEYS_URL, RELEASE_URL } from '../contract/static-files.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import {
  believedDids,
  endOf,
  type KeyTrust,
  listFault,
  unrevoked,
  WHOEVER_HAS_IT,
} from '../verify/key-trust.ts';
import { signedHead } from '../verify/signed-head.ts';
import type { CheckpointFile } from './checkpoint-file.ts';
import {
  headsContradiction,
  type KeysContradiction,
  keysContradiction,
  keysOfText,
  readingIn,
} from './evidence.ts';
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

/** The list that a state holds is judged once: every version of a root costs some signatures. */
const judgedLists = new WeakMap<
  MonitorState,
  { readonly text: string; readonly keys: KeyHistory }
>();

function knownKeys(state: MonitorState): { readonly keys?: KeyHistory } {
  const { keys: text } = state;
  if (text === null) return {};
  const known = judgedLists.get(state);
  if (known?.text === text) return { keys: known.keys };
  const keys = keysOfText(text);
  judgedLists.set(state, { text, keys });
  return { keys };
}

export function trustOf(state: MonitorState): KeyTrust & { readonly trust: readonly string[] } {
  const { issuers: trust, roots } = state;
  return { trust, roots, ...knownKeys(state) };
}

/** DIDs whose signature is believed: of a note no time is known, so no key that was revoked is among them. */
export function signersOf(state: MonitorState): string[] {
  const trusted = trustOf(state);
  const lists = trusted.keys === undefined ? [] : [trusted.keys];
  return unrevoked(believedDids(trusted, undefined), lists);
}

/**
 * Why nothing is learnt from a statement of these signers; null where one of them is in use, or none is known. What was kept
 * was seen while its key was in use.
 */
export function endedFault({ state, now }: Round, signers: readonly string[]): string | null {
  const { keys } = trustOf(state);
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

/** The bytes of the head; an address without one is no shop. */
export function readHead(round: Round): Promise<Uint8Array | null> {
  return round.client.get(RELEASE_URL, HEAD_BYTES_MAX);
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
  const trusted = trustOf(state);
  const head =
    bytes === null
      ? null
      : signedHead(bytes, trusted, (where, detail) => faults.push({ where, detail }));
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
  freshness(round, head);
  return shown;
}

function compareHead(round: Round, { head, text }: ShownHead): void {
  const { state, own, findings } = round;
  const known = knownHeads(round);
  for (const [at, other] of known.entries()) {
    const detail = headsContradiction(other, head);
    if (detail === null) continue;
    const heads: [string, string] = [state.heads[at] ?? text, text];
    findings.push({ kind: 'release_fork', detail, proof: { kind: 'heads', heads } });
    return;
  }
  if (head.sequence < own.sequence) {
    const detail = `it shows the release ${head.sequence}, and showed ${own.sequence} before`;
    findings.push({ kind: 'rollback', about: RELEASE_URL, detail });
  }
  own.sequence = Math.max(own.sequence, head.sequence);
  if (!known.some(({ sequence }) => sequence === head.sequence)) addHead(round, { head, text });
}

function knownHeads({ state }: Round): Release[] {
  return state.heads.map((text) => releaseSchema.parse(parseJson(text)));
}

function addHead(round: Round, { head, text }: ShownHead): void {
  const { state, news, now } = round;
  const newest = knownHeads(round).at(-1);
  if (newest !== undefined && newest.sequence > head.sequence) return;
  if (newest !== undefined) {
    const gap =
      (Date.parse(head.as_of) - Date.parse(newest.as_of)) / (head.sequence - newest.sequence);
    state.gaps_ms = [...state.gaps_ms, Math.max(0, Math.round(gap))].slice(-GAPS_MAX);
  }
  state.heads = newestHeads([...state.heads, text]);
  state.head_seen_at = isoTime(now);
  news.push(`release ${releaseName(head)}`);
}

function freshness(round: Round, head: Release): void {
  const { findings, now } = round;
  if (isStale(head, now)) {
    const detail = `release ${head.sequence} promised a newer one by ${head.valid_until}, and there is none`;
    findings.push({ kind: 'frozen', detail });
  }
  const silentMs = silence(round, head);
  if (silentMs === null) return;
  const hours = Math.round(silentMs / HOUR_MS);
  const detail = `nothing new for ${hours} hours, ${SILENCE_FACTOR} times as long as ever before`;
  findings.push({ kind: 'silent', detail });
}

/**
 * For how long nothing came that should have come by the rhythm of the log; null where all is as ever. An address that
 * shows an older head than others do has had nothing new since that.
 */
function silence(round: Round, { as_of, sequence }: Release): number | null {
  const { state, now } = round;
  if (state.gaps_ms.length < GAPS_MIN || state.head_seen_at === null) return null;
  const isNewest = knownHeads(round).at(-1)?.sequence === sequence;
  const since = Date.parse(isNewest ? state.head_seen_at : as_of);
  const longest = Math.max(HOUR_MS, SILENCE_FACTOR * Math.max(...state.gaps_ms));
  return now - since > longest ? now - since : null;
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
  const { state, findings } = round;
  const { keys: old } = knownKeys(state);
  if (old === undefined) {
    const fault = listFault(next, trustOf(state)) ?? strangerFault(next, state);
    if (fault === null) state.keys = text;
    else {
      const detail = `its list of keys: ${fault}`;
      findings.push({ kind: 'unknown_key', about: KEYS_URL, detail });
    }
    return;
  }
  if (isContinued(old, next)) {
    round.news.push(...keyNews(old, next));
    state.keys = text;
    return;
  }
  const contradiction = keysContradiction(old, next);
  findings.push(
    contradiction === null || state.keys === null
      ? { kind: 'key_unlisted', detail: unlistedDetail(old, next) }
      : keysFinding(round, contradiction, [state.keys, text]),
  );
}

function keysFinding(
  round: Round,
  { says: detail, signers, isByRoot }: KeysContradiction,
  lists: [string, string],
): Finding {
  const past = isByRoot ? null : anyEnded(round, signers);
  return past === null
    ? { kind: 'key_fork', detail, proof: { kind: 'keys', lists } }
    : { kind: 'unknown_key', about: KEYS_URL, detail: `its list of keys: ${detail}; ${past}` };
}

function strangerFault(next: KeyHistory, { issuers, roots }: MonitorState): string | null {
  if (vouchedDids(next, { issuers, roots }).length > 0) return null;
  return 'it names none that is believed; pass the right one with --issuer, or its root keys with --root';
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
  const added = next.keys.slice(old.keys.length).map(({ did }) => `new issuer key ${did}`);
  const before = new Set(old.keys.flatMap((key) => (key.revoked_from === null ? [] : [key.did])));
  const revoked = next.keys.filter(
    ({ did, revoked_from }) => revoked_from !== null && !before.has(did),
  );
  const roots = (next.roots ?? [])
    .slice(old.roots?.length ?? 0)
    .map(
      ({ version, threshold, root_keys }) =>
        `version ${version} of a root stands above its keys: ${threshold} of ${root_keys.join(', ')}`,
    );
  return [
    ...roots,
    ...added,
    ...revoked.map(({ did, revoked_from }) => `${did} is revoked from ${revoked_from} on`),
  ];
}

/** Longest free sample that is read, in bytes: a record has some thousand. */
const SAMPLE_BYTES_MAX = 131_072;
const SAMPLE_URL = '/gauge/sample';

/** Reads free samples: a reading that was said must not be said again in another way. Other times are sold, so nobody sees them all. */
export async function followReadings(round: Round, signals: readonly string[]): Promise<void> {
  const paths = [
    SAMPLE_URL,
    ...signals.map((id) => `${SAMPLE_URL}?signal_id=${encodeURIComponent(id)}`),
  ];
  for (const path of paths) {
    const bytes = await round.client.get(path, SAMPLE_BYTES_MAX);
    if (bytes !== null) compareReading(round, path, bytes);
  }
}

function compareReading(round: Round, path: string, bytes: Uint8Array): void {
  const { state, readings, findings } = round;
  const text = textOf(bytes);
  const said = text === null ? null : readingOf(text, signersOf(state));
  if (text === null || said === null || typeof said === 'string') {
    // Under a key that nobody vouches for no sample holds either.
    if (findings.some(({ kind }) => kind === 'unknown_key')) return;
    const detail = `its free sample does not hold: ${said ?? 'not a signed reading'}`;
    findings.push({ kind: 'unreadable', about: path, detail });
    return;
  }
  const { subject, hash } = said;
  const known = state.readings.find(([each]) => each === subject)?.[1];
  if (known === hash) return;
  const before = known === undefined ? null : readings.read(known);
  if (before !== null) {
    const detail = `${subject} was said in two ways: ${known}, then ${hash}; a correction by its source is one honest reason`;
    const finding = { kind: 'rewritten', about: `${subject} ${hash}`, detail } as const;
    const bodies: [string, string] = [before, text];
    const past = unprovenBy(round, bodies);
    findings.push(
      past === null
        ? { ...finding, proof: { kind: 'readings', bodies } }
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

/** Why two bodies prove nothing to others; null where keys that are in use signed both. */
function unprovenBy(round: Round, bodies: readonly string[]): string | null {
  const said = bodies.map((text) => readingOf(text, signersOf(round.state)));
  const signers = said.flatMap((each) => (typeof each === 'string' ? [] : (each?.issuer ?? [])));
  if (signers.length < bodies.length) return 'one is signed by a key that counts no longer';
  return anyEnded(round, signers);
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return decodeUtf8(bytes);
  } catch {
    return null;
  }
}

function readingOf(text: string, believed: readonly string[]) {
  try {
    return readingIn(text, believed);
  } catch (error) {
    return messageOf(error);
  }
}

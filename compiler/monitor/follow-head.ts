import { HOUR_MS, isoTime } from '../contract/iso-time.ts';
import {
  HEAD_BYTES_MAX,
  isStale,
  type Release,
  releaseName,
  releaseSchema,
} from '../contract/release.ts';
import { RELEASE_URL } from '../contract/static-files.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { canonicalHash } from '../verify/body-check.ts';
import { signedHead } from '../verify/signed-head.ts';
import { headsContradiction } from './heads-contradiction.ts';
import { GAPS_MAX, newestHeads } from './monitor-state.ts';
import { endedFault, type Round, trustOf } from './round.ts';

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

/** Heads that were believed when they were kept. */
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

/** Hash of a head, which is its entry in the log. */
export function headHash({ head }: ShownHead): string {
  return canonicalHash(head);
}

import { bytesToHex } from '@noble/hashes/utils.js';
import type { AnchorState } from '../contract/anchor-state.ts';
import { OtsError } from '../contract/ots-bytes.ts';
import {
  attestationsOf,
  bitcoinHeight,
  formatProof,
  mergeTimestamps,
  parseProof,
  type Timestamp,
} from '../contract/ots-proof.ts';
import type { AnchorStore } from '../stages/anchor/anchor-store.ts';
import type { BlockHeader } from './block-header.ts';
import type { CalendarAnswer, CalendarClient } from './ots-calendar.ts';

interface UpgradeParts {
  readonly anchors: AnchorStore;
  readonly client: CalendarClient;
  /** The only addresses that are asked, whatever a proof names. */
  readonly calendars: readonly string[];
  readonly headers: readonly BlockHeader[];
}

export interface UpgradeSummary {
  readonly confirmed: number;
  /** Confirmed roots whose block header was checked, now or before. */
  readonly checked: number;
  readonly pending: number;
  readonly failed: readonly { readonly calendar: string; readonly reason: string }[];
  readonly unknown: readonly string[];
}

/** Asks the calendars of every proof that is not complete, and checks what leads to a block against the headers. */
export async function upgradeRoots(parts: UpgradeParts): Promise<UpgradeSummary> {
  const anchors = parts.anchors.roots().flatMap((root) => {
    const anchor = parts.anchors.read(root);
    if (anchor === null) return [];
    const digest = new Uint8Array(Buffer.from(root, 'hex'));
    return [{ ...anchor, timestamp: parseProof(new Uint8Array(anchor.proof), digest) }];
  });
  const open = anchors.filter(({ timestamp }) => bitcoinHeight(timestamp) === null);
  const asked = await askAll(
    open.map(({ timestamp }) => timestamp),
    parts,
  );
  const states = anchors.map(({ state, proof, timestamp }) => {
    const grown = graft(timestamp, asked.found);
    const next = stateOf(state, grown, parts.headers);
    const bytes = grown === timestamp ? proof : readableProof(grown, state.root);
    if (grown !== timestamp || !isSameState(state, next)) {
      parts.anchors.write({ state: next, proof: bytes });
    }
    return next;
  });
  const confirmed = states.filter(({ ots_state }) => ots_state === 'confirmed');
  return {
    confirmed: confirmed.length,
    checked: confirmed.filter(({ bitcoin_block }) => bitcoin_block !== null).length,
    pending: states.length - confirmed.length,
    failed: asked.failed,
    unknown: asked.unknown,
  };
}

interface CalendarAnswers {
  /** Timestamps by their message in hex. */
  readonly found: ReadonlyMap<string, Timestamp>;
  readonly failed: readonly { readonly calendar: string; readonly reason: string }[];
  readonly unknown: readonly string[];
}

/** Asks each known calendar once for each message that it promised to anchor. */
async function askAll(
  timestamps: readonly Timestamp[],
  parts: UpgradeParts,
): Promise<CalendarAnswers> {
  const promises = new Map<string, { readonly uri: string; readonly message: Uint8Array }>();
  for (const timestamp of timestamps) {
    for (const { message, attestation } of attestationsOf(timestamp)) {
      if (attestation.kind !== 'pending') continue;
      const uri = attestation.uri.replace(/\/+$/, '');
      promises.set(`${uri} ${bytesToHex(message)}`, { uri, message });
    }
  }
  const known = [...promises.values()].filter(({ uri }) => parts.calendars.includes(uri));
  const unknown = [...promises.values()].filter(({ uri }) => !parts.calendars.includes(uri));
  const answers = await Promise.all(
    known.map(async ({ uri, message }) => {
      return { uri, message, answer: await parts.client.complete(uri, message) };
    }),
  );
  return { ...sorted(answers), unknown: [...new Set(unknown.map(({ uri }) => uri))] };
}

function sorted(
  answers: readonly { uri: string; message: Uint8Array; answer: CalendarAnswer }[],
): Omit<CalendarAnswers, 'unknown'> {
  const found = new Map<string, Timestamp>();
  const failed: { calendar: string; reason: string }[] = [];
  for (const { uri, message, answer } of answers) {
    if (answer.kind === 'failed') failed.push({ calendar: uri, reason: answer.reason });
    if (answer.kind !== 'timestamp') continue;
    const known = found.get(bytesToHex(message));
    const { timestamp } = answer;
    found.set(
      bytesToHex(message),
      known === undefined ? timestamp : mergeTimestamps(known, timestamp),
    );
  }
  return { found, failed };
}

/** The timestamp with what was found merged in where its messages are; the very same one when nothing was. */
function graft(timestamp: Timestamp, found: ReadonlyMap<string, Timestamp>): Timestamp {
  const steps = timestamp.steps.map((step) => {
    const next = graft(step.next, found);
    return next === step.next ? step : { ...step, next };
  });
  const isSame = steps.every((step, at) => step === timestamp.steps[at]);
  const grown = isSame ? timestamp : { ...timestamp, steps };
  const more = found.get(bytesToHex(timestamp.message));
  return more === undefined ? grown : mergeTimestamps(grown, more);
}

/** Writes a proof only if it can be read again: what calendars add may make it too long or too deep. */
function readableProof(timestamp: Timestamp, root: string): Uint8Array {
  const bytes = formatProof(timestamp);
  const digest = new Uint8Array(Buffer.from(root, 'hex'));
  if (bitcoinHeight(parseProof(bytes, digest)) === bitcoinHeight(timestamp)) return bytes;
  throw new OtsError(
    `Cannot write the proof of "${root}": it does not read back as it was written`,
  );
}

function stateOf(
  state: AnchorState,
  timestamp: Timestamp,
  headers: readonly BlockHeader[],
): AnchorState {
  for (const { message, attestation } of attestationsOf(timestamp)) {
    if (attestation.kind !== 'bitcoin') continue;
    const header = headers.find(({ merkleRoot }) => bytesToHex(merkleRoot) === bytesToHex(message));
    if (header === undefined) continue;
    const bitcoin_height = attestation.height;
    return { ...state, ots_state: 'confirmed', bitcoin_height, bitcoin_block: header.hash };
  }
  // What a header has confirmed stays confirmed by it.
  if (state.bitcoin_block !== null) return state;
  const bitcoin_height = bitcoinHeight(timestamp);
  return { ...state, ots_state: bitcoin_height === null ? 'pending' : 'confirmed', bitcoin_height };
}

function isSameState(a: AnchorState, b: AnchorState): boolean {
  return a.bitcoin_height === b.bitcoin_height && a.bitcoin_block === b.bitcoin_block;
}

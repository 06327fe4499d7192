import { bytesToHex } from '@noble/hashes/utils.js';
import type { AnchorState } from '../../format/anchor-state.ts';
import { defined } from '../../format/defined.ts';
import { OtsError } from '../../format/ots-bytes.ts';
import {
  attestationsOf,
  bitcoinHeight,
  formatProof,
  mergeTimestamps,
  parseProof,
  type Timestamp,
} from '../../format/ots-proof.ts';
import type { AnchorStore } from '../log/anchor-store.ts';
import type { BlockHeader } from './block-header.ts';
import type { CalendarClient } from './ots-calendar.ts';
import type { StampSummary } from './stamp.ts';

interface UpgradeParts {
  readonly anchors: AnchorStore;
  readonly client: CalendarClient;
  /** The only addresses that are asked, whatever a proof names. */
  readonly calendars: readonly string[];
  readonly headers: readonly BlockHeader[];
}

export interface UpgradeSummary extends Pick<StampSummary, 'failed'> {
  readonly confirmed: number;
  /** Confirmed roots whose block header was checked, now or before. */
  readonly checked: number;
  readonly pending: number;
  /** Calendars that proofs name and that were not asked. */
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
  const promised = open.map(({ timestamp }) => timestamp);
  const { found, failed, unknown } = await askAll(promised, parts);
  const states = anchors.map(({ state, proof, timestamp }) => {
    const grown = graft(timestamp, found);
    const next = stateOf(state, grown, parts.headers);
    const bytes = grown === timestamp ? proof : readableProof(grown, state.root);
    const isSame =
      state.bitcoin_height === next.bitcoin_height && state.bitcoin_block === next.bitcoin_block;
    if (grown !== timestamp || !isSame) parts.anchors.write({ state: next, proof: bytes });
    return next;
  });
  const confirmed = states.filter(({ ots_state }) => ots_state === 'confirmed');
  return {
    confirmed: confirmed.length,
    checked: confirmed.filter(({ bitcoin_block }) => bitcoin_block !== null).length,
    pending: states.length - confirmed.length,
    failed,
    unknown,
  };
}

/**
 * Asks each known calendar once for each message that it promised to anchor; `found` holds timestamps by their message in
 * hex.
 */
async function askAll(timestamps: readonly Timestamp[], { client, calendars }: UpgradeParts) {
  const promises = new Map<string, { readonly uri: string; readonly message: Uint8Array }>();
  for (const { message, attestation } of timestamps.flatMap((each) => [...attestationsOf(each)])) {
    if (attestation.kind !== 'pending') continue;
    const uri = attestation.uri.replace(/\/+$/, '');
    promises.set(`${uri} ${bytesToHex(message)}`, { uri, message });
  }
  const all = [...promises.values()];
  const known = all.filter(({ uri }) => calendars.includes(uri));
  const unknown = new Set(all.flatMap(({ uri }) => (calendars.includes(uri) ? [] : [uri])));
  const answers = await Promise.all(known.map(({ uri, message }) => client.complete(uri, message)));
  const found = new Map<string, Timestamp>();
  const failed: { calendar: string; reason: string }[] = [];
  for (const [at, answer] of answers.entries()) {
    const { uri, message } = defined(known[at], 'who answered');
    if (answer.kind === 'failed') failed.push({ calendar: uri, reason: answer.reason });
    if (answer.kind !== 'timestamp') continue;
    const hex = bytesToHex(message);
    const before = found.get(hex);
    const { timestamp } = answer;
    found.set(hex, before === undefined ? timestamp : mergeTimestamps(before, timestamp));
  }
  return { found, failed, unknown: [...unknown] };
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

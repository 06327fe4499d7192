import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { AnchorState } from '../../format/anchor-state.ts';
import { defined } from '../../format/errors.ts';
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
import type { CalendarClient } from './ots-calendar.ts';

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

const HEADER_BYTES = 80;
const ROOT_AT = 36;
const BITS_AT = 72;
/** Compact form of the easiest target that the Bitcoin main chain ever allowed. */
const MAIN_CHAIN_LIMIT = 0x1d00ffff;

/** A block header whose work was checked; whether it is in the chain is for its supplier to know. */
export interface BlockHeader {
  /** As block explorers show it. */
  readonly hash: string;
  /** The 32 bytes that a timestamp ends in. */
  readonly merkleRoot: Uint8Array;
}

/** Reads a header of 80 bytes, or its 160 hex digits; throws a RangeError unless its hash shows the work that it claims. */
export function blockHeader(bytes: Uint8Array, limit = MAIN_CHAIN_LIMIT): BlockHeader {
  const header = rawHeader(bytes);
  const hash = bytesToHex(sha256(sha256(header)).toReversed());
  const bits = new DataView(header.buffer, header.byteOffset).getUint32(BITS_AT, true);
  const target = targetOf(bits);
  if (target > targetOf(limit)) refuse(`block "${hash}" claims less work than the chain allows`);
  if (BigInt(`0x${hash}`) > target) refuse(`block "${hash}" does not show the work that it claims`);
  return { hash, merkleRoot: header.slice(ROOT_AT, ROOT_AT + 32) };
}

function rawHeader(bytes: Uint8Array): Uint8Array {
  if (bytes.length === HEADER_BYTES) return bytes;
  const text = new TextDecoder('latin1').decode(bytes).trim();
  if (!/^[0-9a-fA-F]{160}$/.test(text)) refuse('not 80 bytes, nor 160 hex digits');
  return Uint8Array.from(Buffer.from(text, 'hex'));
}

/** The compact form of a target: an exponent and 23 bits. */
function targetOf(bits: number): bigint {
  const exponent = BigInt(bits >>> 24);
  const mantissa = BigInt(bits & 0x7fffff);
  return exponent <= 3n ? mantissa >> (8n * (3n - exponent)) : mantissa << (8n * (exponent - 3n));
}

function refuse(state: string): never {
  throw new RangeError(`Cannot use the block header: ${state}; take it from a node that you trust`);
}

interface StampParts {
  /** The root of the log, in hex. */
  readonly root: string;
  readonly anchors: AnchorStore;
  readonly client: CalendarClient;
  readonly calendars: readonly string[];
  /** The time of the submission, ISO-8601 UTC. */
  readonly now: string;
}

export interface StampSummary {
  /** Whether the root has a promise now that it did not have. */
  readonly stamped: boolean;
  readonly answered: readonly string[];
  readonly failed: readonly { readonly calendar: string; readonly reason: string }[];
}

/** Submits the root of the log to every calendar, unless it has a timestamp: that covers every entry before it too. */
export async function stampRoot(parts: StampParts): Promise<StampSummary> {
  const { root, anchors, client, calendars } = parts;
  if (anchors.read(root) !== null) return { stamped: false, answered: [], failed: [] };
  const digest = new Uint8Array(Buffer.from(root, 'hex'));
  const answers = await Promise.all(calendars.map((calendar) => client.submit(calendar, digest)));
  const promises = answers.flatMap((answer) =>
    answer.kind === 'timestamp' ? [answer.timestamp] : [],
  );
  const answered = calendars.filter((_, at) => answers[at]?.kind === 'timestamp');
  const failed = calendars.flatMap((calendar, at) => {
    const answer = answers[at];
    if (answer === undefined || answer.kind === 'timestamp') return [];
    return [{ calendar, reason: answer.kind === 'failed' ? answer.reason : 'no timestamp' }];
  });
  const [first, ...others] = promises;
  if (first === undefined) return { stamped: false, answered, failed };
  const proof = formatProof(others.reduce(mergeTimestamps, first));
  // What a calendar answers to a submission is a promise, whatever it claims: a block takes time.
  const state = {
    root,
    ots_state: 'pending',
    bitcoin_height: null,
    bitcoin_block: null,
    stamped_at: parts.now,
  } as const;
  anchors.write({ state, proof });
  return { stamped: true, answered, failed };
}

// OpenTimestamps detached proofs, version 1, of a SHA-256 digest: a tree of operations whose ends are attestations.

import { ripemd160, sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { isEqual } from './merkle.ts';
import { fromHex, joined, OtsError, OtsReader, varint } from './ots-bytes.ts';

/** Longest proof that is looked at, in bytes. */
export const PROOF_BYTES_MAX = 65_536;
/** Longest answer of a calendar, in bytes. */
export const CALENDAR_BYTES_MAX = 10_000;
/** Longest message of any step, and longest operand. */
const MESSAGE_BYTES_MAX = 4096;
const PAYLOAD_BYTES_MAX = 8192;
const URI_BYTES_MAX = 1000;
/** Most operations between a digest and an attestation. */
const STEPS_DEEP_MAX = 256;
const MAGIC = fromHex('004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e89294');
const VERSION = 1;
const FORK = 0xff;
const ATTESTATION = 0x00;
const APPEND = 0xf0;
const PREPEND = 0xf1;
const SHA256 = 0x08;

/** Operations without an operand, by their tag. */
const UNARY: Readonly<Record<number, (message: Uint8Array) => Uint8Array>> = {
  2: sha1,
  3: ripemd160,
  [SHA256]: sha256,
  103: keccak_256,
  242: (message) => message.toReversed(),
  243: (message) => new TextEncoder().encode(bytesToHex(message)),
};
const TAG_BYTES = 8;
const PENDING = '83dfe30d2ef90c8e';
const BITCOIN = '0588960d73d71901';

/** Who vouches for a message; an attestation of another kind is kept and proves nothing here. */
type Attestation =
  | { readonly kind: 'pending'; readonly uri: string }
  | { readonly kind: 'bitcoin'; readonly height: number }
  | { readonly kind: 'other'; readonly tag: string; readonly payload: Uint8Array };

/** One operation and what follows from its result. */
export interface Step {
  readonly tag: number;
  /** Empty for an operation without one. */
  readonly operand: Uint8Array;
  readonly next: Timestamp;
}

/** A message with what vouches for it, directly or after more operations. */
export interface Timestamp {
  readonly message: Uint8Array;
  readonly attestations: readonly Attestation[];
  readonly steps: readonly Step[];
}

/**
 * The timestamp of a digest from the bytes of a detached proof; throws an OtsError for anything malformed, too long or too
 * deep, or of another digest.
 */
export function parseProof(bytes: Uint8Array, digest: Uint8Array): Timestamp {
  const reader = new OtsReader(bytes, PROOF_BYTES_MAX);
  if (!isEqual(reader.take(MAGIC.length), MAGIC)) reader.refuse('not an OpenTimestamps proof');
  if (reader.varint() !== VERSION) reader.refuse('not of version 1');
  if (reader.byte() !== SHA256) reader.refuse('not of a SHA-256 digest');
  if (!isEqual(reader.take(digest.length), digest)) reader.refuse('of another digest');
  return wholeTimestamp(reader, digest);
}

/** The timestamp that a calendar answers for a message; throws an OtsError as parseProof does. */
export function parseTimestamp(bytes: Uint8Array, message: Uint8Array): Timestamp {
  return wholeTimestamp(new OtsReader(bytes, CALENDAR_BYTES_MAX), message);
}

function wholeTimestamp(reader: OtsReader, message: Uint8Array): Timestamp {
  const timestamp = readTimestamp(reader, message, 0);
  if (!reader.isAtEnd()) reader.refuse('bytes follow the proof');
  return timestamp;
}

function readTimestamp(reader: OtsReader, message: Uint8Array, depth: number): Timestamp {
  if (depth > STEPS_DEEP_MAX) reader.refuse(`more than ${STEPS_DEEP_MAX} operations in a row`);
  const attestations: Attestation[] = [];
  const steps: Step[] = [];
  for (;;) {
    const first = reader.byte();
    const tag = first === FORK ? reader.byte() : first;
    reader.countStep();
    if (tag === ATTESTATION) attestations.push(readAttestation(reader));
    else steps.push(readStep(reader, { tag, message, depth }));
    if (first !== FORK) return { message, attestations, steps };
  }
}

function readStep(
  reader: OtsReader,
  {
    tag,
    message,
    depth,
  }: {
    tag: number;
    message: Uint8Array;
    depth: number;
  },
): Step {
  const isBinary = tag === APPEND || tag === PREPEND;
  const operand = isBinary ? reader.bytes(1, MESSAGE_BYTES_MAX) : new Uint8Array(0);
  const result = applyStep(tag, operand, message);
  if (result === null) return reader.refuse(`operation 0x${tag.toString(16)} is unknown`);
  if (result.length > MESSAGE_BYTES_MAX)
    reader.refuse(`a message beyond ${MESSAGE_BYTES_MAX} bytes`);
  return { tag, operand, next: readTimestamp(reader, result, depth + 1) };
}

function applyStep(tag: number, operand: Uint8Array, message: Uint8Array): Uint8Array | null {
  if (tag === APPEND) return joined(message, operand);
  if (tag === PREPEND) return joined(operand, message);
  return UNARY[tag]?.(message) ?? null;
}

function readAttestation(reader: OtsReader): Attestation {
  const tag = bytesToHex(reader.take(TAG_BYTES));
  const payload = reader.bytes(0, PAYLOAD_BYTES_MAX);
  if (tag !== PENDING && tag !== BITCOIN) return { kind: 'other', tag, payload };
  const inner = new OtsReader(payload, PAYLOAD_BYTES_MAX);
  const attestation: Attestation =
    tag === BITCOIN
      ? { kind: 'bitcoin', height: inner.varint() }
      : { kind: 'pending', uri: readUri(inner) };
  if (!inner.isAtEnd()) reader.refuse('bytes follow an attestation');
  return attestation;
}

function readUri(reader: OtsReader): string {
  const uri = new TextDecoder('latin1').decode(reader.bytes(0, URI_BYTES_MAX));
  // Only these characters may stand in a calendar address: it is shown, and it may be asked.
  if (!/^[A-Za-z0-9._/:-]*$/.test(uri)) reader.refuse('a calendar address with foreign characters');
  return uri;
}

/** The bytes of the detached proof of a digest, its branches in the order that other programs write them. */
export function formatProof(timestamp: Timestamp): Uint8Array {
  const start = Uint8Array.of(...MAGIC, ...varint(VERSION), SHA256, ...timestamp.message);
  const bytes = joined(start, formatTimestamp(timestamp));
  if (bytes.length > PROOF_BYTES_MAX) {
    throw new OtsError(`Cannot write the timestamp proof: longer than ${PROOF_BYTES_MAX} bytes`);
  }
  return bytes;
}

/** The bytes of a timestamp without its message: attestations, then operations, each group sorted. */
export function formatTimestamp({ attestations, steps }: Timestamp): Uint8Array {
  const branches = [
    ...attestations.map(attestationBytes).toSorted(compareBytes),
    ...steps.toSorted(compareSteps).map(stepBytes),
  ];
  if (branches.length === 0) throw new OtsError('Cannot write a timestamp: nothing vouches for it');
  const parts = branches.flatMap((branch, at) =>
    at < branches.length - 1 ? [Uint8Array.of(FORK), branch] : [branch],
  );
  return joined(...parts);
}

function attestationBytes(attestation: Attestation): Uint8Array {
  const [tag, payload] = attestationParts(attestation);
  return joined(Uint8Array.of(ATTESTATION), fromHex(tag), varint(payload.length), payload);
}

function attestationParts(attestation: Attestation): readonly [string, Uint8Array] {
  switch (attestation.kind) {
    case 'pending': {
      const uri = new TextEncoder().encode(attestation.uri);
      return [PENDING, joined(varint(uri.length), uri)];
    }
    case 'bitcoin':
      return [BITCOIN, varint(attestation.height)];
    case 'other':
      return [attestation.tag, attestation.payload];
  }
}

function stepBytes({ tag, operand, next }: Step): Uint8Array {
  const length = operand.length === 0 ? new Uint8Array(0) : varint(operand.length);
  return joined(Uint8Array.of(tag), length, operand, formatTimestamp(next));
}

function compareSteps(a: Step, b: Step): number {
  return a.tag - b.tag || compareBytes(a.operand, b.operand);
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const [x, y] = [bytesToHex(a), bytesToHex(b)];
  return x === y ? 0 : x < y ? -1 : 1;
}

/** The timestamp of a message after one more operation; throws an OtsError when `next` is of another message. */
export function stepTo(
  message: Uint8Array,
  { tag, operand }: Pick<Step, 'tag' | 'operand'>,
  next: (result: Uint8Array) => Timestamp,
): Timestamp {
  const result = applyStep(tag, operand, message);
  if (result === null) throw new OtsError(`Cannot apply operation ${tag}: unknown`);
  return { message, attestations: [], steps: [{ tag, operand, next: next(result) }] };
}

/** Tags of the operations that aggregate several digests into one. */
export const OTS_OPS = { append: APPEND, prepend: PREPEND, sha256: SHA256 } as const;

/** Both timestamps of one message in one: equal operations are followed together, equal attestations kept once. */
export function mergeTimestamps(a: Timestamp, b: Timestamp): Timestamp {
  if (!isEqual(a.message, b.message)) {
    throw new OtsError('Cannot merge timestamps: they are of two messages');
  }
  const attestations = new Map(
    [...a.attestations, ...b.attestations].map((each) => [
      bytesToHex(attestationBytes(each)),
      each,
    ]),
  );
  const steps = new Map<string, Step>();
  for (const step of [...a.steps, ...b.steps]) {
    const key = `${step.tag} ${bytesToHex(step.operand)}`;
    const known = steps.get(key);
    const next = known === undefined ? step.next : mergeTimestamps(known.next, step.next);
    steps.set(key, { ...step, next });
  }
  return {
    message: a.message,
    attestations: [...attestations.values()],
    steps: [...steps.values()],
  };
}

/** Every attestation of a timestamp with the message that it vouches for. */
export function* attestationsOf(
  timestamp: Timestamp,
): Generator<{ readonly message: Uint8Array; readonly attestation: Attestation }> {
  const { message, attestations, steps } = timestamp;
  for (const attestation of attestations) yield { message, attestation };
  for (const { next } of steps) yield* attestationsOf(next);
}

/** Lowest Bitcoin height that a timestamp names with a message that a block header can hold; null while it is pending. */
export function bitcoinHeight(timestamp: Timestamp): number | null {
  let lowest: number | null = null;
  for (const { message, attestation } of attestationsOf(timestamp)) {
    if (attestation.kind !== 'bitcoin' || message.length !== 32) continue;
    lowest = Math.min(attestation.height, lowest ?? attestation.height);
  }
  return lowest;
}

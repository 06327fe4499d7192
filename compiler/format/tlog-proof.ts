// C2SP tlog-proof@v1: that one entry is in a log, in a text that is verified without the log.

import { decodeBase64, encodeBase64 } from './base64.ts';
import { type Checkpoint, NOTE_CHARS_MAX, openNote, type SignedNote } from './checkpoint.ts';
import { HASH_BYTES, inclusionRanges, type Sha256, verifyInclusion } from './merkle.ts';

/** Name of the format, the first line of each proof. */
const FIRST_LINE = 'c2sp.org/tlog-proof@v1';
const EXTRA_BYTES_MAX = 4096;
/** Longest proof that is looked at, in characters: no tree of positions below 2^53 needs more hashes. */
const TLOG_PROOF_CHARS_MAX = NOTE_CHARS_MAX + 2 * EXTRA_BYTES_MAX + 4096;
/** Most bytes of such a text: a dash of a signature line has three. */
export const TLOG_PROOF_BYTES_MAX = 2 * TLOG_PROOF_CHARS_MAX;

/** What a proof says. */
export interface TlogProof {
  /** Position of the entry in the log. */
  readonly index: number;
  /** The inclusion proof of RFC 6962 §2.1.1, from the sibling of the leaf upwards. */
  readonly hashes: readonly Uint8Array[];
  /** Signed note of a checkpoint, with whatever signatures it has. */
  readonly checkpoint: string;
  /** What an application adds; nobody signed it. */
  readonly extra?: Uint8Array;
}

/** A proof, with what its checkpoint states. No signature and no hash is checked yet. */
export interface ReadTlogProof extends TlogProof {
  readonly note: SignedNote;
  readonly signed: Checkpoint;
}

/** The text of a proof; throws a RangeError for one that parseTlogProof refuses. */
export function formatTlogProof({ index, hashes, checkpoint, extra }: TlogProof): string {
  const lines = [
    FIRST_LINE,
    ...(extra === undefined ? [] : [`extra ${encodeBase64(extra)}`]),
    `index ${index}`,
    ...hashes.map(encodeBase64),
  ];
  const text = `${lines.join('\n')}\n\n${checkpoint}`;
  parseTlogProof(text);
  return text;
}

/**
 * The inverse of formatTlogProof. Throws a RangeError that says what is wrong for any other text, for a checkpoint with
 * extension lines, and for an index or a number of hashes that its tree does not have.
 */
export function parseTlogProof(text: string): ReadTlogProof {
  if (text.length > TLOG_PROOF_CHARS_MAX) {
    throw unreadable(`longer than ${TLOG_PROOF_CHARS_MAX} characters`);
  }
  const cut = text.indexOf('\n\n');
  if (cut < 0) throw unreadable('no empty line before a checkpoint');
  const [first, ...rest] = text.slice(0, cut).split('\n');
  if (first !== FIRST_LINE) throw unreadable(`its first line is not "${FIRST_LINE}"`);
  const extra = rest[0]?.startsWith('extra ') === true ? parseExtra(rest.shift()) : undefined;
  const index = parseIndex(rest.shift());
  const hashes = rest.map(parseHash);
  const checkpoint = text.slice(cut + 2);
  const opened = openedCheckpoint(checkpoint);
  refuseMisfit({ index, hashes }, opened.signed);
  return { ...opened, index, hashes, checkpoint, ...(extra === undefined ? {} : { extra }) };
}

/** Whether a proof leads from a leaf hash to the root of its checkpoint; the signatures are for the caller to check. */
export function isLeafProven(
  { index, hashes, signed }: Pick<ReadTlogProof, 'index' | 'hashes' | 'signed'>,
  leaf: Uint8Array,
  sha256: Sha256,
): boolean {
  const { size, root } = signed;
  return verifyInclusion({ index, size, leaf, proof: hashes, root }, sha256);
}

function parseExtra(line = ''): Uint8Array {
  const bytes = decodeBase64(line.slice('extra '.length));
  if (bytes === null || bytes.length === 0 || bytes.length > EXTRA_BYTES_MAX) {
    throw unreadable(`its extra data is not base64 of 1 to ${EXTRA_BYTES_MAX} bytes`);
  }
  return bytes;
}

function parseIndex(line = ''): number {
  const [, digits] = /^index (0|[1-9][0-9]{0,15})$/.exec(line) ?? [];
  const index = Number(digits);
  if (!Number.isSafeInteger(index))
    throw unreadable('no line "index <position>" where one belongs');
  return index;
}

function parseHash(line: string, at: number): Uint8Array {
  const hash = decodeBase64(line);
  if (hash?.length !== HASH_BYTES) {
    throw unreadable(`hash ${at + 1} of it is not base64 of ${HASH_BYTES} bytes`);
  }
  return hash;
}

function openedCheckpoint(checkpoint: string): Pick<ReadTlogProof, 'note' | 'signed'> {
  const opened = openNote(checkpoint);
  if (opened === null) throw unreadable('it does not end in a signed checkpoint');
  return { note: opened.note, signed: opened.checkpoint };
}

function refuseMisfit(
  { index, hashes }: Pick<TlogProof, 'index' | 'hashes'>,
  { size }: Checkpoint,
): void {
  if (index >= size) throw unreadable(`entry ${index} of a log of ${size}`);
  const { length } = inclusionRanges(index, size);
  if (hashes.length !== length) {
    throw unreadable(`${hashes.length} hashes, where entry ${index} of ${size} needs ${length}`);
  }
}

function unreadable(why: string): RangeError {
  return new RangeError(`Cannot read a proof of inclusion: ${why}; ask for it again`);
}

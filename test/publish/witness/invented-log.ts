import { createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import {
  checkpointText,
  cosignedBytes,
  formatNote,
  formatVerifierKey,
  keyHashOf,
  NOTE_KEY,
  type NoteSignature,
  parseNote,
  type VerifierKey,
} from '../../../compiler/format/checkpoint.ts';
import {
  completeLevels,
  leafHash,
  rangeHash,
  type Sha256,
} from '../../../compiler/format/merkle.ts';
import { formatTlogProof, parseTlogProof } from '../../../compiler/format/tlog-proof.ts';
import { signingKey } from '../../../compiler/system/sealer.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
const LEAVES_MAX = 300;

/** A log of invented entries; `branch` names those from position `from` on, so that two of them are a fork. */
export class InventedLog {
  readonly origin: string;
  readonly #levels: readonly (readonly Uint8Array[])[];
  readonly #secret;

  constructor({ origin = 'a.example/log', branch = '', from = 5, seed = 9 } = {}) {
    this.origin = origin;
    const leaves = Array.from({ length: LEAVES_MAX }, (_, at) =>
      leafHash(Buffer.from(`entry ${at}${at < from ? '' : branch}`), sha256),
    );
    this.#levels = completeLevels(leaves, sha256);
    this.#secret = signingKey(new Uint8Array(32).fill(seed));
  }

  get key(): VerifierKey {
    const der = createPublicKey(this.#secret).export({ format: 'der', type: 'spki' });
    const publicKey = Uint8Array.from(der.subarray(-32));
    return { name: this.origin, type: NOTE_KEY.log, publicKey };
  }

  get policyLine(): string {
    return `log ${formatVerifierKey(this.key, sha256)}\n`;
  }

  /** The signed note of its first `size` entries. */
  note(size: number, root = this.#hash(0, size)): string {
    const text = checkpointText({ origin: this.origin, size, root });
    const signature = new Uint8Array(sign(null, Buffer.from(text), this.#secret));
    const line = { name: this.origin, keyHash: keyHashOf(this.key, sha256), signature };
    return formatNote({ text, signatures: [line] });
  }

  #hash(start: number, end: number): Uint8Array {
    return rangeHash({ start, end }, this.#levels, sha256);
  }
}

/** A line as long as that of a witness of ML-DSA-44, by a key that nobody knows. */
export const FOREIGN_LINE = `\u2014 other.example/w ${Buffer.alloc(4 + 8 + 2420, 5).toString('base64')}\n`;

/** A witness that signs whatever it is given. */
export class InventedWitness {
  readonly #key: KeyObject;
  readonly #name: string;

  constructor(name: string, seed = 1) {
    this.#name = name;
    this.#key = signingKey(new Uint8Array(32).fill(seed));
  }

  get #verifierKey() {
    const publicKey = createPublicKey(this.#key).export({ format: 'der', type: 'spki' });
    const own = Uint8Array.from(publicKey.subarray(-32));
    return { name: this.#name, type: NOTE_KEY.witness, publicKey: own };
  }

  get vkey(): string {
    return formatVerifierKey(this.#verifierKey, sha256);
  }

  /** The same key as that of a log. */
  get logKey(): string {
    return formatVerifierKey({ ...this.#verifierKey, type: NOTE_KEY.log }, sha256);
  }

  /** A line of a policy. */
  policyLine(name: string): string {
    return `witness ${name} ${this.vkey}\n`;
  }

  /** The note with one line more. */
  cosign(note: string, at: string): string {
    const parsed = parseNote(note);
    if (parsed === null) throw new RangeError('Cannot cosign: no note');
    const seconds = Date.parse(at) / 1000;
    const bytes = cosignedBytes(parsed.text, seconds);
    const signature = new Uint8Array(sign(null, bytes, this.#key));
    const line = cosignatureLine({ seconds, signature }, this.#verifierKey, sha256);
    return formatNote({ ...parsed, signatures: [...parsed.signatures, line] });
  }
}

/** A proof whose checkpoint has another note. */
export function withNote(proof: string, change: (note: string) => string): string {
  const { index, hashes, checkpoint, extra } = parseTlogProof(proof);
  const more = extra === undefined ? {} : { extra };
  return formatTlogProof({ index, hashes, checkpoint: change(checkpoint), ...more });
}

/** The signature line of a cosignature, as a witness writes it: its time in 8 bytes, then the signature. */
export function cosignatureLine(
  { seconds, signature }: { seconds: number; signature: Uint8Array },
  witness: VerifierKey,
  sha256: Sha256,
): NoteSignature {
  const bytes = new Uint8Array(8 + 64);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(seconds));
  bytes.set(signature, 8);
  return { name: witness.name, keyHash: keyHashOf(witness, sha256), signature: bytes };
}

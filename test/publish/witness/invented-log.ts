import { createPublicKey, hash, sign } from 'node:crypto';
import { checkpointText, formatNote } from '../../../compiler/format/checkpoint.ts';
import { completeLevels, leafHash, rangeHash } from '../../../compiler/format/merkle.ts';
import {
  formatVerifierKey,
  keyHashOf,
  NOTE_KEY,
  type VerifierKey,
} from '../../../compiler/format/verifier-key.ts';
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

import type { Leaf } from '../../contract/release.ts';
import { DIGEST_LINE_BYTES, writeDigestLine } from './digest-lines.ts';
import { ReusedBytes } from './reused-bytes.ts';

/** Leaves as bytes: digests, each with the place of its batch in `batches`; see DIGEST_LINE_BYTES. */
export interface LeafLines {
  readonly batches: readonly string[];
  readonly lines: Uint8Array;
}

/** Numbers names in the order in which they first come. */
export class Numbering {
  readonly #numbers = new Map<string, number>();

  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  names(): readonly string[] {
    return [...this.#numbers.keys()];
  }
}

/** The lines stand in `memory`, and are valid as long as that is not taken again. */
export function leafLines(leaves: readonly Leaf[], memory = new ReusedBytes()): LeafLines {
  const batches = new Numbering();
  const lines = memory.take(leaves.length * DIGEST_LINE_BYTES);
  for (const [at, { batch, record_hash }] of leaves.entries()) {
    writeDigestLine(lines, at * DIGEST_LINE_BYTES, [record_hash, batches.of(batch)]);
  }
  return { batches: batches.names(), lines };
}

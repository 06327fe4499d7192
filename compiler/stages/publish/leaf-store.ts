import { HASH_BYTES } from '../../contract/merkle.ts';
import { DigestSpill } from './digest-spill.ts';

const PREFIX = 'sha256:';

/** Collects what the log is to hold, by write batch, in memory that does not grow. */
export interface LeafStore {
  /** Lines as formatLeaf writes them. */
  add(leaves: string): void;
  /** Every batch that has leaves, in no order. */
  batches(): readonly string[];
  /** Digests that begin with a byte, each with the place of its batch in `batches()`; see DigestSpill. */
  startingWith(first: number): Buffer;
}

/** `folder` holds what is too much for the memory. */
export function leafStore(folder: string): LeafStore {
  const spill = DigestSpill.byFirstByte(folder);
  const numbers = new Map<string, number>();
  const digest = Buffer.alloc(HASH_BYTES);
  const numberOf = (batch: string): number => {
    const known = numbers.get(batch);
    if (known !== undefined) return known;
    numbers.set(batch, numbers.size);
    return numbers.size - 1;
  };
  const addLine = (line: string): void => {
    const at = line.indexOf(' ');
    if (at <= 0 || !readDigest(line.slice(at + 1), digest)) {
      throw new RangeError(`Cannot log "${line.slice(0, 120)}": not a batch and a record hash`);
    }
    spill.add(digest, numberOf(line.slice(0, at)));
  };
  return {
    add(leaves) {
      for (const line of leaves.split('\n')) if (line !== '') addLine(line);
    },
    batches: () => [...numbers.keys()],
    startingWith: (first) => spill.group(first),
  };
}

/** Reads the digest of a record hash; false for what is none. */
function readDigest(recordHash: string, digest: Buffer): boolean {
  if (recordHash.length !== PREFIX.length + 2 * HASH_BYTES) return false;
  const hex = recordHash.slice(PREFIX.length);
  return recordHash.startsWith(PREFIX) && digest.write(hex, 'hex') === HASH_BYTES;
}

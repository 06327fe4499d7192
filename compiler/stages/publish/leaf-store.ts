import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HASH_BYTES } from '../../contract/merkle.ts';
import { RECORD_HASH } from '../../contract/record-hash.ts';
import { digestOrder } from './digest-order.ts';

const FLUSH_CHARS = 2_000_000;

/** Collects what the log is to hold, by write batch, in memory that does not grow. */
export interface LeafStore {
  /** Lines as formatLeaf writes them. */
  add(leaves: string): void;
  /** Every batch that has leaves, in no order. */
  batches(): readonly string[];
  /** Digests of a batch, 32 bytes each, sorted, each once. */
  digests(batch: string): Buffer;
}

/** `folder` holds unsorted digests until they are asked for; batch names must be safe file names. */
export function leafStore(folder: string): LeafStore {
  mkdirSync(folder, { recursive: true });
  const held = new Map<string, string[]>();
  const seen = new Set<string>();
  let chars = 0;
  const flush = (): void => {
    for (const [batch, digests] of held) {
      appendFileSync(join(folder, batch), Buffer.from(digests.join(''), 'hex'));
    }
    held.clear();
    chars = 0;
  };
  return {
    add(leaves) {
      for (const line of leaves.split('\n')) {
        if (line !== '') hold(held, line);
      }
      for (const batch of held.keys()) seen.add(batch);
      chars += leaves.length;
      if (chars > FLUSH_CHARS) flush();
    },
    batches: () => [...seen],
    digests(batch) {
      flush();
      const path = join(folder, batch);
      return sortedOnce(existsSync(path) ? readFileSync(path) : Buffer.alloc(0));
    },
  };
}

function hold(held: Map<string, string[]>, line: string): void {
  const at = line.indexOf(' ');
  const hash = line.slice(at + 1);
  if (at <= 0 || !RECORD_HASH.test(hash)) {
    throw new RangeError(`Cannot log "${line.slice(0, 120)}": not a batch and a record hash`);
  }
  const batch = line.slice(0, at);
  const digests = held.get(batch);
  if (digests === undefined) held.set(batch, [hash.slice('sha256:'.length)]);
  else digests.push(hash.slice('sha256:'.length));
}

function sortedOnce(bytes: Buffer): Buffer {
  const sorted = Buffer.allocUnsafe(bytes.length);
  let end = 0;
  for (const positions of digestOrder(bytes)) {
    for (const position of positions) {
      const start = position * HASH_BYTES;
      bytes.copy(sorted, end, start, start + HASH_BYTES);
      const isRepeat =
        end > 0 && sorted.compare(sorted, end - HASH_BYTES, end, end, end + HASH_BYTES) === 0;
      if (!isRepeat) end += HASH_BYTES;
    }
  }
  return sorted.subarray(0, end);
}

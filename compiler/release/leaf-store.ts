import { factsText, type TakenFacts } from '../format/hash-index.ts';
import { RECORD_HASH } from '../format/record-hash.ts';
import { hashSpill } from './hash-lines.ts';

/** Collects what the log is to hold, in memory that does not grow. */
export interface LeafStore {
  add(leaf: Leaf): void;
  /** Adds lines of formatLeaf. */
  addLines(lines: Uint8Array): void;
  /** Lines of the leaves whose hash begins with a byte; valid until others are asked for, or one is added. */
  startingWith(first: number): Buffer;
}

/** `folder` holds what is too much for the memory. */
export function leafStore(folder: string): LeafStore {
  const spill = hashSpill(folder);
  return {
    add: (leaf) => spill.add(Buffer.from(formatLeaf(leaf))),
    addLines: (lines) => spill.add(lines),
    startingWith: (first) => spill.take(first),
  };
}

const PREFIX = 'sha256:';

/** A record hash that belongs into the log, with what it stands for. */
export interface Leaf extends TakenFacts {
  readonly record_hash: string;
}

/** A line that begins with the digits of the hash: `<64 hex> <facts>`. */
export function formatLeaf({ record_hash, ...facts }: Leaf): string {
  if (!RECORD_HASH.test(record_hash)) {
    throw new RangeError(`Cannot log "${record_hash.slice(0, 120)}": not a record hash`);
  }
  return `${record_hash.slice(PREFIX.length)} ${factsText(facts)}\n`;
}

import { FIRST_BYTES, sortedLines, textLines } from '../publish/hash-lines.ts';
import { type LeafLine, parseLeaf } from '../publish/leaf-lines.ts';
import type { LeafStore } from '../publish/leaf-store.ts';
import { LineSpill } from '../publish/line-spill.ts';
import { ReusedBytes } from '../publish/reused-bytes.ts';
import { endOf } from '../publish/sorted-lines.ts';
import { HEX_DIGITS } from './run-lines.ts';

/** Of lines in memory, before they go to the disk. */
const HELD_BYTES_MAX = 4_000_000;
/** Behind the first byte, by which leaves come. */
const LEAD_AT = 2;
const SPACE = 0x20;
const DIGIT_0 = 0x30;

/** What was found under one hash. */
interface FoundLeaf extends Pick<LeafLine, 'facts' | 'isNew'> {
  /** Of the first batch that has it. */
  readonly rank: number;
}

/** Leaves whose hash begins with one byte, by its hex digits, in their order. */
type FoundLeaves = Map<string, FoundLeaf>;

/** Takes away the leaves that a log holds already, of those that begin with a byte. Called once for each byte. */
export type Withhold = (first: number, leaves: FoundLeaves) => void;

/** What each batch adds to a log, by the rank of the batch, in memory that does not grow. */
export class FreshLeaves {
  count = 0;
  readonly #lines: LineSpill;

  /** `folder` holds what is too much for the memory. */
  constructor(folder: string, batches: number) {
    this.#lines = new LineSpill(
      folder,
      { endOf, groupOf: rankAt, groups: batches },
      HELD_BYTES_MAX,
    );
  }

  add(hex: string, { rank, facts }: FoundLeaf): void {
    this.count += 1;
    this.#lines.add(Buffer.from(`${hex} ${rank} ${facts}\n`));
  }

  /** Hex digits and facts of each leaf of a batch, in the order of the digits. */
  *ofBatch(rank: number): Generator<readonly [hex: string, facts: string]> {
    const factsAt = HEX_DIGITS + 1 + String(rank).length + 1;
    for (const lines of this.#lines.pieces(rank)) {
      for (const line of textLines(lines)) yield [line.slice(0, HEX_DIGITS), line.slice(factsAt)];
    }
  }
}

function rankAt(lines: Buffer, start: number): number {
  let rank = 0;
  for (let at = start + HEX_DIGITS + 1; lines[at] !== SPACE; at += 1) {
    rank = 10 * rank + (lines[at] ?? SPACE) - DIGIT_0;
  }
  return rank;
}

interface FreshParts {
  /** In their order. */
  readonly batches: readonly string[];
  readonly folder: string;
  readonly withhold: Withhold;
}

/** What neither the log nor a batch before it has, each hash once. */
export function freshLeaves(
  leaves: LeafStore,
  { batches, folder, withhold }: FreshParts,
): FreshLeaves {
  const fresh = new FreshLeaves(folder, batches.length);
  const rankOf = new Map(batches.map((batch, rank) => [batch, rank]));
  const memory = new ReusedBytes();
  for (let first = 0; first < FIRST_BYTES; first += 1) {
    const lines = sortedLines(leaves.startingWith(first), LEAD_AT, memory);
    const found = foundIn(lines, rankOf);
    withhold(first, found);
    for (const [hex, leaf] of found) fresh.add(hex, leaf);
  }
  return fresh;
}

function foundIn(lines: Buffer, rankOf: ReadonlyMap<string, number>): FoundLeaves {
  const found: FoundLeaves = new Map();
  for (const line of textLines(lines)) {
    const { hex, batch, ...leaf } = parseLeaf(line);
    const rank = rankOf.get(batch);
    if (rank === undefined) throw new RangeError(`Cannot log "${hex}": of no batch`);
    const known = found.get(hex);
    found.set(hex, known === undefined ? { ...leaf, rank } : firstOf(known, { ...leaf, rank }));
  }
  return found;
}

/** The one that came first, whatever the order of the lines; it is new if both are. */
function firstOf(one: FoundLeaf, other: FoundLeaf): FoundLeaf {
  const isOther = other.rank < one.rank || (other.rank === one.rank && other.facts < one.facts);
  return { ...(isOther ? other : one), isNew: one.isNew && other.isNew };
}

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  HASH_COUNT_PATH,
  type HashRun,
  hashCountText,
  isSameRun,
  runPaths,
  runsOf,
} from '../../format/hash-index.ts';
import { nodeHash } from '../../format/merkle.ts';
import { takenLeaf, treeHead } from '../../format/release-entry.ts';
import { FIRST_BYTES, hashSpill, sortedLines, textLines } from '../../release/hash-lines.ts';
import type { LeafStore } from '../../release/leaf-store.ts';
import { sha256 } from '../../release/log-tree.ts';
import type { Press } from '../../release/press.ts';
import { ReusedBytes } from '../../release/reused-bytes.ts';
import { HEX_DIGITS, hexOfLine, type RunSource, RunSpill, runFiles } from './hash-runs.ts';

/** Behind the first byte, by which leaves come. */
const LEAD_AT = 2;
/** A byte of hashes that are looked up one by one costs less than reading every line, up to one in so many. */
const SPARSE = 64;

interface TakeInParts {
  readonly press: Pick<Press, 'file'>;
  readonly leaves: LeafStore;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** Where the record hashes are written, 32 bytes each. */
  readonly into: string;
  readonly sequence: number;
  /** What the log took in so far. */
  readonly known: RunSource;
  /** Whether the files of its index are those of the release that this one goes on from, and stay where they do not change. */
  readonly isStanding: boolean;
}

/** What a release takes in. */
export interface TakenIn {
  /** As its entry states it. */
  readonly taken: ReturnType<typeof treeHead>;
  /** Files of the index that are merged into others. */
  readonly gone: readonly string[];
}

/** Finds the record hashes that the log does not hold yet, and writes the index with them in it. */
export function takeIn(parts: TakeInParts): TakenIn {
  const { press, scratch, sequence, known, isStanding } = parts;
  const before = known.runs.reduce((sum, { count }) => sum + count, 0);
  const fresh = hashSpill(join(scratch, 'fresh'));
  const tree = new GrowingTree();
  mkdirSync(dirname(parts.into), { recursive: true });
  const file = openSync(parts.into, 'wx');
  try {
    for (const found of freshLeaves(parts)) {
      for (const [hex, facts] of found) {
        fresh.add(Buffer.from(`${hex} ${facts}\n`));
        tree.append(takenLeaf(`sha256:${hex}`, sha256));
      }
      writeSync(file, Buffer.from([...found.keys()].join(''), 'hex'));
    }
  } finally {
    closeSync(file);
  }
  const total = before + tree.count;
  const added = new RunSpill(join(scratch, 'added'), runsOf(total), () => before);
  let index = 0;
  for (let first = 0; first < FIRST_BYTES; first += 1) {
    for (const line of textLines(fresh.take(first))) {
      added.add(line.slice(0, HEX_DIGITS), { sequence, index }, line.slice(HEX_DIGITS + 1));
      index += 1;
    }
  }
  const isIn = (runs: readonly HashRun[], run: HashRun): boolean =>
    runs.some((other) => isSameRun(run, other));
  const stands = (run: HashRun): boolean => isStanding && isIn(known.runs, run);
  for (const [path, lines] of runFiles(known, added, stands)) press.file(path, lines);
  press.file(HASH_COUNT_PATH, hashCountText(total));
  const merged = known.runs.filter((run) => !isIn(added.runs, run));
  return { taken: tree.head(), gone: isStanding ? merged.flatMap(runPaths) : [] };
}

/** What leaves stand for, by the hex digits of their hash, in their order. */
type Leaves = Map<string, string>;

/** Leaves that the index does not hold, each hash once: those of one first byte at a time. */
function* freshLeaves({ leaves, known }: TakeInParts): Generator<Leaves> {
  const memory = new ReusedBytes();
  for (let first = 0; first < FIRST_BYTES; first += 1) {
    const found: Leaves = new Map();
    for (const line of textLines(sortedLines(leaves.startingWith(first), LEAD_AT, memory))) {
      const hex = line.slice(0, HEX_DIGITS);
      // Of one hash the first line counts, whatever came first.
      if (!found.has(hex)) found.set(hex, line.slice(HEX_DIGITS + 1));
    }
    for (const run of known.runs) withhold(found, run, known, first);
    yield found;
  }
}

function withhold(found: Leaves, run: HashRun, known: RunSource, first: number): void {
  if (found.size === 0) return;
  if (found.size * SPARSE < run.count / FIRST_BYTES) {
    for (const hex of [...found.keys()]) if (known.has(run, hex)) found.delete(hex);
  } else {
    for (const line of textLines(known.lines(run, first))) found.delete(hexOfLine(line));
  }
}

/** The root of a tree that is never looked into. */
export class GrowingTree {
  count = 0;
  readonly #peaks: { readonly height: number; readonly hash: Uint8Array }[] = [];

  append(leaf: Uint8Array): void {
    this.count += 1;
    let node = { height: 0, hash: leaf };
    for (let left = this.#peaks.at(-1); left?.height === node.height; left = this.#peaks.at(-1)) {
      this.#peaks.pop();
      node = { height: node.height + 1, hash: nodeHash(left.hash, node.hash, sha256) };
    }
    this.#peaks.push(node);
  }

  head(): TakenIn['taken'] {
    const subtrees = this.#peaks.map(({ hash }) => hash);
    return treeHead(this.count, subtrees, sha256);
  }
}

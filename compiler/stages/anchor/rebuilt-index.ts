import { join } from 'node:path';
import { runsOf } from '../../contract/hash-index.ts';
import { HASH_BYTES } from '../../contract/merkle.ts';
import { takenLeaf } from '../../contract/release-entry.ts';
import { takenPath } from '../../contract/tiles.ts';
import { readPlain } from '../../verify/plain-file.ts';
import { byteAt, FIRST_BYTES, textLines } from '../publish/hash-lines.ts';
import type { LeafStore } from '../publish/leaf-store.ts';
import { LineSpill } from '../publish/line-spill.ts';
import { endOf } from '../publish/sorted-lines.ts';
import { HEX_DIGITS, RunSpill } from './hash-runs.ts';
import { type OpenLog, readOrRefuse, refused } from './log-folder.ts';
import { sha256 } from './log-tree.ts';
import { GrowingTree } from './take-in.ts';

/** Of lines in memory, before they go to the disk. */
const HELD_BYTES_MAX = 4_000_000;

/**
 * The index of a log of which the release is lost or damaged: what each release took in stands in the log, and what a hash
 * stands for is said by the snapshots. Throws a CompileError for a hash of which no snapshot is left.
 */
export function rebuiltIndex(
  data: string,
  log: OpenLog,
  { leaves, folder }: { readonly leaves: LeafStore; readonly folder: string },
): RunSpill {
  const form = { endOf, groupOf: byteAt, groups: FIRST_BYTES };
  const hashes = new LineSpill(join(folder, 'taken'), form, HELD_BYTES_MAX);
  const starts = new Map<number, number>();
  let total = 0;
  for (let sequence = firstSequence(log); sequence <= log.last.sequence; sequence += 1) {
    starts.set(sequence, total);
    total += readTaken(data, log, sequence, (hex, index) => {
      hashes.add(Buffer.from(`${hex} ${sequence} ${index}\n`));
    });
  }
  const startOf = (sequence: number): number => starts.get(sequence) ?? 0;
  const runs = new RunSpill(join(folder, 'rebuilt'), runsOf(total), startOf);
  for (let first = 0; first < FIRST_BYTES; first += 1) {
    const facts = new Map<string, string>();
    for (const line of textLines(leaves.startingWith(first))) {
      const [hex, own] = [line.slice(0, HEX_DIGITS), line.slice(HEX_DIGITS + 1)];
      if (own < (facts.get(hex) ?? '~')) facts.set(hex, own);
    }
    for (const line of textLines(hashes.take(first))) {
      const [hex = '', sequence, index] = line.split(' ');
      const own = facts.get(hex);
      if (own === undefined) {
        throw refused(hex, `what release ${sequence} took in is in no snapshot any more`);
      }
      runs.add(hex, { sequence: Number(sequence), index: Number(index) }, own);
    }
  }
  return runs;
}

function firstSequence(log: OpenLog): number {
  let { sequence } = log.last;
  while (log.entryOf(sequence - 1) !== null) sequence -= 1;
  return sequence;
}

/** Gives each record hash that a release took in, and returns their number; they have to be those of its entry. */
function readTaken(
  data: string,
  log: OpenLog,
  sequence: number,
  take: (hex: string, index: number) => void,
): number {
  const entry = log.entryOf(sequence)?.new;
  const path = takenPath(sequence);
  if (entry === undefined || entry.count === 0) return 0;
  const bytes = readOrRefuse(path, () => readPlain(join(data, path), entry.count * HASH_BYTES));
  const tree = new GrowingTree();
  for (let index = 0; index < entry.count; index += 1) {
    const hex = bytes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
    tree.append(takenLeaf(`sha256:${hex.padEnd(HEX_DIGITS, '0')}`, sha256));
    take(hex, index);
  }
  if (tree.head().root !== entry.root)
    throw refused(path, 'it does not give the root of its entry');
  return entry.count;
}

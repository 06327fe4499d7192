import { join } from 'node:path';
import { defined } from '../../format/defined.ts';
import { runsOf } from '../../format/hash-index.ts';
import { HASH_BYTES } from '../../format/merkle.ts';
import { takenLeaf } from '../../format/release-entry.ts';
import { takenPath } from '../../format/tiles.ts';
import { FIRST_BYTES, hashSpill, textLines } from '../../release/hash-lines.ts';
import type { LeafStore } from '../../release/leaf-store.ts';
import { type OpenLog, readOrRefuse, refused } from '../../release/log-folder.ts';
import { sha256 } from '../../release/log-tree.ts';
import { readPlain } from '../../system/plain-file.ts';
import { HEX_DIGITS, RunSpill } from './hash-runs.ts';
import { GrowingTree } from './take-in.ts';

/**
 * The index of a log of which the release is lost or damaged: what each release took in stands in the log, and what a hash
 * stands for is said by the snapshots. Throws a CompileError for a hash of which no snapshot is left.
 */
export function rebuiltIndex(
  data: string,
  log: OpenLog,
  { leaves, folder }: { readonly leaves: LeafStore; readonly folder: string },
): RunSpill {
  const hashes = hashSpill(join(folder, 'taken'));
  const starts = new Map<number, number>();
  let total = 0;
  let from = log.last.sequence;
  while (log.entryOf(from - 1) !== null) from -= 1;
  for (let sequence = from; sequence <= log.last.sequence; sequence += 1) {
    starts.set(sequence, total);
    const { count, root } = defined(log.entryOf(sequence), 'an entry').new;
    const path = takenPath(sequence);
    // A release that took in nothing has no file.
    if (count === 0) continue;
    const bytes = readOrRefuse(path, () => readPlain(join(data, path), count * HASH_BYTES));
    const tree = new GrowingTree();
    for (let index = 0; index < count; index += 1) {
      const hex = bytes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
      tree.append(takenLeaf(`sha256:${hex.padEnd(HEX_DIGITS, '0')}`, sha256));
      hashes.add(Buffer.from(`${hex} ${sequence} ${index}\n`));
    }
    if (tree.head().root !== root) throw refused(path, 'it does not give the root of its entry');
    total += count;
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

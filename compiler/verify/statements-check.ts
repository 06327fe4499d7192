import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { citationSchema, citedTarget } from '../format/citation.ts';
import { messageOf } from '../format/errors.ts';
import type { ReleaseEntry } from '../format/release-entry.ts';
import {
  BLOCK_LEAVES,
  BLOCKS_PATH,
  blockBytes,
  blockFilePath,
  blockLevels,
  STATEMENTS_FOLDER,
  statementLeaf,
} from '../format/statement-tree.ts';
import { isObject, type JsonValue } from '../format/strict-json.ts';
import { type LogSource, RecomputedTree } from './log-tiles-check.ts';

/** The line of a body with a citation of its own: the target that it answers, a space, the statement; null for any other. */
export function statementLine(body: JsonValue): string | null {
  if (!isObject(body)) return null;
  const parsed = citationSchema.safeParse(body._citation);
  const target = parsed.success ? citedTarget(parsed.data) : null;
  return target === null ? null : `${target} ${parsed.data?.record_hash}`;
}

/**
 * Makes the tree over all statements again from the bodies, and compares it with what is stored and with the entry of the
 * release; answers how many there are.
 */
export function checkStatements(
  source: LogSource,
  lines: readonly string[],
  all: ReleaseEntry['all'] | null,
): number {
  const { faults, listed } = source;
  // Each target once, in the order of their bytes.
  const statements = [...lines].sort().map((line) => line.split(' '));
  for (const [at, [target = '']] of statements.entries()) {
    if (target === statements[at - 1]?.[0])
      faults.add(BLOCKS_PATH, target, 'two bodies answer this target');
  }
  const tree = new RecomputedTree();
  const expected = new Set([BLOCKS_PATH]);
  let text = '';
  for (let start = 0; start < statements.length; start += BLOCK_LEAVES) {
    const block = statements.slice(start, start + BLOCK_LEAVES);
    const leaves = block.map(([target = '', hash = '']) => statementLeaf(target, hash, sha256));
    const path = blockFilePath(start / BLOCK_LEAVES);
    expected.add(path);
    for (const leaf of leaves) tree.add(leaf);
    text += `${rootOf(leaves)} ${block[0]?.[0]}\n`;
    compare(source, path, blockBytes(leaves, sha256), 'hashes');
  }
  compare(source, BLOCKS_PATH, Buffer.from(text), 'blocks');
  for (const path of listed) {
    if (path.startsWith(`${STATEMENTS_FOLDER}/`) && !expected.has(path))
      faults.add(path, '', 'belongs to no block');
  }
  if (all !== null) compareAll(source, tree, all);
  return statements.length;
}

function rootOf(leaves: readonly Uint8Array[]): string {
  const tree = new RecomputedTree();
  for (const leaf of leaves) tree.add(leaf);
  return bytesToHex(tree.root());
}

function compare(source: LogSource, path: string, want: Uint8Array, what: string): void {
  const bytes = source.read(path);
  if (bytes !== null && Buffer.compare(want, bytes) !== 0)
    source.faults.add(path, '', `not the ${what} that the statements of the bodies give`);
}

function compareAll({ faults }: LogSource, { head }: RecomputedTree, all: ReleaseEntry['all']) {
  for (const name of ['count', 'root'] as const) {
    if (head[name] === all[name]) continue;
    faults.add(BLOCKS_PATH, name, `${head[name]}, but the log states ${all[name]}`);
  }
}

/** Compares the stored blocks with each other and with the entry of the release, without a look at the bodies. */
export function checkBlocks(source: LogSource, all: ReleaseEntry['all']): void {
  const tree = new RecomputedTree();
  const stored = source.read(BLOCKS_PATH);
  if (stored === null) return;
  const rows = Buffer.from(stored).toString('latin1').split('\n').slice(0, -1);
  for (const [number, row] of rows.entries()) {
    const path = blockFilePath(number);
    const bytes = source.read(path);
    if (bytes === null) return;
    try {
      const isLast = number === rows.length - 1;
      const width = isLast ? all.count - number * BLOCK_LEAVES : BLOCK_LEAVES;
      if (width < 1 || width > BLOCK_LEAVES) throw new RangeError('the log states another count');
      const leaves = blockLevels(bytes, width)[0] ?? [];
      for (const leaf of leaves) tree.add(leaf);
      if (Buffer.compare(blockBytes(leaves, sha256), bytes) !== 0)
        throw new RangeError('its hashes do not follow from its leaves');
      if (!row.startsWith(`${rootOf(leaves)} `))
        source.faults.add(BLOCKS_PATH, `line ${number + 1}`, `not the root of "${path}"`);
    } catch (error) {
      source.faults.add(path, '', messageOf(error));
    }
  }
  compareAll(source, tree, all);
}

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { citationSchema, citedTarget } from '../contract/citation.ts';
import { defined } from '../contract/defined.ts';
import { messageOf } from '../contract/errors.ts';
import type { ReleaseEntry } from '../contract/release-entry.ts';
import {
  BLOCK_LEAVES,
  BLOCKS_PATH,
  blockBytes,
  blockFilePath,
  blockLevels,
  STATEMENTS_FOLDER,
  statementLeaf,
} from '../contract/statement-tree.ts';
import { isObject, type JsonValue } from '../contract/strict-json.ts';
import { type LogSource, RecomputedTree } from './log-tiles-check.ts';

/** The line of a body with a citation of its own: the target that it answers, a space, the statement; null for any other. */
export function statementLine(body: JsonValue): string | null {
  if (!isObject(body)) return null;
  const parsed = citationSchema.safeParse(body._citation);
  const target = parsed.success ? citedTarget(parsed.data) : null;
  return target === null ? null : `${target} ${parsed.data?.record_hash}`;
}

interface Statement {
  readonly target: string;
  readonly leaf: Uint8Array;
}

/** Makes the tree over all statements again from the bodies, and compares it with what is stored and with the entry of the release; answers how many there are. */
export function checkStatements(
  source: LogSource,
  lines: readonly string[],
  all: ReleaseEntry['all'] | null,
): number {
  const { faults, listed } = source;
  const statements = sortedStatements(lines, source);
  const tree = new RecomputedTree();
  const expected = new Set([BLOCKS_PATH]);
  let text = '';
  for (let start = 0; start < statements.length; start += BLOCK_LEAVES) {
    const block = statements.slice(start, start + BLOCK_LEAVES);
    const path = blockFilePath(start / BLOCK_LEAVES);
    expected.add(path);
    const own = new RecomputedTree();
    for (const { leaf } of block) {
      own.add(leaf);
      tree.add(leaf);
    }
    text += `${bytesToHex(own.root())} ${defined(block[0], 'a statement').target}\n`;
    const want = blockBytes(
      block.map(({ leaf }) => leaf),
      sha256,
    );
    const bytes = source.read(path);
    if (bytes !== null && !Buffer.from(want).equals(bytes))
      faults.add(path, '', 'not the hashes that the statements of the bodies give');
  }
  const stored = source.read(BLOCKS_PATH);
  if (stored !== null && !Buffer.from(text).equals(stored))
    faults.add(BLOCKS_PATH, '', 'not the blocks that the statements of the bodies give');
  for (const path of listed) {
    if (path.startsWith(`${STATEMENTS_FOLDER}/`) && !expected.has(path))
      faults.add(path, '', 'belongs to no block');
  }
  if (all !== null) compareAll(source, { count: tree.size, root: rootText(tree) }, all);
  return statements.length;
}

/** Each target once, in the order of their bytes. */
function sortedStatements(lines: readonly string[], { faults }: LogSource): Statement[] {
  let last = '';
  return [...lines].sort().map((line) => {
    const [target = '', statement = ''] = line.split(' ');
    if (target === last) faults.add(BLOCKS_PATH, target, 'two bodies answer this target');
    last = target;
    return { target, leaf: statementLeaf(target, statement, sha256) };
  });
}

function compareAll({ faults }: LogSource, made: ReleaseEntry['all'], all: ReleaseEntry['all']) {
  for (const name of ['count', 'root'] as const) {
    if (made[name] === all[name]) continue;
    faults.add(BLOCKS_PATH, name, `${made[name]}, but the log states ${all[name]}`);
  }
}

function rootText(tree: RecomputedTree): string {
  return `sha256:${bytesToHex(tree.root())}`;
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
      const own = new RecomputedTree();
      for (const leaf of leaves) {
        own.add(leaf);
        tree.add(leaf);
      }
      if (!Buffer.from(blockBytes(leaves, sha256)).equals(bytes))
        throw new RangeError('its hashes do not follow from its leaves');
      if (!row.startsWith(`${bytesToHex(own.root())} `))
        source.faults.add(BLOCKS_PATH, `line ${number + 1}`, `not the root of "${path}"`);
    } catch (error) {
      source.faults.add(path, '', messageOf(error));
    }
  }
  compareAll(source, { count: tree.size, root: rootText(tree) }, all);
}

/**
 * The tree over all statements of a release, as far as it stays in memory: root and first target of each block, checked against
 * the entry of the release in the log. One block, read when it is asked for, gives the path of each of its leaves.
 */
import { firstWhere } from '../../../compiler/format/lists.ts';
import { completeLevels, HASH_BYTES, rangeHash } from '../../../compiler/format/merkle.ts';
import {
  BLOCK_LEAVES,
  BLOCKS_PATH,
  blockFilePath,
  blockLevels,
  blockWidth,
  statementLeaf,
  statementPath,
} from '../../../compiler/format/statement-tree.ts';
import { FOR_EVERYBODY } from '../../wire/cost.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { logTip } from './log-tip.ts';
import { DamagedFileError, sha256 } from './read-body.ts';
import { perRelease, type ReleaseIndex, type ReleaseReader } from './release-index.ts';

/** Bytes of blocks whose levels are kept. */
const OPENED_BYTES_MAX = 4 * 1024 * 1024;

const LINE = /^([0-9a-f]{64}) (.+)$/;

const blocksOf = perRelease(async (release: ReleaseIndex) => {
  const [{ entry }, { bytes }] = await Promise.all([
    logTip(release),
    release.body(BLOCKS_PATH, FOR_EVERYBODY),
  ]);
  const targets: string[] = [];
  const roots: Uint8Array[] = [];
  for (const line of bytes.toString('utf8').split('\n').slice(0, -1)) {
    const [, hex = '', target = ''] = LINE.exec(line) ?? [];
    targets.push(target);
    roots.push(Buffer.from(hex, 'hex'));
  }
  const { count, root } = entry.all;
  const levels = completeLevels(roots, sha256);
  const made = rangeHash({ start: 0, end: roots.length }, levels, sha256);
  const isSame = root === `sha256:${Buffer.from(made).toString('hex')}`;
  if (isSame && roots.length === Math.ceil(count / BLOCK_LEAVES))
    return { count, targets, levels, opened: openedBlocks() };
  throw new DamagedFileError(
    `Cannot prove what is sold: "${BLOCKS_PATH}" is not of the root that the log states; compile again with --full`,
  );
});

/** The levels of blocks that were asked for last, by number. */
function openedBlocks() {
  type Levels = ReturnType<typeof blockLevels>;
  return new BoundedMap<number, Levels>({ bytes: OPENED_BYTES_MAX, isByUse: true });
}

/** The place of the statement that answers a target; null where the release has none. Throws when the disk does not allow it. */
export async function placeOfStatement(
  { target, statement }: { readonly target: string; readonly statement: string },
  { release, spend }: ReleaseReader,
) {
  const { count, targets, levels, opened } = await blocksOf(release);
  const number = firstWhere(targets.length, (at) => (targets[at] ?? '') > target) - 1;
  if (number < 0) return null;
  const { bytes } = await release.body(blockFilePath(number), spend);
  const width = blockWidth(number, count);
  const block = opened.get(number) ?? blockLevels(bytes, width);
  opened.set(number, block, bytes.length);
  const leaf = statementLeaf(target, statement, sha256);
  const leaves = bytes.subarray(0, width * HASH_BYTES);
  let at = leaves.indexOf(leaf);
  while (at !== -1 && at % HASH_BYTES > 0) at = leaves.indexOf(leaf, at + 1);
  if (at === -1) return null;
  const index = number * BLOCK_LEAVES + at / HASH_BYTES;
  return { index, hashes: statementPath({ index, count }, block, levels, sha256) };
}

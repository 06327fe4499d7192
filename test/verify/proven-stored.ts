import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { openNote } from '../../compiler/format/checkpoint.ts';
import { citationSchema, citedTarget } from '../../compiler/format/citation.ts';
import { defined } from '../../compiler/format/defined.ts';
import { completeLevels, leafHash } from '../../compiler/format/merkle.ts';
import { parseReleaseEntry } from '../../compiler/format/release-entry.ts';
import {
  BLOCK_LEAVES,
  BLOCKS_PATH,
  blockFilePath,
  blockLevels,
  blockWidth,
  statementLeaf,
  statementPath,
} from '../../compiler/format/statement-tree.ts';
import type { JsonObject } from '../../compiler/format/strict-json.ts';
import { bundleEntries, CHECKPOINT_PATH, tilePath } from '../../compiler/format/tiles.ts';
import { formatTlogProof } from '../../compiler/format/tlog-proof.ts';
import { formatProofExtra } from '../../compiler/products/shapes/body-proof.ts';
import { fileOf } from '../snapshot-folder.ts';
import { hex, sha256, Tree } from './invented-issuer.ts';

/** A body of the newest release with its proof, made of the files of that release and of a log of less than a tile. */
export function provenStored(root: string, body: JsonObject): JsonObject {
  const data = join(realpathSync(root), '../..');
  const checkpoint = readFileSync(join(data, CHECKPOINT_PATH), 'utf8');
  const size = defined(openNote(checkpoint)?.checkpoint, 'the checkpoint').size;
  const bundle = tilePath({ level: 'entries', index: 0, width: size });
  const entries = bundleEntries(readFileSync(join(data, bundle)));
  const entryBytes = defined(entries.at(-1), 'the newest entry');
  const { count } = defined(parseReleaseEntry(entryBytes) ?? undefined, 'its entry').all;
  const lines = readFileSync(fileOf(root, BLOCKS_PATH), 'utf8').split('\n').slice(0, -1);
  const roots = lines.map((line) => Buffer.from(line.slice(0, 64), 'hex'));
  const cited = citationSchema.parse(body._citation);
  const leaf = hex(statementLeaf(citedTarget(cited) ?? '', cited.record_hash, sha256));
  for (const number of roots.keys()) {
    const bytes = readFileSync(fileOf(root, blockFilePath(number)));
    const levels = blockLevels(bytes, blockWidth(number, count));
    const at = defined(levels[0], 'the leaves').findIndex((one) => hex(one) === leaf);
    if (at === -1) continue;
    const index = number * BLOCK_LEAVES + at;
    const hashes = statementPath({ index, count }, levels, completeLevels(roots, sha256), sha256);
    const extra = formatProofExtra({ entryBytes, index, hashes });
    const tree = new Tree(entries.map((entry) => leafHash(entry, sha256)));
    const proof = { index: size - 1, hashes: tree.path(size - 1), checkpoint, extra };
    return { ...body, _proof: formatTlogProof(proof) };
  }
  throw new RangeError('Cannot prove a body: the release has no such statement');
}

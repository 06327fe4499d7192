// The log of the first format lies in the release, with an entry for each record hash. It goes on beside the releases: its
// tiles are copied, the hash of its own release follows, and what it holds of readings and rows is taken in once more.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NOTE_CHARS_MAX } from '../../contract/checkpoint.ts';
import type { Release } from '../../contract/release.ts';
import { CHECKPOINT_PATH, LOG_FOLDER, logEntry, tilePath, tilesOf } from '../../contract/tiles.ts';
import { readPlain } from '../../verify/plain-file.ts';
import type { LeafStore } from '../publish/leaf-store.ts';
import { canonicalDigest } from '../seal/jcs.ts';
import { openCheckpoint } from './checkpoint-note.ts';
import type { CurrentRelease } from './current-release.ts';
import { hashOfRange, readEdge, refused, writeLogFiles } from './log-folder.ts';
import { appendEntries, hexOf, type TreeEdge } from './log-tree.ts';

/** Beside the releases: the newest checkpoint that one of them carried, and timestamps. */
const LAST_CHECKPOINT = 'log-checkpoint';
const ANCHORS_FOLDER = 'anchors';
/** A line of the index: the hash, its position, and what it stands for. */
const LINE = /^\["sha256:([0-9a-f]{64})",\d+,("(?:reading|row)",.*)\]$/;

interface FirstLog {
  readonly data: string;
  readonly head: Release;
  readonly release: CurrentRelease;
  /** Who may have signed it. */
  readonly issuers: readonly string[];
}

/** Copies the log of a release of the first format, with the entry of its head; null where it has none. */
export function copyFirstLog({ data, head, release, issuers }: FirstLog): TreeEdge | null {
  const note = release.read(CHECKPOINT_PATH)?.toString('utf8');
  if (note === undefined) return null;
  const signed = openCheckpoint(note, issuers);
  if (signed === null) throw refused(CHECKPOINT_PATH, 'not a checkpoint that this issuer signed');
  const copy = (path: string): void => {
    const bytes = release.read(path);
    if (bytes === null) throw refused(path, 'it is not there');
    mkdirSync(dirname(join(data, path)), { recursive: true });
    writeFileSync(join(data, path), bytes);
  };
  for (const tile of tilesOf(signed.size)) copy(tilePath(tile));
  for (const path of release.under(`${LOG_FOLDER}/anchor/`)) copy(path);
  copyAnchors(data);
  const edge = readEdge(data, signed);
  if (head.log_index !== undefined) {
    writeLogFiles(data, appendEntries(edge, [logEntry(canonicalDigest(head))]));
  }
  refuseShorter(data, { edge, issuers });
  return edge;
}

function copyAnchors(data: string): void {
  const folder = join(data, ANCHORS_FOLDER);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(data, LOG_FOLDER, 'anchor', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, readPlain(join(folder, name), NOTE_CHARS_MAX));
  }
}

/** The newest checkpoint that left this folder has to be one of this log: anything else would be a fork. A kill behind the switch left that of the release before. */
function refuseShorter(
  data: string,
  { edge, issuers }: { readonly edge: TreeEdge; readonly issuers: readonly string[] },
): void {
  const path = join(data, LAST_CHECKPOINT);
  if (!existsSync(path)) return;
  const last = openCheckpoint(readPlain(path, NOTE_CHARS_MAX).toString('utf8'), issuers);
  if (last === null) throw refused(LAST_CHECKPOINT, 'it is damaged');
  const { size, root } = last;
  const isOf =
    size <= edge.size &&
    hexOf(hashOfRange(data, { start: 0, end: size }, edge.size)) === hexOf(root);
  if (isOf) return;
  throw refused(
    LAST_CHECKPOINT,
    `another log of ${size} entries was already signed than that of the current release, which has ${edge.size}`,
  );
}

/** Gives the record hashes of readings and rows that the log holds to what is taken in. */
export function takeFirstIndex({ under, read }: CurrentRelease, leaves: LeafStore): void {
  for (const path of under(`${LOG_FOLDER}/index/`)) {
    const bytes = read(path);
    if (bytes === null) throw refused(path, 'it is not there');
    const lines = bytes.toString('utf8').split('\n');
    for (const line of lines) {
      const [, hex, facts] = LINE.exec(line) ?? [];
      if (hex !== undefined) leaves.addLines(Buffer.from(`${hex} ${facts}\n`));
    }
  }
}

/** Removes what a log of the first format left beside the releases, once it went on. */
export function removeFirstFiles(data: string): void {
  rmSync(join(data, LAST_CHECKPOINT), { force: true });
  rmSync(join(data, ANCHORS_FOLDER), { recursive: true, force: true });
}

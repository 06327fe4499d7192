// The log of the first format lies in the release, with an entry for each record hash. It goes on beside the releases: its
// tiles are copied, the hash of its own release follows, and what it holds of readings and rows is taken in once more.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NOTE_CHARS_MAX } from '../../format/checkpoint.ts';
import type { Release } from '../../format/release.ts';
import { CHECKPOINT_PATH, LOG_FOLDER, logEntry, tilePath, tilesOf } from '../../format/tiles.ts';
import type { CurrentRelease } from '../../release/current-release.ts';
import type { LeafStore } from '../../release/leaf-store.ts';
import {
  filesOfLog,
  readEdge,
  readOrRefuse,
  refused,
  writeLogFiles,
} from '../../release/log-folder.ts';
import { appendEntries, hexOf, rootOf, type TreeEdge } from '../../release/log-tree.ts';
import { canonicalDigest } from '../../system/jcs.ts';
import { readPlain } from '../../system/plain-file.ts';
import { judgeNote } from '../../verify/log-notes.ts';

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
  const { checkpoint: signed } = judgeNote(note, issuers);
  if (signed === null) throw refused(CHECKPOINT_PATH, 'not a checkpoint that this issuer signed');
  const put = (path: string, bytes: Uint8Array | null): void => {
    if (bytes === null) throw refused(path, 'it is not there');
    mkdirSync(dirname(join(data, path)), { recursive: true });
    writeFileSync(join(data, path), bytes);
  };
  for (const path of tilesOf(signed.size).map(tilePath)) put(path, release.read(path));
  for (const path of release.under(`${LOG_FOLDER}/anchor/`)) put(path, release.read(path));
  const anchors = join(data, ANCHORS_FOLDER);
  for (const name of existsSync(anchors) ? readdirSync(anchors) : []) {
    put(`${LOG_FOLDER}/anchor/${name}`, readPlain(join(anchors, name), NOTE_CHARS_MAX));
  }
  const edge = readEdge(data, signed);
  if (head.log_index !== undefined) {
    writeLogFiles(data, appendEntries(edge, [logEntry(canonicalDigest(head))]));
  }
  // The newest checkpoint that left this folder has to be one of this log: anything else would be a fork. A kill behind the
  // switch left that of the release before.
  const path = join(data, LAST_CHECKPOINT);
  if (!existsSync(path)) return edge;
  const text = readPlain(path, NOTE_CHARS_MAX).toString('utf8');
  const { checkpoint: last } = judgeNote(text, issuers);
  if (last === null) throw refused(LAST_CHECKPOINT, 'it is damaged');
  const { size, root } = last;
  const { hashOf } = filesOfLog(data, { size: edge.size, root: rootOf(edge) });
  const rootThen = (): Uint8Array =>
    readOrRefuse(LOG_FOLDER, () => hashOf({ start: 0, end: size }));
  if (size <= edge.size && hexOf(rootThen()) === hexOf(root)) return edge;
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

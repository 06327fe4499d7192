import { cpSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KEYS_PATH } from '../compiler/format/key-history.ts';
import {
  type FileEntry,
  formatFiles,
  isPublicPath,
  parseFiles,
  RELEASE_NAME,
} from '../compiler/format/release.ts';
import { LOG_FOLDER } from '../compiler/format/tiles.ts';
import { storedPath } from '../compiler/products/shapes/path.ts';

/** The public lines of the list of the current release. */
export function publicEntries(data: string): FileEntry[] {
  const list = readFileSync(join(data, 'current', 'files.txt'), 'utf8');
  return parseFiles(list).filter(({ path }) => isPublicPath(path));
}

/** Fewer than one report names. */
const NAMED_AT_ONCE = 90;

/** Files in groups that one report names whole: without the list of keys nothing else is looked at. */
export function namedAtOnce(entries: readonly FileEntry[]): FileEntry[][] {
  const others = entries.filter(({ path }) => path !== KEYS_PATH);
  const groups = [entries.filter(({ path }) => path === KEYS_PATH)];
  for (let at = 0; at < others.length; at += NAMED_AT_ONCE) {
    groups.push(others.slice(at, at + NAMED_AT_ONCE));
  }
  return groups;
}

/** Copies what anybody may have of the current release and the log, in the layout of a data folder. */
export function copyPublicPart(data: string, to: string): string {
  const root = readlinkSync(join(data, 'current'));
  mkdirSync(join(to, root), { recursive: true });
  cpSync(join(data, root, RELEASE_NAME), join(to, root, RELEASE_NAME));
  cpSync(join(data, LOG_FOLDER), join(to, LOG_FOLDER), { recursive: true });
  const entries = publicEntries(data);
  writeFileSync(join(to, root, 'files.txt'), formatFiles(entries));
  for (const { path, sha256 } of entries) {
    const stored = storedPath(path, sha256);
    mkdirSync(dirname(join(to, stored)), { recursive: true });
    cpSync(join(data, stored), join(to, stored));
  }
  symlinkSync(root, join(to, 'current'));
  return to;
}

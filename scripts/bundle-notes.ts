import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { defined } from '../compiler/format/errors.ts';

// What a bundle was made of, and what was made, as sha256 by path: nothing is bundled twice from the same sources.

export function isBuilt(notes: string): boolean {
  if (!existsSync(notes)) return false;
  const digests = JSON.parse(readFileSync(notes, 'utf8')) as Readonly<Record<string, string>>;
  return Object.entries(digests).every(([path, digest]) => digestOf(path) === digest);
}

/** Writes the notes of modules of a bundle, and of other files that it follows from or consists of. */
export function noteBuilt(
  notes: string,
  modules: readonly string[],
  files: readonly string[],
): void {
  const paths = [...new Set([...modules.flatMap(ownSource), ...files])].sort();
  const digests = Object.fromEntries(paths.map((path) => [path, digestOf(path)]));
  store(notes, `${JSON.stringify(digests, null, 1)}\n`);
}

/** A module of a bundle as a file of this repository, by its path in it; none for what is installed, which follows from the lockfile. */
export function ownSource(id: string): string[] {
  const path = relative('.', defined(id.split('?')[0], 'the path of the module'));
  return path.startsWith('..') || path.includes('node_modules') || !existsSync(path) ? [] : [path];
}

export function store(path: string, bytes: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

function digestOf(path: string): string {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
}

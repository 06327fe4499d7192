import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { defined } from '../compiler/contract/defined.ts';

/** A module of a bundle as a file of this repository, by its path in it; none for what is installed, which follows from the lockfile. */
export function ownSource(id: string): string[] {
  const path = relative('.', defined(id.split('?')[0], 'the path of the module'));
  return path.startsWith('..') || path.includes('node_modules') || !existsSync(path) ? [] : [path];
}

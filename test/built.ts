import { join } from 'node:path';
import { inject } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Where a file of the build stands; throws for an old build, so that no test judges a program of yesterday. */
export function built(path: string): string {
  const fault = inject('buildProblem');
  if (fault !== null) throw new Error(fault);
  return join(ROOT, 'build', path);
}

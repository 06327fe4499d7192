import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../publish/replace-file.ts';

const NAME = 'log-checkpoint';

/** The newest checkpoint that a release of this folder carried, or null before the first. */
export function readLastCheckpoint(data: string): string | null {
  const path = join(data, NAME);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** Remembers a checkpoint once its release is visible, so that no later compile can sign a shorter log. */
export function keepLastCheckpoint(data: string, note: string): void {
  replaceFile(join(data, NAME), note);
}

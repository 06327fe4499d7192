import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NOTE_CHARS_MAX } from '../../contract/checkpoint.ts';
import { readPlain } from '../../verify/plain-file.ts';
import { replaceFile } from '../publish/replace-file.ts';

const NAME = 'log-checkpoint';

/** The newest checkpoint that a release of this folder carried, or null before the first. */
export function readLastCheckpoint(data: string): string | null {
  const path = join(data, NAME);
  return existsSync(path) ? readPlain(path, NOTE_CHARS_MAX).toString('utf8') : null;
}

/** Remembers a checkpoint once its release is visible, so that no later compile can sign a shorter log. */
export function keepLastCheckpoint(data: string, note: string): void {
  replaceFile(join(data, NAME), note);
}

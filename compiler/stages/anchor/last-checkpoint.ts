import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const NAME = 'log-checkpoint';

/** The newest checkpoint that a release of this folder carried, or null before the first. */
export function readLastCheckpoint(data: string): string | null {
  const path = join(data, NAME);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** Remembers a checkpoint once its release is visible, so that no later compile can sign a shorter log. */
export function keepLastCheckpoint(data: string, note: string): void {
  const path = join(data, NAME);
  const fresh = `${path}.new`;
  const file = openSync(fresh, 'w');
  try {
    writeFileSync(file, note);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
}

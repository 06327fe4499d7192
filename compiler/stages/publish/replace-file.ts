import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Replaces a file in one step, which a power cut does not halve, by way of `fresh` on the same disk. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  fresh = `${path}.new`,
): void {
  const file = openSync(fresh, 'w');
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
  syncFolder(dirname(path));
}

/** The name of a file is durable only once its folder is. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

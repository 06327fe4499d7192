import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

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

/** Makes a folder, and those above it, whose names a power cut does not take away. */
export function durableFolder(folder: string): void {
  const whole = resolve(folder);
  const first = mkdirSync(whole, { recursive: true });
  if (first === undefined) return;
  for (let made = whole; made.length >= first.length; made = dirname(made)) {
    syncFolder(dirname(made));
  }
}

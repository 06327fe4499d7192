import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Replaces a file that its owner alone may read; after a power cut it is the old one or the new one, whole. */
export function replaceFile(path: string, text: string): void {
  // Several processes may replace it at the same time.
  const fresh = `${path}.${process.pid}.new`;
  synced(openSync(fresh, 'w', 0o600), (file) => writeFileSync(file, text));
  renameSync(fresh, path);
  // The name of a file is durable only once its folder is.
  synced(openSync(dirname(path), 'r'), () => undefined);
}

function synced(handle: number, write: (handle: number) => void): void {
  try {
    write(handle);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

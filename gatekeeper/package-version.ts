import { fileURLToPath } from 'node:url';
import { readOwnFile } from './system/plain-file.ts';

/** Longest package.json that is read. */
const PACKAGE_BYTES_MAX = 1_048_576;

/** Version of the package that contains the build: of this file, and of the bundle beside it. */
export function packageVersion(): string {
  const path = fileURLToPath(new URL('../../package.json', import.meta.url));
  const { bytes } = readOwnFile(path, PACKAGE_BYTES_MAX);
  return String(JSON.parse(bytes.toString('utf8')).version);
}

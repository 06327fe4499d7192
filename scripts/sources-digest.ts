import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders whose sources a build compiles into programs. */
const FOLDERS = ['compiler', 'gatekeeper', 'scripts', 'test/lab'];
const SOURCE = /(?<!\.test)\.(ts|js|json)$/;

/** SHA-256, in hex, over the paths and the bytes of all sources of a build; `root` is the folder of the repository. */
export function sourcesDigest(root: string): string {
  const digest = createHash('sha256');
  for (const path of FOLDERS.flatMap((folder) => sourcesBelow(root, folder)).sort()) {
    const bytes = readFileSync(join(root, path));
    digest.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return digest.digest('hex');
}

function sourcesBelow(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => SOURCE.test(name)).map((name) => join(folder, name));
}

/** Where a build notes what it was made of. */
export function stampPath(root: string): string {
  return join(root, 'build/.sources');
}

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Text } from '../../sha256-text.ts';

/** Every file of a folder with the digest of what it holds. */
export function digestsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [name, sha256Text(readFileSync(join(folder, name)).toString('latin1'))]),
  );
}

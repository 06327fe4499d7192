import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SAMPLE_LABEL } from './sample-files.ts';

/**
 * Replaces the sample in a snapshots folder and gives its bytes; files that do not carry its label stay. Throws where such
 * a file has the name of one of the sample.
 */
export function writeSample(root: string, files: ReadonlyMap<string, string>): number {
  mkdirSync(root, { recursive: true });
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      const batch = join(root, entry.name);
      const names = readdirSync(batch);
      const own = names.filter((name) => name.endsWith('.ndjson') && isSample(join(batch, name)));
      for (const name of own) rmSync(join(batch, name));
      if (own.length > 0 && own.length === names.length) rmdirSync(batch);
    }
  }
  const foreign = [...files.keys()].find((path) => existsSync(join(root, path)));
  if (foreign !== undefined) {
    throw new Error(
      `Cannot write sample into "${root}": "${foreign}" is there and is no sample; choose another folder`,
    );
  }
  let bytes = 0;
  for (const folder of new Set([...files.keys()].map(dirname))) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  for (const [path, text] of files) {
    writeFileSync(join(root, path), text, { flag: 'wx' });
    bytes += Buffer.byteLength(text);
  }
  return bytes;
}

function isSample(file: string): boolean {
  const [header = ''] = readFileSync(file, 'utf8').split('\n', 1);
  return header.includes(SAMPLE_LABEL);
}

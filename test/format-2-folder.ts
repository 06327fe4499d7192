import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { PACKAGE_FOLDER } from '../compiler/system/package-folder.ts';
import { compileFolder, makeFolder } from './snapshot-folder.ts';

/**
 * A shop of the last program of format 2 (commit 3256d3e0), without its page and, but for the last manifest, its descriptions:
 * three hourly releases of 259 readings of our own invention, two stamps, and what it sold. Frozen: nobody can make one any more.
 */
interface Fixture {
  /** Bytes of each file, a character each. */
  readonly files: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
  /** Bodies that were bought at noon, by request. */
  readonly sold: Readonly<Record<string, string>>;
}

const PACKED = join(PACKAGE_FOLDER, 'test/fixtures/format-2-folder.json.br');
const FIXTURE = JSON.parse(brotliDecompressSync(readFileSync(PACKED)).toString('utf8')) as Fixture;

export const SOLD_THEN = FIXTURE.sold;
/** What the releases of before were compiled with, and when the next one is due. */
export const FORMAT_2_TERMS = {
  asOf: '2026-11-20T12:50:00Z',
  baseUrl: 'https://readings.example',
  issuerName: 'Harbour readings',
} as const;

/** A copy of it: the folder of its snapshots and the data folder. */
export function format2Folder(root = makeFolder()) {
  for (const [path, text] of Object.entries(FIXTURE.files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), Buffer.from(text, 'latin1'));
  }
  for (const [path, target] of Object.entries(FIXTURE.links)) symlinkSync(target, join(root, path));
  return { snapshots: join(root, 'snapshots'), data: join(root, 'data') };
}

/** Compiles it once more by the program of now. */
export function compileNext(
  { snapshots, data }: ReturnType<typeof format2Folder>,
  more: NonNullable<Parameters<typeof compileFolder>[1]> = {},
) {
  return compileFolder(snapshots, { data, ...FORMAT_2_TERMS, ...more });
}

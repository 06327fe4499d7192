import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { compileFolder, makeFolder } from './snapshot-folder.ts';

/**
 * A shop of the last program of format 2 (commit 3256d3e0), without its descriptions and its page: three hourly releases of
 * 259 readings of our own invention, two stamps, and what it sold. Frozen: nobody can make one any more.
 */
interface Fixture {
  /** Bytes of each file, a character each. */
  readonly files: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
  /** Bodies that were bought at noon, by request. */
  readonly sold: Readonly<Record<string, string>>;
}

const PACKED = readFileSync(join(import.meta.dirname, 'fixtures/format-2-folder.json.br'));
const FIXTURE = JSON.parse(brotliDecompressSync(PACKED).toString('utf8')) as Fixture;

export const SOLD_THEN = FIXTURE.sold;
/** Of the last of its releases, and of the first one after. */
export const LAST_AS_OF = '2026-11-20T11:50:00Z';
export const NEXT_AS_OF = '2026-11-20T12:50:00Z';

/** A copy of it: the folder of its snapshots and the data folder. */
export function format2Folder() {
  const root = makeFolder();
  for (const [path, text] of Object.entries(FIXTURE.files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), Buffer.from(text, 'latin1'));
  }
  for (const [path, target] of Object.entries(FIXTURE.links)) symlinkSync(target, join(root, path));
  return { snapshots: join(root, 'snapshots'), data: join(root, 'dist-data') };
}

/** Compiles it once more by the program of now. */
export function compileNext(
  { snapshots, data }: ReturnType<typeof format2Folder>,
  more: NonNullable<Parameters<typeof compileFolder>[1]> = {},
) {
  const terms = { baseUrl: 'https://readings.example', issuerName: 'Harbour readings' };
  return compileFolder(snapshots, { data, asOf: NEXT_AS_OF, ...terms, ...more });
}

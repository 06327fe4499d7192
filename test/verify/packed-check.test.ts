import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedPath } from '../../compiler/contract/path.ts';
import { type FileEntry, formatFiles, parseFiles } from '../../compiler/contract/release.ts';
import { verifyRelease } from '../../compiler/verify/verify-release.ts';
import { resign } from './resign.ts';
import { type SmallRelease, smallRelease } from './small-release.ts';

const DOCUMENT = 'well-known/openapi.json';
let release: SmallRelease;
beforeAll(async () => {
  release = await smallRelease();
});
afterAll(() => release.dispose());

/** Publishes the release with another list, as only its issuer can, and names what is found. */
async function faultsOf(change: (entries: FileEntry[]) => FileEntry[]): Promise<string[]> {
  const [list, head] = ['files.txt', 'release.json'].map((name) => join(release.root, name));
  if (list === undefined || head === undefined) throw new Error('no release');
  const before = [readFileSync(list), readFileSync(head)] as const;
  const entries = change(parseFiles(before[0].toString('utf8')));
  writeFileSync(list, formatFiles(entries));
  resign(release.root, { files_count: entries.length });
  try {
    const { faults } = await verifyRelease(release.root, { trust: [release.did] });
    return faults.map(({ file, detail }) => `${file} ${detail}`);
  } finally {
    writeFileSync(list, before[0]);
    writeFileSync(head, before[1]);
  }
}

/** The list with other bytes at a path. */
const holding =
  (path: string, bytes: Buffer) =>
  (entries: FileEntry[]): FileEntry[] => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(release.data, storedPath(path, sha256)), bytes);
    return entries.map((each) =>
      each.path === path ? { path, size: bytes.length, sha256 } : each,
    );
  };

describe('packedFault()', () => {
  it('finds nothing in a release as it was compiled, which holds packed forms', async () => {
    expect(await faultsOf((entries) => entries)).toEqual([]);
    expect(parseFiles(release.text('files.txt')).map(({ path }) => path)).toContain(
      `${DOCUMENT}.br`,
    );
  });

  it('takes another stream of the same bytes', async () => {
    const same = gzipSync(release.text(DOCUMENT), { level: 1 });
    expect(await faultsOf(holding(`${DOCUMENT}.gz`, same))).toEqual([]);
  });

  it.each<[string, string, (text: string) => Buffer]>([
    [
      'another price under brotli',
      '.br',
      (text) => brotliCompressSync(text.replace('0.01', '0.02')),
    ],
    ['another price under gzip', '.gz', (text) => gzipSync(text.replace('0.01', '0.02'))],
    ['the other coding', '.br', (text) => gzipSync(text)],
    ['no stream at all', '.gz', (text) => Buffer.from(text)],
    ['a stream that is cut off', '.gz', (text) => gzipSync(text).subarray(0, -9)],
    ['more than the file', '.br', (text) => brotliCompressSync(`${text} `)],
    ['a bomb', '.gz', () => gzipSync(Buffer.alloc(5_000_000))],
  ])('names %s', async (_, end, make) => {
    const bytes = make(release.text(DOCUMENT));
    const stray = / that no release lists|no release lists/;
    const faults = await faultsOf(holding(DOCUMENT + end, bytes));
    expect(faults.filter((fault) => !stray.test(fault))).toEqual([
      `${DOCUMENT}${end} does not unpack to "${DOCUMENT}"`,
    ]);
  });

  it('names a packed form of nothing', async () => {
    const faults = await faultsOf((entries) => entries.filter(({ path }) => path !== DOCUMENT));
    expect(faults).toContain(`${DOCUMENT}.br is a form of "${DOCUMENT}", which is not listed`);
  });
});

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storedPath } from '../../compiler/contract/path.ts';
import { type FileEntry, formatFiles, parseFiles } from '../../compiler/contract/release.ts';
import { verifyRelease } from '../../compiler/verify/verify-release.ts';
import {
  compileFolder,
  fileOf,
  ndjson,
  reading,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { flipBit, overlayDisk, seeded } from './overlay-disk.ts';
import { resign } from './resign.ts';

const HEAD = 'series/crypto.spot/btc.json';
const FIRST = 'segment/crypto.spot/btc/0-16.txt';
const SECOND = 'segment/crypto.spot/btc/16-16.txt';

let root = '';
let data = '';
let did = '';
let list: readonly FileEntry[] = [];
const written: string[] = [];

/** Sixty readings of one price in three days, so that two segments hold 32 of them. */
beforeAll(async () => {
  const days = ['2026-11-18', '2026-11-19', '2026-11-20'];
  const files = days.map((day) => {
    const rows = Array.from({ length: 14 }, (_, index) => {
      const at = `${day}T00:${String(index + 10)}:00Z`;
      return reading('btc', { price_usd: index }, { observed_at: at, collected_at: at });
    });
    return [`${day}/crypto.spot.ndjson`, ndjson(rows)] as const;
  });
  const made = await compileFolder(writeSnapshots(Object.fromEntries(files)));
  [root, data, did] = [made.folder, made.data, made.release.issuer_did];
  list = parseFiles(readFileSync(join(root, 'files.txt'), 'utf8'));
});
afterAll(removeFolders);
afterEach(() => {
  for (const file of written.splice(0)) rmSync(file, { force: true });
  publish(list);
});

function publish(entries: readonly FileEntry[]): void {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  writeFileSync(join(root, 'files.txt'), formatFiles(sorted));
  resign(root, { files_count: sorted.length }, SEED);
}

/** The list with other bytes at a path, stored where they belong. */
function put(path: string, text: string): FileEntry {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const place = join(data, storedPath(path, sha256));
  if (!existsSync(place)) written.push(place);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
  return { path, size: Buffer.byteLength(text), sha256 };
}

const textOf = (path: string): string => readFileSync(fileOf(root, path), 'utf8');
const without = (...paths: string[]) => list.filter(({ path }) => !paths.includes(path));

async function faultsOf(): Promise<string[]> {
  const { faults } = await verifyRelease(root, { trust: [did] });
  return faults.map(({ file, where }) => `${file} ${where}`.trim());
}

describe('verifyRelease() of a series in segments', () => {
  it('accepts them as they were written', async () => {
    expect(list.map(({ path }) => path)).toEqual(expect.arrayContaining([HEAD, FIRST, SECOND]));
    expect(await faultsOf()).toEqual([]);
  });

  it('names the segment in which any bit is flipped', async () => {
    const below = seeded(7);
    for (const path of [FIRST, SECOND]) {
      const stem = path.replace('.txt', '.');
      const bits = readFileSync(fileOf(root, path)).length * 8;
      for (const bit of [0, bits - 1, ...Array.from({ length: 10 }, () => below(bits))]) {
        const disk = overlayDisk((file, bytes) =>
          file.includes(stem) ? flipBit(bytes, bit) : bytes,
        );
        const { faults } = await verifyRelease(root, { trust: [did], disk });
        expect(faults.map(({ file, where }) => `${file} ${where}`)).toEqual([`${path} sha256`]);
      }
    }
  });

  it('names a segment that is lost on the disk, and one that is not listed', async () => {
    const place = fileOf(root, FIRST);
    const bytes = readFileSync(place);
    rmSync(place);
    expect(await faultsOf()).toEqual([FIRST]);
    writeFileSync(place, bytes);
    publish(without(FIRST));
    expect(await faultsOf()).toContain(`${HEAD} segments.0`);
  });

  it.each([
    ['of a place that the series does not have', 'segment/crypto.spot/btc/32-16.txt'],
    ['of no series', 'segment/crypto.spot/eth/0-16.txt'],
    ['of a size that there is not', 'segment/crypto.spot/btc/0-32.txt'],
    ['under a path that is no path of a segment', 'segment/crypto.spot/btc.txt'],
    ['under a path that no text encodes to', 'segment/crypto.spot/~zz/0-16.txt'],
  ])('names a segment %s', async (_, path) => {
    publish([...list, put(path, textOf(FIRST))]);
    expect(await faultsOf()).toEqual([path]);
  });

  it.each<[string, (text: string) => string, string]>([
    ['a value altered', (text) => text.replace('"price_usd":3', '"price_usd":4'), '_'],
    ['a row left out', (text) => text.replace(/\n\{.*/, ''), 'segments.1'],
    ['two rows in one line', (text) => text.replace(',\n{', ',{'), 'segments.1'],
    ['a row without its comma', (text) => text.replace('},\n', '}\n'), 'segments.1'],
    ['a line that is no row', (text) => text.replace(/\n\{.*\n/, '\n1,\n'), 'segments.1'],
    ['no line end behind the last row', (text) => text.slice(0, -1), 'segments.1'],
    ['a cut of another segment', (text) => text.replace(',28,', ',12,'), 'segments.1'],
    ['no cuts', (text) => text.replace(/.*/, '[]'), 'rows'],
    ['no origins', (text) => text.replace(/\n.*/, '\n[]'), 'segments.1'],
    ['another origin', (text) => text.replace('"source_ref":"', '"source_ref":"x'), '_'],
    ['origins of more rows', (text) => text.replace('\n[[16,', '\n[[17,'), 'segments.1'],
    ['origins of fewer rows', (text) => text.replace('\n[[16,', '\n[[15,'), 'segments.1'],
    ['an origin that is none', (text) => text.replace(/\n\[\[16,.*/, '\n[[16,[]]]'), 'segments.1'],
    [
      'a cut too many',
      (text) => text.replace(/\]\]/, '],["2026-11-20T00:00:00Z",29,"x"]]'),
      'rows',
    ],
    ['cuts that are no list', (text) => text.replace(/.*/, '{"a":1}'), 'rows'],
  ])('names a series whose issuer stored %s', async (_, change, where) => {
    const text = change(textOf(SECOND));
    expect(text).not.toBe(textOf(SECOND));
    publish([...without(SECOND), put(SECOND, text)]);
    expect(await faultsOf()).toContain(`${HEAD} ${where === '_' ? 'rows' : where}`);
  });

  it.each<[string, (text: string) => string]>([
    [
      'other dates',
      (text) => text.replace('"segments":[[0,16,"2026-11-18', '"segments":[[0,16,"2026-11-17'),
    ],
    ['no segments', (text) => text.replace(/"segments":.*/, '"segments":[],')],
    ['a segment fewer', (text) => text.replace(/"segments":\[(\[.*?\]),.*/, '"segments":[$1],')],
  ])('names a series that states %s', async (_, change) => {
    const text = change(textOf(HEAD));
    expect(text).not.toBe(textOf(HEAD));
    publish([...without(HEAD), put(HEAD, text)]);
    expect(await faultsOf()).toEqual([`${HEAD} segments`]);
  });
});

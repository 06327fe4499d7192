import { cpSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILES_NAME, parseFiles } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { seeded } from '../campaign.ts';
import { runBits, runBodyBits } from './bits.ts';
import { byteClasses, runFlips, runHarms } from './flips.ts';

let release: { data: string; root: string; did: string };
beforeAll(async () => {
  const snapshots = writeSnapshots({
    '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 90_123.5 })]),
  });
  const { data } = await compileFolder(snapshots);
  const made = await compileFolder(snapshots, { data, asOf: '2026-11-21T12:00:00Z' });
  release = { data, root: made.folder, did: made.release.issuer_did };
});
afterAll(removeFolders);

describe('I24: the flip campaign, its short form', () => {
  it('I24: runFlips() finds one changed byte of each class in every file named, and no other', async () => {
    const result = await runFlips(release, { random: seeded(24), own: 4 });
    expect(result.wrong).toEqual([]);
    expect(result.flips).toBeGreaterThan(100);
    expect(Object.keys(result.byClass)).toEqual(
      expect.arrayContaining(['signature', 'hash', 'key', 'digit', 'letter', 'structure', 'head']),
    );
    expect(result.byClass.list).toBe(4);
    expect(result.byClass.log).toBeGreaterThan(16);
  });

  it('I24: runHarms() finds what is swapped, dropped, added and replayed named', async () => {
    const result = await runHarms({ ...release, random: seeded(24), rounds: 3 });
    expect(result.wrong).toEqual([]);
  });

  it('runFlips() tells a file that is not named, when nobody vouches for the head', async () => {
    const stranger = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
    const options = { random: seeded(24), own: 0, classes: ['digit' as const] };
    expect((await runFlips({ ...release, did: stranger }, options)).wrong).toContain(
      'release.json',
    );
  });
});

describe('I24: the bit campaign, its short form', () => {
  it('I24: runBits() finds each changed bit of the smallest files and of the head noticed', async () => {
    const result = await runBits(release, {
      random: seeded(24),
      bits: 900,
      wholeFiles: 2,
      headStep: 9,
      logBits: 120,
    });
    expect(result.wrong).toEqual([]);
    expect(result.whole).toBeGreaterThan(800);
    expect(result.head).toBeGreaterThan(800);
    expect(result.log).toBeGreaterThan(600);
    expect(result.each).toBeGreaterThan(20);
  });

  it('I24: runBodyBits() finds that only members outside every hash may change in a delivered body', async () => {
    const result = await runBodyBits(release, { random: seeded(24), bits: 1_000 });
    expect(result.wrong).toEqual([]);
    expect(result.bodies).toBeGreaterThan(3);
    const names = ['answered_at', 'days'];
    expect(names).toEqual(expect.arrayContaining(Object.keys(result.notCovered)));
  });

  it('runBits() tells a file that is not as listed from the start', async () => {
    const data = join(makeFolder(), 'data');
    cpSync(release.data, data, { recursive: true, verbatimSymlinks: true });
    const [entry] = parseFiles(readFileSync(join(data, 'current', FILES_NAME), 'utf8'));
    if (entry === undefined) throw new RangeError('Cannot change a file: the list is empty');
    const stored = join(data, storedPath(entry.path, entry.sha256));
    writeFileSync(stored, readFileSync(stored).reverse());
    const copy = { root: realpathSync(join(data, 'current')), did: release.did };
    const { wrong } = await runBits(copy, {
      random: seeded(24),
      bits: 1,
      wholeFiles: 1,
      headStep: 99,
      logBits: 1,
    });
    expect(wrong).toContain(`${entry.path} as it is`);
  });

  it('runBodyBits() looks at no body of an issuer that nobody trusts', async () => {
    const did = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
    const options = { random: seeded(24), bits: 100 };
    expect(await runBodyBits({ ...release, did }, options)).toMatchObject({ bodies: 0, bits: 0 });
  });
});

describe('byteClasses()', () => {
  it('puts each byte into one class', () => {
    const text = `{"a_b": "x1", "signature": "Q-8", "h": "${'0a'.repeat(32)}"}`;
    const classes = byteClasses(Buffer.from(text));
    const all = [...classes.values()].flat().sort((a, b) => a - b);
    expect(all).toEqual(Array.from(text, (_, at) => at));
    expect(classes.get('hash')).toHaveLength(64);
    expect(classes.get('signature')).toHaveLength(3);
    expect(classes.get('key')?.[0]).toBe(2);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compareFile, replay } from '../../compiler/publish/evidence/replay.ts';
import { Archive, keepPayload } from '../../compiler/sources/fetch/archive.ts';
import { givenPayload, importDisk, runImport } from '../../compiler/sources/import-command.ts';
import { filingRow, listingRow } from '../filing-rows.ts';
import { makeFolder, ndjson, reading, removeFolders } from '../snapshot-folder.ts';
import { gaugeAnswer } from '../sources/fetch/agency-payloads.ts';
import { RIVER } from './archived-shop.ts';

afterAll(removeFolders);

describe('keepPayload()', () => {
  const take = async (folder: string, fetchedAt: string, isKept = true) => {
    const file = join(folder, 'iv.json');
    writeFileSync(file, gaugeAnswer({ [RIVER]: { '10:30': 13.1, '10:45': 13.6 } }));
    const options = { source: 'usgs-nwis', file, fetchedAt, out: join(folder, 'snapshots') };
    runImport(options, importDisk);
    const archive = new Archive(join(folder, 'archive'));
    if (isKept) await keepPayload(archive, options.source, givenPayload(options, importDisk));
    return { archive, snapshots: options.out };
  };

  it('lets what was imported by hand be imported again to the same bytes', async () => {
    const folder = makeFolder();
    await take(folder, '2026-11-20T11:05:00Z');
    const report = replay(await take(folder, '2026-11-20T12:05:00.500Z'));
    expect(report).toMatchObject({ fetches: 2, equal: 2, differs: [], unshown: [] });
    const { archive } = await take(folder, '2026-11-20T12:05:00.500Z');
    expect(archive.fetches().map(({ payload_day }) => payload_day)).toHaveLength(2);
  });

  it('is what makes the difference', async () => {
    const folder = makeFolder();
    await take(folder, '2026-11-20T11:05:00Z');
    const report = replay(await take(folder, '2026-11-20T12:05:00Z', false));
    expect(report).toMatchObject({ fetches: 1, equal: 1, unshown: [{ line: 2 }] });
    expect(report.unshown[0]?.reason).toContain('the archive lacks payload');
  });
});

const FILINGS = '2026-11-20T11Z/filing.submission.ndjson';
const SPOT = '2026-11-20T11Z/crypto.spot.ndjson';
const known = () => null;
const rows = [listingRow({ name: 'Example Corp' }), filingRow(1, ['4', '2026-08-03'])];

describe('compareFile()', () => {
  it('takes filings, which name no evidence, by their file as a whole', () => {
    const stored = ndjson(rows);
    expect(compareFile({ path: FILINGS, stored, replayed: stored }, known)).toEqual({
      kind: 'equal',
    });
    const altered = ndjson([...rows.slice(0, 1), filingRow(1, ['4', '2026-08-04'])]);
    expect(compareFile({ path: FILINGS, stored: altered, replayed: stored }, known)).toEqual({
      kind: 'differs',
      line: 2,
      reason: 'the archive gives no such line',
    });
    expect(compareFile({ path: FILINGS, stored, replayed: null }, known)).toMatchObject({
      kind: 'unshown',
      reason: 'no payload of the archive gives this file',
    });
  });

  it('shows nothing of evidence that cannot be read, and of a file that is no batch', () => {
    const stored = ndjson([reading('btc', { price_usd: 1 }, { evidence: 'yes' })]);
    const compared = (text: string, replayed: string | null) =>
      compareFile({ path: SPOT, stored: text, replayed }, known);
    expect(compared(stored, null)).toMatchObject({ kind: 'unshown', line: 1 });
    expect(compared('[]\n', null)).toMatchObject({ kind: 'unshown' });
    expect(compared('[]\n', stored)).toMatchObject({ kind: 'differs' });
  });

  it('names the first line where rows are the same and bytes are not', () => {
    const evidence = {
      sha256: 'e7'.repeat(32),
      url: 'https://example.org/',
      fetched_at: '2026-11-20T11:00:00Z',
      importer: 'example',
      importer_version: 1,
    };
    const both = ['btc', 'eth'].map((coin) => reading(coin, { price_usd: 1 }, { evidence }));
    const [stored, replayed] = [ndjson(both), ndjson(both.toReversed())];
    expect(compareFile({ path: SPOT, stored, replayed }, known)).toMatchObject({ line: 1 });
    expect(compareFile({ path: SPOT, stored: `${stored}\n`, replayed: stored }, known)).toEqual({
      kind: 'differs',
      line: 4,
      reason: 'the archive gives no more lines',
    });
  });
});

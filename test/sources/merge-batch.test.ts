import { describe, expect, it } from 'vitest';
import { parseHeader, parseReading, type Reading } from '../../compiler/readings/reading.ts';
import type { Imported } from '../../compiler/sources/kit/payload.ts';
import {
  type BatchDisk,
  batchName,
  batchText,
  mergeBatch,
} from '../../compiler/sources/merge-batch.ts';
import { builtinEntry } from '../builtin-rows.ts';
import { filingRow, listingRow } from '../filing-rows.ts';
import { ndjson, reading } from '../snapshot-folder.ts';

const FETCHED = '2026-11-20T11:00:00Z';
const ROWS = '2026-11-20T11Z/filing.submission.ndjson';
const SIGNAL = '2026-11-20T11Z/filing.insider.ndjson';

function memory() {
  const files = new Map<string, string>();
  const disk: BatchDisk = {
    read: (path) => files.get(path) ?? null,
    write: (path, text) => {
      files.set(path, text);
    },
  };
  return { files, disk };
}

const imported = (entity: string, count: number, serial = 1): Imported => ({
  readings: new Map([
    ['filing.insider', [reading(entity, { form4_90d_count: count })]],
  ]) as Imported['readings'],
  rows: new Map([
    ['filing.submission', [listingRow({ name: entity }), filingRow(serial, ['4', '2026-08-03'])]],
  ]),
  skipped: [],
  remarks: [],
});

describe('mergeBatch()', () => {
  it('adds a second filer of the hour to the files of the first, in one order', () => {
    const [one, other] = [memory(), memory()];
    mergeBatch(imported('AAPL', 1), FETCHED, one.disk);
    mergeBatch(imported('MSFT', 2, 2), FETCHED, one.disk);
    mergeBatch(imported('MSFT', 2, 2), FETCHED, other.disk);
    mergeBatch(imported('AAPL', 1), FETCHED, other.disk);
    expect(one.files).toEqual(other.files);
    expect(one.files.get(SIGNAL)?.split('\n').length).toBe(4);
    expect(one.files.get(ROWS)?.split('\n').length).toBe(6);
  });

  it('leaves the bytes as they are when the same payload comes again', () => {
    const { disk } = memory();
    mergeBatch(imported('AAPL', 1), FETCHED, disk);
    const again = mergeBatch(imported('AAPL', 1), FETCHED, disk);
    expect(again.every(({ written }) => !written)).toBe(true);
  });

  it('refuses another value of a stored reading and writes nothing', () => {
    const { disk, files } = memory();
    mergeBatch(imported('AAPL', 1), FETCHED, disk);
    const before = new Map(files);
    expect(() => mergeBatch(imported('AAPL', 9, 2), FETCHED, disk)).toThrow('with other values');
    expect(files).toEqual(before);
  });

  it('leaves the bytes as they are when an earlier payload of the hour comes again', () => {
    const { disk, files } = memory();
    for (const entity of ['AAPL', 'MSFT']) mergeBatch(imported(entity, 1), FETCHED, disk);
    const before = new Map(files);
    const again = mergeBatch(imported('AAPL', 1), FETCHED, disk);
    expect(again.every(({ written }) => !written)).toBe(true);
    expect(files).toEqual(before);
  });

  it('keeps a stored file that has no header, whole', () => {
    const { disk, files } = memory();
    const stored = ndjson([
      reading('MSFT', { form4_90d_count: 2 }),
      reading('TSLA', { form4_90d_count: 3 }),
    ]);
    files.set(SIGNAL, `\n${stored}`);
    mergeBatch(imported('AAPL', 1), FETCHED, disk);
    const text = files.get(SIGNAL) ?? '';
    expect(['AAPL', 'MSFT', 'TSLA'].filter((entity) => text.includes(entity))).toHaveLength(3);
    expect(text.trimEnd().split('\n')).toHaveLength(4);
  });

  it.each(['{"entity":"MSFT"', '5', '{"entity":"MSFT","entity":"TSLA"}'])(
    'refuses to add to a file with the line %s, and writes nothing',
    (line) => {
      const { disk, files } = memory();
      files.set(SIGNAL, `{"header":{}}\n${line}\n`);
      expect(() => mergeBatch(imported('AAPL', 1), FETCHED, disk)).toThrow(
        /filing\.insider\.ndjson.*correct it, or move the file away/,
      );
      expect([...files.keys()]).toEqual([SIGNAL]);
    },
  );
});

const gauged = (entity: string, over: Partial<Reading> = {}): Reading => ({
  entity,
  observed_at: '2026-11-20T10:45:00Z',
  collected_at: '2026-11-20T11:00:00Z',
  current: { stage_ft: 1.5 },
  sources: [{ name: 'USGS NWIS', weight: 1, independent: true }],
  source_ref: null,
  source_tier: 'T1',
  ...over,
});
describe('batchName()', () => {
  it('is the UTC hour of the fetch', () => {
    expect(batchName('2018-02-07T01:49:14.154Z')).toBe('2018-02-07T01Z');
  });
});

describe('batchText()', () => {
  it('puts what all readings share into the header, and reads back the same', () => {
    const all = [gauged('07010000'), gauged('07032000', { qualifiers: ['P'] })];
    const [first = '', ...lines] = batchText(all).trimEnd().split('\n');
    expect(Object.keys(JSON.parse(first).header)).toEqual([
      'collected_at',
      'sources',
      'source_ref',
      'source_tier',
    ]);
    const gauge = builtinEntry('hydrology.river-level');
    const header = parseHeader(JSON.parse(first).header, gauge);
    const shared = header !== null && 'ok' in header ? header.ok : {};
    const back = lines.map((line) => parseReading(JSON.parse(line), shared, gauge));
    expect(back).toEqual(all.map((ok) => ({ ok })));
  });

  it('keeps entity, time and values in the line even of a single reading', () => {
    const [, line = ''] = batchText([gauged('07010000')]).split('\n');
    expect(Object.keys(JSON.parse(line))).toEqual(['entity', 'observed_at', 'current']);
  });
});

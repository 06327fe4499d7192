import { describe, expect, it } from 'vitest';
import { ImportError } from '../../compiler/import/import-error.ts';
import {
  type BatchDisk,
  batchName,
  batchText,
  writeBatch,
} from '../../compiler/import/write-batch.ts';
import { parseHeader, parseReading, type Reading } from '../../compiler/stages/intake/reading.ts';

const reading = (entity: string, over: Partial<Reading> = {}): Reading => ({
  entity,
  observed_at: '2026-11-20T10:45:00Z',
  collected_at: '2026-11-20T11:00:00Z',
  current: { stage_ft: 1.5 },
  sources: [{ name: 'USGS NWIS', weight: 1, independent: true }],
  source_ref: null,
  source_tier: 'T1',
  ...over,
});
const imported = (...readings: Reading[]) => ({
  readings: new Map([['hydrology.river-level', readings]]),
  skipped: [],
  remarks: [],
});

function memory(): BatchDisk & { readonly files: Map<string, string> } {
  const files = new Map<string, string>();
  return {
    files,
    read: (path) => files.get(path) ?? null,
    write: (path, text) => void files.set(path, text),
  };
}

const AT = '2026-11-20T11:00:00Z';
const PATH = '2026-11-20T11Z/hydrology.river-level.ndjson';

describe('batchName()', () => {
  it('is the UTC hour of the fetch', () => {
    expect(batchName('2018-02-07T01:49:14.154Z')).toBe('2018-02-07T01Z');
  });
});

describe('batchText()', () => {
  it('puts what all readings share into the header, and reads back the same', () => {
    const all = [reading('07010000'), reading('07032000', { qualifiers: ['P'] })];
    const [first = '', ...lines] = batchText(all).trimEnd().split('\n');
    expect(Object.keys(JSON.parse(first).header)).toEqual([
      'collected_at',
      'sources',
      'source_ref',
      'source_tier',
    ]);
    const header = parseHeader(JSON.parse(first).header);
    const back = lines.map((line) =>
      parseReading(JSON.parse(line), header !== null && 'ok' in header ? header.ok : {}, 'x'),
    );
    expect(back).toEqual(all.map((ok) => ({ ok })));
  });

  it('keeps entity, time and values in the line even of a single reading', () => {
    const [, line = ''] = batchText([reading('07010000')]).split('\n');
    expect(Object.keys(JSON.parse(line))).toEqual(['entity', 'observed_at', 'current']);
  });
});

describe('writeBatch()', () => {
  it('writes once and leaves the same bytes alone', () => {
    const disk = memory();
    expect(writeBatch(imported(reading('1')), AT, disk)).toEqual([{ path: PATH, written: true }]);
    const before = disk.files.get(PATH);
    expect(writeBatch(imported(reading('1')), AT, disk)).toEqual([{ path: PATH, written: false }]);
    expect(disk.files.get(PATH)).toBe(before);
  });

  it('refuses to replace another file, and then writes none of the batch', () => {
    const disk = memory();
    disk.files.set(PATH, 'other');
    const two = {
      ...imported(reading('1')),
      readings: new Map([
        ['hydrology.a', [reading('1')]],
        ['hydrology.river-level', [reading('1')]],
      ]),
    };
    expect(() => writeBatch(two, AT, disk)).toThrow(ImportError);
    expect([...disk.files]).toEqual([[PATH, 'other']]);
  });
});

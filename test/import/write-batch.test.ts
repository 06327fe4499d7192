import { describe, expect, it } from 'vitest';
import { batchName, batchText } from '../../compiler/import/merge-batch.ts';
import { parseHeader, parseReading, type Reading } from '../../compiler/stages/intake/reading.ts';
import { builtinEntry } from '../builtin-rows.ts';

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
    const shared = header !== null && 'ok' in header ? header.ok : {};
    const gauge = builtinEntry('hydrology.river-level');
    const back = lines.map((line) => parseReading(JSON.parse(line), shared, gauge));
    expect(back).toEqual(all.map((ok) => ({ ok })));
  });

  it('keeps entity, time and values in the line even of a single reading', () => {
    const [, line = ''] = batchText([reading('07010000')]).split('\n');
    expect(Object.keys(JSON.parse(line))).toEqual(['entity', 'observed_at', 'current']);
  });
});

import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import { readPayload } from '../../../compiler/import/import-command.ts';
import { AUTHORITIES } from '../../../compiler/import/sources/eia/eia.ts';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { authorityDay, demandAnswer, demandNote, hourRow } from '../demand.ts';
import { bytesOf } from '../feed.ts';
import { PAYLOADS } from '../recorded.ts';

const BALANCING_AUTHORITIES = builtinLine('grid-reliability').entities;

const source = sourceOf('eia');
const importOf = (answer: unknown, note = demandNote()) =>
  readPayload(source, { bytes: bytesOf(answer), note, subject: 'payload' });
const at = (rows: readonly object[], signal: string, entity = 'spp') =>
  importOf(demandAnswer(rows))
    .readings.get(`grid-reliability.${signal}`)
    ?.filter((reading) => reading.entity === entity)
    .at(-1);
const SPP = authorityDay('SWPP', [50_000, 44_947.2, 57_000]);

describe('eia', () => {
  it('measures demand by the reference peak, at every hour that has one', () => {
    const { readings, skipped } = importOf(demandAnswer(SPP));
    expect(readings.get('grid-reliability.stress')).toHaveLength(24);
    const stress = at(SPP, 'stress');
    expect(stress).toMatchObject({
      entity: 'spp',
      entity_name: 'Southwest Power Pool',
      observed_at: '2026-11-20T10:00:00Z',
      current: { demand_peak_pct: 80, band: 'elevated', demand_mw: 44_947.2, interchange_mw: -12 },
    });
    expect(stress?.scope).toContain('reference peak 56184 MW');
    expect(at(SPP, 'realized-strain')?.current).toEqual({
      realized_peak_pct: 88.99,
      band: 'strained',
      demand_max_mw: 50_000,
    });
    expect(at(SPP, 'forecast-stress')).toMatchObject({
      observed_at: '2026-11-20T10:00:00Z',
      current: {
        forecast_peak_pct: 101.45,
        band: 'over-peak',
        ahead_max_mw: 57_000,
        hours_ahead_count: 14,
      },
    });
    expect(skipped).toEqual([]);
  });

  it('gives no share and no band where no reference peak is known', () => {
    const rows = authorityDay('BPAT', [9000, 8000, 9500]);
    expect(at(rows, 'stress', 'bpa')?.current).toEqual({
      demand_peak_pct: null,
      band: null,
      demand_mw: 8000,
      interchange_mw: -12,
    });
    expect(at(rows, 'stress', 'bpa')?.scope).toContain('no reference peak is known');
  });

  it('takes numbers as text, and steps back over at most six hours without one', () => {
    const without = (hours: number) =>
      SPP.map((row, index) => (index < hours ? { ...row, value: null } : row));
    const text = SPP.map((row) => ({ ...row, value: String(row.value) }));
    expect(at(text, 'stress')?.current).toEqual(at(SPP, 'stress')?.current);
    expect(at(without(6), 'stress')?.observed_at).toBe('2026-11-20T04:00:00Z');
    const { readings, skipped } = importOf(demandAnswer(without(7)));
    expect([...readings.keys()]).toEqual(['grid-reliability.stress']);
    expect(skipped).toContainEqual({
      subject: 'spp',
      reason: 'no demand in the newest 6 hours',
      count: 1,
    });
  });

  it('gives no largest demand of a day with a gap, and none ahead with one', () => {
    const gap = SPP.map((row, index) => ([5, 30].includes(index) ? { ...row, value: null } : row));
    const { readings, skipped } = importOf(demandAnswer(gap));
    expect([...readings.keys()]).toEqual(['grid-reliability.stress']);
    expect(skipped.map(({ reason }) => reason)).toEqual([
      '24 hours that are not whole',
      'an hour without demand',
      'no day-ahead demand, or not of every hour',
    ]);
  });

  it('leaves out a demand that is none or far above the record, and who is not ours', () => {
    const rows = [
      ...SPP,
      hourRow('SWPP D', -24, 0),
      hourRow('SWPP D', -25, 84_277),
      hourRow('AVRN D', 0, 5),
    ];
    const { readings, skipped } = importOf(demandAnswer(rows));
    expect(readings.get('grid-reliability.stress')).toHaveLength(24);
    expect(skipped.map(({ subject, count }) => [subject, count])).toEqual([
      ['AVRN', 1],
      ['spp', 2],
    ]);
    expect(() => importOf(demandAnswer([hourRow('AVRN D', 0, 5)]))).toThrow('not one of our');
  });

  it.each([
    [
      'fewer rows than it announces',
      demandAnswer(SPP, { total: 5001 }),
      'announces 5001 rows and holds 39',
    ],
    [
      'an hour twice',
      demandAnswer([...SPP, SPP[0] as object]),
      'lists D of SWPP at 2026-11-20T10 twice',
    ],
    ['another unit', demandAnswer([{ ...SPP[0], 'value-units': 'kilowatthours' }]), 'value-units'],
    ['local hours', demandAnswer(SPP, { frequency: 'local-hourly' }), 'response.frequency'],
    ['a value in words', demandAnswer([hourRow('SWPP D', 0, 'high')]), 'response.data.0.value'],
    ['a type that is not known', demandAnswer([hourRow('SWPP X', 0, 1)]), 'response.data.0.type'],
    ['an hour after the fetch', demandAnswer([hourRow('SWPP D', 2, 40_000)]), 'after the fetch'],
    ['an error', { error: { code: 'API_KEY_MISSING' } }, 'not hourly demand'],
  ])('I55: refuses %s', (_name, answer, message) => {
    expect(() => importOf(answer)).toThrow(message);
  });

  it('refuses who was not asked for', () => {
    expect(importOf(demandAnswer(SPP), demandNote('SWPP')).readings.size).toBe(3);
    expect(() => importOf(demandAnswer(SPP), demandNote('PJM'))).toThrow('is of SWPP');
  });

  it('has a code for every authority, and asks for two days and the day ahead', () => {
    expect(Object.keys(AUTHORITIES).sort()).toEqual([...BALANCING_AUTHORITIES].sort());
    const now = Date.parse('2026-11-20T11:05:00Z');
    const [asked = ''] = source.fetch?.addresses({ entities: ['tva'], now }) ?? [];
    expect(asked).toContain('facets[respondent][]=TVA&start=2026-11-18T11&end=2026-11-21T17');
    expect(asked).not.toContain('api_key');
    expect(source.fetch?.addresses({ entities: [], now })[0]?.match(/respondent/g)).toHaveLength(
      18,
    );
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ recorded }) => {
  it.each([
    ['fuel-type-data_AVRN_NG_2022-10-31.json', 'net generation by fuel'],
    ['interchange-data_SWPP_SPC_2022-02-28.json', 'interchange between two authorities'],
  ])('refuses %s by name', (name, message) => {
    const bytes = recorded(`eia/${name}`);
    const note = { ...demandNote(), fetched_at: '2022-11-01T00:00:00Z' };
    expect(() => readPayload(source, { bytes, note, subject: name })).toThrow(message);
  });
});

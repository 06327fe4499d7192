import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundDecimal } from '../../../compiler/contract/units.ts';
import {
  dataAgeHours,
  hoursBetween,
  snapshotDate,
} from '../../../compiler/stages/derive/figures.ts';
import type { Reading } from '../../../compiler/stages/intake/reading.ts';
import { reading } from '../../snapshot-folder.ts';

const AT = '2026-01-01T00:00:00Z';
const later = (hours: number, ms = 0) =>
  new Date(Date.parse(AT) + hours * 3_600_000 + ms).toISOString();
const item = (observed_at: string, collected_at: string) =>
  reading('x', {}, { observed_at, collected_at }) as Reading;

describe('snapshotDate()', () => {
  it.each([
    ['2026-11-20T00:00:00Z', '2026-11-20T00:00:00Z'],
    ['2026-11-20T23:59:59.999Z', '2026-11-20T00:00:00Z'],
    ['2024-02-29T12:00:00Z', '2024-02-29T00:00:00Z'],
  ])('puts %s on its UTC day', (collected, day) => {
    expect(snapshotDate(item(AT, collected))).toBe(day);
  });
});

describe('hoursBetween(), dataAgeHours()', () => {
  it('round to one decimal and never fall below zero', () => {
    expect(hoursBetween(AT, later(1, 9 * 60_000))).toBe(1.2);
    expect(hoursBetween(later(1), AT)).toBe(0);
    expect(dataAgeHours(item(AT, later(0, 15 * 60_000 + 12_000)))).toBe(0.3);
  });
  it('round halves up, as on paper', () => {
    const spans = fc.oneof(
      fc.nat(10_000_000_000_000),
      fc.nat(10_000_000).map((tenths) => tenths * 360_000 + 180_000),
    );
    fc.assert(
      fc.property(spans, (ms) => {
        const span = hoursBetween('1970-01-01T00:00:00Z', new Date(ms).toISOString());
        expect(span).toBe(roundDecimal(ms / 3_600_000, 1));
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { foreignUnit, metricUnit, UNITS } from '../../compiler/contract/units.ts';

describe('metricUnit()', () => {
  it.each([
    ['stage_ft', 'stage', 'ft', 'ft'],
    ['cdd_degree_days', 'cdd', 'degree_days', 'degree days'],
    ['gas_usd_therm', 'gas', 'usd_therm', 'USD per therm'],
    ['pm25_ugm3', 'pm25', 'ugm3', 'µg/m³'],
    ['aqi_index', 'aqi', 'index', ''],
    ['precip_30d_mm', 'precip_30d', 'mm', 'mm'],
    ['state', 'state', '', ''],
    ['_ft', '', 'ft', 'ft'],
    ['lift', 'lift', '', ''],
  ])('splits %s', (metric, ...parts) => {
    expect(Object.values(metricUnit(metric))).toEqual(parts);
  });

  it('can reach every unit: none is hidden behind a shorter one before it', () => {
    for (const [unit] of UNITS) expect(metricUnit(`x_${unit}`).unit).toBe(unit);
    expect(new Set(UNITS.map(([unit]) => unit)).size).toBe(UNITS.length);
  });
});

describe('foreignUnit()', () => {
  it('names the declared metric that is spelled in another unit', () => {
    expect(foreignUnit('stage_m', ['stage_ft'])).toBe('stage_ft');
    expect(foreignUnit('tmax_f', ['tmax_c'])).toBe('tmax_c');
  });

  it('lets the declared metric, other metrics and names without unit pass', () => {
    for (const metric of ['stage_ft', 'discharge_m', 'stage', 'band', 'stage_note']) {
      expect(foreignUnit(metric, ['stage_ft'])).toBeNull();
    }
  });
});

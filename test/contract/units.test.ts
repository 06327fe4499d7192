import { describe, expect, it } from 'vitest';
import { foreignUnit, metricUnit, UNITS, unitLimits } from '../../compiler/contract/units.ts';

describe('metricUnit()', () => {
  it.each([
    ['stage_ft', 'stage', 'ft', 'ft'],
    ['cdd_degree_days', 'cdd', 'degree_days', 'degree days'],
    ['gas_usd_therm', 'gas', 'usd_therm', 'USD per therm'],
    ['pm25_ugm3', 'pm25', 'ugm3', 'µg/m³'],
    ['price_usd_tco2e', 'price', 'usd_tco2e', 'USD per t CO₂e'],
    ['rating_drift_notches', 'rating_drift', 'notches', 'notches'],
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

describe('unitLimits()', () => {
  it.each(['felt_reports_count', 'pm25_ugm3', 'wind_kt', 'cdd_degree_days', 'min_pressure_hpa'])(
    'lets %s not go below 0',
    (metric) => {
      expect(unitLimits(metric)).toEqual({ from: 0 });
    },
  );

  it.each(['stage_ft', 'discharge_cfs', 'tmax_c', 'price_usd', 'max_mag', 'yoy_pct', 'state'])(
    'lets %s be negative',
    (metric) => {
      expect(unitLimits(metric)).toBeUndefined();
    },
  );
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

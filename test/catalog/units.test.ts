import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import {
  BUILTIN_UNITS,
  foreignUnit,
  metricUnit,
  metricUnits,
  unitsOf,
} from '../../compiler/catalog/units.ts';

const unitIn = (metric: string) => metricUnit(metric, BUILTIN_UNITS);

describe('metricUnit()', () => {
  it.each([
    ['stage_ft', 'ft', 'ft'],
    ['cdd_degree_days', 'degree_days', 'degree days'],
    ['gas_usd_therm', 'usd_therm', 'USD per therm'],
    ['pm25_ugm3', 'ugm3', 'µg/m³'],
    ['price_usd_tco2e', 'usd_tco2e', 'USD per t CO₂e'],
    ['rating_drift_notches', 'notches', 'notches'],
    ['aqi_index', 'index', ''],
    ['precip_30d_mm', 'mm', 'mm'],
    ['_ft', 'ft', 'ft'],
    ['wind_speed_ms', 'ms', 'm/s'],
    ['co2_ppm', 'ppm', 'ppm'],
    ['price_eur', 'eur', 'EUR'],
    ['price_eur_mwh', 'eur_mwh', 'EUR per MWh'],
    ['energy_mwh', 'mwh', 'MWh'],
    ['dose_usvh', 'usvh', 'µSv/h'],
    ['leq_dba', 'dba', 'dB(A)'],
    ['size_bytes', 'bytes', 'bytes'],
  ])('reads the unit of %s', (metric, symbol, label) => {
    expect(unitIn(metric)).toMatchObject({ symbol, label });
  });

  it.each([
    'state',
    'lift',
    'ft',
    'stage_',
    'stage_ft_',
    'wind_furlongs',
    'grade_a',
    'type_w',
    'constructor',
    '',
  ])('finds none in "%s"', (metric) => {
    expect(unitIn(metric)).toBeNull();
  });

  it('takes the longer of two symbols', () => {
    const speed = { name: 'x', quantity: 'speed', label: 'x' };
    const units = unitsOf([{ units: { per_s: speed } }]);
    expect(metricUnit('drift_per_s', units)?.symbol).toBe('per_s');
    expect(metricUnit('drift_per_s', BUILTIN_UNITS)?.symbol).toBe('s');
  });
});

/** The units of the time when they stood in code, with what people read, and those that cannot be negative. */
const FIRST_UNITS: Readonly<Record<string, string>> = {
  degree_days: 'degree days',
  usd_therm: 'USD per therm',
  usd_tco2e: 'USD per t CO₂e',
  usd_gal: 'USD per gallon',
  usd_kwh: 'USD per kWh',
  celsius: '°C',
  notches: 'notches',
  index: '',
  count: '',
  ratio: 'times',
  ugm3: 'µg/m³',
  feet: 'ft',
  days: 'days',
  usd: 'USD',
  hpa: 'hPa',
  kpa: 'kPa',
  cfs: 'ft³/s',
  cms: 'm³/s',
  aqi: 'AQI',
  mag: 'magnitude',
  mmi: 'MMI',
  min: 'min',
  pct: '%',
  kt: 'kt',
  mph: 'mph',
  kmh: 'km/h',
  mm: 'mm',
  cm: 'cm',
  in: 'in',
  km: 'km',
  mw: 'MW',
  mi: 'mi',
  ft: 'ft',
  c: '°C',
  f: '°F',
  k: 'K',
  m: 'm',
};
const FROM_ZERO = 'degree_days count ugm3 hpa kpa aqi kt mph kmh'.split(' ');

describe('BUILTIN_UNITS', () => {
  it('keeps the label and the limits of what bodies were signed with', () => {
    const symbols = Object.keys(FIRST_UNITS);
    expect(symbols).toHaveLength(37);
    const kept = symbols.map((symbol) => {
      const { label, range } = BUILTIN_UNITS.get(symbol) ?? {};
      return [symbol, label, range];
    });
    expect(kept).toEqual(
      Object.entries(FIRST_UNITS).map(([symbol, label]) => {
        return [symbol, label, FROM_ZERO.includes(symbol) ? { from: 0 } : undefined];
      }),
    );
  });

  it('leaves every metric of the built-in lines in the unit that it had', () => {
    const first = new Map([...BUILTIN_UNITS].filter(([symbol]) => symbol in FIRST_UNITS));
    for (const { metrics } of BUILTIN.signals) {
      expect(metricUnits(metrics, BUILTIN_UNITS)).toEqual(metricUnits(metrics, first));
    }
  });

  it('gives no two units of one quantity the same name and another label', () => {
    const named = new Map<string, string>();
    for (const { name, quantity, label } of BUILTIN_UNITS.values()) {
      const key = `${quantity}: ${name}`;
      if (/^(second|hour|foot)$/.test(name)) continue;
      expect([key, named.get(key) ?? label]).toEqual([key, label]);
      named.set(key, label);
    }
  });

  it.each(
    'eur gbp jpy chf cad aud inr cny brl mxn kg g l tonne volt watt amp kwh mwh mgl ppb'.split(' '),
  )('can say %s', (symbol) => {
    expect(unitIn(`x_${symbol}`)?.symbol).toBe(symbol);
  });

  it('lets no count, concentration or dose rate be negative, and money, heat and change be', () => {
    const least = (metric: string) => unitIn(metric)?.range?.from;
    expect(['co2_ppm', 'dose_usvh', 'tds_mgl', 'reports_count'].map(least)).toEqual([0, 0, 0, 0]);
    expect(['price_eur', 'tmax_c', 'stage_ft', 'yoy_pct', 'wind_ms'].map(least)).toEqual(
      Array(5).fill(undefined),
    );
  });
});

describe('foreignUnit()', () => {
  it('names the declared metric that is spelled in another unit', () => {
    expect(foreignUnit('stage_m', ['stage_ft'], BUILTIN_UNITS)).toBe('stage_ft');
    expect(foreignUnit('tmax_f', ['tmax_c'], BUILTIN_UNITS)).toBe('tmax_c');
  });

  it('lets the declared metric, other metrics and names without unit pass', () => {
    for (const metric of ['stage_ft', 'discharge_m', 'stage', 'band', 'stage_note']) {
      expect(foreignUnit(metric, ['stage_ft'], BUILTIN_UNITS)).toBeNull();
    }
  });
});

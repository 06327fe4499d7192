/** Values that a metric can have. */
export interface UnitRange {
  readonly from: number;
  readonly to?: number;
}
const FROM_ZERO: UnitRange = { from: 0 };

/**
 * Unit suffixes a metric name may end in, a longer one before a shorter one that it ends in, with the text people read. A
 * unit that measures or counts what cannot be negative has limits; a price, a stage or a change can be below zero.
 */
export const UNITS: readonly (readonly [suffix: string, label: string, limits?: UnitRange])[] = [
  ['degree_days', 'degree days', FROM_ZERO],
  ['usd_therm', 'USD per therm'],
  ['usd_tco2e', 'USD per t CO₂e'],
  ['usd_gal', 'USD per gallon'],
  ['usd_kwh', 'USD per kWh'],
  ['celsius', '°C'],
  ['notches', 'notches'],
  ['index', ''],
  ['count', '', FROM_ZERO],
  ['ratio', 'times'],
  ['ugm3', 'µg/m³', FROM_ZERO],
  ['feet', 'ft'],
  ['days', 'days'],
  ['usd', 'USD'],
  ['hpa', 'hPa', FROM_ZERO],
  ['kpa', 'kPa', FROM_ZERO],
  ['cfs', 'ft³/s'],
  ['cms', 'm³/s'],
  ['aqi', 'AQI', FROM_ZERO],
  ['mag', 'magnitude'],
  ['mmi', 'MMI'],
  ['min', 'min'],
  ['pct', '%'],
  ['kt', 'kt', FROM_ZERO],
  ['mph', 'mph', FROM_ZERO],
  ['kmh', 'km/h', FROM_ZERO],
  ['mm', 'mm'],
  ['cm', 'cm'],
  ['in', 'in'],
  ['km', 'km'],
  ['mw', 'MW'],
  ['mi', 'mi'],
  ['ft', 'ft'],
  ['c', '°C'],
  ['f', '°F'],
  ['k', 'K'],
  ['m', 'm'],
];

/** Splits `stage_ft` into stem and unit; a name without a known unit has unit ''. */
export function metricUnit(metric: string): { stem: string; unit: string; label: string } {
  for (const [unit, label] of UNITS) {
    if (metric.endsWith(`_${unit}`)) {
      return { stem: metric.slice(0, -unit.length - 1), unit, label };
    }
  }
  return { stem: metric, unit: '', label: '' };
}

/** Values that the unit of a metric allows, or undefined where it allows any. */
export function unitLimits(metric: string): UnitRange | undefined {
  const { unit } = metricUnit(metric);
  return UNITS.find(([suffix]) => suffix === unit)?.[2];
}

/** The declared metric that `metric` spells in another unit, or null. */
export function foreignUnit(metric: string, declared: readonly string[]): string | null {
  if (declared.includes(metric)) return null;
  const { stem, unit } = metricUnit(metric);
  if (unit === '') return null;
  return declared.find((name) => metricUnit(name).stem === stem) ?? null;
}

/** Unit suffixes a metric name may end in, longest first, with the text people read. */
export const UNITS: readonly (readonly [suffix: string, label: string])[] = [
  ['degree_days', 'degree days'],
  ['usd_therm', 'USD per therm'],
  ['usd_gal', 'USD per gallon'],
  ['usd_kwh', 'USD per kWh'],
  ['celsius', '°C'],
  ['index', ''],
  ['count', ''],
  ['ratio', 'times'],
  ['ugm3', 'µg/m³'],
  ['feet', 'ft'],
  ['days', 'days'],
  ['usd', 'USD'],
  ['hpa', 'hPa'],
  ['kpa', 'kPa'],
  ['cfs', 'ft³/s'],
  ['cms', 'm³/s'],
  ['aqi', 'AQI'],
  ['mag', 'magnitude'],
  ['mmi', 'MMI'],
  ['min', 'min'],
  ['pct', '%'],
  ['kt', 'kt'],
  ['mph', 'mph'],
  ['kmh', 'km/h'],
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

/** The declared metric that `metric` spells in another unit, or null. */
export function foreignUnit(metric: string, declared: readonly string[]): string | null {
  if (declared.includes(metric)) return null;
  const { stem, unit } = metricUnit(metric);
  if (unit === '') return null;
  return declared.find((name) => metricUnit(name).stem === stem) ?? null;
}

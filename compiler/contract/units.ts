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

/** A decimal as an integer and the number of its decimal places. */
interface Scaled {
  readonly digits: bigint;
  readonly places: number;
}

/** The shortest decimal text of a finite number, taken apart exactly. */
function scaled(value: number): Scaled {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}

/** Two finite numbers as integers of the same unit, and the number of its decimal places. */
function alike(a: number, b: number): readonly [bigint, bigint, number] {
  const [left, right] = [scaled(a), scaled(b)];
  const places = Math.max(left.places, right.places);
  const grow = (part: Scaled): bigint => part.digits * 10n ** BigInt(places - part.places);
  return [grow(left), grow(right), places];
}

/** `a - b` as people do it on paper: 13.6 - 13.1 is 0.5. Both must be finite. */
export function subtractDecimal(a: number, b: number): number {
  const [left, right, places] = alike(a, b);
  return Number(`${left - right}e-${places}`);
}

/** Where a value stands in the steps of a scale: `index` whole ones of `count` lie behind it. */
interface Steps {
  readonly index: number;
  readonly count: number;
}

/**
 * `part` in percent of `whole`, or of that many steps as wide as `whole`: one decimal, halves away from zero, exact. 0.29 is
 * 7.3 % of 4, although doubles say 7.249. All must be finite, `whole` above 0.
 */
export function percentDecimal(
  part: number,
  whole: number,
  { index, count }: Steps = { index: 0, count: 1 },
): number {
  const [inside, width] = alike(part, whole);
  const thousand = (BigInt(index) * width + inside) * 1000n;
  const under = BigInt(count) * width;
  const half = thousand < 0n ? -under : under;
  return Number(`${(2n * thousand + half) / (2n * under)}e-1`);
}

/** Rounds to `places` decimals, halves away from zero, on the decimal text of the number. */
export function roundDecimal(value: number, places: number): number {
  const { digits, places: have } = scaled(value);
  if (have <= places) return value;
  const unit = 10n ** BigInt(have - places);
  const half = digits < 0n ? -unit / 2n : unit / 2n;
  const rounded = Number(`${(digits + half) / unit}e-${places}`);
  return rounded === 0 ? 0 : rounded;
}

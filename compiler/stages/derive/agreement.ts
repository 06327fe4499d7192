import type { RecordSource } from '../../contract/record.ts';
import { roundDecimal } from '../../contract/units.ts';

/**
 * Coefficient of variation (standard deviation over mean) of sources that are confirmed
 * independent and measured the same fact at the same time; null with fewer than two of them.
 */
export function sourceAgreement(sources: readonly RecordSource[]): number | null {
  const independent = sources.filter(
    (source) => source.independent && source.relay_of === undefined,
  );
  const times = new Set(independent.map((source) => source.as_of));
  const values = independent.map((source) => source.value);
  const numbers = values.filter((value) => typeof value === 'number');
  const comparable = numbers.length === values.length && times.size === 1 && !times.has(undefined);
  if (numbers.length < 2 || !comparable) return null;
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  if (mean === 0) return null;
  const variance = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / numbers.length;
  return roundDecimal(Math.sqrt(variance) / Math.abs(mean), 4);
}

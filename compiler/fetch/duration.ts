const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^([1-9]\d{0,3})([mhd])$/;

/** What a duration looks like, for messages. */
export const DURATION_WORDS = 'minutes, hours or days, such as 15m, 1h or 7d';

/** A duration such as "15m" in milliseconds; null for any other text. */
export function durationMs(text: string): number | null {
  const [, count = '', unit = ''] = DURATION.exec(text) ?? [];
  const ms = UNITS[unit];
  return ms === undefined ? null : Number(count) * ms;
}

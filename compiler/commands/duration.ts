const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a length such as `90s`, `30m`, `2h` or `7d`; throws a RangeError for any other text. */
export function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === '') {
    throw new RangeError(
      `Cannot use "${text}" as a length of time: write it as 90s, 30m, 2h or 7d`,
    );
  }
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

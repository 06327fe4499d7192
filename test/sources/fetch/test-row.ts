import type { AddressRow, SourceRow } from '../../../compiler/catalog/register.ts';
import type { Clock } from '../../../compiler/system/clock.ts';

/** A row of the register for a source of tests: each entry of `addresses` is asked, a list with the next ones in its place. */
export function testRow(
  addresses: readonly (string | AddressRow | readonly AddressRow[])[],
  more: Partial<SourceRow> = {},
): SourceRow {
  const rows = addresses.map((one): readonly AddressRow[] =>
    typeof one === 'string' ? [{ url: one }] : 'url' in one ? [one] : one,
  );
  return {
    id: 'test-source',
    agency: 'an agency of tests',
    feeds: ['crypto.spot'],
    format: 'json',
    addresses: Object.fromEntries(
      rows.map((list, at) => [String(at), [...list]]),
    ) as SourceRow['addresses'],
    pace: { every_minutes: 60, per_minute: 600 },
    terms: { licence: 'public-domain', may_be_sold: true, page: 'https://example.gov/terms' },
    ...more,
  };
}

/** A clock that waits in no time. */
export class VirtualClock implements Clock {
  /** Every wait that was asked for, in milliseconds. */
  readonly waits: number[] = [];
  ms: number;

  constructor(start: string) {
    this.ms = Date.parse(start);
  }

  now(): number {
    return this.ms;
  }

  steady(): number {
    return this.ms;
  }

  async sleep(ms: number): Promise<void> {
    this.waits.push(ms);
    this.ms += ms;
    // Others get a turn, as they do in a real wait.
    await new Promise((resolve) => setImmediate(resolve));
  }

  random(): number {
    return 0.5;
  }
}

import { BUILTIN } from '../contract/catalog/builtin.ts';
import { placesOf } from '../contract/catalog/catalog.ts';
import { isoTime } from '../contract/iso-time.ts';
import type { RecordSource as Body } from '../contract/record.ts';
import type { Reading } from '../stages/intake/reading.ts';
import { ImportError, type Imported, type Payload, SkipCount, type Skipped } from './payload.ts';

/** Who stands behind the readings of a payload. */
export interface Origin extends Pick<Body, 'name' | 'role' | 'independent' | 'relay_of'> {
  /** Public page of the data set. */
  readonly page: string;
  readonly tier: string;
  /** How the publisher calls the state of its figures. */
  readonly status: string;
}

/** What a payload says of one entity at one time, in epoch milliseconds; the first metric is the main one. */
type PayloadStatement = { readonly at: number } & Pick<Reading, 'entity' | 'current' | 'scope'> &
  Partial<Pick<Reading, 'entity_name' | 'grade' | 'qualifiers'>>;

/** A reading of a source with one measuring body; throws an ImportError for a time after the fetch. */
export function statedReading(
  origin: Origin,
  payload: Payload,
  { at, ...statement }: PayloadStatement,
): Reading {
  const { page, tier, status, ...body } = origin;
  const value = mainValue(statement.current);
  const observed_at = observedAt(at, payload);
  return {
    ...statement,
    observed_at,
    collected_at: payload.note.fetched_at,
    sources: [{ ...body, value, weight: 1, as_of: observed_at }],
    source_ref: page,
    source_tier: tier,
    validation_status: status,
    uncertainty: 'not stated in the payload',
  };
}

/** The first of some metrics, which is the main one; null where it is no number. */
export function mainValue(current: Reading['current']): number | null {
  const [value] = Object.values(current);
  return typeof value === 'number' ? value : null;
}

/** The one body that measured a value; `as_of` is an ISO-8601 UTC time. */
export function measuredBy(
  name: string,
  value: number | string | null,
  as_of: string,
): Reading['sources'] {
  return [{ name, value, weight: 1, as_of, role: 'measurement', independent: true }];
}

/** The name of an entity of a line, as a member to spread; empty where the table of places has none. */
export function nameOf(lineId: string, entity: string): { readonly entity_name?: string } {
  const name = placesOf(BUILTIN, lineId).get(entity)?.name;
  return name === undefined ? {} : { entity_name: name };
}

/** An instant of a payload as ISO-8601 text; throws an ImportError for one after the fetch. */
export function observedAt(epochMs: number, { note, subject }: Payload): string {
  const time = isoTime(epochMs);
  if (epochMs <= Date.parse(note.fetched_at)) return time;
  const state = `it speaks of ${time}, after its fetch at ${note.fetched_at}; correct the fetch note`;
  throw new ImportError({ subject, state });
}

/** Reasons that a message names. */
const REASONS_MAX = 5;

/** Collects the readings of one payload by signal, and what gave none. */
export class ReadingList {
  readonly skips = new SkipCount();
  readonly #bySignal = new Map<string, Reading[]>();

  add(signal: string, reading: Reading): void {
    const list = this.#bySignal.get(signal);
    if (list === undefined) this.#bySignal.set(signal, [reading]);
    else list.push(reading);
  }

  get count(): number {
    return [...this.#bySignal.values()].reduce((sum, list) => sum + list.length, 0);
  }

  get skipped(): readonly Skipped[] {
    return this.skips.list();
  }

  /** The same for a payload that must give something; throws an ImportError with the reasons where it gave nothing. */
  someOf({ subject }: Payload, remarks: readonly string[] = []): Imported {
    if (this.count > 0) return this.imported(remarks);
    const reasons = this.skipped.map((item) => `${item.subject}: ${item.reason}`);
    const why = reasons.length === 0 ? 'it is empty' : reasons.slice(0, REASONS_MAX).join('; ');
    throw new ImportError({ subject, state: `it gives no reading (${why}); fetch another one` });
  }

  /** What was collected, each list by entity and time. */
  imported(remarks: readonly string[] = []): Imported {
    const readings = new Map(
      [...this.#bySignal].map(([signal, list]) => [signal, list.sort(byEntityAndTime)] as const),
    );
    return { readings, skipped: this.skipped, remarks };
  }
}

function byEntityAndTime(a: Reading, b: Reading): number {
  if (a.entity !== b.entity) return a.entity < b.entity ? -1 : 1;
  return Date.parse(a.observed_at) - Date.parse(b.observed_at);
}

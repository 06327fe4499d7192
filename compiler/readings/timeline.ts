import { canonicalJson } from '../format/canonical.ts';
import { grouped } from '../format/lists.ts';
import { hashCore } from '../format/record-hash.ts';
import type { InputFault } from '../system/compile-error.ts';
import type { StoredReading } from './read-signal.ts';
import type { Reading } from './reading.ts';

/** Most readings that one entity of one signal may have. */
export const ENTITY_READINGS_MAX = 200_000;

export interface Batched {
  readonly reading: Reading;
  readonly batch: string;
}

/** A record hash that stands, or once stood, at an observation time. */
export interface HeldHash {
  readonly record_hash: string;
  readonly batch: string;
  readonly observed_at: string;
}

/** What all batches so far say of one observation time; a later batch is settled upon it. */
export interface Instant {
  /** The first reading of the fact that stands. */
  readonly kept: Batched;
  /** Its newest repeat; null for a fact that was not reported again. */
  readonly repeat: Batched | null;
  /** Of the fact that stands. */
  readonly record_hash: string;
  /** Other facts that stood here before, each hash once. */
  readonly others: readonly HeldHash[];
  readonly repeats: number;
}

/** Seals the core of a reading. */
export type HashOf = (reading: Reading) => string;

/**
 * Settles readings of one observation time, in the order of `byCollection`, upon what earlier batches hold of it. The same
 * fact again is a repeat: the first collected reading stands, with the newest disclosures. Another fact in a later batch is
 * a revision. Another fact in the same batch is a conflict.
 */
export function settle(
  before: Instant | null,
  group: readonly StoredReading[],
  { batches, hashOf }: { readonly batches: readonly string[]; readonly hashOf: HashOf },
): { readonly ok: Instant } | { readonly fault: InputFault } {
  let at = before;
  let last: StoredReading | null = null;
  for (const item of group) {
    const fault = last === null ? null : conflict(last, item);
    if (fault !== null) return { fault };
    at = settleOne(at, { reading: item.reading, batch: batchName(batches, item) }, hashOf);
    last = item;
  }
  if (at === null) throw new RangeError('Cannot settle readings: empty group');
  return { ok: at };
}

/** Name of the batch of a line; throws a RangeError for a line of none. */
export function batchName(
  batches: readonly string[],
  { batch, file }: Pick<StoredReading, 'batch' | 'file'>,
): string {
  const name = batches[batch];
  if (name === undefined) throw new RangeError(`Cannot settle a line of "${file}": no batch`);
  return name;
}

function settleOne(at: Instant | null, fresh: Batched, hashOf: HashOf): Instant {
  const { reading } = fresh;
  if (at === null) {
    return { kept: fresh, repeat: null, record_hash: hashOf(reading), others: [], repeats: 0 };
  }
  if (factText(reading) === factText(at.kept.reading)) {
    return { ...at, repeat: fresh, repeats: at.repeats + 1 };
  }
  const record_hash = hashOf(reading);
  return { kept: fresh, repeat: null, record_hash, others: othersOf(at), repeats: at.repeats };
}

/** Facts that stood before, once another one replaces this. */
export function othersOf({ kept, record_hash, others }: Instant): readonly HeldHash[] {
  if (others.some((other) => other.record_hash === record_hash)) return others;
  const { observed_at } = kept.reading;
  return [...others, { record_hash, batch: kept.batch, observed_at }];
}

/** Facts that were replaced, without one that stands again. */
export function replacedOf({ record_hash, others }: Instant): readonly HeldHash[] {
  return others.filter((other) => other.record_hash !== record_hash);
}

/**
 * The reading that stands, with what its newest repeat says beside the fact: names, thresholds, grades. Nothing of that is
 * hashed. Its evidence is that of its own collection, so that a look without anything new changes no body.
 */
export function standingReading({ kept, repeat }: Pick<Instant, 'kept' | 'repeat'>): Reading {
  if (repeat === null) return kept.reading;
  const { entity, observed_at, collected_at, lifecycle, evidence, ...others } = kept.reading;
  const { current, sources, source_ref, source_tier } = others;
  const fact = { entity, observed_at, collected_at, current, sources, source_ref, source_tier };
  return {
    ...withoutEvidence(repeat.reading),
    ...fact,
    ...(lifecycle === undefined ? {} : { lifecycle }),
    ...(evidence === undefined ? {} : { evidence }),
  };
}

/** The very same reading where it names none. */
export function withoutEvidence(reading: Reading): Reading {
  if (reading.evidence === undefined) return reading;
  const { evidence, ...rest } = reading;
  return rest;
}

export function timeOf({ kept }: Instant): number {
  return Date.parse(kept.reading.observed_at);
}

/** Stored readings by observation time, oldest time first; at one time oldest batch first, then first collected. */
export function groupByTime(
  stored: readonly StoredReading[],
): readonly (readonly [time: number, group: readonly StoredReading[]])[] {
  const byTime = grouped(stored, ({ reading }) => Date.parse(reading.observed_at));
  for (const group of byTime.values()) if (group.length > 1) group.sort(byCollection);
  return [...byTime].sort(([a], [b]) => a - b);
}

/** The fault of an entity with too many readings; null for any other. */
export function tooMany(
  entity: string,
  { lines, file }: { readonly lines: number; readonly file: string },
): InputFault | null {
  if (lines <= ENTITY_READINGS_MAX) return null;
  const message =
    `"${entity}" has more than ${ENTITY_READINGS_MAX} readings; ` +
    'remove some of its oldest readings';
  return { code: 'too_many_readings', file, field: 'entity', message };
}

/** The later of two times; of two spellings of one instant the same one, whatever their order. */
export function laterTime(a: string, b: string): string {
  const lead = Date.parse(b) - Date.parse(a);
  return lead > 0 || (lead === 0 && b < a) ? b : a;
}

function byCollection(a: StoredReading, b: StoredReading): number {
  return (
    a.batch - b.batch ||
    Date.parse(a.reading.collected_at) - Date.parse(b.reading.collected_at) ||
    byWholeText(a.reading, b.reading)
  );
}

/** Line numbers must not decide which of two spellings of one fact is published. */
function byWholeText(a: Reading, b: Reading): number {
  const text = (reading: Reading): string =>
    JSON.stringify(Object.entries(reading).sort(([one], [other]) => (one < other ? -1 : 1)));
  const [left, right] = [text(a), text(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A batch speaks with one voice. */
function conflict(one: StoredReading, other: StoredReading): InputFault | null {
  if (one.batch !== other.batch || factText(one.reading) === factText(other.reading)) return null;
  const { entity, observed_at } = other.reading;
  const message =
    `"${entity}" at ${observed_at} differs from line ${Math.min(one.line, other.line)} ` +
    'of the same batch; keep one of them, or put the revision into a later batch';
  const line = Math.max(one.line, other.line);
  return { code: 'conflict', file: other.file, line, field: 'current', message };
}

/** What makes two readings of one instant the same fact: the hash core without its times. */
function factText(reading: Omit<Reading, 'observed_at' | 'collected_at'>): string {
  const { current, source_ref, source_tier, sources, lifecycle = null } = reading;
  const fact = { current, source_ref, source_tier, sources, lifecycle };
  const elsewhere = { signal_id: null, entity: null, snapshot_date: null, observed_at: null };
  return canonicalJson(hashCore({ ...fact, ...elsewhere }));
}

/** The latest reading of an entity, as every body that joins entities reads it. */
export interface Latest {
  readonly reading: Reading;
  readonly record_hash: string;
  /** When the source was last looked at for this entity, also without anything new. */
  readonly looked_at: string;
}

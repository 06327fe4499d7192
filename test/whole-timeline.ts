import { canonicalJson } from '../compiler/contract/canonical.ts';
import { hashCore } from '../compiler/contract/record-hash.ts';
import type { Problem } from '../compiler/stages/intake/compile-error.ts';
import type { StoredReading } from '../compiler/stages/intake/read-signal.ts';
import type { Reading } from '../compiler/stages/intake/reading.ts';

/** Most readings that one entity of one signal may have. */
export const ENTITY_READINGS_MAX = 200_000;

/** The readings of one entity in time order, one per observation time. */
export interface Timeline {
  readonly entity: string;
  /** Oldest first, strictly growing `observed_at`. */
  readonly readings: readonly Reading[];
  /** Values that a later batch replaced; their record hashes stay known as superseded. */
  readonly replaced: readonly Reading[];
  /** Observation times of the readings that are revisions. */
  readonly revisedAt: ReadonlySet<string>;
  /** When the source was last looked at for this entity, also without anything new. */
  readonly lastCollectedAt: string;
  readonly repeats: number;
  /** Position in batch order of the batch that each reading, replaced or not, came with. */
  readonly batchOf: ReadonlyMap<Reading, number>;
}

export type TimelineOutcome = { readonly ok: Timeline } | { readonly problem: Problem };

/**
 * Orders the readings of one entity. The same observation time with the same fact is one reading
 * (the first collected one stands, with the newest disclosures); with another fact in a later batch it is a revision; with
 * another fact in the same batch it is a conflict. The outcome does not depend on arrival order.
 */
export function buildTimeline(entity: string, stored: readonly StoredReading[]): TimelineOutcome {
  const first = stored[0];
  if (first === undefined) throw new RangeError(`Cannot order readings of "${entity}": none`);
  if (stored.length > ENTITY_READINGS_MAX) return { problem: tooMany(entity, first) };
  const readings: Reading[] = [];
  const replaced: Reading[] = [];
  const revisedAt = new Set<string>();
  const batchOf = new Map<Reading, number>();
  let repeats = 0;
  for (const group of groupByTime(stored)) {
    const settled = settle(group);
    if ('problem' in settled) return settled;
    readings.push(settled.kept.reading);
    replaced.push(...settled.replaced.map(({ reading }) => reading));
    for (const { reading, batch } of [settled.kept, ...settled.replaced])
      batchOf.set(reading, batch);
    repeats += settled.repeats;
    if (settled.replaced.length > 0) revisedAt.add(settled.kept.reading.observed_at);
  }
  const lastCollectedAt = stored.map((item) => item.reading.collected_at).reduce(laterTime);
  return {
    ok: { entity, readings, replaced, revisedAt, lastCollectedAt, repeats, batchOf },
  };
}

function tooMany(entity: string, first: StoredReading): Problem {
  const message =
    `"${entity}" has more than ${ENTITY_READINGS_MAX} readings; ` +
    'thin the oldest batches of this entity';
  return { code: 'too_many_readings', file: first.file, field: 'entity', message };
}

/** The later of two times; of two spellings of one instant the same one, whatever their order. */
function laterTime(a: string, b: string): string {
  const lead = Date.parse(b) - Date.parse(a);
  return lead > 0 || (lead === 0 && b < a) ? b : a;
}

/** Groups by instant, oldest instant first; inside a group oldest batch, then first collected. */
function groupByTime(stored: readonly StoredReading[]): StoredReading[][] {
  const byTime = new Map<number, StoredReading[]>();
  for (const item of stored) {
    const at = Date.parse(item.reading.observed_at);
    const group = byTime.get(at);
    if (group === undefined) byTime.set(at, [item]);
    else group.push(item);
  }
  const times = [...byTime.keys()].sort((a, b) => a - b);
  return times.map((at) => (byTime.get(at) ?? []).sort(byCollection));
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

type Settled =
  | {
      readonly kept: StoredReading;
      readonly replaced: readonly StoredReading[];
      readonly repeats: number;
    }
  | { readonly problem: Problem };

/** Every batch speaks with one voice, and the last batch has the last word. */
function settle(group: readonly StoredReading[]): Settled {
  const [first] = group;
  if (first === undefined) throw new RangeError('Cannot settle readings: empty group');
  let kept = first;
  let said = first;
  const replaced: StoredReading[] = [];
  for (const item of group.slice(1)) {
    const fact = factText(item.reading);
    if (item.batch === said.batch && fact !== factText(said.reading)) {
      return { problem: conflict(said, item) };
    }
    if (fact !== factText(kept.reading)) {
      replaced.push(disclosed(kept, said));
      kept = item;
    }
    said = item;
  }
  const repeats = group.length - 1 - replaced.length;
  const told = disclosed(kept, said);
  return { kept: told, replaced: otherHashes(told, replaced), repeats };
}

/** A reading with what its newest repeat says beside the fact: names, thresholds, grades. Nothing of that is hashed. */
function disclosed(first: StoredReading, newest: StoredReading): StoredReading {
  if (newest === first) return first;
  const { entity, observed_at, collected_at, lifecycle, ...others } = first.reading;
  const { current, sources, source_ref, source_tier } = others;
  const times = { observed_at, collected_at };
  const fact = { entity, ...times, current, sources, source_ref, source_tier };
  const state = lifecycle === undefined ? {} : { lifecycle };
  return { ...first, reading: { ...newest.reading, ...fact, ...state } };
}

/** Replaced readings that hash differently from the kept one and from each other. */
function otherHashes(
  kept: StoredReading,
  replaced: readonly StoredReading[],
): readonly StoredReading[] {
  if (replaced.length < 2) return replaced;
  const seen = new Set([hashedText(kept.reading)]);
  return replaced.filter(({ reading }) => {
    const text = hashedText(reading);
    const fresh = !seen.has(text);
    seen.add(text);
    return fresh;
  });
}

function conflict(one: StoredReading, other: StoredReading): Problem {
  const { entity, observed_at } = other.reading;
  const message =
    `"${entity}" at ${observed_at} differs from line ${Math.min(one.line, other.line)} ` +
    'of the same batch; keep one of them, or put the revision into a later batch';
  const line = Math.max(one.line, other.line);
  return { code: 'conflict', file: other.file, line, field: 'current', message };
}

/** What is hashed of a reading; compared only, never hashed here. */
function hashedText({ observed_at, collected_at, ...reading }: Reading): string {
  const day = new Date(Date.parse(collected_at)).toISOString().slice(0, 10);
  return `${day} ${observed_at} ${factText(reading)}`;
}

/** What makes two readings of one instant the same fact: the hash core without its times. */
function factText(reading: Omit<Reading, 'observed_at' | 'collected_at'>): string {
  const { current, source_ref, source_tier, sources, lifecycle = null } = reading;
  const fact = { current, source_ref, source_tier, sources, lifecycle };
  const elsewhere = { signal_id: null, entity: null, snapshot_date: null, observed_at: null };
  return canonicalJson(hashCore({ ...fact, ...elsewhere }));
}

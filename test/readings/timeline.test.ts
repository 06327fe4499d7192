import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growPast } from '../../compiler/readings/grow-past.ts';
import type { StoredReading } from '../../compiler/readings/read-signal.ts';
import type { Reading } from '../../compiler/readings/reading.ts';
import {
  ENTITY_READINGS_MAX,
  replacedOf,
  settle,
  standingReading,
} from '../../compiler/readings/timeline.ts';
import { groundOf } from '../grown-of.ts';
import { reading } from '../snapshot-folder.ts';

interface At {
  readonly batch?: number;
  readonly line?: number;
  readonly more?: object;
}

function stored(price: number | null, { batch = 0, line = 1, more = {} }: At = {}): StoredReading {
  const item = reading('btc', { price_usd: price }, more) as Reading;
  return { reading: item, batch, line, file: `batch-${batch}`, at: 0, size: 0 };
}
const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`;
const BATCHES = Array.from({ length: 10 }, (_, hour) => `2026-11-20T0${hour}Z`);
const GROUND = groundOf('crypto.spot', BATCHES);
const outcomeOf = (items: readonly StoredReading[]) => growPast(null, items, GROUND);
/** What stands, and what was replaced by it, as the readings among `items` that have its hash. */
const good = (items: readonly StoredReading[]) => {
  const outcome = outcomeOf(items);
  if (!('ok' in outcome)) throw new Error(JSON.stringify(outcome));
  const { past, recent } = outcome.ok;
  const byHash = new Map(items.map(({ reading: item }) => [GROUND.hashOf(item), item]));
  return {
    instants: recent,
    readings: recent.map(standingReading),
    replaced: recent.flatMap(replacedOf).flatMap((held) => byHash.get(held.record_hash) ?? []),
    revisions: past.revisions,
    repeats: past.repeats,
    lookedAt: past.looked_at,
  };
};
const problemOf = (items: readonly StoredReading[]) => {
  const outcome = outcomeOf(items);
  return 'fault' in outcome ? outcome.fault : null;
};
const prices = (readings: readonly Reading[]) => readings.map((item) => item.current.price_usd);

describe('settle()', () => {
  it('orders by the time of observation, not of arrival', () => {
    const items = [3, 1, 2].map((hour) =>
      stored(hour, { batch: 3 - hour, more: { observed_at: at(hour) } }),
    );
    expect(prices(good(items).readings)).toEqual([1, 2, 3]);
  });

  it('I37: takes the same fact again for one reading, the first collected', () => {
    const again = stored(1, {
      batch: 1,
      more: { collected_at: at(12), entity_name: 'later name' },
    });
    const timeline = good([again, stored(1)]);
    expect(timeline.readings).toHaveLength(1);
    expect(timeline.readings[0]?.collected_at).toBe(at(11));
    expect([timeline.repeats, timeline.replaced, timeline.revisions]).toEqual([1, [], 0]);
    expect(timeline.lookedAt).toBe(at(12));
  });

  it.each([
    ['entity_name', 'old name', 'new name'],
    ['thresholds', { minor: 30 }, { minor: 31 }],
    ['thresholds_agency', 'an agency', undefined],
    ['grade', 'old', null],
    ['scope', 'old', 'new'],
    ['qualifiers', ['P'], ['A']],
    ['uncertainty', 'old', 'new'],
    ['validation_status', 'provisional', 'approved'],
    ['grade', 'old', undefined],
  ])('I37: takes %s of a repeat from the newest batch, in any order', (name, old, fresh) => {
    const first = stored(1, { more: { [name]: old } });
    const newer = { collected_at: at(12), source_ref: first.reading.source_ref };
    const stated = fresh === undefined ? {} : { [name]: fresh };
    const again = stored(1, { batch: 2, more: { ...newer, ...stated } });
    const between = stored(1, { batch: 1, more: { ...newer, [name]: old } });
    const timeline = good([first, between, again]);
    expect(timeline.readings[0]).toEqual({ ...stored(1).reading, ...stated });
    expect(timeline.readings[0]?.collected_at).toBe(at(11));
    expect(timeline.instants[0]?.kept.batch).toBe(BATCHES[0]);
    for (const items of [
      [again, first, between],
      [between, again, first],
    ]) {
      expect(good(items).readings).toEqual(timeline.readings);
    }
  });

  it('keeps the evidence of the line that stands, or that it names none', () => {
    const [one, other] = ['1', '2'].map((digit) => {
      const payload = { url: 'https://example.org/', fetched_at: at(11) };
      return { sha256: digit.repeat(64), ...payload, importer: 'usgs-nwis', importer_version: 1 };
    });
    const again = { batch: 1, more: { collected_at: at(12), evidence: other } };
    const evidenceOf = (first: object, later: At) =>
      good([stored(1, { more: first }), stored(1, later)]).readings.map((item) => item.evidence);
    expect(evidenceOf({ evidence: one }, again)).toEqual([one]);
    expect(evidenceOf({}, again)).toEqual([undefined]);
    const revised = good([stored(1, { more: { evidence: one } }), stored(2, again)]);
    expect(revised.readings.map((item) => item.evidence)).toEqual([other]);
  });

  it('I36: keeps every hashed member, and its order, of the first of two repeats', () => {
    const later = { collected_at: at(12), observed_at: '2026-11-20T10:00:00.000Z', grade: 'new' };
    const two = stored(1, { batch: 1, more: later });
    const source = { name: 'test source', independent: true, weight: 1, value: 2 };
    const turned = { ...two, reading: { ...two.reading, sources: [source] } };
    const { observed_at, collected_at, sources, grade } = good([stored(1), turned])
      .readings[0] as Reading;
    const { reading: first } = stored(1);
    expect({ observed_at, collected_at, sources, grade }).toEqual({
      observed_at: first.observed_at,
      collected_at: first.collected_at,
      sources: first.sources,
      grade: 'new',
    });
  });

  it('I37: a reading that replaces another has disclosures of its own', () => {
    const stated = [
      [1, 'a'],
      [1, 'b'],
      [2, 'c'],
      [2, 'd'],
    ] as const;
    const items = stated.map(([price, grade], batch) => stored(price, { batch, more: { grade } }));
    const timeline = good([...items].reverse());
    const reported = (readings: readonly Reading[]) =>
      readings.map(({ current, grade }) => [current.price_usd, grade]);
    expect([prices(timeline.replaced), reported(timeline.readings)]).toEqual([[1], [[2, 'd']]]);
  });

  it('I37: lets a later batch replace a value, and keeps the replaced one', () => {
    const timeline = good([stored(2, { batch: 1 }), stored(1)]);
    expect([prices(timeline.readings), prices(timeline.replaced)]).toEqual([[2], [1]]);
    expect(timeline.revisions).toBe(1);
    expect(timeline.repeats).toBe(0);
  });

  it('I37: a value that comes back is no superseded one under the same hash', () => {
    const timeline = good([0, 1, 2, 3].map((batch) => stored(batch % 2, { batch })));
    expect([prices(timeline.readings), prices(timeline.replaced)]).toEqual([[1], [0]]);
    expect(timeline.revisions).toBe(1);
  });

  it('I37: refuses two values of one batch and names both lines, in either order', () => {
    const two = [stored(1, { line: 4 }), stored(2, { line: 9 })];
    for (const items of [two, [...two].reverse()]) {
      const fault = problemOf(items);
      expect(fault).toMatchObject({
        code: 'conflict',
        file: 'batch-0',
        line: 9,
        field: 'current',
      });
      expect(fault?.message).toContain('line 4');
    }
  });

  it('I37: refuses a contradiction also where one of its values repeats an earlier batch', () => {
    for (const [first, second] of [
      [1, 2],
      [2, 1],
    ] as const) {
      const more = { collected_at: at(12) };
      const items = [stored(1), stored(first, { batch: 1 }), stored(second, { batch: 1, more })];
      expect(problemOf(items)?.code).toBe('conflict');
    }
  });

  it.each([
    [
      'a relay',
      { sources: [{ name: 'test source', weight: 1, independent: true, relay_of: 'x' }] },
    ],
    ['a source', { sources: [{ name: 'other', weight: 1, independent: true }] }],
    ['an address', { source_ref: 'https://example.org/other' }],
    ['a tier', { source_tier: null }],
    [
      'a state',
      { lifecycle: { state: 'x', birth_at: null, end_at: null, death_type: null, context: null } },
    ],
  ])('sees another fact in %s alone, since it is hashed', (_, more) => {
    expect(problemOf([stored(1), stored(1, { line: 2, more })])?.code).toBe('conflict');
  });

  it.each([
    ['a name', { entity_name: 'x' }],
    [
      'the value of a source',
      { sources: [{ name: 'test source', weight: 1, independent: true, value: 5 }] },
    ],
    ['a note', { uncertainty: 'x' }],
    ['a spelling of the time', { observed_at: '2026-11-20T10:00:00.000Z' }],
  ])('sees no other fact in %s, and lets no line number choose between the two', (_, more) => {
    const [a, b] = [stored(1, { line: 1 }), stored(1, { line: 2, more })];
    const swapped = [stored(1, { line: 2 }), stored(1, { line: 1, more })];
    expect(good([a, b]).readings).toEqual(good(swapped.reverse()).readings);
    expect(good([b, a]).readings).toEqual(good([a, b]).readings);
  });

  it('compares members, not their order', () => {
    const context = (value: object) => ({
      lifecycle: { state: 'x', birth_at: null, end_at: null, death_type: null, context: value },
    });
    const one = stored(1, { more: context({ a: 1, b: 2 }) });
    const other = stored(1, { line: 2, more: context({ b: 2, a: 1 }) });
    expect(good([one, other]).repeats).toBe(1);
  });

  it('I37: 100 readings give one timeline in 200 orders, over lines and batches', () => {
    const items = Array.from({ length: 100 }, (_, index) => {
      const hour = index % 20;
      const batch = Math.floor(index / 20);
      const name = index % 3 === 0 ? { entity_name: `name ${index}` } : {};
      const more = { observed_at: at(hour), collected_at: at(20 + (batch % 3)), ...name };
      return stored(batch % 2 === 0 || hour % 4 !== 0 ? hour : -hour, { batch, more });
    });
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(fc.shuffledSubarray(items, { minLength: 100 }), (shuffled) => {
        const lines = new Map<number, number>();
        const placed = shuffled.map((item) => {
          const line = (lines.get(item.batch) ?? 0) + 1;
          lines.set(item.batch, line);
          return { ...item, line };
        });
        outcomes.add(JSON.stringify(outcomeOf(placed)));
      }),
      { numRuns: 200 },
    );
    expect(outcomes.size).toBe(1);
  });

  it('I34: refuses more readings of one entity than the limit', () => {
    const one = stored(1);
    const many = Array.from({ length: ENTITY_READINGS_MAX + 1 }, () => one);
    expect(problemOf(many)).toMatchObject({ code: 'too_many_readings', field: 'entity' });
  });

  it('refuses to settle nothing', () => {
    expect(() => settle(null, [], GROUND)).toThrow(RangeError);
    expect(() => growPast(null, [], GROUND)).toThrow(RangeError);
  });
});

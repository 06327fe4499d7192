import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signalOf } from '../../../../compiler/catalog/builtin.ts';
import { CHAIN_ORIGIN } from '../../../../compiler/products/shapes/series.ts';
import { entityFacts } from '../../../../compiler/publish/assemble/entity-record.ts';
import type { EntityPast, Ground } from '../../../../compiler/readings/entity-past.ts';
import { snapshotDate } from '../../../../compiler/readings/figures.ts';
import { type Grown, growPast } from '../../../../compiler/readings/grow-past.ts';
import { formatKnown, parseKnown, parseLatest } from '../../../../compiler/readings/past-text.ts';
import type { StoredReading } from '../../../../compiler/readings/read-signal.ts';
import type { Reading } from '../../../../compiler/readings/reading.ts';
import { seasonOf } from '../../../../compiler/readings/season.ts';
import { chainRows } from '../../../../compiler/readings/series-segments.ts';
import {
  type Latest,
  replacedOf,
  standingReading,
  withoutEvidence,
} from '../../../../compiler/readings/timeline.ts';
import { builtinEntry } from '../../../builtin-rows.ts';
import { groundOf, segmentKey } from '../../../grown-of.ts';
import { reading } from '../../../snapshot-folder.ts';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 1);
const time = (hour: number) => new Date(START + hour * HOUR_MS).toISOString();
const batchName = (hour: number) => `${time(hour).slice(0, 13)}Z`;

/** A line of a batch: how many hours before the batch it was observed, its value and what it says beside. */
interface Statement {
  readonly back: number;
  readonly value: number | null;
  readonly grade: string;
  /** By how many hours it was collected before its batch. */
  readonly lag?: number;
}

/** Each batch has a payload of its own. */
function evidenceOf(hour: number) {
  const sha256 = String(hour).padStart(64, '0');
  const payload = { url: 'https://example.org/', fetched_at: time(hour + 0.5) };
  return { sha256, ...payload, importer: 'example', importer_version: 1 };
}

/** What stays that of the first telling. */
function collectionOf({ collected_at, evidence }: Reading) {
  return evidence === undefined ? { collected_at } : { collected_at, evidence };
}

/** What is told of several readings: the evidence of the newest one alone. */
function lean(readings: readonly Reading[]): Reading[] {
  const last = readings.length - 1;
  return readings.map((item, index) => (index === last ? item : withoutEvidence(item)));
}

/** Batches, one an hour or so, of one entity. */
type Life = readonly { readonly hour: number; readonly stated: readonly Statement[] }[];

function linesOf(life: Life, metric: string): StoredReading[][] {
  return life.map(({ hour, stated }, batch) =>
    stated.map(({ back, value, grade, lag = 0 }, line) => ({
      reading: reading(
        'one',
        { [metric]: value },
        {
          observed_at: time(hour - back),
          // A source moves now and then: rows in sequence share some of their cores.
          source_ref: `https://example.org/${Math.floor((hour - back) / 5) % 3}`,
          collected_at: time(hour - lag + 0.5),
          grade,
          ...(metric === 'stage_ft' ? { thresholds: { action: grade === 'A' ? 1 : 2 } } : {}),
          evidence: evidenceOf(hour),
        },
      ) as Reading,
      batch,
      file: batchName(hour),
      line,
      at: 0,
      size: 0,
    })),
  );
}

interface Outcome {
  readonly grown: Grown;
  /** How often the entity went back to its own lines. */
  readonly lookedBack: number;
  readonly hashes: ReadonlySet<string>;
}

function latestOf({ recent, past: { looked_at } }: Grown): Latest {
  const newest = recent.at(-1);
  if (newest === undefined) throw new RangeError('Cannot tell the latest reading: none');
  return { reading: standingReading(newest), record_hash: newest.record_hash, looked_at };
}

/** Grows an entity batch by batch, each time from what the text of its past tells; all lines where it falls behind. */
function grownHourly(life: Life, signalId: string, metric: string): Outcome | null {
  const lines = linesOf(life, metric);
  const segments = new Map<string, Buffer>();
  const here = groundOf(
    signalId,
    life.map(({ hour }) => batchName(hour)),
    segments,
  );
  const hashes = new Set<string>();
  let past: EntityPast | null = null;
  let grown: Grown | null = null;
  let lookedBack = 0;
  for (const [at, fresh] of lines.entries()) {
    let growth = growPast(past, fresh, here);
    if ('isBehind' in growth) {
      lookedBack += 1;
      growth = growPast(null, lines.slice(0, at + 1).flat(), here);
    }
    if (!('ok' in growth)) return null;
    grown = growth.ok;
    for (const { segment, bytes } of grown.segments) {
      segments.set(segmentKey(segment), bytes);
    }
    for (const { record_hash } of grown.fresh) hashes.add(record_hash);
    const latest = latestOf(grown);
    const line = formatKnown({ latest, past: grown.past, files: 'x' });
    const known = parseKnown(line.slice('one\t'.length, -1));
    expect([known.latest, known.files, parseLatest(line.slice('one\t'.length))]).toEqual([
      latest,
      'x',
      latest,
    ]);
    past = known.past;
    const written = JSON.parse(JSON.stringify(grown.past));
    // Node compares the seasons of years in a tenth of the time; the words are those of the assertion.
    if (!isDeepStrictEqual(past, written)) expect(past).toEqual(written);
  }
  return grown === null ? null : { grown, lookedBack, hashes };
}

/** What stands at one time: the fact of the last batch that speaks of it. */
interface Standing {
  readonly reading: Reading;
  /** Every fact that was ever said of the time. */
  readonly hashes: readonly string[];
  readonly repeats: number;
}

/** Lines of one time, in the order of their batches, judged all at once; equal values in a row are one fact. */
function standing(lines: readonly StoredReading[], here: Ground): Standing {
  const stated = lines.map(({ reading }) => reading);
  const value = (item: Reading): string => JSON.stringify(item.current);
  const firsts = stated.filter(
    (item, at) => at === 0 || value(item) !== value(stated[at - 1] ?? item),
  );
  const [kept, last] = [firsts.at(-1), stated.at(-1)];
  if (kept === undefined || last === undefined)
    throw new RangeError('Cannot judge a time: no lines');
  return {
    reading: { ...last, ...collectionOf(kept) },
    hashes: [...new Set(firsts.map(here.hashOf))],
    repeats: stated.length - firsts.length,
  };
}

/** What the compiler must know of an entity, taken from all of its lines at once. */
function expected(lines: readonly StoredReading[], signalId: string, here: Ground) {
  const times = [...new Set(lines.map(({ reading }) => reading.observed_at))].sort();
  const at = times.map((time) => {
    return standing(
      lines.filter(({ reading }) => reading.observed_at === time),
      here,
    );
  });
  const readings = at.map(({ reading }) => reading);
  const latest = at.at(-1);
  if (latest === undefined) throw new RangeError('Cannot judge an entity: no lines');
  const byDate = [...readings].sort((a, b) => snapshotDate(a).localeCompare(snapshotDate(b)));
  const rows = byDate.map((item) => here.rowOf(item, here.hashOf(item)));
  const signal = signalOf(signalId);
  return {
    recent: lean(readings.slice(-8)),
    isRevised: latest.hashes.length > 1,
    looked_at: lines
      .map(({ reading }) => reading.collected_at)
      .sort()
      .at(-1),
    repeats: at.reduce((sum, { repeats }) => sum + repeats, 0),
    revisions: at.reduce((sum, { hashes }) => sum + hashes.length - 1, 0),
    chain: chainRows(CHAIN_ORIGIN, rows).end,
    hashes: new Set(at.flatMap(({ hashes }) => hashes)),
    season: signal === undefined ? null : seasonOf(signal, latest.reading, readings),
    fact: newestFact(readings),
  };
}

/** Nothing is told of the payload behind it. */
function newestFact(readings: readonly Reading[]): Reading | null {
  const found = readings.findLast((item) => Object.values(item.current)[0] !== null);
  return found === undefined ? null : withoutEvidence(found);
}

function reported({ grown, hashes }: Outcome, here: Ground) {
  const { past, recent, rows } = grown;
  const facts = entityFacts(builtinEntry(here.signal.id), grown, here.hashOf);
  const newest = recent.at(-1);
  return {
    recent: lean(recent.map(standingReading)),
    isRevised: newest !== undefined && replacedOf(newest).length > 0,
    looked_at: past.looked_at,
    repeats: past.repeats,
    revisions: past.revisions,
    chain: chainRows(past.series.chain, rows).end,
    hashes,
    season: facts.season,
    fact: newestFact(recent.map(standingReading)) ?? grown.fact,
  };
}

function check(life: Life, signalId = 'crypto.spot', metric = 'price_usd'): Outcome {
  const lines = linesOf(life, metric).flat();
  const here = groundOf(
    signalId,
    life.map(({ hour }) => batchName(hour)),
  );
  const outcome = grownHourly(life, signalId, metric);
  if (outcome === null) throw new RangeError('the entity did not grow');
  const whole = growPast(null, lines, here);
  if (!('ok' in whole)) throw new RangeError('the entity did not grow at once');
  const { past, rows } = outcome.grown;
  expect([past.series, rows]).toEqual([whole.ok.past.series, whole.ok.rows]);
  const { season, ...rest } = reported(outcome, here);
  const { season: seen, ...wanted } = expected(lines, signalId, here);
  expect(rest).toEqual(wanted);
  expect([season?.n, season?.percentile]).toEqual([seen?.n, seen?.percentile]);
  return outcome;
}

const hourly = (hours: number, stated: (hour: number) => readonly Statement[]): Life =>
  Array.from({ length: hours }, (_, hour) => ({ hour: hour + 100, stated: stated(hour) }));
const plain = (value: number | null, back = 0): Statement => ({ back, value, grade: 'A' });

describe('growPast()', () => {
  it('I56: settles an hour upon what is remembered, and never looks back', () => {
    const outcome = check(hourly(300, (hour) => [plain(hour % 7)]));
    expect(outcome.lookedBack).toBe(0);
    expect(JSON.stringify(outcome.grown.past).length).toBeLessThan(12_000);
  });

  it('I56: takes a revision of the last readings from what is remembered', () => {
    const life = hourly(60, (hour) => [plain(hour), ...(hour > 5 ? [plain(hour * 2, 3)] : [])]);
    const outcome = check(life);
    expect(outcome.lookedBack).toBe(0);
    expect(outcome.grown.past.revisions).toBeGreaterThan(40);
  });

  const day = (hour: number): Statement[] =>
    Array.from({ length: Math.min(24, hour + 1) }, (_, back) => plain(hour - back, back));

  it('I56: a source that tells its last day every hour is settled without looking back', () => {
    expect(check(hourly(60, day)).lookedBack).toBe(0);
  });

  it('I56: where the first batch brings a whole day, the second finds it in the rows', () => {
    expect(check(hourly(60, (hour) => day(hour + 24))).lookedBack).toBe(0);
  });

  it('I56: settles a revision of an old reading upon the rows of the series', () => {
    const life = hourly(60, (hour) => [plain(hour), ...(hour === 40 ? [plain(5, 30)] : [])]);
    expect(check(life).lookedBack).toBe(0);
  });

  it('I56: settles a reading that comes late upon the rows of the series', () => {
    const life = hourly(60, (hour) => (hour === 10 ? [plain(1, 0.5)] : [plain(hour)]));
    const late = life.map((batch, at) =>
      at === 40 ? { ...batch, stated: [...batch.stated, plain(7, 30.25)] } : batch,
    );
    expect(check(late).lookedBack).toBe(0);
  });

  it('remembers the newest value however long a source has published none', () => {
    const outcome = check(hourly(40, (hour) => [plain(hour < 10 ? hour : null)]));
    expect(outcome.lookedBack).toBe(0);
    expect(outcome.grown.fact?.current.price_usd).toBe(9);
  });

  it('I56: keeps the seasons of an old entity, and looks back about once a month', () => {
    const days = 365 * 3;
    const life = Array.from({ length: days }, (_, day) => ({
      hour: day * 24,
      stated: [plain((day * 37) % 400)],
    }));
    const first = life
      .slice(0, days - 100)
      .flatMap(({ hour, stated }) => stated.map((one) => ({ hour, one })));
    const start = first.map(({ hour, one }) => ({ ...one, back: (days - 101) * 24 - hour }));
    const outcome = check(
      [{ hour: (days - 101) * 24, stated: start }, ...life.slice(days - 100)],
      'hydrology.streamflow',
      'discharge_cfs',
    );
    expect(outcome.lookedBack).toBeGreaterThan(1);
    expect(outcome.lookedBack).toBeLessThan(10);
  });

  /** A thousand days in one batch, then some days one by one, of which one speaks of an old day again. */
  const oldShop = (daysBack: number): Life => {
    const first = Array.from({ length: 1080 }, (_, day) => {
      return { ...plain(day % 90, day * 24), lag: day * 24 };
    });
    const later = Array.from({ length: 30 }, (_, day) => ({
      hour: 26_000 + day * 24,
      stated: [plain(day), ...(day === 20 ? [plain(1000, daysBack * 24)] : [])],
    }));
    return [{ hour: 26_000 - 24, stated: first }, ...later];
  };

  it('I56: settles a revision of a row that an old shop still delivers upon its segments', () => {
    expect(check(oldShop(400)).lookedBack).toBe(0);
  });

  it.each([
    ['revised', 365],
    ['late', 365.5],
  ])('I56: an old reading that is %s takes its place among the seasons', (_, daysBack) => {
    const outcome = check(oldShop(daysBack), 'hydrology.streamflow', 'discharge_cfs');
    expect(outcome.lookedBack).toBe(0);
    const season = outcome.grown.past.season?.readings ?? [];
    expect(season.filter(({ current }) => current.discharge_cfs === 1000)).toHaveLength(1);
  });

  it('looks back for a revision of a row that is no longer delivered', () => {
    expect(check(oldShop(1099)).lookedBack).toBe(1);
  });

  it('looks back where more revisions were made than are remembered', () => {
    const twice = (hour: number): Statement[] =>
      hour > 0 ? [plain(hour), plain(hour + 1000, 1)] : [plain(hour)];
    const life = hourly(90, (hour) => [...twice(hour), ...(hour === 80 ? [plain(5, 70)] : [])]);
    expect(check(life).lookedBack).toBe(1);
    const near = hourly(90, (hour) => [...twice(hour), ...(hour === 80 ? [plain(5, 30)] : [])]);
    expect(check(near).lookedBack).toBe(0);
  });

  it('looks back where the newest old value is revised to none', () => {
    const life = hourly(60, (hour) => [
      plain(hour > 20 ? null : hour),
      ...(hour === 40 ? [plain(null, 20)] : []),
    ]);
    expect(check(life).lookedBack).toBe(1);
  });

  it('I56: an old reading that is repeated with other thresholds takes another class in its row', () => {
    const life = hourly(60, (hour) => [
      plain(1.5),
      ...(hour === 40 ? [{ back: 30, value: 1.5, grade: 'B' }] : []),
    ]);
    const { grown, lookedBack } = check(life, 'hydrology.river-level', 'stage_ft');
    expect([lookedBack, grown.past.repeats, grown.past.revisions]).toEqual([0, 1, 0]);
  });

  it.each([
    ['crypto.spot', 'price_usd', 30],
    ['hydrology.river-level', 'stage_ft', 30],
    ['crypto.spot', 'price_usd', 200],
  ])('I18: knows after any batches of %s what all readings at once tell', (id, metric, most) => {
    const stated = fc.record({
      back: fc.integer({ min: 0, max: most }),
      value: fc.option(fc.integer({ min: 0, max: 2 })),
      grade: fc.constantFrom('A', 'B'),
      lag: fc.constantFrom(0, 0, 0, 30),
    });
    const batch = fc.record({
      step: fc.integer({ min: 1, max: 4 }),
      stated: fc.uniqueArray(stated, { selector: ({ back }) => back, minLength: 1, maxLength: 5 }),
    });
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 25 }), (batches) => {
        let hour = 100;
        check(
          batches.map(({ step, stated: lines }) => {
            hour += step;
            return { hour, stated: lines };
          }),
          id,
          metric,
        );
      }),
      { numRuns: 200 },
    );
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defined } from '../../../compiler/contract/defined.ts';
import { ImportError } from '../../../compiler/import/payload.ts';
import { usgsEarthquakes } from '../../../compiler/import/sources/usgs-earthquakes/usgs-earthquakes.ts';
import { parseReading } from '../../../compiler/stages/intake/reading.ts';
import { builtinEntry } from '../../builtin-rows.ts';
import { bytesOf, detail, feed, GENERATED, HOUR, quake } from '../feed.ts';
import { PAYLOADS } from '../recorded.ts';

const note = (over: Record<string, unknown> = {}) => ({
  url: 'https://earthquake.usgs.gov/feed',
  fetched_at: '2026-11-20T11:05:00Z',
  http_status: 200,
  ...over,
});

type Note = Parameters<typeof usgsEarthquakes.read>[0]['note'];
const importEarthquakes = (bytes: Uint8Array, given: Note, subject = given.url) =>
  usgsEarthquakes.read({ bytes, note: given, subject });
const earthquakeFeedNote = defined(usgsEarthquakes.ownNote, 'the own note');

function read(features: readonly unknown[], metadata: Record<string, unknown> = {}) {
  const imported = importEarthquakes(bytesOf(feed(features, metadata)), note());
  const at = (signal: string, entity: string) =>
    imported.readings.get(`earthquake.${signal}`)?.find((item) => item.entity === entity);
  return { ...imported, at };
}

describe('usgs-earthquakes: read()', () => {
  it('gives all three readings of all eighteen regions, which intake accepts', () => {
    const { readings } = read([quake('a')]);
    expect([...readings.keys()]).toHaveLength(3);
    for (const [signal, list] of readings) {
      expect(list).toHaveLength(18);
      for (const item of list)
        expect(parseReading(item, {}, builtinEntry(signal))).toHaveProperty('ok');
    }
  });

  it('takes an empty feed as quiet regions', () => {
    const { at } = read([]);
    expect(at('current_activity', 'japan')?.current).toEqual({
      max_mag: null,
      band: 'quiet',
      count_m25_count: 0,
      events_24h_count: 0,
    });
    expect(at('impact_realized', 'japan')?.current.band).toBe('none');
    expect(at('swarm_rate', 'japan')?.current.rate_ratio).toBeNull();
    expect(at('swarm_rate', 'japan')?.observed_at).toBe('2026-11-20T11:00:00Z');
  });

  it('counts a quake with two network ids once, by the newer entry', () => {
    const old = quake('us1', { mag: 5.9, ids: ',us1,tw2,', updated: GENERATED - HOUR });
    const { at, skipped } = read([old, quake('tw2', { mag: 6.4, ids: ',tw2,us1,' })]);
    expect(at('current_activity', 'taiwan')?.current).toMatchObject({
      max_mag: 6.4,
      count_m25_count: 1,
    });
    expect(skipped).toEqual([
      { subject: 'feature', reason: 'same quake under another id', count: 1 },
    ]);
  });

  it('joins three entries that only the third connects, whatever their order', () => {
    const three = [
      quake('a', { ids: ',a,', updated: GENERATED }),
      quake('b', { ids: ',b,', updated: GENERATED - HOUR / 2 }),
      quake('c', { ids: ',c,a,b,', updated: GENERATED - HOUR, mag: 5 }),
    ];
    for (const order of [three, [...three].reverse()]) {
      const { at } = read(order);
      expect(at('current_activity', 'taiwan')?.current).toMatchObject({
        max_mag: 3,
        events_24h_count: 1,
      });
    }
  });

  it('keeps two quakes whose ids differ', () => {
    const { at } = read([quake('a'), quake('b')]);
    expect(at('current_activity', 'taiwan')?.current.count_m25_count).toBe(2);
  });

  it('drops blasts and deleted entries, with a count', () => {
    const others = [
      quake('a', { type: 'quarry blast' }),
      quake('b', { type: 'explosion' }),
      quake('c', { status: 'DELETED' }),
      quake('d', { type: 'Rock Slide' }),
      quake('e', { type: 'rock_slide' }),
    ];
    const { at, skipped } = read(others);
    expect(at('current_activity', 'taiwan')?.current.events_24h_count).toBe(0);
    expect(skipped.reduce((sum, item) => sum + item.count, 0)).toBe(5);
  });

  it('I55: says nothing of sizes and counts where the magnitude of a quake is unknown', () => {
    const { at } = read([quake('a', { mag: null }), quake('b', { mag: 5.1 })]);
    expect(at('current_activity', 'taiwan')?.current).toEqual({
      max_mag: null,
      band: null,
      count_m25_count: null,
      events_24h_count: 2,
    });
    expect(at('swarm_rate', 'taiwan')?.current).toEqual({
      rate_ratio: null,
      band: null,
      count_24h_count: null,
      mean_daily_6d_count: 0,
    });
    expect(at('current_activity', 'japan')?.current).toMatchObject({ band: 'quiet' });
    const before = read([quake('a', { mag: null, time: GENERATED - 40 * HOUR })]);
    expect(before.at('swarm_rate', 'taiwan')?.current).toMatchObject({
      band: null,
      count_24h_count: 0,
      mean_daily_6d_count: null,
    });
    expect(before.at('current_activity', 'taiwan')?.current).toMatchObject({ band: 'quiet' });
  });

  it('counts events of every size only in a feed that lists them', () => {
    const of = (name: string) => {
      const url = `https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/${name}.geojson`;
      return read([quake('a')], { url }).at('current_activity', 'taiwan')?.current.events_24h_count;
    };
    expect([of('all_week'), of('all_day'), of('1.0_week'), of('2.5_month')]).toEqual([
      1,
      1,
      null,
      null,
    ]);
  });

  it('keeps a magnitude below 0 and a depth above the sea', () => {
    const { at } = read([quake('a', { mag: -0.4, at: [120.5, 23.5, -2] })]);
    expect(at('current_activity', 'taiwan')?.current.max_mag).toBe(-0.4);
  });

  it('wraps boxes and longitudes near 180', () => {
    const { at } = read([
      quake('a', { at: [-178, -40, 5] }),
      quake('b', { at: [178, -40, 5] }),
      quake('c', { at: [190, 55, 5] }),
    ]);
    expect(at('current_activity', 'new-zealand')?.current.count_m25_count).toBe(2);
    expect(at('current_activity', 'alaska-aleutians')?.current.count_m25_count).toBe(1);
    expect(at('current_activity', 'japan')?.current.count_m25_count).toBe(0);
  });

  it('compares 24 hours with the six days before, from one magnitude up', () => {
    const recent = Array.from({ length: 6 }, (_, n) => quake(`r${n}`, { mag: 2.5 }));
    const before = Array.from({ length: 6 }, (_, n) =>
      quake(`b${n}`, { time: GENERATED - (30 + n * 20) * HOUR }),
    );
    const small = quake('s', { mag: 2.4 });
    const tooOld = quake('o', { time: GENERATED - 169 * HOUR });
    const { at } = read([...recent, ...before, small, tooOld]);
    expect(at('swarm_rate', 'taiwan')?.current).toEqual({
      rate_ratio: 6,
      band: 'swarm',
      count_24h_count: 6,
      mean_daily_6d_count: 1,
    });
  });

  it('takes the worst shaking with its own time and page; no alert is not green', () => {
    const { at } = read([
      quake('weak', { mmi: 2.9, felt: 2 }),
      quake('ci37528064', { mag: 4.87, mmi: 6.6, cdi: 5.8, felt: 2775, alert: 'green' }),
    ]);
    const impact = at('impact_realized', 'taiwan');
    expect(impact?.current).toMatchObject({
      intensity_mmi: 6.6,
      band: 'significant',
      felt_reports_count: 2775,
      event_id: 'ci37528064',
    });
    expect(impact?.observed_at).toBe('2026-11-20T10:30:00Z');
    expect(impact?.source_ref).toContain('/eventpage/ci37528064');
    const other = read([quake('weak', { mmi: 2.9, felt: 2 })]).at('impact_realized', 'taiwan');
    expect(other?.current).toMatchObject({ band: 'felt', alert: null });
  });

  it('I55: never says that nobody reported a quake of which nothing is said', () => {
    const impact = (...quakes: unknown[]) =>
      read(quakes).at('impact_realized', 'taiwan')?.current ?? {};
    const measured = impact(quake('a', { mmi: 5, felt: null }));
    expect(measured).toMatchObject({ band: 'moderate', felt_reports_count: null });
    const counted = quake('b', { mmi: 5, felt: 0 });
    expect(impact(quake('a', { mmi: 5 }), counted)).toMatchObject({
      event_id: 'b',
      felt_reports_count: 0,
    });
    expect(impact(quake('a'))).toMatchObject({ band: 'none', felt_reports_count: null });
    expect(impact()).toMatchObject({ band: 'none', felt_reports_count: 0 });
  });

  it.each([
    ['all_week', 'none', 0, 'quakes of 7 days'],
    ['all_day', 'none', 0, 'quakes of 1 day'],
    ['1.0_week', null, null, 'quakes from magnitude 1.0 up of 7 days'],
    ['2.5_month', null, null, 'quakes from magnitude 2.5 up of 30 days'],
  ])('I55: says only of what %s lists that nothing was felt', (name, ...says) => {
    const [band, count, scope] = says;
    const url = `https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/${name}.geojson`;
    const impact = (item: unknown) => read([item], { url }).at('impact_realized', 'taiwan');
    const unfelt = impact(quake('a', { felt: 0 }));
    expect(unfelt?.current).toEqual({ intensity_mmi: null, band, felt_reports_count: count });
    const felt = impact(quake('a', { mmi: 5, felt: 3 }));
    expect(felt?.current).toMatchObject({ band: 'moderate', felt_reports_count: 3 });
    for (const reading of [unfelt, felt]) expect(reading?.scope?.split('; ')[0]).toBe(scope);
  });

  it('names in its scope the quakes that a reading is of', () => {
    const url = 'https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/1.0_week.geojson';
    const scope = (signal: string, metadata: Record<string, unknown>) =>
      read([quake('a')], metadata)
        .at(signal, 'taiwan')
        ?.scope?.split('; ')[0];
    const swarm = 'quakes from magnitude 2.5 up of 24 hours and of the 6 days before';
    for (const metadata of [{}, { url }]) expect(scope('swarm_rate', metadata)).toBe(swarm);
    expect(scope('current_activity', {})).toBe('quakes of 24 hours');
    expect(scope('current_activity', { url })).toBe('quakes from magnitude 1.0 up of 24 hours');
  });

  it('does not believe an intensity that two people reported', () => {
    const two = read([quake('a', { mag: 2.7, cdi: 9.1, felt: 2 })]).at('impact_realized', 'taiwan');
    expect(two?.current).toMatchObject({ intensity_mmi: null, band: 'felt' });
    const ten = read([quake('a', { mag: 5, cdi: 5.1, felt: 10 })]).at('impact_realized', 'taiwan');
    expect(ten?.current).toMatchObject({ intensity_mmi: 5.1, band: 'moderate' });
  });

  it('does not mind unknown members', () => {
    const { at, skipped } = read([quake('a', { brandNew: { nested: true } })]);
    expect(at('current_activity', 'taiwan')?.current.count_m25_count).toBe(1);
    expect(skipped).toEqual([]);
  });

  it('leaves out whatever says of itself that it is no quake, and counts it by its word', () => {
    const others = [
      quake('a', { type: 'other event' }),
      quake('b', { type: 'Other_Event', mag: '6.4', at: ['no place'] }),
      quake('c', { type: `a word\n${'x'.repeat(80)}` }),
    ];
    const { at, skipped, remarks } = read([quake('d'), ...others]);
    expect(at('current_activity', 'taiwan')?.current).toMatchObject({
      max_mag: 3,
      events_24h_count: 1,
    });
    expect(skipped).toEqual([
      { subject: 'feature', reason: `type "a word\\n${'x'.repeat(33)}"`, count: 1 },
      { subject: 'feature', reason: 'type "other event"', count: 2 },
    ]);
    expect(remarks).toEqual([]);
  });

  const SILENT = {
    swarm_rate: {
      rate_ratio: null,
      band: null,
      count_24h_count: null,
      mean_daily_6d_count: null,
    },
    current_activity: {
      max_mag: null,
      band: null,
      count_m25_count: null,
      events_24h_count: null,
    },
    impact_realized: { intensity_mmi: null, band: null, felt_reports_count: null },
  };
  type Signal = keyof typeof SILENT;
  const SIGNALS = Object.keys(SILENT) as Signal[];
  /** The regions of which a signal says nothing. */
  const silentOf = ({ readings }: ReturnType<typeof read>, signal: Signal) =>
    (readings.get(`earthquake.${signal}`) ?? [])
      .filter(({ current }) => current.band === null)
      .map(({ entity }) => entity);

  it.each([
    ['a hostile id', quake('../../etc/passwd'), 'id: '],
    ['a magnitude that is text', quake('b', { mag: '6.4' }), 'properties.mag'],
    ['a magnitude that is absent', quake('b', { mag: undefined }), 'properties.mag'],
    ['a magnitude beyond the scale', quake('b', { mag: 64 }), 'properties.mag'],
    ['a time in seconds', quake('b', { time: (GENERATED - HOUR) / 1000 }), 'properties.time'],
    ['a time before the period', quake('b', { time: GENERATED - 170 * HOUR }), 'properties.time'],
    ['a time to come', quake('b', { time: GENERATED + 1 }), 'properties.time'],
    ['an intensity in words', quake('b', { time: null, mmi: 'VI' }), 'properties.time'],
    ['no word of its own', quake('b', { time: null, type: ' ' }), 'properties.type'],
    ['a type that is absent', quake('b', { time: null, type: undefined }), 'properties.type'],
  ])('I55: says nothing of the region of an entry with %s, and all of the others', (...one) => {
    const [, item, named] = one;
    const imported = read([quake('a'), item, quake('c', { at: [140, 36, 10] })]);
    const isTimed = Number.isInteger(item.properties.time) && !named.includes('time');
    for (const signal of SIGNALS) {
      expect(silentOf(imported, signal)).toEqual(['taiwan']);
      const before = isTimed && signal === 'swarm_rate' ? { mean_daily_6d_count: 0 } : {};
      expect(imported.at(signal, 'taiwan')?.current).toEqual({ ...SILENT[signal], ...before });
    }
    expect(imported.at('current_activity', 'japan')?.current.count_m25_count).toBe(1);
    expect(imported.remarks).toEqual([expect.stringMatching(/^features\.1 cannot be read \(/)]);
    expect(imported.remarks[0]).toContain(named);
    const reason = 'an entry that may lie in its box cannot be read';
    expect(imported.skipped).toEqual([{ subject: 'taiwan', reason, count: 1 }]);
    for (const [signal, list] of imported.readings)
      for (const item of list)
        expect(parseReading(item, {}, builtinEntry(signal))).toHaveProperty('ok');
  });

  it.each([
    ['an update before its time', { updated: GENERATED - 2 * HOUR }, 'properties.updated'],
    ['an intensity beyond the scale', { cdi: 46 }, 'properties.cdi'],
    ['half a report', { felt: 1.5 }, 'properties.felt'],
    ['an unknown alert level', { alert: 'amber' }, 'properties.alert'],
    ['an unknown status', { status: 'checked' }, 'properties.status'],
    ['ids of another form', { ids: 'b;us1' }, 'properties.ids'],
    ['ids without its own', { ids: ',us1,' }, 'properties.ids'],
    ['a depth in words', { at: [120.5, 23.5, 'deep'] }, 'geometry.coordinates.2'],
  ])('I55: says nothing of the region of an entry with %s', (_name, over, named) => {
    const imported = read([quake('b', over)]);
    expect(silentOf(imported, 'impact_realized')).toEqual(['taiwan']);
    expect(imported.remarks[0]).toContain(named);
  });

  it('I55: says nothing of a region in which one id stands for two entries', () => {
    const imported = read([quake('a', { at: [140, 36, 10] }), quake('a')]);
    expect(silentOf(imported, 'current_activity')).toEqual(['taiwan']);
    expect(imported.at('current_activity', 'japan')?.current.count_m25_count).toBe(1);
    expect(imported.remarks[0]).toContain('id "a" is listed twice');
  });

  it('I55: says nothing of the days alone in which an entry that cannot be read was', () => {
    const imported = read([quake('a'), quake('b', { mag: 'x', time: GENERATED - 40 * HOUR })]);
    expect(imported.at('current_activity', 'taiwan')?.current).toMatchObject({ max_mag: 3 });
    expect(imported.at('swarm_rate', 'taiwan')?.current).toMatchObject({
      band: null,
      count_24h_count: 1,
      mean_daily_6d_count: null,
    });
    expect(silentOf(imported, 'impact_realized')).toEqual(['taiwan']);
  });

  it('I55: takes an entry that cannot be read for a quake wherever it may lie', () => {
    const earlier = { time: GENERATED - 40 * HOUR };
    const silent = (at: readonly unknown[], over: object = earlier) =>
      silentOf(read([quake('a'), quake('b', { ...over, at })]), 'impact_realized');
    // Only its latitude, only its longitude (across 180, too), and neither.
    expect(silent(['120.5', 55, 10])).toEqual(['alaska-aleutians']);
    expect(silent([-175, null, 10])).toEqual(['alaska-aleutians']);
    expect(silent([185, null, 10])).toEqual(['alaska-aleutians']);
    expect(silent([23.5, 10])).toHaveLength(18);
    expect(silent([0, 0, 10], { ...earlier, mag: 'x' })).toEqual([]);
    const nowhere = read([quake('a'), quake('b', { ...earlier, at: 'n/a' })]);
    expect(silentOf(nowhere, 'current_activity')).toEqual([]);
    expect(nowhere.at('current_activity', 'taiwan')?.current).toMatchObject({ max_mag: 3 });
  });

  it.each([
    ['says neither where nor when', { type: 'Feature', id: 'broken' }],
    ['is no entry at all', null],
    ['was today, nobody knows where', quake('b', { at: [] })],
  ])('I55: refuses a feed with an entry that %s, since it leaves no region known', (...one) => {
    const [, item] = one;
    expect(() => read([quake('a'), item])).toThrow(ImportError);
    expect(() => read([quake('a'), item])).toThrow(/features\.1 cannot be read .*of any region/);
  });

  it.each([
    ['holds less than it announces', { count: 2 }, 'announces 2 entries and holds 1'],
    ['holds more than it announces', { count: 0 }, 'announces 0 entries and holds 1'],
    ['announces nothing', { count: undefined }, 'metadata.count'],
    ['was made in seconds', { generated: GENERATED / 1000 }, 'metadata.generated'],
    ['is called otherwise', { title: 'USGS Magnitude 4.5+ Earthquakes, Past Week' }, 'is called'],
    [
      'is of somebody else',
      { url: 'https://quakes.example/all_week.geojson' },
      'does not list all',
    ],
    [
      'has a name that only ends like one',
      { url: 'https://earthquake.usgs.gov/small_week.geojson' },
      'does not list all',
    ],
  ])('I55: refuses a feed that %s', (_name, metadata, message) => {
    expect(() => read([quake('a')], metadata)).toThrow(message);
    const title = 'USGS All Earthquakes, Past Week';
    expect(read([quake('a')], { title }).readings.size).toBe(3);
  });

  it('refuses the fetch note of another feed', () => {
    const of = (name: string) =>
      importEarthquakes(
        bytesOf(feed([quake('a')])),
        note({ url: `https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/${name}.geojson` }),
      );
    expect(() => of('2.5_week')).toThrow('the fetch note is of 2.5_week, the feed is all_week');
    expect(of('all_week').readings.size).toBe(3);
  });

  it('makes no swarm rate from a feed of one day', () => {
    const url = 'https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/all_day.geojson';
    const { readings, skipped } = read([], { url });
    expect(readings.has('earthquake.swarm_rate')).toBe(false);
    expect(readings.has('earthquake.current_activity')).toBe(true);
    expect(skipped[0]?.subject).toBe('earthquake.swarm_rate');
  });

  it.each(['all_hour', '4.5_week', 'significant_month'])('refuses the feed %s', (name) => {
    const url = `https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/${name}.geojson`;
    expect(() => read([], { url })).toThrow('fetch 2.5_week.geojson');
  });

  it('refuses a feed that was stale when fetched, or made after it', () => {
    expect(() => read([], { generated: GENERATED - 7 * HOUR })).toThrow('stale');
    expect(() => read([], { generated: GENERATED + HOUR })).toThrow('after the fetch');
  });

  const whole = JSON.stringify(feed([quake('a')]));
  it.each([
    ['cut in half', whole.slice(0, whole.length / 2), 'not whole JSON'],
    ['an HTML page', '<!DOCTYPE html><html></html>', 'HTML'],
    ['empty', ' ', 'empty'],
    ['another document', '{"error":"over quota"}', 'not a USGS GeoJSON summary feed'],
    ['an error status', JSON.stringify(feed([], { status: 503 })), 'status 503'],
    ['a key twice', whole.replace('{"type"', '{"type":"x","type"'), 'twice'],
  ])('refuses a payload that is %s', (_name, text, message) => {
    expect(() => importEarthquakes(Buffer.from(text), note())).toThrow(ImportError);
    expect(() => importEarthquakes(Buffer.from(text), note())).toThrow(message);
  });

  it('gives the same readings for the same bytes and note', () => {
    const bytes = bytesOf(feed([quake('a'), quake('b', { mmi: 4 })]));
    expect(importEarthquakes(bytes, note())).toEqual(importEarthquakes(bytes, note()));
  });
});

describe('usgs-earthquakes: ownNote()', () => {
  it("takes the feed's own time and address, without keys", () => {
    const url = 'https://earthquake.usgs.gov/summary/all_week.geojson?api_key=SECRET';
    expect(earthquakeFeedNote(bytesOf(feed([], { url })), 'feed.json')).toEqual({
      url: 'https://earthquake.usgs.gov/summary/all_week.geojson',
      fetched_at: '2026-11-20T11:00:00Z',
      http_status: 200,
    });
  });

  it('refuses a feed without them', () => {
    const bytes = bytesOf(feed([], { generated: undefined }));
    expect(() => earthquakeFeedNote(bytes, 'feed.json')).toThrow('metadata.generated');
  });
});

const GENUINE = new URL(
  '../../../node_modules/vega-datasets/data/earthquakes.json',
  import.meta.url,
).pathname;

describe('the genuine feed of 2018-02-07', () => {
  it('has eleven quakes in Taiwan on its last day, the largest 6.4', () => {
    const bytes = readFileSync(GENUINE);
    const { readings, skipped } = importEarthquakes(bytes, earthquakeFeedNote(bytes, GENUINE));
    const taiwan = (signal: string) =>
      readings.get(`earthquake.${signal}`)?.find(({ entity }) => entity === 'taiwan')?.current;
    expect(taiwan('current_activity')).toMatchObject({ max_mag: 6.4, count_m25_count: 11 });
    expect(taiwan('swarm_rate')).toMatchObject({ count_24h_count: 11, band: 'swarm' });
    expect(skipped).toEqual([
      { subject: 'feature', reason: 'type "explosion"', count: 15 },
      { subject: 'feature', reason: 'type "quarry blast"', count: 13 },
    ]);
  });
});

describe('usgs-earthquakes: read() of the detail of one quake', () => {
  const url = 'https://earthquake.usgs.gov/earthquakes/feed/v1.0/detail/us1.geojson';
  const of = (value: unknown, over: Record<string, unknown> = { url }) =>
    importEarthquakes(bytesOf(value), note(over), 'payload').readings.get(
      'earthquake.impact_realized',
    );

  const ORIGIN = {
    origin: [{ status: 'UPDATE', properties: { eventtime: '2026-11-20T10:00:00Z' } }],
  };

  it('says how it shook, and that it is one quake only', () => {
    const [reading, ...others] = of(detail('us1')) ?? [];
    expect(others).toEqual([]);
    expect(reading).toMatchObject({
      entity: 'taiwan',
      observed_at: '2026-11-20T10:30:00Z',
      current: { intensity_mmi: 7.64, band: 'severe', alert: 'yellow', event_id: 'us1' },
      source_ref: 'https://earthquake.usgs.gov/earthquakes/eventpage/us1',
    });
    expect(reading?.scope).toContain('one quake, us1, and no other of its region');
    expect(parseReading(reading, {}, builtinEntry('earthquake.impact_realized'))).toHaveProperty(
      'ok',
    );
  });

  it.each([
    ['an intensity of a product that was deleted', { mmi: 9.1 }, 'its shakemap says 7.64'],
    ['no intensity beside its product', { mmi: null }, 'properties.mmi is null'],
    ['fewer reports than its product', { felt: 3 }, 'its dyfi says 337'],
    ['another alert than its product', { alert: 'green' }, 'its losspager says yellow'],
    ['a value without a product', { products: ORIGIN }, 'mmi is 7.64 and it has no shakemap'],
    ['a blast', { type: 'quarry blast' }, 'it is no quake'],
    ['a magnitude that is text', { mag: '6.4' }, 'features.0 cannot be read (properties.mag'],
    ['a place in none of our regions', { at: [0, 0, 10] }, 'none of our regions'],
    ['the quake of another address', { ids: ',us1,us2,' }, null],
  ])('judges %s', (_name, over, message) => {
    if (message === null) expect(of(detail('us1', over))).toHaveLength(1);
    else expect(() => of(detail('us1', over))).toThrow(message);
  });

  it('I55: refuses a quake of which nothing was said, another address, and no time of the fetch', () => {
    const silent = { mmi: null, cdi: null, felt: null, alert: null, products: ORIGIN };
    expect(() => of(detail('us1', silent))).toThrow('nothing was measured or reported');
    expect(() => of(detail('us2'))).toThrow('it is about us2, but its address is about us1');
    expect(() => earthquakeFeedNote(bytesOf(detail('us1')), 'payload')).toThrow('give --note FILE');
    const pager = Buffer.from('<?xml version="1.0"?>\n<pager version="1.0"></pager>');
    expect(() => importEarthquakes(pager, note())).toThrow('a loss estimate (PAGER)');
  });
});

describe.each(PAYLOADS)('recorded feeds: $name', ({ isWhole, recorded }) => {
  it('refuses the feed that was cut afterwards', () => {
    const name = 'feed_all_week_2018-02-07_m1plus.json';
    const bytes = recorded(`usgs-earthquake/${name}`);
    expect(() => earthquakeFeedNote(bytes, name)).toThrow(
      `announces 1707 entries and holds ${isWhole ? 1004 : 5}`,
    );
  });

  it.each([
    ['feed_2.5_week_2016-04-12.json', '2016-04-12T21:50:46Z'],
    ['feed_all_week_2018-02-07_m1plus.json', '2018-02-07T01:49:14Z'],
  ])('reads %s', (name, at) => {
    const answer = JSON.parse(recorded(`usgs-earthquake/${name}`).toString('utf8'));
    const { length: count } = answer.features;
    const bytes = bytesOf({ ...answer, metadata: { ...answer.metadata, count } });
    const { readings } = importEarthquakes(bytes, earthquakeFeedNote(bytes, name));
    for (const list of readings.values()) expect(list).toHaveLength(18);
    expect(readings.get('earthquake.current_activity')?.[0]?.observed_at).toBe(at);
  });

  it.each([
    [
      'detail_us1000chhc.geojson',
      'taiwan',
      { band: 'severe', intensity_mmi: 7.64, event_mag: 6.4 },
    ],
    [
      'detail_ci37528064.json',
      'california-san-andreas',
      { band: 'significant', intensity_mmi: 6.6, alert: 'green', felt_reports_count: 2775 },
    ],
    [
      'detail_nn00536452.json',
      'california-san-andreas',
      { band: 'felt', intensity_mmi: 2.9, alert: null, felt_reports_count: 2 },
    ],
    [
      'detail_us10004u1y.json',
      'sumatra-indonesia',
      { band: 'felt', intensity_mmi: 3.1, event_mag: 7.8 },
    ],
  ])('gives the worked values of %s', (name, region, current) => {
    const at = { fetched_at: '2018-03-01T00:00:00Z' };
    const { readings } = importEarthquakes(recorded(`usgs-earthquake/${name}`), note(at), name);
    const list = readings.get('earthquake.impact_realized') ?? [];
    expect(list.map(({ entity }) => entity)).toContain(region);
    for (const reading of list) expect(reading.current).toMatchObject(current);
  });

  it('refuses the loss estimate by name', () => {
    const bytes = recorded('usgs-earthquake/pager_us10004u1y.xml');
    expect(() => importEarthquakes(bytes, note(), 'pager')).toThrow('a loss estimate (PAGER)');
  });
});

import { describe, expect, it } from 'vitest';
import { signalOf } from '../../../compiler/catalog/builtin.ts';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import { firstTwice } from '../../../compiler/format/lists.ts';
import { hashCore } from '../../../compiler/format/record-hash.ts';
import { coreFields } from '../../../compiler/publish/assemble/entity-record.ts';
import { unreadIn } from '../../../compiler/sources/fetch/sources-runner.ts';
import { readPayload } from '../../../compiler/sources/import-command.ts';
import {
  isZone,
  usInstant,
  usWallClock,
  zoneInstants,
  zoneOffset,
} from '../../../compiler/sources/kit/local-time.ts';
import { SkipCount } from '../../../compiler/sources/kit/payload.ts';
import {
  askedOnly,
  askedPlaces,
  knownPlaces,
  namedIn,
  rainValues,
  wantedPlaces,
} from '../../../compiler/sources/kit/readings.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { gaugeAnswer, gaugeFeatures } from '../fetch/agency-payloads.ts';
import { played, playedPayloads } from './cases.ts';

const APART_DEGREES_MAX = 1;

const payloadOf = (url: string) => ({
  bytes: new Uint8Array(),
  note: { url, fetched_at: '2026-11-20T11:05:00Z', http_status: 200 },
  subject: 'payload',
});
const SEATTLE = { latitude: 47.6062, longitude: -122.3321 };
const ask = (url: string, answered: typeof SEATTLE | null = SEATTLE) =>
  askedPlaces(payloadOf(url), answered, ['environment']).map(({ entity }) => entity);
const AT = 'https://example.gov/?latitude=47.6062&longitude=-122.3321';

describe('askedPlaces()', () => {
  it('finds the place by the numbers of the address, however they are written', () => {
    expect(ask(AT)).toEqual(['us-seattle']);
    expect(ask(AT.replace('47.6062', '47.60620'))).toEqual(['us-seattle']);
    expect(ask(AT, null)).toEqual(['us-seattle']);
  });

  it.each([
    AT.replace('47.6062', '47.6063'),
    AT.replace('latitude', 'lat'),
    AT.replace('47.6062', ''),
    AT.replace('47.6062', '47.6062,34.0522'),
    'https://example.gov/',
  ])('refuses %s', (url) => {
    expect(() => ask(url)).toThrow('which is no place of environment');
  });

  it('takes a cell beside the place, and refuses one far away', () => {
    const { latitude, longitude } = SEATTLE;
    expect(ask(AT, { latitude: latitude + APART_DEGREES_MAX, longitude })).toHaveLength(1);
    for (const far of [
      { latitude: latitude + 1.01, longitude },
      { latitude, longitude: longitude - 1.01 },
      { latitude: -latitude, longitude },
    ]) {
      expect(() => ask(AT, far)).toThrow('far from Seattle');
    }
  });

  it('knows that longitudes meet at 180', () => {
    const lines = ['earthquake'];
    const place = knownPlaces(lines).find(({ entity }) => entity === 'alaska-aleutians')?.place;
    const { latitude = 0, longitude = 0 } = place ?? {};
    const payload = payloadOf(`https://example.gov/?latitude=${latitude}&longitude=${longitude}`);
    const answered = { latitude, longitude: longitude + 360 };
    expect(askedPlaces(payload, answered, lines)[0].entity).toBe('alaska-aleutians');
  });
});

describe('wantedPlaces()', () => {
  it('gives all places of the closed lists, or those that are named', () => {
    expect(wantedPlaces(['environment', 'grid'], [])).toHaveLength(24);
    expect(wantedPlaces(['environment'], ['us-seattle', '07010000'])).toHaveLength(1);
    expect(wantedPlaces(['nothing'], [])).toEqual([]);
  });
});

describe('askedOnly()', () => {
  const told = (url: string, found: readonly string[]) => {
    const skips = new SkipCount();
    const asked = namedIn(payloadOf(url), 'id');
    const isAsked = askedOnly(payloadOf(url), { asked, found, skips });
    return { taken: found.filter(isAsked), unread: skips.list().map(({ subject }) => subject) };
  };

  it('takes what is asked for, and anything where nothing is named', () => {
    expect(told('https://example.gov/?id=A,B', ['B'])).toEqual({ taken: ['B'], unread: [] });
    expect(told('https://example.gov/', ['C'])).toEqual({ taken: ['C'], unread: [] });
  });

  it('counts anything else, and refuses what holds nothing that is asked for', () => {
    const some = told('https://example.gov/?id=A,B', ['A', 'C', 'C']);
    expect(some).toEqual({ taken: ['A'], unread: ['C'] });
    expect(() => told('https://example.gov/?id=A,B', ['C'])).toThrow('it holds "C"');
  });
});

const START = Date.UTC(2026, 0, 1);
const days = (values: readonly (number | null)[]) =>
  new Map(values.map((value, index) => [START + index * DAY_MS, value] as const));
const windows = (values: readonly (number | null)[]) =>
  rainValues(days(values)).filter(({ signal }) => signal === 'precipitation.wetness30d');

describe('rainValues()', () => {
  it('sums no window that begins before the series', () => {
    expect(windows(Array(29).fill(1))).toEqual([]);
    expect(windows(Array(30).fill(0.1)).map(({ current }) => current)).toEqual([
      { precip_30d_mm: 3, days_count: 30 },
    ]);
  });

  it('counts a day that is absent as one without a value', () => {
    const whole = days(Array(31).fill(1));
    whole.delete(START + 5 * DAY_MS);
    const [first] = rainValues(whole).filter(({ current }) => 'days_count' in current);
    expect(first?.current).toEqual({ precip_30d_mm: 29, days_count: 29 });
  });

  it('says nothing of a day without a value, and no sum of fewer than 28 days', () => {
    const gaps = [null, null, ...Array(28).fill(1)];
    expect(windows(gaps)[0]?.current).toEqual({ precip_30d_mm: 28, days_count: 28 });
    expect(windows([null, ...gaps.slice(0, -1)])[0]?.current).toEqual({
      precip_30d_mm: null,
      days_count: 27,
    });
    expect(windows([...Array(30).fill(1), null])).toHaveLength(1);
    expect(rainValues(days([null]))).toEqual([]);
  });
});

describe('a reading of a gauge', () => {
  const payload = (value: unknown, url: string) => ({
    bytes: Buffer.from(JSON.stringify(value)),
    note: { url, fetched_at: '2026-11-20T11:05:00Z', http_status: 200 },
    subject: 'payload',
  });
  const [old, young] = [
    payload(
      JSON.parse(gaugeAnswer({ '07010000': { '10:45': 13.6 } })),
      'https://waterservices.usgs.gov/nwis/iv/?sites=07010000',
    ),
    payload(
      JSON.parse(gaugeFeatures('07010000', { '2026-11-20T10:45:00Z': 13.6 })),
      'https://api.waterdata.usgs.gov/ogcapi/v1/collections/continuous/items?monitoring_location_id=USGS-07010000',
    ),
  ];

  it('I63: has one core, whichever of the two services brought it', () => {
    const cores = [old, young].map((one) => {
      const { readings } = readPayload(sourceOf('usgs-nwis'), one);
      const [reading] = readings.get('hydrology.river-level') ?? [];
      const signal = signalOf('hydrology.river-level');
      if (reading === undefined || signal === undefined) throw new TypeError('no reading');
      return hashCore(coreFields(signal, reading));
    });
    expect(cores[0]).toMatchObject({ current: { stage_ft: 13.6 } });
    expect(JSON.stringify(cores[1])).toBe(JSON.stringify(cores[0]));
  });
});

describe('an entry that cannot be read', () => {
  it.each([
    ['ndbc', 'waves of a buoy', '   2.4 ', '   two '],
    ['portwatch', 'days of a chokepoint', '"n_total":91', '"n_total":"many"'],
    ['aviationweather', 'decoded weather reports', '"wspd": 14', '"wspd": "calm"'],
  ])('of %s is counted as unread, and none where all can be read', (source, name, from, to) => {
    const { text = '', heads = {} } = playedPayloads(source).find((one) => one.name === name) ?? {};
    const unread = (payload: string): number => {
      const outcome = played(source, Buffer.from(payload), heads);
      return typeof outcome === 'string' ? Number.NaN : unreadIn([outcome]);
    };
    expect(text).toContain(from);
    expect([unread(text), unread(text.replace(from, to))]).toEqual([0, 1]);
  });
});

describe('firstTwice()', () => {
  it('names the first text that comes again', () => {
    expect(firstTwice(['a', 'b', 'c', 'b', 'a'])).toBe('b');
    expect(firstTwice(['', ''])).toBe('');
  });

  it('names none where each comes once, also in a list as long as a payload can hold', () => {
    expect(firstTwice([])).toBeUndefined();
    const many = Array.from({ length: 500_000 }, (_, at) => String(at));
    expect(firstTwice(many)).toBeUndefined();
    expect(firstTwice([...many, '7'])).toBe('7');
  });
});

const HOUR = 3_600_000;
const ZONES = [
  'America/New_York',
  'America/Detroit',
  'America/Chicago',
  'America/Denver',
  'America/Phoenix',
  'America/Los_Angeles',
] as const;

/** What a time zone database says that clocks show, written as if it were UTC. */
function clockOf(zone: string): (epochMs: number) => number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
  return (epochMs) => Date.parse(`${format.format(epochMs).replace(', ', 'T')}Z`);
}

describe('US wall clocks', () => {
  it.each(ZONES)('agree with a time zone database in %s, in every hour of a year', (zone) => {
    const shown = clockOf(zone);
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += HOUR) {
      const wall = usWallClock(at, zone);
      if (wall !== shown(at)) throw new Error(`${zone} ${new Date(at).toISOString()}`);
      // In autumn one hour is shown twice; the earlier one is meant.
      const back = usInstant(wall, zone);
      expect(at - back === 0 || at - back === HOUR).toBe(true);
      expect(shown(back)).toBe(wall);
    }
  });

  it('refuse a zone that is not known', () => {
    expect(() => usInstant(0, 'Europe/Berlin')).toThrow('"Europe/Berlin": unknown zone');
    expect(() => usWallClock(0, 'constructor')).toThrow('unknown zone');
  });
});

describe('zoneOffset()', () => {
  it('reads abbreviations in any case, and none that is not known', () => {
    expect(zoneOffset('pst')).toBe(-8 * HOUR);
    expect(zoneOffset(' GMT ')).toBe(0);
    expect(zoneOffset('CEST')).toBeNull();
    expect(zoneOffset('')).toBeNull();
  });
});

const at = (wall: string, zone: string) =>
  zoneInstants(Date.parse(`${wall}Z`), zone).map((instant) => new Date(instant).toISOString());

describe('zoneInstants()', () => {
  it.each([
    ['2026-11-20T04:30:00', 'America/Chicago', '2026-11-20T10:30:00.000Z'],
    ['2026-07-20T04:30:00', 'America/Chicago', '2026-07-20T09:30:00.000Z'],
    ['2026-11-20T04:30:00', 'Asia/Kathmandu', '2026-11-19T22:45:00.000Z'],
    ['2026-01-01T00:15:00', 'Pacific/Auckland', '2025-12-31T11:15:00.000Z'],
    ['2026-11-20T04:30:00', 'EST', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T04:30:00', '-03:30', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T04:30:00', 'UTC', '2026-11-20T04:30:00.000Z'],
  ])('finds when clocks show %s in %s', (wall, zone, instant) => {
    expect(at(wall, zone)).toEqual([instant]);
  });

  it('finds no instant in the hour that is left out, and two in the one that comes twice', () => {
    expect(at('2026-03-29T02:30:00', 'Europe/Berlin')).toEqual([]);
    expect(at('2026-03-29T03:00:00', 'Europe/Berlin')).toEqual(['2026-03-29T01:00:00.000Z']);
    expect(at('2026-10-25T02:30:00', 'Europe/Berlin')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
    ]);
  });

  it.each(['Chicago', 'America/Chicgo', 'MEZ', '+2', '+02:60', '', '../etc'])(
    'does not know "%s"',
    (zone) => {
      expect(isZone(zone)).toBe(false);
      expect(at('2026-11-20T04:30:00', zone)).toEqual([]);
    },
  );
});

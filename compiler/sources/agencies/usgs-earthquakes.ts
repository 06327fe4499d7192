import { z } from 'zod';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import type { Reading } from '../../readings/reading.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  type OtherKind,
  type Payload,
  parsePayload,
  refuseOtherKinds,
  SkipCount,
  shaped,
  withoutKeys,
} from '../kit/payload.ts';
import { mainValue, measuredBy, ReadingList } from '../kit/readings.ts';
import { inBox, mayLieIn, type RegionBox } from '../kit/regions.ts';
import { registered, type Source } from '../kit/source.ts';
import {
  activityBand,
  COUNT_MAG_MIN,
  type Doubt,
  EARTHQUAKE_BOXES,
  EPOCH_MS_MAX,
  FELT_REPORTS_MIN,
  impactBand,
  impactRank,
  type Quake,
  readQuakes,
  regionScope,
  swarmBand,
} from './earthquake-events.ts';

interface RegionFacts extends Pick<Reading, 'observed_at' | 'current' | 'source_ref'> {
  readonly quakes: string;
  readonly grade?: string;
}

function regions(): readonly (readonly [entity: string, box: RegionBox])[] {
  return Object.entries(EARTHQUAKE_BOXES).sort(([a], [b]) => (a < b ? -1 : 1));
}

function regionReading(entity: string, facts: RegionFacts, collected_at: string): Reading {
  const { observed_at, current, source_ref, quakes, grade } = facts;
  const box = EARTHQUAKE_BOXES[entity];
  if (box === undefined) throw new RangeError(`Cannot read a region "${entity}": no such region`);
  return {
    entity,
    observed_at,
    collected_at,
    current,
    sources: measuredBy('USGS Earthquake Hazards Program', mainValue(current), observed_at),
    source_ref,
    source_tier: 'T1',
    ...(grade === undefined ? {} : { grade }),
    scope: `${quakes}; ${regionScope(box)}; reported intensity counts from ${FELT_REPORTS_MIN} reports up`,
    validation_status: 'as published by USGS',
    uncertainty: 'not stated in the feed; magnitudes and intensities are revised',
  };
}

/** How one quake shook, known at `asOf` in epoch milliseconds; `quakes` says which ones it stands for. */
function impactFacts(quake: Quake, asOf: number, quakes: string): RegionFacts {
  return {
    observed_at: isoTime(Math.min(quake.updated, asOf)),
    current: {
      intensity_mmi: quake.intensity,
      band: impactBand(quake),
      felt_reports_count: quake.felt,
      alert: quake.alert,
      event_mag: quake.magnitude,
      event_id: quake.id,
      event_at: isoTime(quake.time),
    },
    source_ref: `https://earthquake.usgs.gov/earthquakes/eventpage/${quake.id}`,
    quakes,
    grade: `${quake.status} solution`,
  };
}

const productSchema = z.looseObject({
  status: z.string(),
  properties: z.record(z.string(), z.unknown()),
});
const detailSchema = z.looseObject({
  type: z.literal('Feature'),
  properties: z.looseObject({
    time: z.int(),
    mmi: z.number().nullable(),
    cdi: z.number().nullable(),
    felt: z.int().nullable(),
    alert: z.string().nullable(),
    products: z.record(z.string(), z.array(productSchema)),
  }),
});

const ADDRESS = /(?:\/detail\/|[?&]eventid=)(\w+)/;

const MINUTE_MS = 60_000;

/** What the quake says of itself, and the product and property that it comes from. */
const ORIGINS = [
  ['time', 'origin', 'eventtime'],
  ['mmi', 'shakemap', 'maxmmi'],
  ['cdi', 'dyfi', 'maxmmi'],
  ['felt', 'dyfi', 'num-responses'],
  ['alert', 'losspager', 'alertlevel'],
] as const;

function isDetail(value: unknown): boolean {
  return detailSchema.pick({ type: true }).safeParse(value).success;
}

/** How one quake shook, for each region that it lies in. Throws an ImportError where its own products say something else. */
function readDetail(value: unknown, payload: Payload): Imported {
  const { note, subject } = payload;
  const { properties } = shaped(detailSchema, value, { subject, is: 'the detail of a quake' });
  const list = new ReadingList();
  const fetched = Date.parse(note.fetched_at);
  const span = { from: 0, to: fetched };
  const {
    quakes: [quake],
    doubts: [doubt],
  } = readQuakes([value], span, list.skips);
  if (doubt !== undefined) throw fetchAgain(payload, doubt.why);
  if (quake === undefined) throw new ImportError({ subject, state: 'it is no quake; import one' });
  const named = ADDRESS.exec(note.url)?.[1];
  // Nothing measured and nothing reported is not the same as nothing felt.
  const fault =
    (named === undefined || quake.ids.includes(named)
      ? null
      : `it is about ${quake.id}, but its address is about ${named}`) ??
    (impactRank(quake) > 0 ? null : 'nothing was measured or reported of this quake') ??
    contradiction(properties);
  if (fault !== null) throw fetchAgain(payload, fault);
  const facts = impactFacts(quake, fetched, `one quake, ${quake.id}, and no other of its region`);
  for (const [entity, box] of regions()) {
    if (!inBox(box, quake.longitude, quake.latitude)) continue;
    list.add('earthquake.impact_realized', regionReading(entity, facts, isoTime(fetched)));
  }
  if (list.count === 0) list.skips.add(quake.id, 'it lies in none of our regions');
  return list.someOf(payload);
}

/** The first value that is not the one of a product that still stands; null where all are. */
function contradiction(properties: z.infer<typeof detailSchema>['properties']): string | null {
  for (const [name, product, property] of ORIGINS) {
    const stand = (properties.products[product] ?? []).filter(({ status }) => status !== 'DELETE');
    const given = stand.flatMap(({ properties: own }) => own[property] ?? []);
    const value = properties[name];
    const same = given.some((text) => isSame(String(text), value));
    if (given.length > 0 && !same)
      return `properties.${name} is ${value}, and its ${product} says ${given.join(', ')}`;
    if (given.length === 0 && value !== null)
      return `properties.${name} is ${value} and it has no ${product}`;
  }
  return null;
}

/** Products write numbers as text with more or fewer digits, and times as ISO-8601. */
function isSame(text: string, value: number | string | null): boolean {
  if (/^\d{4}-.*Z$/.test(text)) return Math.abs(Date.parse(text) - Number(value)) < MINUTE_MS;
  return typeof value === 'number' ? Math.abs(Number(text) - value) < 0.051 : text === value;
}

/** The feed is made again every few minutes; an older one does not say what is there now. */
const FEED_AGE_HOURS_MAX = 6;
const DAYS_BEFORE = 6;
const FEED_NAME =
  /^https?:\/\/earthquake\.usgs\.gov\/(?:\S*\/)?(all|1\.0|2\.5|4\.5|significant)_(hour|day|week|month)\.geojson$/;
/** Days that a feed covers, by the word in its address; one of an hour cannot say that a day was quiet. */
const PERIOD_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30 };
/** From where on a feed lists quakes, by the word in its address: as its title spells it. */
const TITLES: Readonly<Record<string, string>> = {
  all: 'All Earthquakes',
  '1.0': 'Magnitude 1.0+',
  '2.5': 'Magnitude 2.5+',
};
const TITLE = /All Earthquakes|Significant Earthquakes|Magnitude \d\.\d\+/;
/** The feeds began later: an instant before is one in another unit. */
const GENERATED_MS_MIN = Date.UTC(2000, 0, 1);

const OTHERS: readonly OtherKind[] = [
  {
    begins: /<pager\b/,
    is: 'a loss estimate (PAGER); import the detail of its quake, which carries the alert level',
  },
];

const feedSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  metadata: z.looseObject({
    generated: z.int().min(GENERATED_MS_MIN).max(EPOCH_MS_MAX),
    url: z.url(),
    title: z.string().optional(),
    status: z.int().optional(),
    count: z.int(),
  }),
  features: z.array(z.unknown()),
});

interface Feed {
  readonly generated: number;
  readonly url: string;
  readonly kind: FeedKind;
  readonly quakes: readonly Quake[];
  /** Entries that cannot be read. */
  readonly doubts: readonly Doubt[];
  readonly collectedAt: string;
}

type Listed = Pick<Feed, 'quakes' | 'doubts'>;

/**
 * Makes the three readings of every region from a USGS GeoJSON summary feed, or one of the impact of a quake from its
 * detail. A region is quiet only where every entry that may lie in it was understood: of what else cannot be read, as much
 * is null as it may have changed. Throws an ImportError for a payload that is neither, lists too little or was stale when it
 * was fetched.
 */
function readEarthquakes(payload: Payload): Imported {
  const { bytes, note, subject } = payload;
  refuseOtherKinds(payload, OTHERS);
  const value = parsePayload(bytes, subject);
  if (isDetail(value)) return readDetail(value, payload);
  const { metadata, features } = readFeed(value, subject);
  const skips = new SkipCount();
  const { generated } = metadata;
  const collectedAt = isoTime(Date.parse(note.fetched_at));
  checkAge(generated, collectedAt, subject);
  const url = withoutKeys(metadata.url);
  const kind = kindOf(url, subject);
  checkKind(kind, metadata.title, payload);
  const span = { from: generated - kind.days * DAY_MS, to: generated };
  const { quakes, doubts } = readQuakes(features, span, skips);
  const feed = { generated, url, kind, quakes, doubts, collectedAt };
  const readings = new Map<string, readonly Reading[]>();
  if (kind.period === 'day')
    skips.add('earthquake.swarm_rate', 'a feed of one day has no days before');
  else readings.set('earthquake.swarm_rate', byRegion(feed, swarmReading));
  readings.set('earthquake.current_activity', byRegion(feed, activityReading));
  readings.set(
    'earthquake.impact_realized',
    byRegion(feed, (listed, feed) => {
      const { days } = feed.kind;
      const judged = `${quakesOf(feed.kind)} of ${days} ${days === 1 ? 'day' : 'days'}`;
      const [worst] = listed.quakes
        .filter((quake) => impactRank(quake) > 0)
        .sort(
          (a, b) =>
            impactRank(b) - impactRank(a) ||
            (b.intensity ?? 0) - (a.intensity ?? 0) ||
            (b.felt ?? -1) - (a.felt ?? -1) ||
            (a.id < b.id ? -1 : 1),
        );
      if (worst === undefined || listed.doubts.length > 0) {
        const observed_at = isoTime(feed.generated);
        const current = noImpact(listed, feed.kind);
        return { observed_at, current, source_ref: feed.url, quakes: judged };
      }
      return impactFacts(worst, feed.generated, judged);
    }),
  );
  // Counts the entries that cannot be read at each region that they may lie in, and names the first of them.
  for (const [entity, box] of regions()) {
    const own = feed.doubts.filter((doubt) => mayLieIn(box, doubt)).length;
    if (own > 0) skips.unread(entity, 'an entry that may lie in its box cannot be read', own);
  }
  const remarks = feed.doubts.slice(0, 1).map(({ why }) => why);
  return { readings, skipped: skips.list(), remarks };
}

function readFeed(value: unknown, subject: string) {
  const feed = shaped(feedSchema, value, { subject, is: 'a USGS GeoJSON summary feed' });
  const { status = 200, count } = feed.metadata;
  if (status !== 200) throw fetchAgain({ subject }, `feed status ${status}`);
  const held = feed.features.length;
  if (count !== held) {
    throw fetchAgain({ subject }, `the feed announces ${count} entries and holds ${held}`);
  }
  return feed;
}

function checkAge(generated: number, collectedAt: string, subject: string): void {
  const age = Date.parse(collectedAt) - generated;
  if (age < 0) {
    const state = `generated at ${isoTime(generated)}, after the fetch; correct the fetch note`;
    throw new ImportError({ subject, state });
  }
  if (age > FEED_AGE_HOURS_MAX * HOUR_MS) {
    throw fetchAgain({ subject }, `generated at ${isoTime(generated)}, stale when it was fetched`);
  }
}

interface FeedKind {
  readonly least: string;
  readonly period: string;
  readonly days: number;
}

/** A feed that begins at a larger magnitude, or covers an hour, cannot say that a region is quiet. */
function kindOf(url: string, subject: string): FeedKind {
  const [, least = '', period = ''] = FEED_NAME.exec(url) ?? [];
  const days = PERIOD_DAYS[period];
  if (TITLES[least] !== undefined && days !== undefined) return { least, period, days };
  const missing = `quakes from magnitude ${COUNT_MAG_MIN} of a whole day or more`;
  const state = `this feed does not list all ${missing}; fetch 2.5_week.geojson or all_week.geojson`;
  throw new ImportError({ subject, state });
}

/** What a feed is called and where it was fetched must be what its own address says. */
function checkKind(
  { least, period }: FeedKind,
  title: string | undefined,
  { note, subject }: Payload,
): void {
  const named = FEED_NAME.exec(note.url);
  const own = `${least}_${period}`;
  if (named !== null && `${named[1]}_${named[2]}` !== own) {
    const state = `the fetch note is of ${named[1]}_${named[2]}, the feed is ${own}; correct the fetch note`;
    throw new ImportError({ subject, state });
  }
  const called = TITLE.exec(title ?? '')?.[0];
  if (called !== undefined && called !== TITLES[least]) {
    const state = `the feed is called "${called}", its address says ${own}; fetch it again`;
    throw new ImportError({ subject, state });
  }
}

function byRegion(feed: Feed, read: (listed: Listed, feed: Feed) => RegionFacts): Reading[] {
  return regions().flatMap(([entity, box]) => {
    const quakes = feed.quakes.filter(({ longitude, latitude }) => inBox(box, longitude, latitude));
    const doubts = feed.doubts.filter((doubt) => mayLieIn(box, doubt));
    const facts = read({ quakes, doubts }, feed);
    // A reading that says nothing because of a quake elsewhere would take the place of an older one that is true.
    const isElsewhere =
      doubts.length > 0 &&
      doubts.every(({ longitude, latitude }) => (longitude ?? latitude) === null);
    if (isElsewhere && facts.current.band === null) return [];
    return [regionReading(entity, facts, feed.collectedAt)];
  });
}

/** How many quakes count; null where an entry or the magnitude of one cannot be known, which then may count or not. */
function countOf({ quakes, doubts }: Listed): number | null {
  if (doubts.some(({ magnitude }) => (magnitude ?? Infinity) >= COUNT_MAG_MIN)) return null;
  if (quakes.some(({ magnitude }) => magnitude === null)) return null;
  return quakes.filter(({ magnitude }) => (magnitude ?? 0) >= COUNT_MAG_MIN).length;
}

/** What of it was in a time; an entry whose time cannot be read may have been in any. */
function between({ quakes, doubts }: Listed, from: number, to: number): Listed {
  return {
    quakes: quakes.filter(({ time }) => time > from && time <= to),
    doubts: doubts.filter(({ time }) => time === null || (time > from && time <= to)),
  };
}

/** Only a feed of every magnitude says that nothing else shook. */
function isWhole({ least }: FeedKind): boolean {
  return least === 'all';
}

function quakesOf(kind: FeedKind): string {
  return isWhole(kind) ? 'quakes' : `quakes from magnitude ${kind.least} up`;
}

function swarmReading(listed: Listed, { generated, url }: Feed): RegionFacts {
  const dayAgo = generated - DAY_MS;
  const count = countOf(between(listed, dayAgo, generated));
  const before = countOf(between(listed, dayAgo - DAYS_BEFORE * DAY_MS, dayAgo));
  const isKnown = count !== null && before !== null;
  const ratio = isKnown && before > 0 ? hundredths((count * DAYS_BEFORE) / before) : null;
  const current = {
    rate_ratio: ratio,
    band: isKnown ? swarmBand(count, ratio) : null,
    count_24h_count: count,
    mean_daily_6d_count: before === null ? null : hundredths(before / DAYS_BEFORE),
  };
  const counted = `quakes from magnitude ${COUNT_MAG_MIN} up of 24 hours and of the ${DAYS_BEFORE} days before`;
  return { observed_at: isoTime(generated), current, source_ref: url, quakes: counted };
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function activityReading(listed: Listed, { generated, url, kind }: Feed): RegionFacts {
  const recent = between(listed, generated - DAY_MS, generated);
  const count = countOf(recent);
  const measured = recent.quakes.flatMap(({ magnitude }) =>
    magnitude === null ? [] : [magnitude],
  );
  const strongest = count === null || measured.length === 0 ? null : Math.max(...measured);
  const isStrongest = recent.doubts.every(
    ({ magnitude }) => (magnitude ?? Infinity) <= (strongest ?? -Infinity),
  );
  const current = {
    max_mag: isStrongest ? strongest : null,
    band: count === null ? null : activityBand(strongest),
    count_m25_count: count,
    events_24h_count: isWhole(kind) && recent.doubts.length === 0 ? recent.quakes.length : null,
  };
  const counted = `${quakesOf(kind)} of 24 hours`;
  return { observed_at: isoTime(generated), current, source_ref: url, quakes: counted };
}

/** A quake that a feed leaves out, or that cannot be read, may have been felt: then nothing is said of its region. */
function noImpact({ quakes, doubts }: Listed, kind: FeedKind): RegionFacts['current'] {
  if (!isWhole(kind) || doubts.length > 0)
    return { intensity_mmi: null, band: null, felt_reports_count: null };
  const isCounted = quakes.every(({ felt }) => felt !== null);
  return { intensity_mmi: null, band: 'none', felt_reports_count: isCounted ? 0 : null };
}

/** GeoJSON summary feeds: https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php */
export const usgsEarthquakes: Source = {
  ...registered('usgs-earthquakes'),
  version: 2,
  read: readEarthquakes,
  ownNote: (bytes, subject) => {
    const value = parsePayload(bytes, subject);
    if (isDetail(value)) {
      const state = 'the detail of a quake does not say when it was fetched; give --note FILE';
      throw new ImportError({ subject, state });
    }
    const { metadata } = readFeed(value, subject);
    const fetched_at = isoTime(metadata.generated);
    return { url: withoutKeys(metadata.url), fetched_at, http_status: 200 };
  },
};

import { z } from 'zod';
import { DAY_MS, HOUR_MS, isoTime } from '../contract/iso-time.ts';
import type { Reading } from '../stages/intake/reading.ts';
import { EPOCH_MS_MAX, FELT_REPORTS_MIN, type Quake, readQuakes } from './earthquake-events.ts';
import {
  activityBand,
  COUNT_MAG_MIN,
  EARTHQUAKE_BOXES,
  impactBand,
  impactRank,
  inBox,
  regionScope,
  swarmBand,
} from './earthquake-regions.ts';
import { type FetchNote, withoutKeys } from './fetch-note.ts';
import { ImportError } from './import-error.ts';
import { type Imported, parsePayload, SkipCount } from './payload.ts';

/** The feed is made anew every few minutes; an older one does not say what is there now. */
const FEED_AGE_HOURS_MAX = 6;
const DAYS_BEFORE = 6;
const SOURCE = 'USGS Earthquake Hazards Program';
const FEED_NAME = /(all|1\.0|2\.5|4\.5|significant)_(hour|day|week|month)/;

const feedSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  metadata: z.looseObject({
    generated: z.int().positive().max(EPOCH_MS_MAX),
    url: z.url(),
    status: z.int().optional(),
    count: z.int().optional(),
  }),
  features: z.array(z.unknown()),
});

/** A feed as read, before it is cut into regions. */
interface Feed {
  readonly generated: number;
  readonly url: string;
  readonly quakes: readonly Quake[];
  readonly collectedAt: string;
}

/** The note that stands in for a missing one: the feed's own address and time of making. */
export function earthquakeFeedNote(bytes: Uint8Array, subject: string): FetchNote {
  const { metadata } = readFeed(bytes, subject);
  const fetched_at = isoTime(metadata.generated);
  return { url: withoutKeys(metadata.url), fetched_at, http_status: 200 };
}

/**
 * Makes the three readings of every region from a USGS GeoJSON summary feed. Throws an ImportError
 * for a payload that is no such feed, lists too little or was stale when it was fetched.
 */
export function importEarthquakes(
  bytes: Uint8Array,
  note: FetchNote,
  subject = note.url,
): Imported {
  const { metadata, features } = readFeed(bytes, subject);
  const skips = new SkipCount();
  const { generated } = metadata;
  const collectedAt = isoTime(Date.parse(note.fetched_at));
  checkAge(generated, collectedAt, subject);
  const url = withoutKeys(metadata.url);
  const period = periodOf(url, subject);
  const feed = { generated, url, quakes: readQuakes(features, skips), collectedAt };
  const readings = new Map<string, readonly Reading[]>();
  if (period === 'day') skips.add('earthquake.swarm_rate', 'a feed of one day has no days before');
  else readings.set('earthquake.swarm_rate', byRegion(feed, swarmReading));
  readings.set('earthquake.current_activity', byRegion(feed, activityReading));
  readings.set('earthquake.impact_realized', byRegion(feed, impactReading));
  return { readings, skipped: skips.list(), remarks: countRemark(metadata.count, features.length) };
}

function countRemark(count: number | undefined, held: number): string[] {
  if (count === undefined || count === held) return [];
  return [`the feed announces ${count} entries, the file holds ${held}`];
}

function readFeed(bytes: Uint8Array, subject: string) {
  const value = parsePayload(bytes, subject);
  const parsed = feedSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = issue?.path.join('.') || 'payload';
    const state = `not a USGS GeoJSON summary feed (${at}: ${issue?.message}); fetch it again`;
    throw new ImportError({ subject, state }, { cause: parsed.error });
  }
  const { status = 200 } = parsed.data.metadata;
  if (status !== 200)
    throw new ImportError({ subject, state: `feed status ${status}; fetch it again` });
  return parsed.data;
}

function checkAge(generated: number, collectedAt: string, subject: string): void {
  const age = Date.parse(collectedAt) - generated;
  if (age < 0) {
    const state = `generated at ${isoTime(generated)}, after the fetch; correct the fetch note`;
    throw new ImportError({ subject, state });
  }
  if (age > FEED_AGE_HOURS_MAX * HOUR_MS) {
    const state = `generated at ${isoTime(generated)}, stale when it was fetched; fetch it again`;
    throw new ImportError({ subject, state });
  }
}

/** A feed that begins at a larger magnitude, or covers an hour, cannot say that a region is quiet. */
function periodOf(url: string, subject: string): string {
  const [, least = '', period = ''] = FEED_NAME.exec(url) ?? [];
  if (['all', '1.0', '2.5'].includes(least) && period !== 'hour') return period;
  const missing = `quakes from magnitude ${COUNT_MAG_MIN} of a whole day or more`;
  const state = `this feed does not list all ${missing}; fetch 2.5_week.geojson or all_week.geojson`;
  throw new ImportError({ subject, state });
}

type Facts = Pick<Reading, 'observed_at' | 'current' | 'source_ref'> & { readonly grade?: string };

function byRegion(feed: Feed, read: (quakes: readonly Quake[], feed: Feed) => Facts): Reading[] {
  const regions = Object.entries(EARTHQUAKE_BOXES).sort(([a], [b]) => (a < b ? -1 : 1));
  return regions.map(([entity, box]) => {
    const inside = feed.quakes.filter((quake) => inBox(box, quake.longitude, quake.latitude));
    const { observed_at, current, source_ref, grade } = read(inside, feed);
    const [value = null] = Object.values(current);
    const main = typeof value === 'number' ? value : null;
    return {
      entity,
      observed_at,
      collected_at: feed.collectedAt,
      current,
      sources: [sourceOf(main, observed_at)],
      source_ref,
      source_tier: 'T1',
      ...(grade === undefined ? {} : { grade }),
      scope: `${regionScope(box)}; reported intensity counts from ${FELT_REPORTS_MIN} reports up`,
      validation_status: 'as published by USGS',
      uncertainty: 'not stated in the feed; magnitudes and intensities are revised',
    };
  });
}

function sourceOf(value: number | null, as_of: string): Reading['sources'][number] {
  return { name: SOURCE, value, weight: 1, as_of, role: 'measurement', independent: true };
}

const isCounted = (quake: Quake) => quake.magnitude !== null && quake.magnitude >= COUNT_MAG_MIN;

function between(quakes: readonly Quake[], from: number, to: number): readonly Quake[] {
  return quakes.filter((quake) => quake.time > from && quake.time <= to);
}

function swarmReading(quakes: readonly Quake[], { generated, url }: Feed): Facts {
  const counted = quakes.filter(isCounted);
  const dayAgo = generated - DAY_MS;
  const count = between(counted, dayAgo, generated).length;
  const before = between(counted, dayAgo - DAYS_BEFORE * DAY_MS, dayAgo).length;
  const ratio = before === 0 ? null : hundredths((count * DAYS_BEFORE) / before);
  const current = {
    rate_ratio: ratio,
    band: swarmBand(count, ratio),
    count_24h_count: count,
    mean_daily_6d_count: hundredths(before / DAYS_BEFORE),
  };
  return { observed_at: isoTime(generated), current, source_ref: url };
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function activityReading(quakes: readonly Quake[], { generated, url }: Feed): Facts {
  const recent = between(quakes, generated - DAY_MS, generated);
  const measured = recent.flatMap(({ magnitude }) => (magnitude === null ? [] : [magnitude]));
  const strongest = measured.length === 0 ? null : Math.max(...measured);
  const current = {
    max_mag: strongest,
    band: activityBand(strongest),
    count_m25_count: recent.filter(isCounted).length,
    events_24h_count: recent.length,
  };
  return { observed_at: isoTime(generated), current, source_ref: url };
}

/** The quake of the feed's period that shook worst; a region without any has the band `none`. */
function impactReading(quakes: readonly Quake[], feed: Feed): Facts {
  const [worst] = between(quakes, 0, feed.generated)
    .filter((quake) => impactRank(quake) > 0)
    .sort(worstFirst);
  if (worst === undefined) {
    const current = { intensity_mmi: null, band: 'none', felt_reports_count: 0 };
    return { observed_at: isoTime(feed.generated), current, source_ref: feed.url };
  }
  const current = {
    intensity_mmi: worst.intensity,
    band: impactBand(worst),
    felt_reports_count: worst.felt,
    alert: worst.alert,
    event_mag: worst.magnitude,
    event_id: worst.id,
    event_at: isoTime(worst.time),
  };
  return {
    observed_at: isoTime(Math.min(worst.updated, feed.generated)),
    current,
    source_ref: `https://earthquake.usgs.gov/earthquakes/eventpage/${worst.id}`,
    grade: `${worst.status} solution`,
  };
}

function worstFirst(a: Quake, b: Quake): number {
  return (
    impactRank(b) - impactRank(a) ||
    (b.intensity ?? 0) - (a.intensity ?? 0) ||
    b.felt - a.felt ||
    (a.id < b.id ? -1 : 1)
  );
}

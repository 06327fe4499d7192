import { z } from 'zod';
import { HOUR_MS } from '../../../contract/iso-time.ts';
import type { SkipCount } from '../../payload.ts';

/** One quake of a feed; times in epoch milliseconds. */
export interface Quake {
  readonly id: string;
  readonly ids: readonly string[];
  readonly magnitude: number | null;
  readonly time: number;
  readonly updated: number;
  readonly longitude: number;
  readonly latitude: number;
  /** Null where nobody was asked or answered. */
  readonly felt: number | null;
  readonly intensity: number | null;
  readonly alert: string | null;
  readonly status: string;
}

/**
 * An intensity from fewer reports than this is not used (ours): in the feed of 2018-02-07 two
 * reports give a quake of magnitude 2.7 the intensity 9.1.
 */
export const FELT_REPORTS_MIN = 10;

/** Latest instant that an ISO time with a four-digit year can hold. */
export const EPOCH_MS_MAX = Date.UTC(9999, 11, 31);
const epochMs = z.int().min(0).max(EPOCH_MS_MAX);
const intensity = z.number().min(0).max(12).nullable();
const ID = /^[A-Za-z0-9_.-]{1,80}$/;
const featureSchema = z.looseObject({
  type: z.literal('Feature'),
  id: z.string().regex(ID),
  properties: z.looseObject({
    // The source writes null for what was not measured or reported; a member that is absent is another format.
    mag: z.number().min(-5).max(10.5).nullable(),
    time: epochMs,
    updated: epochMs,
    felt: z.int().min(0).nullable(),
    cdi: intensity,
    mmi: intensity,
    alert: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['green', 'yellow', 'orange', 'red']))
      .nullable(),
    status: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['automatic', 'reviewed', 'manual', 'deleted'])),
    type: z.string().toLowerCase(),
    ids: z.string().regex(/^,([A-Za-z0-9_.-]{1,80},)+$/),
  }),
  geometry: z.looseObject({
    type: z.literal('Point'),
    coordinates: z.tuple([
      z.number().min(-360).max(360),
      z.number().min(-90).max(90),
      // Depth: a list of two numbers may have lost its longitude.
      z.number().nullable(),
    ]),
  }),
});
type Feature = z.infer<typeof featureSchema>;

/** What else a network lists; anything beside these and `earthquake` may be a quake under a name that is not known here. */
const OTHER_EVENTS: ReadonlySet<string> = new Set(
  `accidental explosion, acoustic noise, anthropogenic event, building collapse,
  chemical explosion, collapse, debris avalanche, experimental explosion, explosion, ice quake,
  industrial explosion, landslide, meteor, meteorite, mine collapse, mining explosion,
  not existing, nuclear explosion, quarry, quarry blast, rock burst, rock slide, rockslide,
  snow avalanche, sonic boom, volcanic eruption, volcanic explosion`
    .split(',')
    .map((name) => name.trim()),
);

/** The time that a feed covers, in epoch milliseconds. */
interface FeedSpan {
  readonly from: number;
  readonly to: number;
}
/** How far a clock or a late listing may lie outside of it. */
const SLACK_MS = HOUR_MS;

/**
 * The quakes of a feed, each once; blasts and deleted entries are counted as skipped. Throws a RangeError for an entry
 * that cannot be read: it may be a quake, so nothing could be said of the number of them.
 */
export function readQuakes(
  features: readonly unknown[],
  span: FeedSpan,
  skips: SkipCount,
): Quake[] {
  const quakes: Quake[] = [];
  const ids = new Set<string>();
  for (const [at, item] of features.entries()) {
    const feature = readFeature(item, at, span);
    if (ids.has(feature.id)) throw unreadable(at, `id "${feature.id}" is listed twice`);
    ids.add(feature.id);
    const reason = notAQuake(feature, at);
    if (reason === null) quakes.push(quakeOf(feature));
    else skips.add('feature', reason);
  }
  return withoutTwins(quakes, skips);
}

function readFeature(item: unknown, at: number, span: FeedSpan): Feature {
  const parsed = featureSchema.safeParse(item);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw unreadable(at, `${issue?.path.join('.') || 'it'}: ${issue?.message}`);
  }
  const { id, properties } = parsed.data;
  const { time, updated, ids } = properties;
  if (time < span.from - SLACK_MS || time > span.to) {
    throw unreadable(at, `properties.time ${time} is outside of the period of the feed`);
  }
  if (updated < time || updated > span.to + SLACK_MS) {
    throw unreadable(at, `properties.updated ${updated} is before its time or after the feed`);
  }
  if (!ids.includes(`,${id},`)) throw unreadable(at, `properties.ids does not name "${id}"`);
  return parsed.data;
}

function unreadable(at: number, why: string): RangeError {
  return new RangeError(`features.${at} cannot be read (${why}), so nothing can be counted`);
}

/** Why an entry is no quake; null for a quake. */
function notAQuake({ properties }: Feature, at: number): string | null {
  const type = properties.type.replaceAll('_', ' ');
  if (OTHER_EVENTS.has(type)) return `type "${type}"`;
  if (type !== 'earthquake') throw unreadable(at, `properties.type "${type}" is not known`);
  return properties.status === 'deleted' ? 'status "deleted"' : null;
}

function quakeOf({ id, properties, geometry }: Feature): Quake {
  const { mag, time, updated, ids, felt, cdi, mmi, alert, status } = properties;
  const [longitude, latitude] = geometry.coordinates;
  const reported = (felt ?? 0) >= FELT_REPORTS_MIN ? cdi : null;
  const intensities = [mmi, reported].filter((value) => value !== null);
  return {
    id,
    ids: ids.split(',').filter((text) => text !== ''),
    magnitude: mag,
    time,
    updated,
    longitude: wrapped(longitude),
    latitude,
    felt,
    intensity: intensities.length === 0 ? null : Math.max(...intensities),
    alert,
    status,
  };
}

function wrapped(longitude: number): number {
  if (longitude > 180) return longitude - 360;
  return longitude < -180 ? longitude + 360 : longitude;
}

/** Networks report one quake under several ids: entries that share an id are one, the newest stands. */
function withoutTwins(quakes: readonly Quake[], skips: SkipCount): Quake[] {
  const newestFirst = [...quakes].sort((a, b) => b.updated - a.updated || (a.id < b.id ? -1 : 1));
  const leaders = new Map<string, Group>();
  for (const quake of newestFirst) join(quake, leaders);
  const kept = newestFirst.filter((quake) => rootOf(leaders.get(quake.id)).quake === quake);
  if (kept.length < quakes.length) {
    skips.add('feature', 'same quake under another id', quakes.length - kept.length);
  }
  return kept;
}

interface Group {
  readonly quake: Quake;
  readonly order: number;
  parent: Group | null;
}

/** Puts a quake into the group of its ids; groups that it connects become one, led by the newest. */
function join(quake: Quake, leaders: Map<string, Group>): void {
  const own: Group = { quake, order: leaders.size, parent: null };
  let leader = own;
  for (const id of quake.ids) {
    const known = leaders.get(id);
    if (known !== undefined) leader = merge(rootOf(known), leader);
  }
  for (const id of quake.ids) leaders.set(id, leader);
}

function merge(a: Group, b: Group): Group {
  if (a === b) return a;
  const [first, second] = a.order < b.order ? [a, b] : [b, a];
  second.parent = first;
  return first;
}

function rootOf(group: Group | undefined): Group {
  if (group === undefined) throw new RangeError('Cannot find the group of a quake: not joined');
  let root = group;
  while (root.parent !== null) root = root.parent;
  return root;
}

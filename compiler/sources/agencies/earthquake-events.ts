import { z } from 'zod';
import { defined } from '../../format/errors.ts';
import { HOUR_MS } from '../../format/iso-time.ts';
import type { SkipCount } from '../kit/payload.ts';
import { regionBox as box, boxText, type RegionBox } from '../kit/regions.ts';

/** Our boxes of the line's entities; no agency publishes them, so `regionScope` says whose they are. */
export const EARTHQUAKE_BOXES: Readonly<Record<string, RegionBox>> = {
  'california-san-andreas': box([32, 42], [-125, -114]),
  'cascadia-pnw': box([40, 51], [-130, -118]),
  'alaska-aleutians': box([50, 72], [170, -130]),
  japan: box([30, 46], [128, 148]),
  'sumatra-indonesia': box([-11, 7], [92, 135]),
  philippines: box([4, 21], [116, 128]),
  chile: box([-56, -17], [-78, -66]),
  mexico: box([14, 33], [-118, -92]),
  'central-america': box([7, 18], [-93, -77]),
  'turkey-anatolia': box([35.5, 42.5], [26, 45]),
  'greece-italy-med': box([34, 47], [6, 30]),
  iran: box([25, 40], [44, 63.5]),
  'nepal-himalaya': box([26, 36], [74, 97]),
  'new-zealand': box([-50, -33], [164, -176]),
  iceland: box([62.5, 67.5], [-26, -12]),
  'png-solomon': box([-13, 0], [140, 164]),
  taiwan: box([21, 26], [119, 123]),
  caribbean: box([10, 24], [-85, -59]),
};

/** The box as text for `scope`, which also says that boxes and bands are ours. */
export function regionScope(area: RegionBox): string {
  return `${boxText(area)}; box and band thresholds are ours, not official`;
}

/** Smallest magnitude of counts and rates: smaller quakes are listed completely in few regions only. */
export const COUNT_MAG_MIN = 2.5;
/** Below this many quakes in 24 hours a ratio says nothing, so the band stays `baseline`. */
const SWARM_COUNT_MIN = 5;

interface BandStep {
  readonly band: string;
  readonly from: number;
}

/** Bands by the largest magnitude of 24 hours (ours). */
export const ACTIVITY_STEPS: readonly BandStep[] = [
  { band: 'minor', from: 2.5 },
  { band: 'notable', from: 4.5 },
  { band: 'strong', from: 6 },
  { band: 'major', from: 7 },
];
/** Bands by the ratio of 24 hours to the mean day before (ours). */
export const SWARM_STEPS: readonly BandStep[] = [
  { band: 'slightly_elevated', from: 1.5 },
  { band: 'elevated', from: 3 },
  { band: 'swarm', from: 6 },
];
/** Bands by intensity (ours); the alert levels of ALERT_BANDS can only raise them. */
export const IMPACT_STEPS: readonly BandStep[] = [
  { band: 'felt', from: 1.5 },
  { band: 'moderate', from: 4.5 },
  { band: 'significant', from: 6.5 },
  { band: 'severe', from: 7.5 },
];
const ALERT_BANDS: Readonly<Record<string, string>> = {
  yellow: 'significant',
  orange: 'severe',
  red: 'severe',
};

function reached(steps: readonly BandStep[], value: number): string | undefined {
  return steps.findLast((step) => value >= step.from)?.band;
}

/** Band of `earthquake.current_activity`; null means that no quake was listed. */
export function activityBand(maxMagnitude: number | null): string {
  return (maxMagnitude === null ? undefined : reached(ACTIVITY_STEPS, maxMagnitude)) ?? 'quiet';
}

/** Band of `earthquake.swarm_rate`; many quakes after six days without any are a swarm. */
export function swarmBand(count24h: number, ratio: number | null): string {
  if (count24h < SWARM_COUNT_MIN) return 'baseline';
  return ratio === null ? 'swarm' : (reached(SWARM_STEPS, ratio) ?? 'baseline');
}

const IMPACT_ORDER = ['none', ...IMPACT_STEPS.map((step) => step.band)];

/** What was measured and reported of one quake; null says nothing, it is neither zero nor green. */
interface Shaking {
  readonly intensity: number | null;
  readonly alert: string | null;
  readonly felt: number | null;
}

/** Band of `earthquake.impact_realized`: the worst of intensity, alert level and reports. */
export function impactBand(shaking: Shaking): string {
  return defined(IMPACT_ORDER[impactRank(shaking)], 'the band of a rank');
}

export function impactRank({ intensity, alert, felt }: Shaking): number {
  const byShaking = intensity === null ? undefined : reached(IMPACT_STEPS, intensity);
  const byAlert = alert === null ? undefined : ALERT_BANDS[alert.toLowerCase()];
  const byReports = felt !== null && felt > 0 ? 'felt' : undefined;
  const bands = [byShaking, byAlert, byReports];
  return Math.max(...bands.map((band) => IMPACT_ORDER.indexOf(band ?? 'none')));
}

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
const east = z.number().min(-360).max(360);
const north = z.number().min(-90).max(90);
const intensity = z.number().min(0).max(12).nullable();
const magnitude = z.number().min(-5).max(10.5).nullable();
const ID = /^[A-Za-z0-9_.-]{1,80}$/;
const featureSchema = z.looseObject({
  type: z.literal('Feature'),
  id: z.string().regex(ID),
  properties: z.looseObject({
    // The source writes null for what was not measured or reported; a member that is absent is another format.
    mag: magnitude,
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
    ids: z.string().regex(/^,([A-Za-z0-9_.-]{1,80},)+$/),
  }),
  geometry: z.looseObject({
    type: z.literal('Point'),
    // Depth: a list of two numbers may have lost its longitude.
    coordinates: z.tuple([east, north, z.number().nullable()]),
  }),
});
type Feature = z.infer<typeof featureSchema>;

/** What is no quake, by the types of QuakeML 1.2 and the words of the networks. */
const NO_QUAKES: ReadonlySet<string> = new Set(
  [
    'acoustic noise|accidental explosion|anthropogenic event|atmospheric event|avalanche|blasting levee|boat crash',
    'building collapse|cavity collapse|chemical explosion|collapse|controlled explosion|crash|debris avalanche',
    'experimental explosion|explosion|hydroacoustic event|ice quake|industrial explosion|landslide|meteor|meteorite',
    'mine collapse|mining explosion|not existing|nuclear explosion|other event|plane crash|quarry|quarry blast|road cut',
    'rock slide|rockslide|slide|snow avalanche|sonic blast|sonic boom|thunder|train crash|volcanic eruption',
  ].flatMap((words) => words.split('|')),
);
/** What an entry says that it is; a network lists blasts, landslides, meteors and `other event` beside quakes. */
const typedSchema = z.looseObject({
  properties: z.looseObject({ type: z.string().trim().min(1).toLowerCase() }),
});
const timedSchema = z.looseObject({ properties: z.looseObject({ time: epochMs }) });
const sizedSchema = z.looseObject({ properties: z.looseObject({ mag: magnitude }) });
const placedSchema = z.looseObject({
  geometry: z.looseObject({ coordinates: z.array(z.unknown()).length(3) }),
});

/** The time that a feed covers, in epoch milliseconds. */
interface FeedSpan {
  readonly from: number;
  readonly to: number;
}
/** How far a clock or a late listing may lie outside of it. */
const SLACK_MS = HOUR_MS;

/** An entry that cannot be read and may be a quake: when, where and how strong, as far as that can be read. */
export interface Doubt {
  readonly why: string;
  readonly time: number | null;
  readonly longitude: number | null;
  readonly latitude: number | null;
  readonly magnitude: number | null;
}

/**
 * The quakes of a feed, each once, and the entries that cannot be read, among them those of an unknown type. What is known to
 * be no quake is counted as skipped, and so is what was deleted.
 */
export function readQuakes(
  features: readonly unknown[],
  span: FeedSpan,
  skips: SkipCount,
): { readonly quakes: readonly Quake[]; readonly doubts: readonly Doubt[] } {
  const quakes: Quake[] = [];
  const doubts: Doubt[] = [];
  const ids = new Set<string>();
  for (const [at, item] of features.entries()) {
    const type = typedSchema.safeParse(item).data?.properties.type.replaceAll('_', ' ') ?? null;
    if (type !== null && NO_QUAKES.has(type)) {
      skips.add('feature', `type ${JSON.stringify(type)}`);
      continue;
    }
    const found = type === 'earthquake' ? readEntry(item, span, ids) : 'properties.type';
    if (typeof found === 'string') {
      doubts.push({ why: `features.${at} cannot be read (${found})`, ...whereabouts(item, span) });
      continue;
    }
    ids.add(found.id);
    if (found.properties.status === 'deleted') skips.add('feature', 'status "deleted"');
    else quakes.push(quakeOf(found));
  }
  return { quakes: withoutTwins(quakes, skips), doubts };
}

function readEntry(item: unknown, span: FeedSpan, seen: ReadonlySet<string>): Feature | string {
  const { data, error } = featureSchema.safeParse(item);
  if (data !== undefined) return faultOf(data, span, seen) ?? data;
  const [issue] = error.issues;
  return `${issue?.path.join('.') || 'it'}: ${issue?.message}`;
}

/** What is wrong with an entry of which every member can be read; null for nothing. */
function faultOf({ id, properties }: Feature, span: FeedSpan, seen: ReadonlySet<string>) {
  const { time, updated, ids } = properties;
  if (!isWithin(time, span)) return `properties.time ${time} is outside of the period of the feed`;
  if (updated < time || updated > span.to + SLACK_MS) {
    return `properties.updated ${updated} is before its time or after the feed`;
  }
  if (!ids.includes(`,${id},`)) return `properties.ids does not name "${id}"`;
  return seen.has(id) ? `id "${id}" is listed twice` : null;
}

function isWithin(time: number, { from, to }: FeedSpan): boolean {
  return time >= from - SLACK_MS && time <= to;
}

function whereabouts(item: unknown, span: FeedSpan): Omit<Doubt, 'why'> {
  const time = timedSchema.safeParse(item).data?.properties.time;
  const [longitude, latitude] = placedSchema.safeParse(item).data?.geometry.coordinates ?? [];
  const degrees = east.safeParse(longitude).data;
  return {
    time: time === undefined || !isWithin(time, span) ? null : time,
    magnitude: sizedSchema.safeParse(item).data?.properties.mag ?? null,
    longitude: degrees === undefined ? null : wrapped(degrees),
    latitude: north.safeParse(latitude).data ?? null,
  };
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
  for (const quake of newestFirst) {
    // Puts a quake into the group of its ids; groups that it connects become one, led by the newest.
    const own: Group = { quake, order: leaders.size, parent: null };
    let leader = own;
    for (const id of quake.ids) {
      const known = leaders.get(id);
      if (known !== undefined) leader = merge(rootOf(known), leader);
    }
    for (const id of quake.ids) leaders.set(id, leader);
  }
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

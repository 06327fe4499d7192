import { z } from 'zod';
import type { SkipCount } from './payload.ts';

/** One quake of a feed; times in epoch milliseconds. */
export interface Quake {
  readonly id: string;
  readonly ids: readonly string[];
  readonly magnitude: number | null;
  readonly time: number;
  readonly updated: number;
  readonly longitude: number;
  readonly latitude: number;
  readonly felt: number;
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
const reported = z.number().nullish();
const featureSchema = z.looseObject({
  id: z.string().regex(/^[A-Za-z0-9_.-]{1,80}$/),
  properties: z.looseObject({
    mag: reported,
    time: epochMs,
    updated: epochMs,
    felt: reported,
    cdi: reported,
    mmi: reported,
    alert: z.string().nullish(),
    status: z.string().nullish(),
    type: z.string(),
    ids: z.string().nullish(),
  }),
  geometry: z.looseObject({
    coordinates: z.tuple([z.number().min(-360).max(360), z.number().min(-90).max(90)], z.unknown()),
  }),
});
type Feature = z.infer<typeof featureSchema>;

/** The quakes of a feed, each once; blasts, deleted and unreadable entries are counted as skipped. */
export function readQuakes(features: readonly unknown[], skips: SkipCount): Quake[] {
  const quakes: Quake[] = [];
  for (const item of features) {
    const parsed = featureSchema.safeParse(item);
    if (!parsed.success) {
      skips.add('feature', `unreadable ${parsed.error.issues[0]?.path.join('.') ?? ''}`);
    } else {
      const reason = notAQuake(parsed.data);
      if (reason === null) quakes.push(quakeOf(parsed.data));
      else skips.add('feature', reason);
    }
  }
  return withoutTwins(quakes, skips);
}

function notAQuake({ properties }: Feature): string | null {
  const type = properties.type.toLowerCase();
  if (type !== 'earthquake') return `type "${type}"`;
  return properties.status?.toLowerCase() === 'deleted' ? 'status "deleted"' : null;
}

function quakeOf({ id, properties, geometry }: Feature): Quake {
  const [longitude, latitude] = geometry.coordinates;
  const named = (properties.ids ?? '').split(',').filter((text) => text !== '');
  const felt = properties.felt ?? 0;
  const reported = felt >= FELT_REPORTS_MIN ? properties.cdi : null;
  const intensities = [properties.mmi, reported].filter((value) => value != null);
  return {
    id,
    ids: [...new Set([id, ...named])],
    magnitude: properties.mag ?? null,
    time: properties.time,
    updated: properties.updated,
    longitude: wrapped(longitude),
    latitude,
    felt,
    intensity: intensities.length === 0 ? null : Math.max(...intensities),
    alert: properties.alert?.toLowerCase() ?? null,
    status: properties.status?.toLowerCase() ?? 'unknown',
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

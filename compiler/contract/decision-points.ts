import type { Line, SignalEntry } from './catalog/line.ts';
import type { DecisionPoints } from './record.ts';

/** Most values listed under `swappable`; the rest is in the catalogue. */
export const SWAPPABLE_MAX = 8;
const NOTE =
  '`how` is the call with the first value of `swappable`; one swapped tag is one call, one without data is not charged; legal values are in the free /gauge/catalog';

type Point = DecisionPoints['points'][number];

/** Which neighbouring facts one more call answers, by swapping one tag of this record. */
export function recordDecisions(entry: SignalEntry, entity: string, dims: readonly string[]) {
  const { signal, line } = entry;
  const gauge = (signalId: string, subject: string): string =>
    `GET /gauge?signal_id=${signalId}&entity=${encodeURIComponent(subject)}`;
  const siblings = line.signals
    .filter((other) => other.id !== signal.id && other.entities === signal.entities)
    .map((other) => other.id);
  return decisions([
    point('entity', entity, {
      values: others(listedEntities(entry), entity),
      how: (other) => gauge(signal.id, other),
    }),
    point('signal_id', signal.id, { values: siblings, how: (other) => gauge(other, entity) }),
    point('dim', 'gauge', {
      values: dims,
      how: (other) => `${gauge(signal.id, entity)}&dim=${other}`,
    }),
  ]);
}

/** Entities that the catalogue names for a signal: the gauges of its places where it has ids of its own. */
function listedEntities({ signal, line }: SignalEntry): readonly string[] {
  const map = line.entityOf?.[signal.id];
  if (map !== undefined) return Object.values(map);
  return signal.entities === 'open' ? [] : line.entities;
}

/** The same for a bundle: another of the subjects that have one, or the thin form. */
export function bundleDecisions(
  line: Line,
  subject: string,
  subjects: readonly string[],
): DecisionPoints {
  const { path, param } = line.bundle ?? { path: '', param: 'entity' };
  const call = (other: string): string => `GET ${path}?${param}=${encodeURIComponent(other)}`;
  return decisions([
    point(param, subject, { values: others(subjects, subject), how: call }),
    point('format', 'json', {
      values: ['thin'],
      how: (form) => `${call(subject)}&format=${form}`,
    }),
  ]);
}

/** The same for the readings of a city; `locs` are the cities that have some. */
export function cityDecisions(addon: 'air' | 'precip', loc: string, locs: readonly string[]) {
  const how = (other: string): string => `GET /gauge/${addon}?loc=${other}`;
  return decisions([point('loc', loc, { values: others(locs, loc), how })]);
}

function others(values: readonly string[], current: string): string[] {
  return [...new Set(values)].filter((other) => other !== current);
}

interface Swap {
  readonly values: readonly string[];
  /** The call that answers for one of the values. */
  readonly how: (value: string) => string;
}

function point(tag: string, current: string, { values, how }: Swap): Point | null {
  const [first] = values;
  if (first === undefined) return null;
  return { tag, current, swappable: values.slice(0, SWAPPABLE_MAX), how: how(first) };
}

function decisions(points: readonly (Point | null)[]): DecisionPoints {
  const useful = points.filter((one) => one !== null);
  return { count: useful.length, points: useful, note: NOTE };
}

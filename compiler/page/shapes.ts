import type { SiteMapRow, SitePoint } from '../catalog/site.ts';
import { defined } from '../format/defined.ts';
import { inclusionRanges, type Range } from '../format/merkle.ts';
import { CLASS, classify, positionOn, type Ruler } from '../products/shapes/rulers.ts';
import type { Classable, Classed } from '../products/shapes/say.ts';

/** Colours that the page has for classes, from the mildest to the worst. */
const SHADES = 6;

/** The colour of a class, 0 for the mildest; null for one that stands in no list. */
export function shadeOf({ bands }: Pick<Classed, 'bands'>, band: string | null): number | null {
  const at = placeIn(bands, band);
  if (at === null) return null;
  return bands.length === 1 ? 0 : Math.round((at / (bands.length - 1)) * (SHADES - 1));
}

/** Whether a leg of a chain is lit, as `products/shapes/bundle.ts` has it: its class is not the mildest. Null without a class. */
export function isLitBand({ bands }: Pick<Classed, 'bands'>, band: string | null): boolean | null {
  const at = placeIn(bands, band);
  return at === null ? null : at > 0;
}

/** Which thresholds there are differs by gauge: whatever is below the lowest one is the mildest class. */
function placeIn(bands: readonly string[], band: string | null): number | null {
  if (band === null) return null;
  if (BELOW.test(band) && BELOW.test(bands[0] ?? '')) return 0;
  const at = bands.indexOf(band);
  return at === -1 ? null : at;
}

const BELOW = /^below-/;

/**
 * Where a value stands on an official scale that is drawn with classes of equal width: in which cell, and how far into it,
 * from 0 to 1. A cell begins at `at`, null for one without a beginning.
 */
export function scalePlace(scale: Ruler, reading: Classable) {
  const value = positionOn(scale, reading);
  if (value === null) return null;
  const { steps } = scale;
  const cell = steps.indexOf(classify(scale, value));
  const cells = steps.map(({ band, at }) => ({ band, at: Number.isFinite(at) ? at : null }));
  if (scale.metric === CLASS) return { cells, cell, inside: 0.5 };
  const edges = steps.map(({ at }) => at);
  const [low, high] = edgesOf(edges, cell);
  const inside = high === low ? 0.5 : Math.min(1, Math.max(0, (value - low) / (high - low)));
  return { cells, cell, inside };
}

/** The last class is drawn as wide as the one before it. */
function edgesOf(edges: readonly number[], cell: number): readonly [number, number] {
  const low = defined(edges[cell], 'the class of the value');
  return [low, edges[cell + 1] ?? 2 * low - (edges[cell - 1] ?? 0)];
}

export interface SparkPoint {
  readonly observed_at: string;
  readonly value: number;
}

const MARGIN = 0.15;

/** Readings by their time, on the stripes of the scale of their metric; the box fits the readings, not the scale. */
export function sparkShape(
  points: readonly SparkPoint[],
  scale: Ruler | null,
  box: { width: number; height: number },
) {
  const values = points.map(({ value }) => value);
  const [low, high] = padded(Math.min(...values), Math.max(...values));
  const y = (value: number): number => round(box.height * (1 - (value - low) / (high - low)));
  const times = points.map(({ observed_at }) => Date.parse(observed_at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const x = (time: number): number =>
    to === from ? box.width / 2 : round(((time - from) / (to - from)) * box.width);
  const placed = points.map(({ value }, at) => ({ x: x(times[at] ?? from), y: y(value) }));
  const shown = scale === null || scale.metric === CLASS ? [] : stripesOf(scale, { low, high });
  const stripes = shown.map(({ band, bottom, top }) => {
    return { band, y: y(top), height: round(y(bottom) - y(top)) };
  });
  return { points: placed, stripes: stripes.filter(({ height }) => height > 0) };
}

function stripesOf({ steps, direction }: Ruler, { low, high }: { low: number; high: number }) {
  return steps.map(({ band, at }, index) => {
    const next = steps[index + 1]?.at;
    const far = direction === 'up' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    // The mildest class also holds what lies on its other side.
    const edges = [index === 0 ? -far : at, next ?? far];
    const inside = (edge: number): number => Math.min(high, Math.max(low, edge));
    return { band, bottom: inside(Math.min(...edges)), top: inside(Math.max(...edges)) };
  });
}

function padded(low: number, high: number): readonly [number, number] {
  const room = high === low ? Math.abs(high) * MARGIN || 1 : (high - low) * MARGIN;
  return [low - room, high + room];
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Stops of the time slider; the free last seven reach no further back. */
const FRAMES_MAX = 7;

/** Days on which something was observed, the newest seven, oldest first. */
export function frameDays(rows: readonly SiteMapRow[]): string[] {
  const days = new Set<string>();
  for (const [, , , , points] of rows) {
    for (const [observed] of points) days.add(observed.slice(0, 10));
  }
  return [...days].sort().slice(-FRAMES_MAX);
}

/** The newest reading up to the end of a day; null where the free ones begin later. */
export function pointOn(points: readonly SitePoint[], day: string): SitePoint | null {
  return points.findLast(([observed]) => observed.slice(0, 10) <= day) ?? null;
}

/** One step from a hash that a release took in to the root that it states: two subtrees become one. */
export interface LogStep {
  /** Hashes under the subtree that the proof brings, `end` left out. */
  readonly sibling: Range;
  readonly siblingHash: string;
  readonly side: 'left' | 'right';
  /** Hashes under both together. */
  readonly joined: Range;
}

/** The steps of an inclusion proof, leaf first; empty for a proof that is not of this tree. */
export function logPath(index: number, size: number, proof: readonly string[]): LogStep[] {
  const ranges = rangesOf(index, size);
  if (ranges.length !== proof.length) return [];
  let own: Range = { start: index, end: index + 1 };
  return ranges.map((sibling, at) => {
    const side = sibling.end <= own.start ? 'left' : 'right';
    own = { start: Math.min(own.start, sibling.start), end: Math.max(own.end, sibling.end) };
    return { sibling, siblingHash: defined(proof[at], 'the hash'), side, joined: own };
  });
}

function rangesOf(index: number, size: number): Range[] {
  try {
    return inclusionRanges(index, size);
  } catch {
    return [];
  }
}

/** "hash 8" or "hashes 1 to 8,192": people count from one. */
export function rangeText({ start, end }: Range): string {
  const text = (value: number): string => value.toLocaleString('en');
  return end - start === 1 ? `hash ${text(end)}` : `hashes ${text(start + 1)} to ${text(end)}`;
}

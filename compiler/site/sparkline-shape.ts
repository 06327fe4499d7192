import type { Ruler } from '../contract/rulers.ts';
import { CLASS } from '../contract/rulers.ts';

export interface SparkPoint {
  readonly observed_at: string;
  readonly value: number;
}

/** A drawing in a box of `width` by `height`, the origin above on the left. */
interface SparkShape {
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** Official classes behind the line, those that the box shows. */
  readonly stripes: readonly {
    readonly band: string;
    readonly y: number;
    readonly height: number;
  }[];
}

interface Box {
  readonly width: number;
  readonly height: number;
}

const MARGIN = 0.15;

/** Readings by their time, on the stripes of the scale of their metric; the box fits the readings, not the scale. */
export function sparkShape(
  points: readonly SparkPoint[],
  scale: Ruler | null,
  box: Box,
): SparkShape {
  const values = points.map(({ value }) => value);
  const [low, high] = padded(Math.min(...values), Math.max(...values));
  const y = (value: number): number => round(box.height * (1 - (value - low) / (high - low)));
  const times = points.map(({ observed_at }) => Date.parse(observed_at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const x = (time: number): number =>
    to === from ? box.width / 2 : round(((time - from) / (to - from)) * box.width);
  const placed = points.map(({ value }, at) => ({ x: x(times[at] ?? from), y: y(value) }));
  const shown = scale === null || scale.metric === CLASS ? [] : stripesOf(scale, { low, high });
  const stripes = shown.map(({ band, bottom, top }) => ({
    band,
    y: y(top),
    height: round(y(bottom) - y(top)),
  }));
  return { points: placed, stripes: stripes.filter(({ height }) => height > 0) };
}

interface Span {
  readonly low: number;
  readonly high: number;
}

function stripesOf({ steps, direction }: Ruler, { low, high }: Span) {
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

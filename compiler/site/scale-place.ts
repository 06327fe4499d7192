import { defined } from '../contract/defined.ts';
import { CLASS, classify, positionOn, type Ruler } from '../contract/rulers.ts';
import type { SiteSignal } from '../contract/site.ts';

/** A free reading: of the last seven, of the map, or of a whole record. */
interface FreeReading {
  readonly observed_at: string;
  readonly current: Readonly<Record<string, unknown>>;
}

/** What a signal says of its classes. */
export type Classed = Pick<SiteSignal, 'scales' | 'bands'>;

/** The official scale of the day of a reading, where its publisher gives it no class of its own. */
export function scaleFor({ scales }: Pick<Classed, 'scales'>, reading: FreeReading): Ruler | null {
  const day = reading.observed_at.slice(0, 10);
  const scale = scales.findLast(({ since = '' }) => since <= day);
  const { band } = reading.current;
  if (scale === undefined) return null;
  return typeof band === 'string' && !scale.steps.some((step) => step.band === band) ? null : scale;
}

/** Class of a reading: on the official scale of its day, else the one that its publisher gave; null for neither. */
export function bandFor(signal: Classed, reading: FreeReading): string | null {
  const { band } = reading.current;
  const given = typeof band === 'string' ? band : null;
  const scale = scaleFor(signal, reading);
  if (scale === null) return given;
  const own = classOn(scale, reading);
  // A second metric may set the class; of the two scales the worse one holds.
  if (scale.beside === undefined) return own ?? given;
  const other = classOn(scale.beside, reading);
  if (own === null || other === null) return given;
  const place = (name: string): number => scale.steps.findIndex((step) => step.band === name);
  return place(other) > place(own) ? other : own;
}

function classOn(scale: Ruler, { current }: FreeReading): string | null {
  const value = positionOn(scale, { current } as Parameters<typeof positionOn>[1]);
  return value === null ? null : classify(scale, value).band;
}

/** Colours that the page has for classes, from the mildest to the worst. */
const SHADES = 6;

/** The colour of a class, 0 for the mildest; null for one that stands in no list. */
export function shadeOf({ bands }: Pick<Classed, 'bands'>, band: string | null): number | null {
  const at = placeIn(bands, band);
  if (at === null) return null;
  return bands.length === 1 ? 0 : Math.round((at / (bands.length - 1)) * (SHADES - 1));
}

/** Whether a leg of a chain is lit, as `isLit` of `contract/bundle.ts` has it: its class is not the mildest. Null without a class. */
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

/** One class on a drawn scale: from where to where, as shares of its length. */
interface ScaleCell {
  readonly band: string;
  /** Where it begins, in the unit of the scale; null for one without a beginning. */
  readonly at: number | null;
}

interface ScalePlace {
  readonly cells: readonly ScaleCell[];
  /** Which of them holds the value. */
  readonly cell: number;
  /** How far into that cell, from 0 to 1. */
  readonly inside: number;
}

/** Where a value stands on an official scale that is drawn with classes of equal width. */
export function scalePlace(scale: Ruler, reading: FreeReading): ScalePlace | null {
  const value = positionOn(scale, reading as Parameters<typeof positionOn>[1]);
  if (value === null) return null;
  const { steps } = scale;
  const cell = steps.indexOf(classify(scale, value));
  const cells = steps.map(({ band, at }) => ({ band, at: Number.isFinite(at) ? at : null }));
  if (scale.metric === CLASS) return { cells, cell, inside: 0.5 };
  const [low, high] = edgesOf(
    steps.map(({ at }) => at),
    cell,
  );
  const inside = high === low ? 0.5 : Math.min(1, Math.max(0, (value - low) / (high - low)));
  return { cells, cell, inside };
}

/** The last class is drawn as wide as the one before it. */
function edgesOf(edges: readonly number[], cell: number): readonly [number, number] {
  const low = defined(edges[cell], 'the class of the value');
  return [low, edges[cell + 1] ?? 2 * low - (edges[cell - 1] ?? 0)];
}

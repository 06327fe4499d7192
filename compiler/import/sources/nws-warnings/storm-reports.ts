import { DAY_MS } from '../../../contract/iso-time.ts';
import type { ConvectionRegion } from '../../convection-regions.ts';
import { inBox } from '../../region-box.ts';

const GUST: ReportKind = { kind: 'gust', code: 'G', unit: 'MPH' };
const DAMAGE: ReportKind = { kind: 'damage', code: 'D', unit: null };
/** What counts as severe convection, by the names of a report; a waterspout, rain or other wind does not. */
export const REPORT_KINDS: ReadonlyMap<string, ReportKind> = new Map<string, ReportKind>([
  ['TORNADO', { kind: 'tornado', code: 'T', unit: null }],
  ['HAIL', { kind: 'hail', code: 'H', unit: 'INCH' }],
  ['TSTM WND GST', GUST],
  ['TSTM WIND GST', GUST],
  ['TSTM WIND', GUST],
  ['TSTM WND DMG', DAMAGE],
  ['TSTM WIND DMG', DAMAGE],
  ['TREES DOWN', DAMAGE],
]);

export interface ReportKind {
  readonly kind: 'tornado' | 'hail' | 'gust' | 'damage';
  /** Its letter in the relay's files. */
  readonly code: string;
  readonly unit: 'INCH' | 'MPH' | null;
}

/** What a list says of one local storm report. */
export interface StormReport {
  /** Null for one that is no severe convection. */
  readonly kind: ReportKind['kind'] | null;
  /** Its kind as the list calls it, in upper case. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly longitude: number;
  readonly latitude: number;
  /** Its place in words, as corrections name it: `5 NW ROGERS`. */
  readonly place: string;
  /** Inches of hail, miles per hour of a gust, rating of a tornado; null where the report gives none. */
  readonly size: number | null;
  /** Of products, a later one sorts behind. */
  readonly product: string;
  readonly remark: string;
}

/** A report that stands. */
export interface SettledReport extends Pick<StormReport, 'at' | 'longitude' | 'latitude' | 'size'> {
  readonly kind: ReportKind['kind'];
  /** A correction near it does not say what it corrects: it may be this one. */
  readonly isDoubtful: boolean;
}

/** "Corrects previous tornado report from 5 NW Rogers.", "Corrects location of previous hail report from …". */
const CORRECTION = /^\W*CORRECT(S|ED|ION)\b/;
const CORRECTED_KIND = /\bPREVIOUS ([A-Z/ -]+?) REPORT\b/;
/** Degrees within which a correction may move a report (ours). */
const MOVED_DEGREES_MAX = 1;

/**
 * Each severe report once: summaries and corrections repeat time, place and kind, and the newest product has the last word.
 * A correction of another time, place or kind names the report that it stands for in its remark.
 */
export function settled(reports: readonly StormReport[]): SettledReport[] {
  const kept = new Map<string, StormReport>();
  const gone = new Set<string>();
  const doubtful = new Set<string>();
  for (const report of [...reports].sort(byProduct)) {
    const identity = identityOf(report);
    const near = correctable(report, kept);
    const [corrected] = near.filter((one) => names(report, one)).sort(nearestTo(report));
    if (corrected === undefined) {
      const rivals = near.filter(({ kind }) => kind === correctedKind(report));
      for (const rival of rivals) doubtful.add(identityOf(rival));
    } else {
      kept.delete(identityOf(corrected));
      gone.add(identityOf(corrected));
    }
    if (isCorrection(report) || !gone.has(identity)) kept.set(identity, report);
  }
  return [...kept].flatMap(([identity, { kind, at, longitude, latitude, size }]) =>
    kind === null
      ? []
      : [{ kind, at, longitude, latitude, size, isDoubtful: doubtful.has(identity) }],
  );
}

function wordsOf({ remark }: StormReport): string {
  return remark.replaceAll(/\s+/g, ' ').trim().toUpperCase();
}

function isCorrection(report: StormReport): boolean {
  return CORRECTION.test(wordsOf(report));
}

/** By product, the corrections of one behind what it lists besides. */
function byProduct(a: StormReport, b: StormReport): number {
  if (a.product !== b.product) return a.product < b.product ? -1 : 1;
  return Number(isCorrection(a)) - Number(isCorrection(b));
}

/** What a report may correct besides the one of its own time, place and kind, whose place it takes anyway. */
function correctable(report: StormReport, kept: ReadonlyMap<string, StormReport>): StormReport[] {
  if (!isCorrection(report) || kept.has(identityOf(report))) return [];
  return [...kept.values()].filter((one) => isNear(one, report));
}

function isNear(a: StormReport, b: StormReport): boolean {
  const apart = [a.latitude - b.latitude, a.longitude - b.longitude];
  return apart.every((degrees) => Math.abs(degrees) <= MOVED_DEGREES_MAX);
}

function nearestTo({ at }: StormReport) {
  return (a: StormReport, b: StormReport) => Math.abs(a.at - at) - Math.abs(b.at - at);
}

/** Whether a correction names the kind and the place of a report. */
function names(correction: StormReport, { name, place }: StormReport): boolean {
  const words = wordsOf(correction);
  const [, ...behind] = words.split(`FROM ${place}`);
  const isPlace = place !== '' && behind.some((rest) => /^([.,;:]|$)/.test(rest));
  return isPlace && words.includes(`PREVIOUS ${name} REPORT`);
}

/** The kind that a correction speaks of; its own where it names none. */
function correctedKind(correction: StormReport): StormReport['kind'] {
  const [, named] = CORRECTED_KIND.exec(wordsOf(correction)) ?? [];
  return named === undefined ? correction.kind : (REPORT_KINDS.get(named)?.kind ?? null);
}

function identityOf({ kind, name, at, longitude, latitude }: StormReport): string {
  return `${kind ?? name} ${at} ${longitude} ${latitude}`;
}

/** Reports of a day in a region. */
export interface DayOfReports {
  /** Of those that are severe; null where a report does not say how large it was, or may be one that was corrected. */
  readonly count: number | null;
  readonly band: string | null;
  readonly tornadoes: number | null;
  readonly hailIn: number | null;
  readonly gustMph: number | null;
}

/** From these sizes on a report is severe, and significant, as the Storm Prediction Center counts. */
const HAIL_IN = { severe: 1, significant: 2 } as const;
const GUST_MPH = { severe: 58, significant: 75 } as const;
const VIOLENT_FROM = 4;
/** Mildest first, as the signal lists them. */
const BANDS = [
  'none',
  'marginal-severe',
  'significant-hail',
  'significant-wind',
  'tornado-confirmed',
  'violent',
] as const;
type Band = (typeof BANDS)[number];

/** What the reports of the 24 hours before an instant say of a region. */
export function dayOfReports(
  reports: readonly SettledReport[],
  { box }: ConvectionRegion,
  end: number,
): DayOfReports {
  const own = reports.filter(
    ({ at, longitude, latitude }) =>
      at > end - DAY_MS && at <= end && inBox(box, longitude, latitude),
  );
  const bands = own.map(bandOf);
  const isKnown = !bands.includes(null);
  const tornadoes = own.filter(({ kind }) => kind === 'tornado');
  return {
    count: isKnown ? bands.filter((band) => band !== 'none').length : null,
    band: isKnown ? worst(bands) : null,
    tornadoes: tornadoes.some(({ isDoubtful }) => isDoubtful) ? null : tornadoes.length,
    hailIn: largest(own, 'hail'),
    gustMph: largest(own, 'gust'),
  };
}

function bandOf({ kind, size, isDoubtful }: SettledReport): Band | null {
  if (isDoubtful) return null;
  if (kind === 'tornado') return (size ?? 0) >= VIOLENT_FROM ? 'violent' : 'tornado-confirmed';
  if (kind === 'damage') return 'marginal-severe';
  if (size === null) return null;
  const { severe, significant } = kind === 'hail' ? HAIL_IN : GUST_MPH;
  if (size >= significant) return kind === 'hail' ? 'significant-hail' : 'significant-wind';
  return size >= severe ? 'marginal-severe' : 'none';
}

function worst(bands: readonly (Band | null)[]): Band {
  return BANDS.findLast((band) => bands.includes(band)) ?? 'none';
}

function largest(reports: readonly SettledReport[], kind: SettledReport['kind']): number | null {
  const own = reports.filter((one) => one.kind === kind);
  const sizes = own.flatMap(({ size }) => size ?? []);
  const isKnown = sizes.length > 0 && !own.some(({ isDoubtful }) => isDoubtful);
  return isKnown ? Math.max(...sizes) : null;
}

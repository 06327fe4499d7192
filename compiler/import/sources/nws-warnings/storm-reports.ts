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

/** One local storm report. */
export interface StormReport {
  readonly kind: ReportKind['kind'];
  /** Epoch milliseconds. */
  readonly at: number;
  readonly longitude: number;
  readonly latitude: number;
  /** Inches of hail, miles per hour of a gust, rating of a tornado; null where the report gives none. */
  readonly size: number | null;
}

/** Reports of a day in a region. */
export interface DayOfReports {
  /** Of those that are severe; null where a report does not say how large it was. */
  readonly count: number | null;
  readonly band: string | null;
  readonly tornadoes: number;
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

/** What the reports of the 24 hours before an instant say of a region; a report that is given twice counts once. */
export function dayOfReports(
  reports: readonly StormReport[],
  { box }: ConvectionRegion,
  end: number,
): DayOfReports {
  const inside = reports.filter(
    ({ at, longitude, latitude }) =>
      at > end - DAY_MS && at <= end && inBox(box, longitude, latitude),
  );
  const own = [...new Map(inside.map((one) => [identityOf(one), one])).values()];
  const bands = own.map(bandOf);
  const isKnown = !bands.includes(null);
  return {
    count: isKnown ? bands.filter((band) => band !== 'none').length : null,
    band: isKnown ? worst(bands) : null,
    tornadoes: own.filter(({ kind }) => kind === 'tornado').length,
    hailIn: largest(own, 'hail'),
    gustMph: largest(own, 'gust'),
  };
}

/** Time, place and kind: summaries and corrections repeat earlier reports. */
function identityOf({ kind, at, longitude, latitude }: StormReport): string {
  return `${kind} ${at} ${longitude} ${latitude}`;
}

function bandOf({ kind, size }: StormReport): Band | null {
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

function largest(reports: readonly StormReport[], kind: StormReport['kind']): number | null {
  const sizes = reports.flatMap((one) =>
    one.kind === kind && one.size !== null ? [one.size] : [],
  );
  return sizes.length === 0 ? null : Math.max(...sizes);
}

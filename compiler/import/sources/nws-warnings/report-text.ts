import { isRealDay } from '../../../contract/cutoff.ts';
import { type Payload, readable, type SkipCount } from '../../payload.ts';
import { type Issue, issueOf, minutesOfDay, type TextProduct } from '../../text-product.ts';
import {
  REPORT_KINDS,
  type ReportKind,
  type SettledReport,
  type StormReport,
  settled,
} from './storm-reports.ts';

/** First line of a report: local time, kind and place in columns of fixed width. */
const EVENT_LINE = /^(\d{2})(\d{2}) ([AP]M) {5}(.{17})(.*?) +(\d{1,2}\.\d{2})N +(\d{2,3}\.\d{2})W$/;
/** Its second line: date, magnitude, county, state and observer. */
const DATE_LINE = /^(\d{2})\/(\d{2})\/(\d{4}) {2}(.{17}).{19}[A-Z]{2}/;
const REMARK_LINE = /^ {12}/;
/** Estimated, measured or unknown, as a number with its unit. */
const SIZE = /^[EMU]?(\d{1,3}(?:\.\d{1,2})?) ?(INCH|MPH)$/i;
const RATING = /^E?F(\d)$/i;
const LAST_HEADING = '..REMARKS..';

/** Reports of one text product. */
interface TextReports {
  readonly issue: Issue;
  readonly reports: readonly SettledReport[];
}

/**
 * The reports of a local storm report (LSR); those dated after its issue are left out and counted in `skips`. Throws an
 * ImportError for a product with a line that fits no column.
 */
export function textReports(product: TextProduct, payload: Payload, skips: SkipCount): TextReports {
  const issue = issueOf(product, payload);
  return readable(payload, () => {
    const listed = blocksOf(product).map((block) => reportOf(block, issue));
    const others = listed.filter(({ kind }) => kind === null).length;
    if (others > 0) skips.add(product.name, 'of a kind that is not severe convection', others);
    const reports = settled(listed);
    const late = reports.filter(({ at }) => at > issue.at);
    if (late.length > 0) skips.add(product.name, 'dated after its issue', late.length);
    return { issue, reports: reports.filter(({ at }) => at <= issue.at) };
  });
}

/** The two lines of a report, and its remark. */
interface Block {
  readonly event: RegExpExecArray;
  readonly date: RegExpExecArray;
  readonly remark: string;
}

/** The two lines of each report; between them and after them nothing stands but remarks. */
function blocksOf({ lines }: TextProduct): Block[] {
  const from = lines.findIndex((line) => line.trim() === LAST_HEADING);
  const to = lines.indexOf('&&');
  if (from < 0 || to < from || !lines.includes('$$')) throw new RangeError('it is cut off');
  const blocks: { readonly own: string[]; readonly remark: string[] }[] = [];
  for (const line of lines.slice(from + 1, to).filter((text) => text !== '')) {
    const last = blocks.at(-1);
    if (REMARK_LINE.test(line)) last?.remark.push(line);
    else if (last?.own.length === 1) last.own.push(line);
    else blocks.push({ own: [line], remark: [] });
  }
  return blocks.map(({ own: [first = '', second = ''], remark }) => {
    const [event, date] = [EVENT_LINE.exec(first), DATE_LINE.exec(second)];
    if (event !== null && date !== null) return { event, date, remark: remark.join(' ') };
    throw new RangeError(`"${first}" and "${second}" are not the two lines of a report`);
  });
}

function reportOf({ event, date, remark }: Block, issue: Issue): StormReport {
  const [, hour, minute, half, written = '', place = '', latitude, west] = event;
  const [, month, day, year, magnitude = ''] = date;
  const minutes = minutesOfDay({ hour, minute, half });
  const iso = `${year}-${month}-${day}`;
  if (minutes === null || !isRealDay(iso)) throw new RangeError(`no such time: ${event[0]}`);
  const name = written.trim().toUpperCase();
  const known = REPORT_KINDS.get(name);
  return {
    kind: known?.kind ?? null,
    name,
    at: Date.parse(iso) + minutes * 60_000 - issue.offset,
    longitude: -Number(west),
    latitude: Number(latitude),
    place: place.trim().toUpperCase(),
    size: known === undefined ? null : sizeOf(magnitude.trim(), known),
    product: '',
    remark,
  };
}

function sizeOf(text: string, { kind, unit }: ReportKind): number | null {
  if (text === '') return null;
  if (kind === 'tornado') {
    const [, rating] = RATING.exec(text) ?? [];
    if (rating !== undefined) return Number(rating);
  }
  const [, number, given] = SIZE.exec(text) ?? [];
  if (number !== undefined && (unit === null || given?.toUpperCase() === unit)) {
    return Number(number);
  }
  throw new RangeError(`"${text}" is no size of ${kind}`);
}

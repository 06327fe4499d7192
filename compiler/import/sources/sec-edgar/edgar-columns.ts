import { z } from 'zod';
import { isRealDay } from '../../../contract/cutoff.ts';
import { canonicalForm } from '../../../contract/filing.ts';
import { DAY_MS, isoTime } from '../../../contract/iso-time.ts';
import type { StoredFiling } from '../../../stages/intake/filing-row.ts';
import { type AcceptanceBasis, acceptanceBasis, acceptedAt, isAcceptance } from './edgar-clock.ts';
import { isKnownForm } from './edgar-forms.ts';

const column = z.array(z.string());
/** Equal-length columns, newest row first; the same in the main answer and in its older pages. */
export const columnsSchema = z
  .looseObject({
    accessionNumber: column,
    filingDate: column,
    reportDate: column,
    acceptanceDateTime: column,
    form: column,
    items: column,
    primaryDocument: column,
  })
  .refine(
    (columns) => NAMES.every((name) => columns[name].length === columns.form.length),
    'the columns differ in length',
  );
export type Columns = z.infer<typeof columnsSchema>;
const NAMES = [
  'accessionNumber',
  'filingDate',
  'reportDate',
  'acceptanceDateTime',
  'items',
  'primaryDocument',
] as const;

/** Who filed, and when the list was fetched. */
export interface ListOf {
  readonly cik: string;
  readonly collected_at: string;
}

export const EDGAR_SOURCE = { source: 'sec-edgar', source_tier: 'T1' } as const;

const ACCESSION = /^\d{10}-\d{2}-\d{6}$/;
const FORM = /^[A-Z0-9][A-Z0-9 /.-]{0,39}$/;
const ITEM = /^[A-Za-z0-9.]{1,10}$/;
/** Items of an 8-K, of today and of before 2004. */
const EVENT_ITEM = /^([1-9]\.\d{2}|[1-9]|1[0-2])$/;
/** Days that a filing day may lie behind the day of the fetch: a filing of the evening before a long weekend. */
const FILING_LEAD_DAYS = 7;

/** What one list says: its filings, how its clock was read, and from which day on nothing of it is missing. */
export interface ReadColumns {
  readonly basis: AcceptanceBasis;
  readonly filings: readonly StoredFiling[];
  /** What keeps the list from being whole; null where nothing does. */
  readonly hole: ListHole | null;
}

/** The newest row of a list that leaves open what it is. */
export interface ListHole {
  readonly what: string;
  /** The day after it: from then on the list is whole. */
  readonly wholeFrom: string;
}

/**
 * Turns columns into rows. Throws a RangeError for a row that cannot be read: it may be of any form and day, so the list
 * could not say of any form that it was not filed.
 */
export function readColumns(columns: Columns, of: ListOf): ReadColumns {
  const rows = columns.form.map((form, at) => ({
    form: canonicalForm(form),
    acceptance: columns.acceptanceDateTime[at] ?? '',
    accession: columns.accessionNumber[at] ?? '',
    filing_date: columns.filingDate[at] ?? '',
    report: columns.reportDate[at] ?? '',
    items: columns.items[at] ?? '',
    document: columns.primaryDocument[at] ?? '',
  }));
  const numbers = new Set<string>();
  for (const [at, row] of rows.entries()) {
    const reason = objection(row, of) ?? (numbers.has(row.accession) ? 'is listed twice' : null);
    if (reason !== null)
      throw new RangeError(`row ${at} (${row.accession.slice(0, 40)}) ${reason}`);
    numbers.add(row.accession);
  }
  const basis = acceptanceBasis(rows);
  return { basis, filings: rows.map((row) => filingOf(row, of, basis)), hole: newestHole(rows) };
}

function newestHole(rows: readonly Row[]): ListHole | null {
  let newest: ListHole | null = null;
  for (const row of rows) {
    const what = leavesOpen(row);
    if (what === null) continue;
    const wholeFrom = daysLater(row.filing_date, 1);
    if (newest === null || wholeFrom > newest.wholeFrom) newest = { what, wholeFrom };
  }
  return newest;
}

/** What of a row is not known although it can be read; null for all others. */
function leavesOpen({ form, items }: Row): string | null {
  if (!isKnownForm(form)) return `the form type "${form}", which is not known`;
  return isEventForm(form) && items.trim() === ''
    ? `a filing of form ${form} without its items`
    : null;
}

interface Row {
  readonly form: string;
  readonly acceptance: string;
  readonly accession: string;
  readonly filing_date: string;
  readonly report: string;
  readonly items: string;
  readonly document: string;
}

/** Why a row cannot be read; null for a row that can. */
function objection(row: Row, { collected_at }: ListOf): string | null {
  const { accession, filing_date, form, report, acceptance, items } = row;
  if (!ACCESSION.test(accession)) return 'has no number such as 0000320193-26-000006';
  if (!isRealDay(filing_date)) return `has the filing day "${shown(filing_date)}"`;
  if (filing_date > daysLater(collected_at.slice(0, 10), FILING_LEAD_DAYS)) {
    return `has the filing day ${filing_date}, long after the fetch`;
  }
  if (!FORM.test(form)) return `has the form type "${shown(form)}"`;
  if (report !== '' && !isRealDay(report)) return `has the report date "${shown(report)}"`;
  if (acceptance !== '' && !isAcceptance(acceptance)) {
    return `has the acceptance time "${shown(acceptance)}"`;
  }
  const strange = isEventForm(form) && items.trim() !== '' && !pieces(items).every(isEventItem);
  return strange ? `has the items "${shown(items)}"` : null;
}

const shown = (text: string): string => text.slice(0, 40);
const pieces = (items: string): string[] => items.split(',').map((item) => item.trim());
const isEventItem = (item: string): boolean => EVENT_ITEM.test(item);
const isEventForm = (form: string): boolean => form.startsWith('8-K');

function daysLater(day: string, days: number): string {
  return isoTime(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).slice(0, 10);
}

function filingOf(row: Row, { cik, collected_at }: ListOf, basis: AcceptanceBasis): StoredFiling {
  const disclosure_time = acceptedAt(row.acceptance, basis);
  return {
    kind: 'filing',
    cik,
    collected_at,
    ...EDGAR_SOURCE,
    accession: row.accession,
    form: row.form,
    // What forms other than an 8-K have here are no items that can be asked for.
    items: pieces(row.items).filter((item) => ITEM.test(item)),
    event_time: row.report === '' ? null : row.report,
    filing_date: row.filing_date,
    disclosure_time,
    acceptance_basis: disclosure_time === null ? 'undetermined' : basis,
    source_ref: documentUrl(cik, row),
  };
}

/** The raw document: a Form 4 is listed in a folder of its style sheet. */
function documentUrl(cik: string, { accession, document }: Row): string {
  const folder = `https://www.sec.gov/Archives/edgar/data/${Number(cik)}/${accession.replaceAll('-', '')}/`;
  const name = document.replace(/^xsl[A-Za-z0-9]+\//, '');
  return /^[\w.()~-]+$/.test(name) ? folder + name : `${folder}${accession}-index.htm`;
}

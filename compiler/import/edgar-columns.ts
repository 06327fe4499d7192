import { z } from 'zod';
import type { StoredFiling } from '../stages/intake/filing-row.ts';
import { type AcceptanceBasis, acceptanceBasis, acceptedAt } from './edgar-clock.ts';
import type { SkipCount } from './payload.ts';

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
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const FORM = /^[A-Z0-9][A-Z0-9 /.-]{0,39}$/;
const ITEM = /^[A-Za-z0-9.]{1,10}$/;

/** What one list says: its filings and how its clock was read. */
export interface ReadColumns {
  readonly basis: AcceptanceBasis;
  readonly filings: readonly StoredFiling[];
}

/** Turns columns into rows; a row without a number, a day or a form is counted, not guessed. */
export function readColumns(columns: Columns, of: ListOf, skips: SkipCount): ReadColumns {
  const rows = columns.form.map((form, at) => ({
    form: form.trim().toUpperCase(),
    acceptance: columns.acceptanceDateTime[at] ?? '',
    accession: columns.accessionNumber[at] ?? '',
    filing_date: columns.filingDate[at] ?? '',
    report: columns.reportDate[at] ?? '',
    items: columns.items[at] ?? '',
    document: columns.primaryDocument[at] ?? '',
  }));
  const basis = acceptanceBasis(rows);
  const filings = rows.flatMap((row) => {
    const reason = objection(row);
    if (reason !== null) skips.add(of.cik, reason);
    return reason === null ? [filingOf(row, of, basis)] : [];
  });
  return { basis, filings };
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

function objection({ accession, filing_date, form }: Row): string | null {
  if (!ACCESSION.test(accession)) return 'a row without an accession number';
  if (!DAY.test(filing_date)) return 'a row without a filing date';
  return FORM.test(form) ? null : 'a row without a form type';
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
    items: row.items.split(',').filter((item) => ITEM.test(item)),
    event_time: DAY.test(row.report) ? row.report : null,
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

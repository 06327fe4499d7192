import { z } from 'zod';
import { isRealDay } from '../../../contract/cutoff.ts';
import { defined } from '../../../contract/defined.ts';
import { acceptedAt, canonicalForm } from '../../../contract/filing.ts';
import { DAY_MS, isoTime } from '../../../contract/iso-time.ts';
import { isMidnight, newYorkWallClock } from '../../../contract/new-york-time.ts';
import type { StoredFiling, StoredListing } from '../../../stages/intake/filing-row.ts';

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
  readonly basis: ListBasis;
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
    acceptance: defined(columns.acceptanceDateTime[at], 'the time of acceptance'),
    accession: defined(columns.accessionNumber[at], 'the accession number'),
    filing_date: defined(columns.filingDate[at], 'the filing day'),
    report: defined(columns.reportDate[at], 'the report day'),
    items: defined(columns.items[at], 'the items'),
    document: defined(columns.primaryDocument[at], 'the document'),
  }));
  const numbers = new Set<string>();
  for (const [at, row] of rows.entries()) {
    const reason = rowFault(row, of) ?? (numbers.has(row.accession) ? 'is listed twice' : null);
    if (reason !== null) {
      const which = `row ${at} (${row.accession.slice(0, 40)})`;
      throw new RangeError(`${which} ${reason}, so the list cannot show what was not filed`);
    }
    numbers.add(row.accession);
  }
  const basis = acceptanceBasis(rows);
  return { basis, filings: rows.map((row) => filingOf(row, of, basis)), hole: newestHole(rows) };
}

function newestHole(rows: readonly FilingColumns[]): ListHole | null {
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
function leavesOpen({ form, items }: FilingColumns): string | null {
  if (!isKnownForm(form)) return `the form type "${form}", which is not known`;
  return isEventForm(form) && items.trim() === ''
    ? `a filing of form ${form} without its items`
    : null;
}

interface FilingColumns {
  readonly form: string;
  readonly acceptance: string;
  readonly accession: string;
  readonly filing_date: string;
  readonly report: string;
  readonly items: string;
  readonly document: string;
}

/** Why a row cannot be read; null for a row that can. */
function rowFault(row: FilingColumns, { collected_at }: ListOf): string | null {
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

function filingOf(
  row: FilingColumns,
  { cik, collected_at }: ListOf,
  basis: ListBasis,
): StoredFiling {
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
    ...acceptanceOf(row.acceptance, basis),
    source_ref: documentUrl(cik, row),
  };
}

/** The raw document: a Form 4 is listed in a folder of its style sheet. */
function documentUrl(cik: string, { accession, document }: FilingColumns): string {
  const folder = `https://www.sec.gov/Archives/edgar/data/${Number(cik)}/${accession.replaceAll('-', '')}/`;
  const name = document.replace(/^xsl[A-Za-z0-9]+\//, '');
  return /^[\w.()~-]+$/.test(name) ? folder + name : `${folder}${accession}-index.htm`;
}

/**
 * Form types of the regulator, without the `/A` of amendments. A type that is missing here may be a new one, or one of these
 * under another name, as "SC 13D" became "SCHEDULE 13D": a list that holds one is not called whole before it.
 */
const FORMS = `
1-A|1-A POS|1-A-W|1-E|1-E AD|1-K|1-N|1-SA|1-U|1-Z|1-Z-W|2-A|2-AF|2-E|3|4|5|6-K|6B NTC|6B ORDR
8-A12B|8-A12G|8-B12B|8-B12G|8-K|8-K12B|8-K12G3|8-K15D5|8-M|8F-2 NTC|8F-2 ORDR|9-M
10-12B|10-12G|10-C|10-D|10-K|10-K405|10-KSB|10-KSB40|10-KT|10-KT405|10-Q|10-QSB|10-QT|11-K|11-KT
12G3-2B|12G32BR|13F-E|13F-HR|13F-NT|13FCONP|13H|13H-A|13H-I|13H-Q|13H-R|13H-T|144
15-12B|15-12G|15-15D|15F|15F-12B|15F-12G|15F-15D|17AD-27|18-12B|18-K|19B-4E
20-F|20FR12B|20FR12G|24F-1|24F-2EL|24F-2NT|24F-2TM|25|25-NSE|253G1|253G2|253G3|253G4
305B2|34-12H|35-APP|35-CERT|39-304D|39-310B|40-17F1|40-17F2|40-17G|40-17GCS|40-202A|40-203A
40-205E|40-206A|40-24B2|40-33|40-6B|40-6C|40-8B25|40-8F-2|40-8F-A|40-8F-B|40-8F-L|40-8F-M
40-APP|40-F|40-OIP|40-RPT|40FR12B|40FR12G|424A|424B1|424B2|424B3|424B4|424B5|424B7|424B8|424H|424I|425
45B-3|485A24E|485A24F|485APOS|485B24E|485B24F|485BPOS|485BXT|486A24E|486APOS|486B24E|486BPOS|486BXT|487
497|497AD|497H2|497J|497K|497K1|497K2|497K3A|497K3B|497VPI|497VPU
ABS-15G|ABS-EE|ADB|ADN-MTL|ADV-E|ADV-H-C|ADV-H-T|ADV-NR|AFDB|ANNLRPT|APP NTC|APP ORDR|APP WD|APP WDG|ARS
ATS-N|ATS-N-C|ATS-N-W|ATS-N/CA|ATS-N/MA|ATS-N/OFA|ATS-N/UA|AW|AW WD|BDCO|BW-2|BW-3
C|C-AR|C-AR-W|C-TR|C-TR-W|C-U|C-U-W|C-W|CB|CERT|CERTAMX|CERTARCA|CERTBATS|CERTBSE|CERTCBO|CERTCSE
CERTNAS|CERTNYS|CERTPAC|CERTPBS|CFPORTAL|CFPORTAL-W|CORRESP|CT ORDER
D|DEF 14A|DEF 14C|DEF-OC|DEF13E3|DEFA14A|DEFA14C|DEFC14A|DEFC14C|DEFM14A|DEFM14C|DEFN14A|DEFR14A|DEFR14C
DEFS14A|DEFS14C|DEFT14A|DEL AM|DFAN14A|DFRN14A|DOS|DOSLTR|DRS|DRSLTR|DSTRBRPT|EBRD|EFFECT
F-1|F-10|F-10EF|F-10MEF|F-10POS|F-1MEF|F-2|F-3|F-3ASR|F-3D|F-3DPOS|F-3MEF|F-4|F-4 POS|F-4EF|F-4MEF
F-6|F-6 POS|F-6EF|F-7|F-7 POS|F-8|F-8 POS|F-80|F-80POS|F-9|F-9 POS|F-9EF|F-9MEF|F-N|F-X|FOCUSN|FWP
G-405|G-405N|G-FIN|G-FINW|IADB|ID-NEWCIK|IFC|IRANNOTICE|LETTER|MA|MA-A|MA-I|MA-W|MSD|MSDCO|MSDW
N-1|N-14|N-14 8C|N-14AE|N-14MEF|N-18F1|N-1A|N-1A EL|N-2|N-2 POSASR|N-23C-1|N-23C-2|N-23C3A|N-23C3B|N-23C3C
N-27D-1|N-27E-1|N-27F-1|N-27I-1|N-27I-2|N-2ASR|N-2MEF|N-3|N-3 EL|N-30B-2|N-30D|N-4|N-4 EL|N-5|N-54A|N-54C
N-6|N-6C9|N-6F|N-8A|N-8B-2|N-8B-3|N-8B-4|N-8F|N-8F NTC|N-8F ORDR|N-CEN|N-CR|N-CSR|N-CSRS
N-MFP|N-MFP1|N-MFP2|N-MFP3|N-PX|N-PX-CR|N-PX-FM|N-PX-NT|N-PX-VR|N-Q|N-RN|N-VP|N-VPFS|NO ACT
NPORT-EX|NPORT-NP|NPORT-P|NRSRO-CE|NRSRO-UPD|NSAR-A|NSAR-AT|NSAR-B|NSAR-BT|NSAR-U
NT 10-D|NT 10-K|NT 10-Q|NT 11-K|NT 15D2|NT 20-F|NT N-CEN|NT N-MFP|NT N-MFP1|NT N-MFP2|NT NPORT-EX|NT NPORT-P
NT-NCEN|NT-NCSR|NT-NSAR|NTFNCEN|NTFNCSR|NTFNSAR|NTN 10D|NTN 10K|NTN 10Q|NTN 11K|NTN 20F|NTN15D2|OIP NTC|OIP ORDR
POS 8C|POS AM|POS AMC|POS AMI|POS EX|POS462B|POS462C|POSASR|PRE 14A|PRE 14C|PRE13E3|PREA14A|PREC14A|PREC14C
PREM14A|PREM14C|PREN14A|PRER14A|PRER14C|PRES14A|PRES14C|PRRN14A|PX14A6G|PX14A6N|QRTLYRPT|QUALIF
REG-NR|REGDEX|REVOKED|RW|RW WD|S-1|S-11|S-11MEF|S-1MEF|S-2|S-20|S-2MEF|S-3|S-3ASR|S-3D|S-3DPOS|S-3MEF
S-4|S-4 POS|S-4EF|S-4MEF|S-6|S-8|S-8 POS|S-B|S-BMEF|SB-1|SB-1MEF|SB-2|SB-2MEF
SBSE|SBSE-A|SBSE-BD|SBSE-C|SBSE-CCO-RPT|SBSE-W|SC 13D|SC 13E1|SC 13E3|SC 13E4|SC 13G|SC 14D1|SC 14D1F|SC 14D9
SC 14D9C|SC 14D9F|SC 14F1|SC 14N|SC 14N-S|SC TO-C|SC TO-I|SC TO-T|SC13E4F|SC14D1F|SC14D9C|SC14D9F
SCHEDULE 13D|SCHEDULE 13G|SD|SDR|SE|SEC ACTION|SEC STAFF ACTION|SEC STAFF LETTER|SF-1|SF-1MEF|SF-3|SL|SP 15D2
STOP ORDER|SUPPL|T-1|T-3|T-6|TA-1|TA-2|TA-W|TACO|TH|TTW
U-1|U-12-IA|U-12-IB|U-13-1|U-13-60|U-33-S|U-3A-2|U-3A3-1|U-57|U-6B-2|U-7D|U-9C-3|U-R-1|U5A|U5B|U5S
UNDER|UPLOAD|WDL-REQ|X-17A-5
`;

const KNOWN: ReadonlySet<string> = new Set(FORMS.trim().split(/[|\n]/));

/** Whether the regulator is known to have a form type; `form` is in capitals. */
function isKnownForm(form: string): boolean {
  return KNOWN.has(form) || KNOWN.has(form.replace(/\/A$/, ''));
}

/** What the `Z` of the acceptance times of one list means, or why its hours do not tell. */
export type ListBasis = NonNullable<StoredListing['acceptance_basis']>;

/** Forms that are not accepted from filers, so that their hours prove nothing. */
const NO_PROOF = /^(EFFECT|QUALIF|25-NSE|UPLOAD|CORRESP|CERT.*)$/;
/** Numbers of what the regulator itself puts on file, at any hour. */
const OWN_NUMBER = /^(0{10}|9{8}\d\d)-/;
/** Filings are accepted from 06:00 to 22:00 in New York; one that was sent just before may be accepted just after. */
const OPEN_HOURS = { first: 6, last: 22 } as const;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

/** A row as far as the clock of its list shows in it. */
type AcceptedRow = Pick<FilingColumns, 'form' | 'accession' | 'acceptance'>;

/**
 * Some lists hold New York wall-clock time with a `Z` behind it, others UTC. The hours at which filings are accepted tell
 * which: a list has the one clock that none of its rows contradicts. A midnight is no time and proves nothing.
 */
export function acceptanceBasis(rows: readonly AcceptedRow[]): ListBasis {
  const times = rows
    .filter(({ form, accession }) => !NO_PROOF.test(form) && !OWN_NUMBER.test(accession))
    .flatMap(({ acceptance }) => writtenTime(acceptance) ?? []);
  const isUtc = times.every((time) => isOpen(newYorkWallClock(time)));
  const isNewYork = times.every(isOpen);
  if (isUtc === isNewYork) return isUtc ? 'undetermined' : 'contradictory';
  return isUtc ? 'utc' : 'new-york';
}

function isOpen(wallClockMs: number): boolean {
  const hour = new Date(wallClockMs).getUTCHours();
  return hour >= OPEN_HOURS.first && hour <= OPEN_HOURS.last;
}

/** Whether a text is an acceptance time as the source writes it, of a day that exists. */
function isAcceptance(text: string): boolean {
  return TIME.test(text) && isRealDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
}

/** What the source wrote, in epoch milliseconds as if it were UTC; null where it has no time. */
function writtenTime(acceptance: string): number | null {
  const written = isAcceptance(acceptance) ? Date.parse(acceptance) : null;
  return written === null || isMidnight(written) ? null : written;
}

/** What a row says of its acceptance: the time in UTC, or else what is written, for the filer's other lists to read. */
function acceptanceOf(acceptance: string, basis: ListBasis) {
  const written = writtenTime(acceptance);
  const unknown = { disclosure_time: null, acceptance_basis: 'undetermined' } as const;
  if (written === null || basis === 'contradictory') return unknown;
  const acceptance_written = isoTime(written);
  if (basis === 'undetermined') return { ...unknown, acceptance_written };
  return { disclosure_time: acceptedAt(acceptance_written, basis), acceptance_basis: basis };
}

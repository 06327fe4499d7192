import { z } from 'zod';
import { neutralFault } from '../../catalog/neutral-text.ts';
import { isRealDay } from '../../format/cutoff.ts';
import { defined } from '../../format/errors.ts';
import { DAY_MS, isMidnight, isoTime, newYorkWallClock } from '../../format/iso-time.ts';
import {
  acceptedAt,
  canonicalForm,
  cikOf,
  FILING_COLLECTION,
  isAmendment,
} from '../../products/shapes/filing.ts';
import { newestFirst } from '../../products/shapes/settle-filings.ts';
import type {
  StoredFiling,
  StoredFilingRow,
  StoredListing,
} from '../../readings/collection-rows.ts';
import type { Reading } from '../../readings/reading.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  type OtherKind,
  type Payload,
  parsePayload,
  readable,
  refuseOtherKinds,
} from '../kit/payload.ts';
import { registered, type Source } from '../kit/source.ts';
import { readOwnership, TICKER_CIKS } from './edgar-ownership.ts';

const column = z.array(z.string());
/** Equal-length columns, newest row first; the same in the main answer and in its older pages. */
const columnsSchema = z
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
type Columns = z.infer<typeof columnsSchema>;
const NAMES = [
  'accessionNumber',
  'filingDate',
  'reportDate',
  'acceptanceDateTime',
  'items',
  'primaryDocument',
] as const;

interface ListOf {
  readonly cik: string;
  readonly collected_at: string;
}

const EDGAR_SOURCE = { source: 'sec-edgar', source_tier: 'T1' } as const;

const ACCESSION = /^\d{10}-\d{2}-\d{6}$/;
const FORM = /^[A-Z0-9][A-Z0-9 /.-]{0,39}$/;
const ITEM = /^[A-Za-z0-9.]{1,10}$/;
/** Items of an 8-K, of today and of before 2004. */
const EVENT_ITEM = /^([1-9]\.\d{2}|[1-9]|1[0-2])$/;
/** Days that a filing day may lie behind the day of the fetch: a filing of the evening before a long weekend. */
const FILING_LEAD_DAYS = 7;

/** The newest row of a list that leaves open what it is. */
interface ListHole {
  readonly what: string;
  /** The day after it: from then on the list is whole. */
  readonly wholeFrom: string;
}

/**
 * Turns columns into rows, with how the clock of the list was read and what keeps the list from being whole. Throws a
 * RangeError for a row that cannot be read: it may be of any form and day, so the list could not say of any form that it was
 * not filed.
 */
function readColumns(columns: Columns, of: ListOf) {
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
  let newest: ListHole | null = null;
  for (const row of rows) {
    const what = leavesOpen(row);
    if (what === null) continue;
    const wholeFrom = daysLater(row.filing_date, 1);
    if (newest === null || wholeFrom > newest.wholeFrom) newest = { what, wholeFrom };
  }
  return { basis, filings: rows.map((row) => filingOf(row, of, basis)), hole: newest };
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
type ListBasis = NonNullable<StoredListing['acceptance_basis']>;

/** Forms that are not accepted from filers, so that their hours prove nothing. */
const NO_PROOF = /^(EFFECT|QUALIF|25-NSE|UPLOAD|CORRESP|CERT.*)$/;
/** Numbers of what the regulator itself puts on file, at any hour. */
const OWN_NUMBER = /^(0{10}|9{8}\d\d)-/;
/** Filings are accepted from 06:00 to 22:00 in New York; one that was sent just before may be accepted just after. */
const OPEN_HOURS = { first: 6, last: 22 } as const;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

/**
 * Some lists hold New York wall-clock time with a `Z` behind it, others UTC. The hours at which filings are accepted tell
 * which: a list has the one clock that none of its rows contradicts. A midnight is no time and proves nothing.
 */
export function acceptanceBasis(
  rows: readonly Pick<FilingColumns, 'form' | 'accession' | 'acceptance'>[],
): ListBasis {
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

const WINDOWS = { month: 30, quarter: 90, twoYears: 730 } as const;

interface FilerList {
  /** Ticker, or the CIK of a filer without one. */
  readonly entity: string;
  readonly entity_name: string;
  readonly cik: string;
  readonly collected_at: string;
  /** First filing day that the list is whole from; null when it is whole from the first filing on. */
  readonly from: string | null;
  /** Newest first. */
  readonly filings: readonly StoredFiling[];
}

/** The first day of a list may be cut, so only one that begins before the window holds all of it. */
function covers({ from, collected_at }: Pick<FilerList, 'from' | 'collected_at'>, days: number) {
  return from === null || ageDays(from, collected_at) >= days;
}

/** The three filing signals of a filer, counted from its list; 0 is a reading where the list was read over the whole window. */
function filingReadings(list: FilerList): Map<string, Reading[]> {
  return new Map([
    ['filing.delinquency', [delinquency(list)]],
    ['filing.insider', [insider(list)]],
    ['filing.material-events', [materialEvents(list)]],
  ]);
}

function materialEvents(list: FilerList): Reading {
  const events = list.filings.filter(({ form }) => form === '8-K');
  const latest = latestOf(events, list);
  const current = {
    filings_8k_90d_count: within(events, list, WINDOWS.quarter),
    filings_8k_30d_count: within(events, list, WINDOWS.month),
    latest_items: latest?.items.join(',') || null,
    latest_accession: latest?.accession ?? null,
  };
  return readingOf(list, latest, current);
}

function delinquency(list: FilerList): Reading {
  const notices = list.filings.filter(({ form }) => form.startsWith('NT ') && !isAmendment(form));
  const latest = latestOf(notices, list);
  const current = {
    nt_24mo_count: within(notices, list, WINDOWS.twoYears),
    latest_nt_form: latest?.form ?? null,
    latest_nt_date: latest?.filing_date ?? null,
    days_since_nt: latest === undefined ? null : ageDays(latest.filing_date, list.collected_at),
  };
  return readingOf(list, latest, current);
}

function insider(list: FilerList): Reading {
  const trades = list.filings.filter(({ form }) => form === '4');
  const current = {
    form4_90d_count: within(trades, list, WINDOWS.quarter),
    form4_30d_count: within(trades, list, WINDOWS.month),
  };
  return readingOf(list, latestOf(trades, list), current);
}

/** The newest of some filings; none where the list is whole only behind it, since a newer one may be unknown. */
function latestOf(filings: readonly StoredFiling[], { from }: FilerList): StoredFiling | undefined {
  const [newest] = filings;
  return newest === undefined || (from !== null && newest.filing_date < from) ? undefined : newest;
}

/** How many filings a window holds; null where the list does not reach back over it. */
function within(filings: readonly StoredFiling[], list: FilerList, days: number): number | null {
  if (!covers(list, days)) return null;
  return filings.filter(({ filing_date }) => ageDays(filing_date, list.collected_at) < days).length;
}

/** Whole days since a filing day; one that lies ahead, as of a filing of the evening, is today's. */
function ageDays(filingDate: string, collectedAt: string): number {
  const today = Date.parse(`${collectedAt.slice(0, 10)}T00:00:00Z`);
  return Math.max(0, Math.round((today - Date.parse(`${filingDate}T00:00:00Z`)) / DAY_MS));
}

/** The newest filing is the reading's time; where there is none, the list itself was the observation. */
function readingOf(
  list: FilerList,
  latest: StoredFiling | undefined,
  current: Reading['current'],
): Reading {
  const { entity, entity_name, cik, collected_at } = list;
  return {
    entity,
    entity_name,
    observed_at: latest === undefined ? collected_at : timeOf(latest, collected_at),
    collected_at,
    current,
    sources: [{ name: 'SEC EDGAR', weight: 1, role: 'measurement', independent: true }],
    source_ref: `https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK=${cik}`,
    source_tier: EDGAR_SOURCE.source_tier,
    scope: `filings of CIK ${cik} by filing date, amendments left out; windows end with the day of collection, and a later filing day counts as that day`,
    validation_status: 'as listed by the SEC',
    uncertainty: 'counts of a list; a filing may be listed late',
  };
}

/** A filing day may lie ahead of its acceptance, but no reading was observed after it was collected. */
function timeOf({ disclosure_time, filing_date }: StoredFiling, collectedAt: string): string {
  const time = disclosure_time ?? `${filing_date}T00:00:00Z`;
  return Date.parse(time) <= Date.parse(collectedAt) ? time : collectedAt;
}

const pageSchema = z.looseObject({
  name: z.string().regex(/^CIK\d{10}-submissions-\d{3}\.json$/),
  filingCount: z.int().min(1),
  filingFrom: z.iso.date(),
  filingTo: z.iso.date(),
});
type FilingPage = z.infer<typeof pageSchema>;
const submissionsSchema = z.looseObject({
  cik: z.union([z.string(), z.int().transform(String)]),
  name: z.string().min(1),
  tickers: z.array(z.string()),
  filings: z.looseObject({ recent: columnsSchema, files: z.array(pageSchema) }),
});

/** An older page names its filer in its address only. */
const PAGE_ADDRESS = /CIK(\d{10})-submissions-\d{3}\.json$/;
const NAMED_FILER = /CIK(\d{10})/g;
/** Where a main list leaves older filings to pages; one as long that names no page may have been cut. */
const LIST_ROWS = 1000;

const INSTEAD = 'import the submissions of the filer (CIK##########.json)';
const OTHERS: readonly OtherKind[] = [
  {
    begins: /^<\?xml[^>]*>\s*<Error>\s*<Code>NoSuchKey/,
    is: 'an answer that there is no such filer, which is not a filer without filings; check the CIK',
  },
  {
    begins: /<feed\s[^>]*http:\/\/www\.w3\.org\/2005\/Atom/,
    is: `a feed of the newest filings of all filers, once for each party, which is whole for nobody; ${INSTEAD}`,
  },
  {
    begins: /^Description:\s+Daily Index/,
    is: `a daily index of all filers, which holds one day of each; ${INSTEAD}`,
  },
  {
    begins: /^\{"\d+":\s*\{"cik_str"/,
    is: `a list of tickers and their CIK, without filings; ${INSTEAD}`,
  },
];
/** Bytes that tell a form of insiders from a list. */
const HEAD_BYTES = 1024;
const OWNERSHIP = /^(\uFEFF|\u00EF\u00BB\u00BF)?(<\?xml[^>]*>)?\s*<ownershipDocument>/;

/**
 * Makes filing rows, and from a main list also the three filing signals, of one answer of the SEC's submissions
 * service. Throws an ImportError when it is no such answer, when the fetch is older than what it lists, and when a row
 * cannot be read: a form is "not filed" only in a list of which every row was understood.
 */
function readSubmissions(payload: Payload): Imported {
  const { bytes, subject } = payload;
  refuseOtherKinds(payload, OTHERS);
  if (OWNERSHIP.test(new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES))))
    return readOwnership(payload);
  const value = parsePayload(bytes, subject);
  const main = submissionsSchema.safeParse(value);
  if (main.success) {
    const { note } = payload;
    const cik = cikOf(main.data.cik);
    if (cik === null) throw fetchAgain(payload, 'cik is not a number');
    const collected_at = note.fetched_at;
    const { recent, files } = main.data.filings;
    const { basis, filings, hole } = readRows(recent, { cik, collected_at }, payload);
    const inOrder = [...filings].sort(newestFirst);
    const oldest = inOrder.at(-1)?.filing_date ?? collected_at.slice(0, 10);
    refuseWrongPages(files, { cik, oldest }, payload);
    const isCut = files.length > 0 || filings.length >= LIST_ROWS;
    const from = hole?.wholeFrom ?? (isCut ? oldest : null);
    const tickers = main.data.tickers.map((ticker) => ticker.toUpperCase());
    const name = neutralFault(main.data.name) === null ? main.data.name : `filer ${cik}`;
    const listing: StoredFilingRow = {
      kind: 'listing',
      cik,
      collected_at,
      ...EDGAR_SOURCE,
      name,
      tickers,
      from,
      // A hole keeps the older pages out of reach: what they hold does not go on to the day that the list is whole from.
      pages: hole === null ? files.map(announced) : [],
      acceptance_basis: basis,
      source_ref: note.url,
    };
    const list = { entity: tickers[0] ?? cik, entity_name: name, cik, collected_at, from };
    const fault = neutralFault(main.data.name);
    return {
      readings: filingReadings({ ...list, filings: inOrder }),
      rows: new Map([[FILING_COLLECTION, [listing, ...inOrder]]]),
      skipped: [],
      remarks: [
        BASIS_REMARKS[basis],
        ...holeRemarks(hole),
        ...windowRemarks(list),
        ...(fault === null ? [] : [`the name of the filer is left out: ${fault}`]),
      ],
    };
  }
  const page = columnsSchema.safeParse(value);
  if (page.success) return olderPage(page.data, payload);
  const [issue] = main.error.issues;
  const state = `not a list of submissions (${issue?.path.join('.')}: ${issue?.message}); fetch it again`;
  throw new ImportError({ subject, state }, { cause: main.error });
}

const announced = ({ filingFrom, filingTo, filingCount }: FilingPage) => {
  return { from: filingFrom, to: filingTo, count: filingCount };
};

function olderPage(columns: Columns, payload: Payload): Imported {
  const { note, subject } = payload;
  const cik = PAGE_ADDRESS.exec(note.url)?.[1];
  if (cik === undefined) {
    const state =
      'an older page of submissions, which does not name its filer; give --note with its address, …/CIK0000320193-submissions-001.json';
    throw new ImportError({ subject, state });
  }
  const collected_at = note.fetched_at;
  const { basis, filings, hole } = readRows(columns, { cik, collected_at }, payload);
  const inOrder = [...filings].sort(newestFirst);
  const [newest] = inOrder;
  if (newest === undefined) throw fetchAgain(payload, 'an older page without filings');
  const from = hole?.wholeFrom ?? inOrder.at(-1)?.filing_date ?? newest.filing_date;
  const span = { from, to: newest.filing_date, count: filings.length, acceptance_basis: basis };
  const page: StoredFilingRow = { kind: 'page', cik, collected_at, ...EDGAR_SOURCE, ...span };
  const whole: readonly StoredFilingRow[] = from <= newest.filing_date ? [page] : [];
  return {
    readings: new Map(),
    rows: new Map([[FILING_COLLECTION, [...whole, ...inOrder]]]),
    skipped: [],
    remarks: [BASIS_REMARKS[basis], ...holeRemarks(hole)],
  };
}

function readRows(columns: Columns, of: ListOf, payload: Payload) {
  refuseForeign(of.cik, payload);
  const read = readable(payload, () => readColumns(columns, of));
  refuseFuture(read.filings, payload);
  return read;
}

/** The filer of a payload is the one that its address and its file are named after. */
function refuseForeign(cik: string, { note, subject }: Payload): void {
  const named = [...`${note.url} ${subject}`.matchAll(NAMED_FILER)].map(([, digits]) => digits);
  const other = named.find((digits) => digits !== cik);
  if (other === undefined) return;
  const state = `it is about CIK${cik}, but its address or name is about CIK${other}; correct the fetch note`;
  throw new ImportError({ subject, state });
}

/** The pages of a filer are numbered from 001 on, newest first, and none reaches into what is newer. */
function refuseWrongPages(
  files: readonly FilingPage[],
  { cik, oldest }: { readonly cik: string; readonly oldest: string },
  payload: Payload,
): void {
  let newer = oldest;
  for (const [at, page] of files.entries()) {
    const name = `CIK${cik}-submissions-${String(at + 1).padStart(3, '0')}.json`;
    const isNext = page.name === name && page.filingFrom <= page.filingTo && page.filingTo <= newer;
    if (!isNext) {
      const state = `filings.files.${at} is not the page ${name} of the days before ${newer}`;
      throw fetchAgain(payload, state);
    }
    newer = page.filingFrom;
  }
}

/** A list cannot hold what was accepted after it was fetched: then the note is another payload's. */
function refuseFuture(filings: readonly StoredFiling[], { note, subject }: Payload): void {
  const fetched = Date.parse(note.fetched_at);
  const late = filings.find(({ disclosure_time }) => Date.parse(disclosure_time ?? '') > fetched);
  if (late === undefined) return;
  const state = `${late.accession} was accepted at ${late.disclosure_time}, after the fetch at ${note.fetched_at}; correct the fetch note`;
  throw new ImportError({ subject, state });
}

const BASIS_REMARKS: Readonly<Record<ListBasis, string>> = {
  utc: 'its hours prove that the acceptance times are UTC',
  'new-york':
    'its hours prove that the acceptance times are New York time with a Z; converted to UTC',
  undetermined:
    'its hours do not tell whether acceptance times are UTC or New York time; the other lists of the filer in this batch decide, else only filing dates are used',
  contradictory:
    'its hours fit neither UTC nor New York time alone, so no acceptance time is taken; only filing dates are used',
};

function holeRemarks(hole: ListHole | null): string[] {
  if (hole === null) return [];
  return [`it holds ${hole.what}, so it is whole only from ${hole.wholeFrom} on`];
}

function windowRemarks(list: { from: string | null; collected_at: string }): string[] {
  const open = Object.values(WINDOWS).filter((days) => !covers(list, days));
  if (open.length === 0) return [];
  return [
    `its list is whole from ${list.from} on, so counts over ${open.join(' and ')} days are null; older filings are on its other pages`,
  ];
}

/** The CIK of a filer, by its ticker or itself; throws a RangeError for a ticker that the line does not name. */
function filerOf(entity: string): string {
  const cik = TICKER_CIKS.get(entity.toUpperCase()) ?? cikOf(entity);
  if (cik !== null) return cik;
  const state = 'its CIK is not known; give the CIK of the filer, such as 0000320193';
  throw new RangeError(`Cannot fetch filings of "${entity}": ${state}`);
}

/** Submissions of one filer: https://www.sec.gov/search-filings/edgar-application-programming-interfaces */
export const secEdgar: Source = {
  ...registered('sec-edgar'),
  version: 2,
  read: readSubmissions,
  asks: ({ entities }) =>
    (entities.length === 0 ? [...TICKER_CIKS.keys()] : entities).map((entity) => ({
      with: { cik: filerOf(entity) },
      about: entity,
    })),
};

import { isAmendment } from '../../../contract/filing.ts';
import { DAY_MS } from '../../../contract/iso-time.ts';
import type { StoredFiling } from '../../../stages/intake/filing-row.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { EDGAR_SOURCE } from './edgar-columns.ts';

/** Days of the windows that are counted back from the fetch. */
const WINDOWS = { month: 30, quarter: 90, twoYears: 730 } as const;

/** One filer's list as the signals need it. */
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

/** The windows, in days, that the list does not reach back over: what they hold is unknown. */
export function openWindows(list: Pick<FilerList, 'from' | 'collected_at'>): number[] {
  return Object.values(WINDOWS).filter((days) => !covers(list, days));
}

/** The first day of a list may be cut, so only one that begins before the window holds all of it. */
function covers({ from, collected_at }: Pick<FilerList, 'from' | 'collected_at'>, days: number) {
  return from === null || ageDays(from, collected_at) >= days;
}

/** The three filing signals of a filer, counted from its list; 0 is a reading where the list was read over the whole window. */
export function filingReadings(list: FilerList): Map<string, Reading[]> {
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

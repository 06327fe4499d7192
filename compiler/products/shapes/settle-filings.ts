import type { Cutoff } from '../../format/cutoff.ts';
import { defined } from '../../format/errors.ts';
import { DAY_MS, newYorkDayEnd } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import { type FilingFacts, formFamily, isAmendment } from './filing.ts';

/** Days that an unknown acceptance may lie before its filing day: a long weekend and a day to spare. */
const ACCEPTANCE_LEAD_DAYS = 7;

type ResolutionStatus = 'resolved' | 'no_authoritative_source' | 'ambiguous' | 'conflicting';

/** What was asked. */
export interface SettlementQuestion {
  /** Canonical form type; one that ends in `/A` asks for amendments themselves. */
  readonly form: string;
  /** Item of an 8-K that the filing must name; null for any. */
  readonly eventClass: string | null;
  readonly cutoff: Cutoff;
}

/** What the stored list of a filer covers, up to the last look. */
export interface FilingCoverage {
  /** First filing day that the list is whole from; null when it is whole from the beginning. */
  readonly covered_from: string | null;
  /** Filing days, first to last, of which some filings could not be read: the list says nothing about them. */
  readonly gaps: readonly ListGap[];
}

export interface ListGap {
  readonly from: string;
  readonly to: string;
}

/** The answer to a question about filings, in the facts that gave it. */
export interface Settlement<Filing extends FilingFacts> {
  readonly resolution_status: ResolutionStatus;
  readonly filed_by_cutoff: boolean | null;
  /** The filing that the answer is about; null when nothing stored bears on the question. */
  readonly selected: Filing | null;
  /** The selected filing first, then everything that makes it ambiguous or conflicting. */
  readonly candidates: readonly Filing[];
}

/**
 * THE rule of settlement evidence. It selects the newest filing of the form at or before the cutoff, or else the
 * first one after it, and says what keeps that from being the whole answer. Facts only: the event itself is not judged.
 */
export function settleFilings<Filing extends FilingFacts>(
  filings: readonly Filing[],
  coverage: FilingCoverage,
  question: SettlementQuestion,
): Settlement<Filing> {
  const sides = sortFilings(filings, question);
  const [newest] = sides.before;
  if (newest !== undefined) return filed(newest, sides);
  const [unclear] = sides.unclear;
  if (unclear !== undefined) return open([...sides.unclear, ...sides.amendments], sides);
  if (sides.amendments.length > 0) return open(sides.amendments, sides);
  return notFiled(sides, { coverage, cutoff: question.cutoff });
}

interface Sides<Filing> {
  /** Originals at or before the cutoff, newest first. */
  readonly before: readonly Filing[];
  /** Originals of which only the day is known, and that day decides nothing. */
  readonly unclear: readonly Filing[];
  /** Originals behind the cutoff, oldest first. */
  readonly after: readonly Filing[];
  /** Amendments that are not behind the cutoff, newest first. */
  readonly amendments: readonly Filing[];
  /** Listings of other sources by number of the filing, all sources together. */
  readonly listings: ReadonlyMap<string, Listings<Filing>>;
}

function sortFilings<Filing extends FilingFacts>(
  filings: readonly Filing[],
  { form, eventClass, cutoff }: SettlementQuestion,
): Sides<Filing> {
  const family = formFamily(form);
  const matching = filings
    .filter((filing) => formFamily(filing.form) === family)
    .filter((filing) => eventClass === null || filing.items.includes(eventClass))
    .filter((filing) => !isAmendment(form) || isAmendment(filing.form));
  const side = (wanted: CutoffSide) => (filing: Filing) => sideOf(filing, cutoff) === wanted;
  const best = Array.from(byAccession(matching).values(), ([first]) => first).sort(newestFirst);
  const originals = best.filter((filing) => isOriginal(filing, { form }));
  const amendments = best.filter((filing) => !isOriginal(filing, { form }));
  return {
    before: originals.filter(side('before')),
    unclear: originals.filter(side('unclear')),
    after: originals.filter(side('after')).reverse(),
    amendments: amendments.filter((filing) => sideOf(filing, cutoff) !== 'after'),
    listings: byAccession(filings),
  };
}

/** Whether a filing is of the very form that is asked for: an amendment answers only a question about amendments. */
export function isOriginal(
  filing: Pick<FilingFacts, 'form'>,
  { form }: Pick<SettlementQuestion, 'form'>,
): boolean {
  return isAmendment(filing.form) === isAmendment(form);
}

/** All listings of one filing, at least one. */
export type Listings<Filing> = readonly [Filing, ...Filing[]];

/** Filings by their number, each with its listings, best tier first. */
export function byAccession<Filing extends FilingFacts>(
  filings: readonly Filing[],
): ReadonlyMap<string, Listings<Filing>> {
  const known = grouped(filings, ({ accession }) => accession);
  for (const listings of known.values()) listings.sort(byTier);
  return known;
}

/** Newest filing day, then newest acceptance; the number and the source only make the order total. */
export function newestFirst(a: FilingFacts, b: FilingFacts): number {
  return (
    descending(a.filing_date, b.filing_date) ||
    descending(instantText(a), instantText(b)) ||
    descending(a.accession, b.accession) ||
    byTier(a, b)
  );
}

/** Of one filing the listing of the best tier stands first. */
function byTier(a: FilingFacts, b: FilingFacts): number {
  return descending(b.source_tier ?? '~', a.source_tier ?? '~') || descending(b.source, a.source);
}

function descending(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? 1 : -1;
}

function instantText({ disclosure_time }: FilingFacts): string {
  return disclosure_time === null ? '' : new Date(disclosure_time).toISOString();
}

/** Where a filing lies: `unclear` where only its day is known, and that day decides nothing. */
type CutoffSide = 'before' | 'unclear' | 'after';

/** On which side of a cutoff a filing lies. */
export function sideOf(filing: FilingFacts, cutoff: Cutoff): CutoffSide {
  const at = momentOf(cutoff);
  if (beforeFrom(filing, cutoff.basis) <= at) return 'before';
  return nearFrom(filing, cutoff.basis) <= at ? 'unclear' : 'after';
}

/** A cutoff on its axis: the start of a filing day in UTC, or an instant; epoch milliseconds. */
export function momentOf(cutoff: Cutoff): number {
  return cutoff.basis === 'filing_date' ? dayStart(cutoff.date) : Date.parse(cutoff.at);
}

/** From which cutoff on a filing may lie before it. */
export function nearFrom(
  { filing_date, disclosure_time }: FilingFacts,
  basis: Cutoff['basis'],
): number {
  if (basis === 'filing_date') return dayStart(filing_date);
  return disclosure_time === null ? earliestAcceptance(filing_date) : Date.parse(disclosure_time);
}

/** From which cutoff on a filing certainly lies before it. */
export function beforeFrom(
  { filing_date, disclosure_time }: FilingFacts,
  basis: Cutoff['basis'],
): number {
  if (basis === 'filing_date') return dayStart(filing_date);
  return Date.parse(disclosure_time ?? newYorkDayEnd(filing_date));
}

/** From which cutoff on filings of a gap may lie before it. */
export function gapFrom({ from }: ListGap, basis: Cutoff['basis']): number {
  return basis === 'filing_date' ? dayStart(from) : earliestAcceptance(from);
}

/** The first instant of a filing day, in UTC: New York's day begins hours later. */
export function dayStart(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

function earliestAcceptance(filingDate: string): number {
  return dayStart(filingDate) - ACCEPTANCE_LEAD_DAYS * DAY_MS;
}

/** Whether filings of a gap may lie before a cutoff. */
export function reachesBack(gap: ListGap, cutoff: Cutoff): boolean {
  return gapFrom(gap, cutoff.basis) <= momentOf(cutoff);
}

/** A filing is there; it is the whole answer unless something stands beside it. */
function filed<Filing extends FilingFacts>(
  selected: Filing,
  sides: Sides<Filing>,
): Settlement<Filing> {
  const conflict = conflicting(selected, sides);
  if (conflict !== null) return conflict;
  const sameDay = ({ accession, filing_date }: Filing): boolean =>
    accession !== selected.accession && filing_date === selected.filing_date;
  const beside = [
    ...sides.before.filter(sameDay),
    ...sides.unclear.filter(({ filing_date }) => filing_date >= selected.filing_date),
    ...sides.amendments.filter(({ filing_date }) => filing_date >= selected.filing_date),
  ];
  const twins = otherListings(selected, sides);
  return {
    resolution_status: beside.length === 0 ? 'resolved' : 'ambiguous',
    filed_by_cutoff: true,
    selected,
    candidates: [selected, ...twins, ...beside],
  };
}

/** Something is stored, but it does not say on which side of the cutoff an original filing lies. */
function open<Filing extends FilingFacts>(
  all: readonly Filing[],
  sides: Sides<Filing>,
): Settlement<Filing> {
  const [selected, ...others] = all;
  if (selected === undefined)
    throw new RangeError('Cannot leave a question open: no filing is near');
  const conflict = conflicting(selected, sides);
  if (conflict !== null) return conflict;
  const candidates = [selected, ...otherListings(selected, sides), ...others];
  return { resolution_status: 'ambiguous', filed_by_cutoff: null, selected, candidates };
}

/**
 * Nothing is stored until the cutoff. Only a list that is whole from the first filing on and without a gap says that
 * nothing was filed: one that begins on a day holds none of the filings before it.
 */
function notFiled<Filing extends FilingFacts>(
  sides: Sides<Filing>,
  { coverage, cutoff }: { readonly coverage: FilingCoverage; readonly cutoff: Cutoff },
): Settlement<Filing> {
  const isWhole = coverage.covered_from === null;
  const isHidden = coverage.gaps.some((gap) => reachesBack(gap, cutoff));
  const filed_by_cutoff = isWhole && !isHidden ? false : null;
  const [later] = sides.after;
  if (later === undefined || filed_by_cutoff === null) {
    const resolution_status = 'no_authoritative_source';
    return { resolution_status, filed_by_cutoff, selected: null, candidates: [] };
  }
  const conflict = conflicting(later, sides);
  if (conflict !== null) return conflict;
  const candidates = [later, ...otherListings(later, sides)];
  return { resolution_status: 'resolved', filed_by_cutoff, selected: later, candidates };
}

function otherListings<Filing extends FilingFacts>(
  selected: Filing,
  { listings }: Sides<Filing>,
): Filing[] {
  const same = defined(listings.get(selected.accession), 'the listings of a filing');
  return same.filter((filing) => filing !== selected);
}

/** Sources that tell different facts about one filing leave nothing settled. */
function conflicting<Filing extends FilingFacts>(
  selected: Filing,
  sides: Sides<Filing>,
): Settlement<Filing> | null {
  const twins = otherListings(selected, sides);
  if (twins.every((twin) => agrees(twin, selected))) return null;
  const candidates = [selected, ...twins];
  return { resolution_status: 'conflicting', filed_by_cutoff: null, selected, candidates };
}

/** What one source leaves open contradicts nobody. */
function agrees(a: FilingFacts, b: FilingFacts): boolean {
  const times = [a.disclosure_time, b.disclosure_time].filter((time) => time !== null);
  const events = [a.event_time, b.event_time].filter((time) => time !== null);
  return (
    formFamily(a.form) === formFamily(b.form) &&
    isAmendment(a.form) === isAmendment(b.form) &&
    a.filing_date === b.filing_date &&
    new Set(times.map((time) => Date.parse(time))).size < 2 &&
    new Set(events).size < 2
  );
}

// What is stored of a filer, as one sorted list for each question that can be asked: by form, and of an 8-K also by item.
// The filer's signed statement holds the root of every list, so that neighbouring filings prove what lies between them,
// and a list that is not named was never stored.

import { bytesToHex } from '@noble/hashes/utils.js';
import {
  type FilingFacts,
  formFamily,
  type HashedFiling,
  isAmendment,
  isEventClass,
} from './filing.ts';
import { DAY_MS } from './iso-time.ts';
import {
  besideRanges,
  completeLevels,
  leafHash,
  rangeHash,
  type Sha256,
  stretchRoot,
} from './merkle.ts';
import { fromHex } from './ots-bytes.ts';
import {
  ACCEPTANCE_LEAD_DAYS,
  byAccession,
  dayStart,
  type Listings,
  newestFirst,
} from './settle-filings.ts';

/** Which list speaks to a question. */
export interface ListName {
  /** A form family with its amendments, or with `/A` the amendments alone. */
  readonly form: string;
  /** Item that every filing of the list names; null for all filings of the form. */
  readonly event_class: string | null;
}

/** Filings of one name, newest first; of each the listing that counts in this list stands first, then all others, best tier first. */
export interface FilingList<Filing> extends ListName {
  readonly filings: readonly Listings<Filing>[];
}

/** What the filer's statement says of a list. */
export interface ListHead extends ListName {
  readonly count: number;
  readonly amendments: number;
  /** No filing of the list was accepted more days than this before its filing day began. */
  readonly lead_days: number;
  /** RFC 6962 root of its filings, newest first, in hex. */
  readonly root: string;
}

/** The list that a question is about. */
export function listName(form: string, eventClass: string | null): ListName {
  const family = formFamily(form);
  return { form: isAmendment(form) ? `${family}/A` : family, event_class: eventClass };
}

/** Every list of a filer's filings, sorted by form and item. */
export function filingLists<Filing extends FilingFacts>(
  filings: readonly Filing[],
): FilingList<Filing>[] {
  const lists = new Map<string, { name: ListName; filings: Listings<Filing>[] }>();
  for (const listings of byAccession(filings).values()) {
    for (const [key, { name, first }] of placesOf(listings)) {
      const list = lists.get(key) ?? { name, filings: [] };
      list.filings.push([first, ...listings.filter((other) => other !== first)]);
      lists.set(key, list);
    }
  }
  return [...lists]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, list]) => ({
      ...list.name,
      filings: list.filings.sort(([a], [b]) => newestFirst(a, b)),
    }));
}

function placesOf<Filing extends FilingFacts>(listings: readonly Filing[]) {
  const places = new Map<string, { readonly name: ListName; readonly first: Filing }>();
  for (const first of listings) {
    for (const name of namesOf(first)) {
      const key = listKey(name);
      if (!places.has(key)) places.set(key, { name, first });
    }
  }
  return places;
}

/** Sorts lists by form, then by item, the list without an item first. */
export function listKey({ form, event_class }: ListName): string {
  return event_class === null ? form : `${form}\n${event_class}`;
}

function namesOf({ form, items }: FilingFacts): ListName[] {
  const family = formFamily(form);
  const forms = isAmendment(form) ? [family, `${family}/A`] : [family];
  const classes = [null, ...items.filter((item) => isEventClass(form, item))];
  return forms.flatMap((name) => classes.map((event_class) => ({ form: name, event_class })));
}

/** A list that can prove what stands in it. */
export interface ProvenList<Filing> extends FilingList<Filing> {
  readonly head: ListHead;
  /** Hashes of its complete subtrees, by height. */
  readonly levels: readonly (readonly Uint8Array[])[];
}

/** Hashes a list. */
export function provenList<Filing extends HashedFiling>(
  list: FilingList<Filing>,
  sha256: Sha256,
): ProvenList<Filing> {
  const { form, event_class, filings } = list;
  const leaves = filings.map((listings) => listingsHash(listings, sha256));
  const levels = completeLevels(leaves, sha256);
  const head: ListHead = {
    form,
    event_class,
    count: filings.length,
    amendments: filings.filter(([first]) => isAmendment(first.form)).length,
    lead_days: filings.reduce((most, [first]) => Math.max(most, leadDays(first)), 0),
    root: bytesToHex(rangeHash({ start: 0, end: filings.length }, levels, sha256)),
  };
  return { ...list, head, levels };
}

/** Some neighbouring filings of a list, newest first. */
export interface ListStretch<Filing> {
  /** Position of the first of them; the newest filing of the list is 0. */
  readonly index: number;
  readonly filings: readonly (readonly Filing[])[];
}

/** What leads from some filings of a list to its root: one hash in hex for each range beside them, left to right. */
export function besideHashes<Filing>(
  { levels, head }: ProvenList<Filing>,
  { index, filings }: ListStretch<Filing>,
  sha256: Sha256,
): string[] {
  const stretch = { start: index, end: index + filings.length };
  const ranges = besideRanges(stretch, head.count);
  return ranges.map((range) => bytesToHex(rangeHash(range, levels, sha256)));
}

/** Whether filings stand where they say in the list of this head. */
export function standsInList(
  {
    index,
    filings,
    beside,
  }: ListStretch<Pick<HashedFiling, 'record_hash'>> & {
    beside: readonly string[];
  },
  { count, root }: Pick<ListHead, 'count' | 'root'>,
  sha256: Sha256,
): boolean {
  const leaves = filings.map((listings) => listingsHash(listings, sha256));
  const stretch = { size: count, start: index, leaves, beside: beside.map(fromHex) };
  const hash = stretchRoot(stretch, sha256);
  return hash !== null && bytesToHex(hash) === root;
}

/** The leaf of a filing: the record hashes of its listings in their order, one space between them. */
function listingsHash(
  listings: readonly Pick<HashedFiling, 'record_hash'>[],
  sha256: Sha256,
): Uint8Array {
  const entry = listings.map(({ record_hash }) => record_hash).join(' ');
  return leafHash(new TextEncoder().encode(entry), sha256);
}

function leadDays({ filing_date, disclosure_time }: FilingFacts): number {
  if (disclosure_time === null) return ACCEPTANCE_LEAD_DAYS;
  const lead = dayStart(filing_date) - Date.parse(disclosure_time);
  return Math.max(0, Math.ceil(lead / DAY_MS));
}

/** Form types that a filer's lists hold filings of: of a form that only its amendments stand for, the amendments. */
export function storedForms(heads: readonly ListHead[]): string[] {
  return heads
    .filter(({ event_class }) => event_class === null)
    .filter(({ form, count, amendments }) => isAmendment(form) || count > amendments)
    .map(({ form }) => form);
}

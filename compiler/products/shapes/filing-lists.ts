// What is stored of a filer, as one sorted list for each question that can be asked: by form, and of an 8-K also by item.

import {
  type FilingFacts,
  formFamily,
  isAmendment,
  isEventClass,
  RENAMED_FORMS,
  WELL_KNOWN_FORMS,
} from './filing.ts';
import { byAccession, isOriginal, type Listings, newestFirst } from './settle-filings.ts';

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
function listKey({ form, event_class }: ListName): string {
  return event_class === null ? form : `${form}\n${event_class}`;
}

function namesOf({ form, items }: FilingFacts): ListName[] {
  const family = formFamily(form);
  const forms = isAmendment(form) ? [family, `${family}/A`] : [family];
  const classes = [null, ...items.filter((item) => isEventClass(form, item))];
  return forms.flatMap((name) => classes.map((event_class) => ({ form: name, event_class })));
}

/** Form types that a filer's lists hold filings of: of a form that only its amendments stand for, the amendments. */
export function storedForms(lists: readonly FilingList<FilingFacts>[]): string[] {
  return lists
    .filter(({ event_class }) => event_class === null)
    .filter(({ form, filings }) => filings.some(([first]) => isOriginal(first, { form })))
    .map(({ form }) => form);
}

const KNOWN_FORMS = [...WELL_KNOWN_FORMS, ...RENAMED_FORMS.keys()].flatMap((form) => [
  form,
  `${form}/A`,
]);

/**
 * Whether a form type that the filer has no list of reads like another one: `10K` and `1O-K` are no form types, so a true
 * answer about them would be taken for one about `10-K`. `stored`: form types that the filer has a list of.
 */
export function isLookalike(form: string, stored: readonly string[]): boolean {
  const known = [...KNOWN_FORMS, ...stored];
  return !known.includes(form) && known.map(readForm).includes(readForm(form));
}

/** What of a form type is read: letters and digits, where O is taken for 0, I for 1, and zeros in front of a number or of all for nothing. */
function readForm(form: string): string {
  const digits = form.replaceAll('O', '0').replaceAll('I', '1');
  return shortNumbers(shortNumbers(digits).replace(/[ /.-]/g, '')).replace(
    /^0*(?:F0RM)?0*(?=.)/,
    '',
  );
}

function shortNumbers(text: string): string {
  return text.replace(/(?<!\d)0+(?=\d)/g, '');
}

import { isoTime, newYorkInstant } from '../../format/iso-time.ts';
import { HASH_CORE_VERSION } from '../../format/record-hash.ts';

/** The one source class that settlement evidence has. */
export const FILING_SOURCE_CLASS = 'sec';

/** The one collection that filings are stored in; it also names the kind of their hash core. */
export const FILING_COLLECTION = 'filing.submission';

/** What of a filing decides a settlement question. */
export interface FilingFacts {
  /** Number of the filing, unique within the regulator. */
  readonly accession: string;
  readonly form: string;
  /** Items of an 8-K, as filed. */
  readonly items: readonly string[];
  /** Period or event date; null where the filing names none. */
  readonly event_time: string | null;
  /** Official filing day, New York. */
  readonly filing_date: string;
  /** Acceptance, ISO-8601 UTC; null where only the day is known. */
  readonly disclosure_time: string | null;
  /** Who lists it; two sources may list one filing. */
  readonly source: string;
  readonly source_tier: string | null;
}

/** A filing with everything that its hash core says of it. */
export interface HashedFiling extends FilingFacts {
  /** How the source's clock was read. */
  readonly acceptance_basis: 'utc' | 'new-york' | 'undetermined';
  /** UTC day of collection at 00:00:00Z. */
  readonly snapshot_date: string;
  readonly source_ref: string | null;
  readonly record_hash: string;
}

/** The acceptance in UTC of a time that a list of that basis writes. */
export function acceptedAt(written: string, basis: 'utc' | 'new-york'): string {
  const time = Date.parse(written);
  return isoTime(basis === 'utc' ? time : newYorkInstant(time));
}

/** The hash core of a filing, its members in the order of `_hash_core`. */
export function filingCore(cik: string, filing: Omit<HashedFiling, 'record_hash'>) {
  const { accession, form, items, event_time, filing_date, disclosure_time } = filing;
  const { acceptance_basis, snapshot_date, source, source_ref, source_tier } = filing;
  return {
    hash_core_version: HASH_CORE_VERSION,
    row: FILING_COLLECTION,
    entity: cik,
    ...{ accession, form, items: [...items], event_time, filing_date, disclosure_time },
    acceptance_basis,
    observed_at: disclosure_time ?? `${filing_date}T00:00:00Z`,
    snapshot_date,
    ...{ source, source_ref, source_tier },
  } as const;
}

/** Members of a filing that its hash core repeats: what was filed, and when. */
export const FILED_FIELDS = [
  'accession',
  'form',
  'items',
  'event_time',
  'filing_date',
  'disclosure_time',
  'acceptance_basis',
] as const;

/** And when and of whom it was collected. */
export const SOURCE_FIELDS = ['snapshot_date', 'source', 'source_ref', 'source_tier'] as const;

/** Names of the members of a filing's hash core, in that order. */
export const FILING_CORE_FIELDS = [
  'hash_core_version',
  'row',
  'entity',
  ...FILED_FIELDS,
  'observed_at',
  ...SOURCE_FIELDS,
] as const satisfies readonly (keyof ReturnType<typeof filingCore>)[];

/** How form types are spelled. */
export const FORM_TYPE = /^[A-Z0-9][A-Z0-9 /.-]{0,39}$/;

/** Forms that the regulator renamed; a question for either name finds both. */
export const RENAMED_FORMS: ReadonlyMap<string, string> = new Map([
  ['SCHEDULE 13D', 'SC 13D'],
  ['SCHEDULE 13G', 'SC 13G'],
]);

/** Form types that may be asked for whatever is stored, even where a filer never filed one. */
export const WELL_KNOWN_FORMS: readonly string[] = [
  '10-K',
  '10-Q',
  '8-K',
  'NT 10-K',
  'NT 10-Q',
  '20-F',
  '40-F',
  '6-K',
  'SC 13D',
  'SC 13G',
  '3',
  '4',
  '5',
  '144',
  '13F-HR',
  'DEF 14A',
  'S-1',
  'S-3',
  'S-4',
  'S-8',
  '424B4',
  '11-K',
  '25',
  '15-12G',
];

const AMENDMENT = /\/A$/;

/** Whether a form type is an amendment of another. */
export function isAmendment(form: string): boolean {
  return AMENDMENT.test(form);
}

/** The form type that a filing belongs to: renamed forms under their older name, an amendment under what it amends. */
export function formFamily(form: string): string {
  const base = form.replace(AMENDMENT, '');
  return RENAMED_FORMS.get(base) ?? base;
}

/** The only forms that name items. */
const ITEM_FAMILIES: readonly string[] = ['8-K', '8-K12B', '8-K12G3', '8-K15D5'];
/** None begins with 0: `02.02` reads like `2.02`, and would be answered as another item. */
const ITEM = /^[1-9]\d?(\.\d{2})?$/;

/** Whether a question about a form may name an item. */
export function namesItems(form: string): boolean {
  return ITEM_FAMILIES.includes(formFamily(form));
}

/** Whether a question about a form may name this item. */
export function isEventClass(form: string, item: string): boolean {
  return namesItems(form) && ITEM.test(item);
}

/** The spelling of a form type in questions: upper case, single spaces, without the word FORM. */
export function canonicalForm(text: string): string {
  const form = text.trim().toUpperCase().replace(/\s+/g, ' ');
  return form.replace(/^FORM /, '');
}

/** The ten digits of a CIK in any of its spellings (`320193`, `CIK0000320193`), or null. */
export function cikOf(text: string): string | null {
  const digits = /^(?:CIK)?(\d{1,10})$/.exec(text)?.[1];
  return digits === undefined ? null : digits.padStart(10, '0');
}

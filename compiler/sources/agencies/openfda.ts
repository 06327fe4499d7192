import { z } from 'zod';
import { builtinLine } from '../../catalog/builtin.ts';
import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import type { Reading } from '../../readings/reading.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  jsonOf,
  type Payload,
  type SkipCount,
} from '../kit/payload.ts';
import { unzipped } from '../kit/payload-formats.ts';
import { mainValue, measuredBy, observedAt, ReadingList } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

type State = 'available' | 'limited' | 'unavailable' | 'discontinued' | 'resolved' | 'unreadable';

/** One package of one maker; days in epoch milliseconds, null where they cannot be read. */
interface ShortageRow {
  /** Generic name with salt and dosage form, in lower case; null where it cannot be read. */
  readonly name: string | null;
  readonly ndc: string;
  readonly company: string;
  /** Null where the row names none. */
  readonly classes: readonly string[] | null;
  readonly state: State;
  readonly updated: number | null;
  readonly posted: number | null;
}
/** Words that stand for nothing would be counted as one more name. */
const SENTINELS = ['', 'N/A', 'NA', 'null', 'None', 'Unknown', '-', '--'];
function isNothing(text: string): boolean {
  return SENTINELS.some((word) => word.toLowerCase() === text.toLowerCase());
}
const stated = z
  .string()
  .trim()
  .refine((text) => !isNothing(text), 'a word for nothing');
const word = z.string().trim().catch('');
const rowSchema = z.looseObject({
  // Without one the row may be of any drug.
  generic_name: stated.nullable().catch(null),
  package_ndc: word,
  company_name: word,
  // Absent: the row may be of any class.
  therapeutic_category: z.array(stated).min(1).optional().catch(undefined),
  status: word,
  availability: word,
  update_date: word,
  initial_posting_date: word,
});
const listSchema = z.looseObject({
  meta: z.looseObject({
    last_updated: z.iso.date(),
    results: z.looseObject({ skip: z.int(), total: z.int() }),
  }),
  results: z.array(rowSchema).min(1),
});

const US_DAY = /^(\d{2})\/(\d{2})\/(\d{4})$/;
/** First letters, because the list misspells the words. */
const AVAILABILITY: readonly (readonly [start: string, state: State])[] = [
  ['avail', 'available'],
  ['aval', 'available'],
  ['limit', 'limited'],
  ['unav', 'unavailable'],
  ['unva', 'unavailable'],
];

/**
 * The whole list of shortages, from the bulk file or an answer that holds all of it. Throws an ImportError for a part: what
 * is left out would count as not short.
 */
function shortageList(payload: Payload): { rows: readonly ShortageRow[]; lastUpdated: number } {
  const { subject, note } = payload;
  const { meta, results } = jsonOf(unzipped(payload), listSchema, 'a list of drug shortages');
  const { skip, total } = meta.results;
  if (skip !== 0 || total !== results.length) {
    const state = `it announces ${total} rows and holds ${results.length} from ${skip} on; counts need the whole list, import the bulk file`;
    throw new ImportError({ subject, state });
  }
  if (new URL(note.url).searchParams.has('search')) {
    const state = 'an answer to a search, which is not the whole list; import the bulk file';
    throw new ImportError({ subject, state });
  }
  return {
    rows: results.map((row) => ({
      name: row.generic_name?.toLowerCase().replace(/\s+/g, ' ') ?? null,
      ndc: row.package_ndc,
      company: row.company_name.toLowerCase(),
      classes: row.therapeutic_category ?? null,
      state: row.generic_name === null ? 'unreadable' : stateOf(row),
      updated: usDay(row.update_date),
      posted: usDay(row.initial_posting_date),
    })),
    lastUpdated: Date.parse(meta.last_updated),
  };
}

function stateOf(row: z.infer<typeof rowSchema>): State {
  const { status, availability, package_ndc, company_name } = row;
  if (isNothing(package_ndc) || isNothing(company_name)) return 'unreadable';
  if (status === 'To Be Discontinued') return 'discontinued';
  if (status === 'Resolved') return 'resolved';
  const said = availability.toLowerCase();
  const found = AVAILABILITY.find(([start]) => said.startsWith(start));
  return status === 'Current' && found !== undefined ? found[1] : 'unreadable';
}

/** "06/09/2026"; null where it is written otherwise or no such day exists. */
export function usDay(text: string): number | null {
  const [, month, day, year] = US_DAY.exec(text) ?? [];
  const iso = `${year}-${month}-${day}`;
  return z.iso.date().safeParse(iso).success ? Date.parse(iso) : null;
}

/** Whether a package has the status Current; null where one that cannot be read decides. */
function isListed(rows: readonly ShortageRow[]): boolean | null {
  const current: readonly State[] = ['available', 'limited', 'unavailable'];
  if (rows.some(({ state }) => current.includes(state))) return true;
  return rows.some(({ state }) => state === 'unreadable') ? null : false;
}

const DRUGS = builtinLine('drug-detail').entities;

const AGENCY = 'US Food and Drug Administration';
const API = 'https://api.fda.gov/drug/shortages.json';
const STATUS = 'drug-detail.status';
const NARROWING = 'drug-detail.supply-narrowing';
const ACTIVE = 'drug-shortage.active-shortages';
const INCIDENCE = 'drug-shortage.new-incidence';
const RESOLUTION = 'drug-shortage.resolution-rate';

const DRUG_SCOPE =
  'packages that the list holds under the generic name in any salt and dosage form, without products of several drugs; the bands are ours';
const SUPPLY_SCOPE = `makers with a package that is available or limited; ${DRUG_SCOPE}`;
const CLASS_SCOPE =
  'generic names with salt and dosage form; a name is short when a package with status Current is limited or unavailable, which is our reading; a name may be of several classes';
const RESOLVED_SCOPE = `names that were resolved in 90 days, in percent of those and of the names that are short; a name is resolved when a package is Resolved and none Current, on the newest day of its rows; ${CLASS_SCOPE}`;

/** One reading of each drug and class that the list names. A drug that it does not name gives none. */
function read(payload: Payload): Imported {
  const { rows, lastUpdated } = shortageList(payload);
  const list = new ReadingList();
  const batch = observedAt(lastUpdated, payload);
  const nameless = rows.filter(({ name }) => name === null);
  if (nameless.length > 0) {
    list.skips.unread(
      'drugs',
      'a row names no drug; none of its classes is counted',
      nameless.length,
    );
  }
  if (nameless.length === rows.length) throw fetchAgain(payload, 'no row of it names a drug');
  for (const [drug, own] of grouped(
    rows.flatMap((row) => drugsOf(row, list)),
    ({ of }) => of,
  )) {
    if (nameless.some((row) => own.some((one) => isOfSameClass(one, row)))) continue;
    const time = newestOf(own, payload);
    if (typeof time === 'string') {
      list.skips.unread(drug, `${time}; nothing of the drug is used`);
      continue;
    }
    const counts = {
      unavailable_count: packages(own, 'unavailable'),
      limited_count: packages(own, 'limited'),
      available_count: packages(own, 'available'),
      discontinued_count: packages(own, 'discontinued'),
      companies_count: companies(own),
    };
    const suppliers = companies(
      own.filter(({ state }) => state === 'available' || state === 'limited'),
    );
    const packages_count = new Set(own.map(({ ndc }) => ndc)).size;
    const status = { packages_count, ...counts, band: bandOf(counts) };
    const facts = { entity: drug, observed_at: isoTime(time), payload, scope: DRUG_SCOPE };
    list.add(STATUS, readingOf(status, facts));
    if (isListed(own) !== true) continue;
    const supply = { companies_count: suppliers, band: supplyBand(suppliers) };
    list.add(NARROWING, readingOf(supply, { ...facts, scope: SUPPLY_SCOPE }));
  }
  for (const [id, own] of grouped(classesOf(rows, list), ({ of }) => of)) {
    const { activity, incidence, resolution } = classCounts(own, lastUpdated);
    const facts = { entity: id, observed_at: batch, payload, scope: CLASS_SCOPE };
    list.add(ACTIVE, readingOf(activity, facts));
    list.add(INCIDENCE, readingOf(incidence, facts));
    list.add(RESOLUTION, readingOf(resolution, { ...facts, scope: RESOLVED_SCOPE }));
  }
  return list.someOf(payload);
}

/** Newest day of a drug's rows, in epoch milliseconds, or why nothing is known of the drug. */
function newestOf(rows: readonly ShortageRow[], { note }: Payload): number | string {
  const days = rows.map(({ updated }) => updated ?? Number.NaN);
  const time = days.reduce((last, day) => Math.max(last, day), 0);
  if (rows.some(({ state }) => state === 'unreadable') || Number.isNaN(time)) {
    return 'a row that cannot be read';
  }
  return time <= Date.parse(note.fetched_at) ? time : 'a row of after the fetch';
}

/** Whether two rows may be of one drug. */
function isOfSameClass({ classes: own }: ShortageRow, { classes: other }: ShortageRow): boolean {
  return own === null || other === null || own.some((name) => other.includes(name));
}

interface CountedRow extends ShortageRow {
  readonly of: string;
}

function drugsOf(row: ShortageRow, { skips }: ReadingList): CountedRow[] {
  const { name } = row;
  const drug = name === null ? undefined : drugOf(name);
  if (name === null || drug === undefined) return [];
  if (!isCombined(name)) return [{ ...row, of: drug }];
  skips.add(drug, `a product of several drugs: ${name.slice(0, 60)}`);
  return [];
}

/** Nothing is counted of any class where a row may be of each of them. */
function classesOf(rows: readonly ShortageRow[], { skips }: ReadingList): CountedRow[] {
  const unknown = rows.filter(({ classes }) => classes === null).length;
  if (unknown === 0) return rows.flatMap((row) => rowInClasses(row, skips));
  skips.unread('classes', 'a row names no class; no class is counted', unknown);
  return [];
}

function rowInClasses(row: ShortageRow, skips: SkipCount): CountedRow[] {
  return [...new Set(row.classes ?? [])].flatMap((name) => {
    const id = CLASSES.get(name);
    if (id === undefined) skips.add(name.slice(0, 60), 'not a class of this line');
    return id === undefined ? [] : [{ ...row, of: id }];
  });
}

function readingOf(
  current: Reading['current'],
  facts: { entity: string; observed_at: string; payload: Payload; scope: string },
): Reading {
  const { entity, observed_at, payload, scope } = facts;
  return {
    entity,
    observed_at,
    collected_at: payload.note.fetched_at,
    current,
    sources: measuredBy(AGENCY, mainValue(current), observed_at),
    source_ref: API,
    source_tier: 'T1',
    grade: 'not decision-grade: the list itself says not to rely on it for medical care',
    scope,
    validation_status: 'as makers report it to the FDA, unvalidated',
    uncertainty:
      'a list of packages that makers report; packages that it does not name are not counted',
  };
}

/** Drug shortages, bulk file: https://open.fda.gov/apis/drug/drugshortages/download/ */
export const openfda: Source = {
  ...registered('openfda'),
  version: 2,
  sentinels: SENTINELS,
  read,
};

function packages(rows: readonly ShortageRow[], wanted: State): number {
  return new Set(rows.filter(({ state }) => state === wanted).map(({ ndc }) => ndc)).size;
}

function companies(rows: readonly ShortageRow[]): number {
  return new Set(rows.map(({ company }) => company)).size;
}

/** Null where all packages are resolved: then the list says only that there was a shortage. */
function bandOf(
  counts: Readonly<
    Record<`${'unavailable' | 'limited' | 'available' | 'discontinued'}_count`, number>
  >,
): string | null {
  const { unavailable_count, limited_count, available_count, discontinued_count } = counts;
  if (unavailable_count + limited_count + available_count === 0) {
    return discontinued_count > 0 ? 'discontinuing' : null;
  }
  if (unavailable_count + limited_count === 0) return 'available';
  if (limited_count + available_count === 0) return 'severe-shortage';
  return unavailable_count === 0 && available_count > 0 ? 'limited' : 'in-shortage';
}

function supplyBand(companies: number): string {
  const bands = ['none', 'sole-source', 'narrow', 'adequate', 'adequate'];
  return bands[companies] ?? 'broad';
}

const RECENT_DAYS = 90;

/** Counts of the names of a class; `lastUpdated` is the day of the batch, in epoch milliseconds. */
function classCounts(rows: readonly ShortageRow[], lastUpdated: number) {
  const names = [...grouped(rows, ({ name }) => name).values()];
  const since = lastUpdated - RECENT_DAYS * DAY_MS;
  const active = countOf(names.map(isShort));
  const resolved = countOf(names.map((own) => isResolvedIn(own, { since, until: lastUpdated })));
  return {
    activity: {
      active_count: active,
      listed_count: countOf(names.map(isListed)),
    },
    incidence: { new_90d_count: countOf(names.map((own) => isNewSince(own, since))) },
    resolution: { resolved_90d_pct: shareOf(resolved, active) },
  };
}

/** Whether a package is limited or unavailable; null where one that cannot be read decides. */
function isShort(rows: readonly ShortageRow[]): boolean | null {
  if (rows.some(({ state }) => state === 'limited' || state === 'unavailable')) return true;
  return rows.some(({ state }) => state === 'unreadable') ? null : false;
}

/** Whether the first package of status Current was posted since a day; null where what cannot be read decides. */
function isNewSince(rows: readonly ShortageRow[], since: number): boolean | null {
  const listed = rows.filter((row) => isListed([row]) === true);
  if (listed.some(({ posted }) => posted !== null && posted < since)) return false;
  const isOpen = rows.some(({ state }) => state === 'unreadable');
  if (isOpen || listed.some(({ posted }) => posted === null)) return null;
  return listed.length > 0;
}

/** Whether a shortage ended in some days; null where what cannot be read decides. */
function isResolvedIn(
  rows: readonly ShortageRow[],
  { since, until }: { readonly since: number; readonly until: number },
): boolean | null {
  const listed = isListed(rows);
  const days = rows.flatMap(({ state, updated }) => (state === 'resolved' ? [updated] : []));
  if (listed === true || days.length === 0) return listed === null ? null : false;
  const known = days.filter((day) => day !== null && day <= until);
  if (listed === null || known.length < days.length) return null;
  return known.some((day) => day !== null && day >= since);
}

/** A part in percent of itself and the rest, to a tenth; null where one is not known, or both are nothing. */
function shareOf(part: number | null, rest: number | null): number | null {
  if (part === null || rest === null || part + rest === 0) return null;
  return Math.round((1000 * part) / (part + rest)) / 10;
}

function countOf(answers: readonly (boolean | null)[]): number | null {
  return answers.includes(null) ? null : answers.filter((answer) => answer === true).length;
}

/** Classes as the list writes them, with the ids of this line; other classes are left out. */
export const CLASSES: ReadonlyMap<string, string> = new Map([
  ['Anesthesia', 'anesthesia'],
  ['Oncology', 'oncology'],
  ['Psychiatry', 'psychiatry-cns'],
  ['Analgesia/Addiction', 'analgesia-opioid'],
  ['Anti-Infective', 'anti-infective'],
  ['Cardiovascular', 'cardiovascular'],
  ['Neurology', 'neurology'],
  ['Gastroenterology', 'gastroenterology'],
  ['Endocrinology/Metabolism', 'endocrine'],
  ['Hematology', 'hematology'],
  ['Pulmonary/Allergy', 'pulmonary-allergy'],
  ['Ophthalmology', 'ophthalmology'],
]);

/** Signs of a product of several drugs; a comma also stands before a dosage form. */
const COMBINED = /[;/]|,(?! (?:for|powder|extended|delayed)\b)|\b(?:and|with|in)\b/;

/** Whether a generic name in lower case names several drugs, and not one in some salt and dosage form. */
export function isCombined(name: string): boolean {
  return COMBINED.test(name);
}

/** The drug of this line that a generic name in lower case begins with, or undefined. */
export function drugOf(name: string): string | undefined {
  return DRUGS.find((drug) => {
    const words = drug.replaceAll('-', ' ');
    return name.startsWith(words) && !/[a-z]/.test(name.charAt(words.length));
  });
}

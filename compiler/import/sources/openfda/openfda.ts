import { DAY_MS, isoTime } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { grouped } from '../../grouped.ts';
import { measuredBy, observedAt } from '../../measured.ts';
import type { Imported, Payload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import type { Source } from '../../source.ts';
import { CLASSES, drugOf, isCombined } from './drug-names.ts';
import { type ShortageRow, type State, shortageList } from './shortage-rows.ts';

const AGENCY = 'US Food and Drug Administration';
const API = 'https://api.fda.gov/drug/shortages.json';
const STATUS = 'drug-detail.status';
const NARROWING = 'drug-detail.supply-narrowing';
const ACTIVE = 'drug-shortage.active-shortages';
const INCIDENCE = 'drug-shortage.new-incidence';
const NEW_DAYS = 90;

const DRUG_SCOPE =
  'packages that the list holds under the generic name in any salt and dosage form, without products of several drugs; the bands are ours';
const CLASS_SCOPE =
  'generic names with salt and dosage form; a name is short when a package with status Current is limited or unavailable, which is our reading; a name may be of several classes';

/** One reading of each drug and class that the list names. A drug that it does not name gives none. */
function read(payload: Payload): Imported {
  const { rows, lastUpdated } = shortageList(payload);
  const list = new ReadingList();
  const batch = observedAt(lastUpdated, payload);
  const ofDrugs = rows.flatMap((row) => drugsOf(row, list));
  for (const [drug, own] of grouped(ofDrugs, ({ of }) => of)) {
    addDrug(list, { drug, rows: own, payload });
  }
  const ofClasses = rows.flatMap((row) => classesOf(row, list));
  for (const [id, own] of grouped(ofClasses, ({ of }) => of)) {
    const facts = { entity: id, observed_at: batch, payload, scope: CLASS_SCOPE };
    const names = [...grouped(own, ({ name }) => name).values()];
    list.add(ACTIVE, readingOf('active_count', activity(names), facts));
    const since = lastUpdated - NEW_DAYS * DAY_MS;
    const isNew = names.map((packages) => isNewSince(packages, since));
    list.add(INCIDENCE, readingOf('new_90d_count', { new_90d_count: countOf(isNew) }, facts));
  }
  return list.someOf(payload);
}

/** A row, and the drug or class that it is counted for. */
interface CountedRow extends ShortageRow {
  readonly of: string;
}

function drugsOf(row: ShortageRow, { skips }: ReadingList): CountedRow[] {
  const drug = drugOf(row.name);
  if (drug === undefined) return [];
  if (!isCombined(row.name)) return [{ ...row, of: drug }];
  skips.add(drug, `a product of several drugs: ${row.name.slice(0, 60)}`);
  return [];
}

function classesOf(row: ShortageRow, { skips }: ReadingList): CountedRow[] {
  return [...new Set(row.classes)].flatMap((name) => {
    const id = CLASSES.get(name);
    if (id === undefined) skips.add(name.slice(0, 60), 'not a class of this line');
    return id === undefined ? [] : [{ ...row, of: id }];
  });
}

interface DrugRows {
  readonly drug: string;
  readonly rows: readonly ShortageRow[];
  readonly payload: Payload;
}

function addDrug(list: ReadingList, { drug, rows, payload }: DrugRows): void {
  const days = rows.map(({ updated }) => updated ?? Number.NaN);
  const time = days.reduce((last, day) => Math.max(last, day), 0);
  if (rows.some(({ state }) => state === 'unreadable') || Number.isNaN(time)) {
    list.skips.add(drug, 'a row that cannot be read; nothing of the drug is used');
    return;
  }
  if (time > Date.parse(payload.note.fetched_at)) {
    list.skips.add(drug, 'updated after the fetch; nothing of the drug is used');
    return;
  }
  const facts = { entity: drug, observed_at: isoTime(time), payload, scope: DRUG_SCOPE };
  const count = (...states: readonly State[]) => packagesOf(rows, states).size;
  const current = {
    packages_count: new Set(rows.map(({ ndc }) => ndc)).size,
    unavailable_count: count('unavailable'),
    limited_count: count('limited'),
    available_count: count('available'),
    discontinued_count: count('discontinued'),
    companies_count: new Set(rows.map(({ company }) => company)).size,
  };
  const band = bandOf(current);
  list.add(STATUS, readingOf('packages_count', { ...current, band }, facts));
  if (isListed(rows) !== true) return;
  const suppliers = rows.filter(({ state }) => state === 'available' || state === 'limited');
  const companies_count = new Set(suppliers.map(({ company }) => company)).size;
  const supply = { companies_count, band: supplyBand(companies_count) };
  list.add(
    NARROWING,
    readingOf('companies_count', supply, {
      ...facts,
      scope: `makers with a package that is available or limited; ${DRUG_SCOPE}`,
    }),
  );
}

function packagesOf(rows: readonly ShortageRow[], states: readonly State[]): ReadonlySet<string> {
  return new Set(rows.filter(({ state }) => states.includes(state)).map(({ ndc }) => ndc));
}

interface Counts {
  readonly unavailable_count: number;
  readonly limited_count: number;
  readonly available_count: number;
  readonly discontinued_count: number;
}

/** Null where all packages are resolved: then the list says only that there was a shortage. */
function bandOf(counts: Counts): string | null {
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

/** Whether a package has the status Current; null where one that cannot be read decides. */
function isListed(rows: readonly ShortageRow[]): boolean | null {
  const current: readonly State[] = ['available', 'limited', 'unavailable'];
  if (rows.some(({ state }) => current.includes(state))) return true;
  return rows.some(({ state }) => state === 'unreadable') ? null : false;
}

function activity(names: readonly (readonly ShortageRow[])[]) {
  return { active_count: countOf(names.map(isShort)), listed_count: countOf(names.map(isListed)) };
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

function countOf(answers: readonly (boolean | null)[]): number | null {
  return answers.includes(null) ? null : answers.filter((answer) => answer === true).length;
}

interface Facts {
  readonly entity: string;
  readonly observed_at: string;
  readonly payload: Payload;
  readonly scope: string;
}

function readingOf(main: string, current: Reading['current'], facts: Facts): Reading {
  const { entity, observed_at, payload, scope } = facts;
  const value = current[main];
  return {
    entity,
    observed_at,
    collected_at: payload.note.fetched_at,
    current,
    sources: measuredBy(AGENCY, typeof value === 'number' ? value : null, observed_at),
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
  id: 'openfda',
  agency: AGENCY,
  version: 1,
  format: 'json',
  feeds: [STATUS, NARROWING, ACTIVE, INCIDENCE],
  read,
  fetch: {
    hosts: ['download.open.fda.gov'],
    addresses: () => [
      'https://download.open.fda.gov/drug/shortages/drug-shortages-0001-of-0001.json.zip',
    ],
    accept: 'application/zip, application/json',
    mediaTypes: [
      'application/zip',
      'application/x-zip-compressed',
      'application/octet-stream',
      'binary/octet-stream',
    ],
    everyMinutes: 1440,
    perMinute: 4,
  },
};

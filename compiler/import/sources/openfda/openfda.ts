import { isoTime } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { grouped } from '../../grouped.ts';
import { measuredBy, observedAt } from '../../measured.ts';
import type { Imported, Payload, SkipCount } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import type { Source } from '../../source.ts';
import { classCounts } from './class-counts.ts';
import { drugCounts } from './drug-counts.ts';
import { CLASSES, drugOf, isCombined } from './drug-names.ts';
import { type ShortageRow, shortageList } from './shortage-rows.ts';

const AGENCY = 'US Food and Drug Administration';
const API = 'https://api.fda.gov/drug/shortages.json';
const STATUS = 'drug-detail.status';
const NARROWING = 'drug-detail.supply-narrowing';
const ACTIVE = 'drug-shortage.active-shortages';
const INCIDENCE = 'drug-shortage.new-incidence';

const DRUG_SCOPE =
  'packages that the list holds under the generic name in any salt and dosage form, without products of several drugs; the bands are ours';
const SUPPLY_SCOPE = `makers with a package that is available or limited; ${DRUG_SCOPE}`;
const CLASS_SCOPE =
  'generic names with salt and dosage form; a name is short when a package with status Current is limited or unavailable, which is our reading; a name may be of several classes';

/** One reading of each drug and class that the list names. A drug that it does not name gives none. */
function read(payload: Payload): Imported {
  const { rows, lastUpdated } = shortageList(payload);
  const list = new ReadingList();
  const batch = observedAt(lastUpdated, payload);
  for (const [drug, own] of grouped(
    rows.flatMap((row) => drugsOf(row, list)),
    ({ of }) => of,
  )) {
    const time = newestOf(own, payload);
    if (typeof time === 'string') {
      list.skips.add(drug, `${time}; nothing of the drug is used`);
      continue;
    }
    const { status, supply } = drugCounts(own);
    const facts = { entity: drug, observed_at: isoTime(time), payload, scope: DRUG_SCOPE };
    list.add(STATUS, readingOf({ ...status }, facts));
    if (supply !== null) list.add(NARROWING, readingOf(supply, { ...facts, scope: SUPPLY_SCOPE }));
  }
  for (const [id, own] of grouped(classesOf(rows, list), ({ of }) => of)) {
    const { activity, incidence } = classCounts(own, lastUpdated);
    const facts = { entity: id, observed_at: batch, payload, scope: CLASS_SCOPE };
    list.add(ACTIVE, readingOf(activity, facts));
    list.add(INCIDENCE, readingOf(incidence, facts));
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

/** Nothing is counted of any class where a row may be of each of them. */
function classesOf(rows: readonly ShortageRow[], { skips }: ReadingList): CountedRow[] {
  const unknown = rows.filter(({ classes }) => classes === null).length;
  if (unknown === 0) return rows.flatMap((row) => rowInClasses(row, skips));
  skips.add('classes', 'a row names no class; no class is counted', unknown);
  return [];
}

function rowInClasses(row: ShortageRow, skips: SkipCount): CountedRow[] {
  return [...new Set(row.classes ?? [])].flatMap((name) => {
    const id = CLASSES.get(name);
    if (id === undefined) skips.add(name.slice(0, 60), 'not a class of this line');
    return id === undefined ? [] : [{ ...row, of: id }];
  });
}

interface Facts {
  readonly entity: string;
  readonly observed_at: string;
  readonly payload: Payload;
  readonly scope: string;
}

/** The first metric is the main one. */
function readingOf(current: Reading['current'], facts: Facts): Reading {
  const { entity, observed_at, payload, scope } = facts;
  const [value = null] = Object.values(current);
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

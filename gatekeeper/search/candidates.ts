import type { Line, SignalEntry } from '../../compiler/contract/catalog/line.ts';
import { defined } from '../../compiler/contract/defined.ts';
import type { Endpoint, EndpointPath } from '../../compiler/contract/endpoints.ts';
import { grouped } from '../../compiler/contract/lists.ts';
import type { Values } from '../../compiler/contract/path.ts';
import { canonicalTarget } from '../../compiler/contract/route.ts';
import type { Spend } from '../http/cost.ts';
import { askedFor, sellsNow, slotsOf } from '../offer/example-request.ts';
import { oncePerRelease } from '../release/per-release.ts';
import { type ReleaseIndex, requestFile } from '../release/release-index.ts';
import { catalogRows, catalogTable } from '../rooms/catalog.ts';
import type { CatalogTable } from '../rooms/catalog-table.ts';
import { addsTo, type MatchAnswers, type Matches, score, together } from './matches.ts';
import type { SearchIndex } from './open-index.ts';
import type { QuestionWord } from './question-words.ts';

/** Something that can be asked for, and how well it answers a question. */
export interface Candidate {
  readonly row: Endpoint;
  /** What it is asked with; null where the example of the operation is shown. */
  readonly values: Values | null;
  readonly entry: SignalEntry | null;
  readonly place: RecordPlace | null;
  /** Whether the example place of a signal is shown, which nobody asked for. */
  readonly isExample: boolean;
  readonly answers: MatchAnswers;
  readonly score: number;
}

/** Whom something is asked of. */
interface RecordPlace {
  readonly line: Line;
  readonly entity: string;
  readonly name: string | null;
}

/** What candidates are made from. */
interface Sources {
  readonly release: ReleaseIndex;
  readonly index: SearchIndex;
  readonly words: readonly QuestionWord[];
  readonly matches: Matches;
  readonly spend: Spend;
}

type FoundSubject = Omit<Candidate, 'score'>;

/** Rows of readings that one question may look at, and those that cost as much as a plain answer. */
const ROWS_MAX = 10_000;
const ROWS_A_UNIT = 100;
/** Readings of one place that are compared. */
const RECORDS_A_PLACE = 50;
/** Records and signals that another operation is asked of too, and operations that are asked of them. */
const JOINED_MAX = 3;
const OPERATIONS_MAX = 12;
/** Less than any difference that a word makes: what comes first where two say the same. */
const ORDER_STEP = 1e-6;

/** Everything that may answer a question, best first. */
export async function candidates(sources: Sources): Promise<readonly Candidate[]> {
  const records: FoundSubject[] = [];
  const bundles: FoundSubject[] = [];
  const table = await catalogTable(sources.release);
  const places = placesOf(sources);
  const rowsOf = rowsOfPlaces(places, table, sources);
  for (const one of places) {
    records.push(...recordsOf(one, { table, rows: rowsOf(one.place) }, sources));
    bundles.push(...bundleOf(one, sources));
  }
  const signals = await signalsOf(sources);
  const operations = operationsOf(sources, { records, signals });
  return ranked([...bundles, ...records, ...signals, ...operations], sources.words);
}

function ranked(
  found: readonly FoundSubject[],
  words: readonly QuestionWord[],
): readonly Candidate[] {
  const scored = found.map((one, at) => ({
    ...one,
    score: score(one.answers, words) - at * ORDER_STEP,
  }));
  return scored.sort((a, b) => b.score - a.score);
}

/** A place that says something of the words. */
interface MatchedPlace {
  readonly place: RecordPlace;
  readonly answers: MatchAnswers;
}

function placesOf({ index, release, matches }: Sources): MatchedPlace[] {
  return [...matches.places].flatMap(([number, answers]) => {
    const [kind, lineId, entity = '', name = null] = index.documents.row(number);
    const line = release.catalog.lineById.get(lineId);
    return kind === 'place' && line !== undefined
      ? [{ place: { line, entity, name }, answers }]
      : [];
  });
}

/** Looks up, within the limit of a question, the rows of the places, the best place first; each entity is looked up once. */
function rowsOfPlaces(
  places: readonly MatchedPlace[],
  table: CatalogTable,
  { release, words, spend }: Sources,
): (place: RecordPlace) => readonly number[] {
  const { entryById } = release.catalog;
  const rows = new Map<string, ReadonlyMap<Line | undefined, readonly number[]>>();
  let room = ROWS_MAX;
  const bestFirst = [...places].sort((a, b) => score(b.answers, words) - score(a.answers, words));
  for (const { place } of bestFirst) {
    const entity = place.entity.toLowerCase();
    if (rows.has(entity)) continue;
    const numbers: number[] = [];
    for (const number of table.likelyOf(entity)) if (numbers.push(number) >= room) break;
    room -= numbers.length;
    rows.set(
      entity,
      grouped(numbers, (number) => entryById.get(table.signalOf(number))?.line),
    );
    if (room <= 0) break;
  }
  spend((ROWS_MAX - room) / ROWS_A_UNIT);
  return ({ line, entity }) => rows.get(entity.toLowerCase())?.get(line) ?? [];
}

interface PlaceRows {
  readonly table: CatalogTable;
  /** Numbers of the rows that are likely of a place. */
  readonly rows: readonly number[];
}

/** The latest readings of a place, by signal; those that the words are about where there are many. */
function recordsOf(
  { place, answers }: MatchedPlace,
  { table, rows }: PlaceRows,
  sources: Sources,
): FoundSubject[] {
  const { release } = sources;
  const { entity } = place;
  return mostTelling(rows, table, sources).flatMap((number) => {
    const id = table.signalOf(number);
    if (table.row(number).entity !== entity) return [];
    const values = { signal_id: id, entity };
    const row = recordOperation(values, release);
    if (row === null) return [];
    const ofSignal = topicAnswers(id, sources);
    if (!addsTo(answers, ofSignal)) return [];
    const entry = defined(release.catalog.entryById.get(id), 'the row of the signal');
    const whole = together(answers, ofSignal);
    return [{ row, values, entry, place, isExample: false, answers: whole }];
  });
}

/** Of many rows those whose signals say most of the words, in the order of the list. */
function mostTelling(
  rows: readonly number[],
  table: CatalogTable,
  sources: Sources,
): readonly number[] {
  if (rows.length <= RECORDS_A_PLACE) return rows;
  const scored = rows.map((number) => {
    const ofSignal = topicAnswers(table.signalOf(number), sources);
    return { number, score: ofSignal === undefined ? 0 : score(ofSignal, sources.words) };
  });
  const best = scored.sort((a, b) => b.score - a.score).slice(0, RECORDS_A_PLACE);
  return best.map(({ number }) => number).sort((a, b) => a - b);
}

/** What a signal says of the words; undefined where it says nothing. */
function topicAnswers(name: string, { index, matches }: Sources): MatchAnswers | undefined {
  const topic = index.topicOf.get(name);
  return topic === undefined ? undefined : matches.topics.get(topic);
}

/** The operation that sells a reading: the record, or the first other one where that is not offered. */
function recordOperation(values: Values, release: ReleaseIndex): Endpoint | null {
  const record = release.catalog.operationByPath.get('/gauge');
  if (record !== undefined) return record;
  return readingOperations(release).find((row) => isStored(row, values, release)) ?? null;
}

/** The paid operations whose file is called after a signal and an entity, or one of them. */
const readingOperations = oncePerRelease(({ catalog }): readonly Endpoint[] =>
  catalog.operations.filter((row) => {
    const slots = slotsOf(row);
    return row.priceUsd !== null && slots.every((one) => one === 'signal_id' || one === 'entity');
  }),
);

/** Whether a file of a row is stored for values that name all of it. */
function isStored(row: Endpoint, values: Values, release: ReleaseIndex): boolean {
  const slots = slotsOf(row);
  const isNamed = slots.length > 0 && slots.every((slot) => values[slot] !== undefined);
  return isNamed && sellsNow(row, release) && release.has(requestFile(row, values));
}

function bundleOf({ place, answers }: MatchedPlace, sources: Sources): FoundSubject[] {
  const { bundle } = place.line;
  if (bundle === undefined) return [];
  const row = sources.release.catalog.operationByPath.get(bundle.path);
  if (row === undefined) return [];
  const values = { [bundle.param]: place.entity };
  if (!isStored(row, values, sources.release)) return [];
  const whole = together(answers, topicAnswers(row.path, sources));
  return [{ row, values, entry: null, place, isExample: false, answers: whole }];
}

/** The signals that answer by themselves, each with one of its entities as an example. */
async function signalsOf({ release, index, matches }: Sources): Promise<FoundSubject[]> {
  const rows = await catalogRows(release);
  return [...matches.topics].flatMap(([topic, answers]) => {
    const [kind, id] = index.documents.row(topic);
    const entry = kind === 'signal' ? release.catalog.entryById.get(id) : undefined;
    const first = rows.get(id)?.at(0);
    if (entry === undefined || first === undefined) return [];
    const values = { signal_id: id, entity: first.entity };
    const row = recordOperation(values, release);
    return row === null ? [] : [{ row, values, entry, place: null, isExample: true, answers }];
  });
}

interface Readings {
  readonly records: readonly FoundSubject[];
  readonly signals: readonly FoundSubject[];
}

/** The operations that answer by themselves, and the same asked of what the other words are about. */
function operationsOf(sources: Sources, readings: Readings): FoundSubject[] {
  const { release, index, matches, words } = sources;
  const touched = [...matches.topics]
    .sort(([, a], [, b]) => score(b, words) - score(a, words))
    .flatMap(([topic, answers]) => {
      const [kind, path] = index.documents.row(topic);
      const row = kind === 'operation' ? release.catalog.operationByPath.get(path) : undefined;
      return row === undefined || !sellsNow(row, release) ? [] : [{ row, answers }];
    })
    .slice(0, OPERATIONS_MAX);
  const asked = subjects(sources, readings);
  return touched.flatMap(({ row, answers }) => {
    const own = { row, values: null, entry: null, place: null, isExample: true, answers };
    const joined = asked.flatMap((subject) => askedOf(row, answers, { subject, release }));
    return [own, ...joined];
  });
}

/** What an operation may be asked of: the best records, signals and places. */
function subjects(sources: Sources, { records, signals }: Readings): FoundSubject[] {
  const { words } = sources;
  const bestOf = (found: readonly FoundSubject[]): FoundSubject[] =>
    [...found]
      .sort((a, b) => score(b.answers, words) - score(a.answers, words))
      .slice(0, JOINED_MAX);
  return [...bestOf(records), ...bestOf(signals)];
}

interface JoinedSubject {
  readonly subject: FoundSubject;
  readonly release: ReleaseIndex;
}

/** An operation asked of a subject, if that is stored. */
function askedOf(
  row: Endpoint,
  answers: MatchAnswers,
  { subject, release }: JoinedSubject,
): FoundSubject[] {
  const slots = slotsOf(row);
  const values = valuesFor(slots, subject);
  if (values === null || !isStored(row, values, release)) return [];
  if (!addsTo(answers, subject.answers)) return [];
  const { entry, place, isExample } = subject;
  // An example place that nobody asked for is not a subject.
  if (isExample && slots.some((slot) => slot !== 'signal_id')) return [];
  return [
    { row, values, entry, place, isExample: false, answers: together(answers, subject.answers) },
  ];
}

/** The values of a subject for the slots of a file; the one slot that is no signal is the entity. */
function valuesFor(slots: readonly string[], { entry, values }: FoundSubject): Values | null {
  const entity = values?.entity;
  const others = slots.filter((slot) => slot !== 'signal_id');
  if (slots.length === 0 || others.length > 1 || entity === undefined || entry === null)
    return null;
  const [other] = others;
  return {
    ...(slots.includes('signal_id') ? { signal_id: entry.signal.id } : {}),
    ...(other === undefined ? {} : { [other]: entity }),
  };
}

/** The target that asks for a candidate. */
export function targetOf({ row, values }: Candidate, release: ReleaseIndex): string {
  if (values !== null)
    return canonicalTarget(row.path as EndpointPath, askedFor(row, values, release));
  return release.offers.get(row.path)?.request ?? row.path;
}

import {
  postedDocument,
  postedWeight,
  SEARCH_WEIGHT_MAX,
  type SearchHead,
  searchWords,
  stem,
  type TermRow,
} from '../../../compiler/catalog/search-index.ts';
import { defined } from '../../../compiler/format/defined.ts';
import { firstWhere, grouped } from '../../../compiler/format/lists.ts';
import type { EndpointPath } from '../../../compiler/products/products.ts';
import type { Line, SignalEntry } from '../../../compiler/products/shapes/line.ts';
import { canonicalTarget, type Values } from '../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { askedFor, sellsNow, slotsOf } from '../../heart/offer/example-request.ts';
import { perRelease } from '../../heart/release/per-release.ts';
import { type ReleaseIndex, requestFile } from '../../heart/release/release-index.ts';
import type { Spend } from '../../wire/cost.ts';
import { type CatalogTable, catalogRows, catalogTable } from '../catalog.ts';
import type { SearchIndex, TermTable } from './open-index.ts';

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
  line: Line;
  entity: string;
  name: string | null;
}

interface Sources {
  release: ReleaseIndex;
  index: SearchIndex;
  words: readonly QuestionWord[];
  matches: ReturnType<typeof matchesOf>;
  spend: Spend;
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
  const { index, release, matches } = sources;
  const records: FoundSubject[] = [];
  const bundles: FoundSubject[] = [];
  const table = await catalogTable(release);
  const places = [...matches.places].flatMap(([number, answers]): MatchedPlace[] => {
    const [kind, lineId, entity = '', name = null] = index.document(number);
    const line = release.catalog.lineById.get(lineId);
    if (kind !== 'place' || line === undefined) return [];
    return [{ place: { line, entity, name }, answers }];
  });
  const rowsOf = rowsOfPlaces(places, table, sources);
  for (const one of places) {
    records.push(...recordsOf(one, { table, rows: rowsOf(one.place) }, sources));
    bundles.push(...bundleOf(one, sources));
  }
  const signals = await signalsOf(sources);
  const operations = operationsOf(sources, records, signals);
  const scored = [...bundles, ...records, ...signals, ...operations].map((one, at) => ({
    ...one,
    score: score(one.answers, sources.words) - at * ORDER_STEP,
  }));
  return scored.sort((a, b) => b.score - a.score);
}

/** A place that says something of the words. */
interface MatchedPlace {
  place: RecordPlace;
  answers: MatchAnswers;
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

/** The latest readings of a place, by signal; those that the words are about where there are many. */
function recordsOf(
  { place, answers }: MatchedPlace,
  { table, rows }: { table: CatalogTable; rows: readonly number[] },
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
const readingOperations = perRelease(({ catalog }): readonly Endpoint[] =>
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
    const [kind, id] = index.document(topic);
    const entry = kind === 'signal' ? release.catalog.entryById.get(id) : undefined;
    const first = rows.get(id)?.at(0);
    if (entry === undefined || first === undefined) return [];
    const values = { signal_id: id, entity: first.entity };
    const row = recordOperation(values, release);
    return row === null ? [] : [{ row, values, entry, place: null, isExample: true, answers }];
  });
}

/** The operations that answer by themselves, and the same asked of what the other words are about. */
function operationsOf(
  sources: Sources,
  records: readonly FoundSubject[],
  signals: readonly FoundSubject[],
): FoundSubject[] {
  const { release, index, matches, words } = sources;
  const touched = [...matches.topics]
    .sort(([, a], [, b]) => score(b, words) - score(a, words))
    .flatMap(([topic, answers]) => {
      const [kind, path] = index.document(topic);
      const row = kind === 'operation' ? release.catalog.operationByPath.get(path) : undefined;
      return row === undefined || !sellsNow(row, release) ? [] : [{ row, answers }];
    })
    .slice(0, OPERATIONS_MAX);
  const bestOf = (found: readonly FoundSubject[]): FoundSubject[] =>
    [...found]
      .sort((a, b) => score(b.answers, words) - score(a.answers, words))
      .slice(0, JOINED_MAX);
  const asked = [...bestOf(records), ...bestOf(signals)];
  return touched.flatMap(({ row, answers }) => {
    const own = { row, values: null, entry: null, place: null, isExample: true, answers };
    const joined = asked.flatMap((subject) => askedOf(row, answers, { subject, release }));
    return [own, ...joined];
  });
}

/** An operation asked of a subject, if that is stored. */
function askedOf(
  row: Endpoint,
  answers: MatchAnswers,
  { subject, release }: { subject: FoundSubject; release: ReleaseIndex },
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

/** Longest text that is searched for, in UTF-16 units. */
export const QUESTION_CHARS_MAX = 200;
/** Words of a question that are looked up; the others are left out. */
const QUESTION_WORDS_MAX = 12;
/** Words of one question that are taken for misspelt or shortened: each costs hundreds of look-ups. */
const CORRECTED_WORDS_MAX = 4;
const TERMS_A_WORD_MAX = 8;

/** How sure it is that a term is meant, by the way in which it was found. */
const SURE = { same: 1, joined: 1, beginning: 0.8, misspelt: 0.75 } as const;
const BEGINNING_CHARS_MIN = 3;
/** Of longer words there would be thousands one edit away, and no term is as long. */
const [MISSPELT_CHARS_MIN, MISSPELT_CHARS_MAX] = [5, 32];
/** Ids and figures are never taken for others. */
const LETTERS = /^[a-z]+$/;

/** Words that ask, or that say when, and say nothing of what is asked about. */
const FILLERS = new Set(
  (
    'a about all am an and any are as at be been by can could current currently data did do does find for from get ' +
    'give has have how i if in into is it its latest like live me more most much my near need nor not now of ' +
    'off official on or our out over per please quite reading readings really recent recently record right see should show ' +
    'signal so some tell than that the their them there these they this those to today tonight was we were what whats ' +
    'when where which while ' +
    'who will with would yesterday you your value values'
  )
    .split(' ')
    .map(stem),
);

/** Verbs, adjectives and adverbs of everyday English: where nothing here is called by one, it says how something is asked. */
const ORDINARY = new Set(
  (
    'able across affect afraid again ago ahead allow almost already also always another anyone anything around ask avoid away ' +
    'bad badly become been before begin being below best better between big bring came cause change check come compare ' +
    'decrease did different down during early either else end enough ever every everyone exact exactly exist expect fall far ' +
    'fast few find follow further gave go going gone good got great grow hand happen hard hear help here high hit hold hope ' +
    'idea increase inside instead just keep know large last later learn least leave less let like little long look lost lot ' +
    'low made main make mean measure miss move need never new next nice normal nothing occur often okay old only open other ' +
    'outside own possible quick quickly raise reach reported rise run safe said same say seem send several short show ' +
    'since slow small someone something soon start stay still stop such sure take talk tell thank then thing think though ' +
    'through together too try turn type under until up usual usually very want way well went whether why without won work ' +
    'worry worse worst wrong yet use used user using useful unsafe dangerous deep heavy strong weak bigger higher lower'
  )
    .split(' ')
    .map(stem),
);

/** Words that fit any measure; they count only where at most one other word is left. */
const QUANTITIES = new Set(['amount', 'level']);

interface Meaning {
  row: TermRow;
  /** 0 to 1. */
  sure: number;
}

export interface QuestionWord {
  readonly text: string;
  /** Empty for a word that the index does not know. */
  readonly meanings: readonly Meaning[];
  /** How much it says; a rare word says more. */
  readonly weight: number;
  /** The same where nothing answers it. To leave a name open is worse than to leave a subject open. */
  readonly openWeight: number;
}

/** The words of a question that say something, each with the terms it stands for. */
export function questionWords(question: string, table: TermTable): readonly QuestionWord[] {
  const said = searchWords(question.slice(0, QUESTION_CHARS_MAX));
  const isTelling = (word: string): boolean =>
    !FILLERS.has(word) && (!ORDINARY.has(word) || table.find(word) !== null);
  const telling = said.filter((word) => said.length === 1 || isTelling(word));
  const named = telling.filter((word) => !QUANTITIES.has(word));
  const kept = named.length > 1 ? named : telling;
  const words = (kept.length > 0 ? kept : said).slice(0, QUESTION_WORDS_MAX);
  const joined = joinedTerms(words, table);
  let corrections = CORRECTED_WORDS_MAX;
  return words.map((text, at) => {
    const same = table.find(text);
    const known = [
      ...(same === null ? [] : [{ row: same, sure: SURE.same }]),
      ...defined(joined[at], 'the joined terms of the word'),
    ];
    if (known.length > 0 || corrections === 0) return weighed(text, known, table.head);
    corrections -= 1;
    return weighed(text, corrected(text, table), table.head);
  });
}

/** Terms that are written in two words: `st louis`, `pm 25`, `10 k`. */
function joinedTerms(words: readonly string[], table: TermTable): Meaning[][] {
  const found: Meaning[][] = words.map(() => []);
  for (let at = 0; at + 1 < words.length; at += 1) {
    const row = table.find(`${words[at]}${words[at + 1]}`);
    if (row === null) continue;
    for (const one of [at, at + 1]) found[one]?.push({ row, sure: SURE.joined });
  }
  return found;
}

function corrected(word: string, table: TermTable): Meaning[] {
  const begun =
    word.length < BEGINNING_CHARS_MIN ? [] : table.beginningWith(word, TERMS_A_WORD_MAX);
  const near =
    !LETTERS.test(word) || word.length < MISSPELT_CHARS_MIN || word.length > MISSPELT_CHARS_MAX
      ? []
      : table.nearTo(word, TERMS_A_WORD_MAX);
  return [
    ...begun.map((row) => ({ row, sure: SURE.beginning })),
    ...near.map((row) => ({ row, sure: SURE.misspelt })),
  ];
}

/** How much more a name weighs that is left open: one that nothing here has, or a place. */
const OPEN_NAME = 1.3;

function weighed(text: string, meanings: readonly Meaning[], head: SearchHead): QuestionWord {
  const places = head.documents - head.topics;
  if (meanings.length === 0) {
    const rarest = Math.log(1 + Math.max(places, head.topics));
    return { text, meanings, weight: rarest, openWeight: OPEN_NAME * rarest };
  }
  const weights = meanings.map(({ row }) => {
    const both = [rarity(row.topics, head.topics), rarity(row.places, places)];
    return Math.min(...both.filter((one) => one > 0));
  });
  const weight = Math.max(...weights);
  const isName = meanings.every(({ row }) => row.topics === 0);
  return { text, meanings, weight, openWeight: isName ? OPEN_NAME * weight : weight };
}

/** The less documents have a term, the more it says. */
function rarity(having: number, all: number): number {
  return having === 0 ? 0 : Math.log(1 + all / having);
}

/** Postings that one question may read, some tens of nanoseconds each. */
const POSTINGS_MAX = 20_000;
/** Topics and places that are looked at more closely. */
const TOPICS_MAX = 200;
const PLACES_MAX = 40;

/** How much a document says about each word, 0 to 1. Read without a guard, thousands of times a question. */
type MatchAnswers = readonly number[];

/** Looks the words of a question up. Which line a place is of counts too: a common name alone says little. */
export function matchesOf(words: readonly QuestionWord[], index: SearchIndex) {
  const { topics, places, postings } = postingsOf(words, index);
  const near = lineScores(topics, words, index);
  const ofPlace = (place: number, answers: MatchAnswers): number =>
    score(answers, words) + (near.get(lineAt(place, index)) ?? 0);
  return {
    /** By number, those that say most. */
    topics: best(topics, (_, answers) => score(answers, words), TOPICS_MAX),
    places: best(places, ofPlace, PLACES_MAX),
    /** Postings that were read, which is what the question costs. */
    postings,
  };
}

/** Reads the postings of every term that a word may stand for. */
function postingsOf(
  words: readonly QuestionWord[],
  index: SearchIndex,
): { topics: Map<number, number[]>; places: Map<number, number[]>; postings: number } {
  const { topics: first } = index.terms.head;
  const [topics, places] = [new Map<number, number[]>(), new Map<number, number[]>()];
  let postings = 0;
  const meanings = words.flatMap((word, at) => word.meanings.map((one) => ({ ...one, at })));
  // Rare terms first: what is left when there is no more room tells little.
  meanings.sort((a, b) => a.row.postings.length - b.row.postings.length);
  for (const { row, sure, at } of meanings) {
    postings += row.postings.length;
    if (postings > POSTINGS_MAX) break;
    for (const one of row.postings) {
      const document = postedDocument(one);
      const found = document < first ? topics : places;
      const answers = found.get(document) ?? words.map(() => 0);
      answers[at] = Math.max(answers[at] ?? 0, (sure * postedWeight(one)) / SEARCH_WEIGHT_MAX);
      found.set(document, answers);
    }
  }
  return { topics, places, postings };
}

function score(answers: MatchAnswers, words: readonly QuestionWord[]): number {
  return words.reduce((sum, { weight }, at) => sum + weight * (answers[at] ?? 0), 0);
}

/** What it adds that both of two documents say the same. */
const SAID_TWICE = 0.05;

function together(one: MatchAnswers, other: MatchAnswers | undefined): MatchAnswers {
  if (other === undefined) return one;
  return one.map((value, at) => {
    const more = other[at] ?? 0;
    return Math.max(value, more) + SAID_TWICE * Math.min(value, more);
  });
}

/** Whether a document answers a word that another one leaves open. */
function addsTo(one: MatchAnswers, other: MatchAnswers | undefined): boolean {
  return one.some((value, at) => value > 0 && (other?.[at] ?? 0) === 0);
}

function best(
  found: ReadonlyMap<number, MatchAnswers>,
  scoreOf: (document: number, answers: MatchAnswers) => number,
  max: number,
): ReadonlyMap<number, MatchAnswers> {
  if (found.size <= max) return found;
  const scored = Array.from(found, ([document, answers]) => ({
    document,
    answers,
    score: scoreOf(document, answers),
  }));
  scored.sort((a, b) => b.score - a.score || a.document - b.document);
  return new Map(scored.slice(0, max).map(({ document, answers }) => [document, answers]));
}

/** The best score of the topics of each line. */
function lineScores(
  topics: ReadonlyMap<number, MatchAnswers>,
  words: readonly QuestionWord[],
  { lineOfTopic }: SearchIndex,
): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (const [topic, answers] of topics) {
    const line = lineOfTopic[topic];
    if (line === undefined || line === null) continue;
    scores.set(line, Math.max(scores.get(line) ?? 0, score(answers, words)));
  }
  return scores;
}

/** The line whose places begin last before a number. */
function lineAt(place: number, { terms }: SearchIndex): string {
  const { lines } = terms.head;
  const next = firstWhere(lines.length, (at) => defined(lines[at], 'a line')[1] > place);
  return defined(lines[Math.max(0, next - 1)], 'the line of a place')[0];
}

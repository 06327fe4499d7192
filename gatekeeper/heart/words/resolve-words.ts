import { pricedRow } from '../../../compiler/catalog/route.ts';
import { firstWhere } from '../../../compiler/format/lists.ts';
import type { EndpointPath } from '../../../compiler/products/products.ts';
import type { Line, SignalEntry } from '../../../compiler/products/shapes/line.ts';
import { canonicalTarget, type Values } from '../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import type { Spend } from '../../wire/cost.ts';
import { askedFor, isStored, sellsNow, slotsOf } from '../release/offered.ts';
import { perRelease, type ReleaseIndex } from '../release/release-index.ts';
import { type WordIndex, wordIndex } from './open-words.ts';
import {
  type Answers,
  type AskedWords,
  addsTo,
  answersOf,
  askedWords,
  isSpan,
  isWithin,
  type NamedThing,
  QUESTION_CHARS_MAX,
  type QuestionWord,
  scoreOf,
  together,
  unknownCodes,
} from './question.ts';

/** What words lead to. */
export interface ResolvedWords {
  /** The best first. */
  readonly results: readonly ResolvedWord[];
  /** Why nothing is offered, in one sentence. */
  readonly note?: string;
}

export interface ResolvedWord {
  /** `signal/entity`, a signal, or a path, with what is asked there. */
  readonly id: string;
  readonly title: string;
  readonly answers: string;
  readonly price_usd: string;
  readonly request: string;
  /** Words of the question that this does not answer, as the caller spells them. */
  readonly open: readonly string[];
}

/** Something that can be asked for, and how much it says about each word. */
interface Subject {
  readonly row: Endpoint;
  /** What it is asked with; null where the example of the operation is shown. */
  readonly values: Values | null;
  readonly entry: SignalEntry | null;
  readonly place: Place | null;
  readonly answers: Answers;
  /** What a bundle scores at least that stands for readings of which no word means one. */
  readonly scoreMin?: number;
}

/** Whom something is asked of. */
interface Place {
  readonly line: Line;
  readonly entity: string;
  readonly name: string | null;
}

interface Sources extends AskedWords {
  readonly release: ReleaseIndex;
  readonly index: WordIndex;
  readonly topics: ReadonlyMap<number, Answers>;
  readonly places: readonly (readonly [Place, Answers])[];
  /** What a signal or bundle says most of the words that are neither names nor spans, and its line where that is sure. */
  readonly most: { readonly score: number; readonly sure: Line | undefined };
}

/** Units of the rate limit: what every question costs, and postings and subjects that cost as much as a plain answer. */
export const QUESTION_COST = 8;
const [POSTINGS_A_UNIT, SUBJECTS_A_UNIT] = [2000, 50];
/** Results of one answer where the question does not say. */
const RESULTS_DEFAULT = 5;
/** A result that says much less than the best one is left out. */
const SCORE_SHARE_MIN = 0.5;
/** Topics and places that are looked at more closely, and readings of one place. */
const [TOPICS_MAX, PLACES_MAX, READINGS_A_PLACE] = [200, 40, 50];
/** Records and signals that another operation is asked of too, and operations that are asked of them. */
const [JOINED_MAX, OPERATIONS_MAX] = [3, 12];
/** Less than any difference that a word makes: what comes first where two say the same. */
const ORDER_STEP = 1e-6;
/** What puts a bundle before the readings of a place that tie: more than all steps, and less than a word. */
const TIE_STEP = 0.02;

/** What is sold about a question in anybody's words, with price and request. */
export async function resolveWords(
  question: string,
  {
    release,
    limit = RESULTS_DEFAULT,
    spend,
  }: { release: ReleaseIndex; limit?: number; spend: Spend },
): Promise<ResolvedWords> {
  spend(QUESTION_COST);
  const index = await wordIndex(release);
  if (index === null) return { results: [], note: 'Nothing is listed here yet.' };
  const asked = askedWords(question, index, false);
  const { topics, places, postings } = answersOf(asked.words, index);
  spend(postings / POSTINGS_A_UNIT);
  const most = mostOfSubject(topics, { ...asked, index, release });
  const sources: Sources = {
    ...asked,
    // Where things are called by codes, an unknown one is the name of a thing.
    named:
      most.sure?.upperCase === true ? [...asked.named, ...unknownCodes(asked.words)] : asked.named,
    release,
    index,
    topics: bestOf(topics, TOPICS_MAX, (_, answers) => scoreOf(answers, asked.words)),
    places: placesOf(places, { question, index, release, ...asked, topics }),
    most,
  };
  const subjects = subjectsOf(sources);
  spend(subjects.length / SUBJECTS_A_UNIT);
  const scored = subjects
    .map((one, at) => {
      const score = Math.max(one.scoreMin ?? 0, scoreOf(one.answers, asked.words));
      return { ...one, score: score - at * ORDER_STEP };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const told = toldSignal(scored, sources)?.line;
  const about = scored.filter((one) => isAbout(one, sources));
  const there = about.length > 0 ? about : scored.filter((one) => isNamedThere(one, told, sources));
  // Where little is known and nothing named, what is called by a word of it.
  const isOpen = there.length === 0 && sources.named.length === 0;
  const meant = isOpen ? scored.filter(({ answers }) => answers.includes(1)) : there;
  const least = SCORE_SHARE_MIN * (meant[0]?.score ?? 0);
  // The first of all that lead to the same request.
  const byId = new Map<string, Subject>();
  for (const one of meant) {
    if (one.score < least || byId.size === limit) break;
    const id = idOf(one, release);
    if (!byId.has(id)) byId.set(id, one);
  }
  const results = Array.from(byId.values(), (one) => shown(one, sources));
  return results.length > 0 ? { results } : { results, note: noteOf(scored, sources) };
}

/** Why nothing is offered: what is named is not measured, or no word is known. */
function noteOf(scored: readonly Subject[], sources: Sources): string {
  const { named, words, places } = sources;
  // What is sold here is no name that is missing here.
  const known = toldSignal(scored, sources);
  const first = named.find((thing) => !isSold(thing, places)) ?? (known && named[0]);
  if (first === undefined) {
    const said = words.map((word) => word.said).join(' ');
    return `Nothing here is called "${said}"; GET /gauge/preview lists what is sold.`;
  }
  // What is sold of another subject is not measured for the one that was asked.
  const of = isSold(first, places) ? known : undefined;
  const name = first.said.replace(/['’]s$/, '');
  return `${name} is not measured ${of === undefined ? 'here' : `for ${of.signal.id}`}.`;
}

/** The signal that a question is most about, whoever it names. */
function toldSignal(scored: readonly Subject[], asked: AskedWords): SignalEntry | undefined {
  const signals = scored.flatMap(({ entry, place, answers }) =>
    entry === null || place !== null ? [] : [{ entry, score: subjectScore(answers, asked) }],
  );
  return signals.sort((a, b) => b.score - a.score)[0]?.entry;
}

function bestOf(
  found: ReadonlyMap<number, Answers>,
  max: number,
  score: (document: number, answers: Answers) => number,
): Map<number, Answers> {
  if (found.size <= max) return new Map(found);
  const scored = Array.from(found, ([document, answers]) => {
    return { document, answers, score: score(document, answers) };
  });
  scored.sort((a, b) => b.score - a.score || a.document - b.document);
  return new Map(scored.slice(0, max).map(({ document, answers }) => [document, answers]));
}

/** The places that the words and ids of a question mean. Which line a place is of counts too: a common name says little. */
function placesOf(
  found: ReadonlyMap<number, Answers>,
  {
    question,
    index,
    release,
    words,
    topics,
  }: Omit<Sources, 'places' | 'most'> & { question: string },
): Sources['places'] {
  const near = new Map<string, number>();
  for (const [topic, answers] of topics) {
    const line = index.lineOfTopic[topic];
    if (line != null) near.set(line, Math.max(near.get(line) ?? 0, scoreOf(answers, words)));
  }
  const all = new Map([...found, ...idAnswers(question, words, index)]);
  const best = bestOf(all, PLACES_MAX, (place, answers) => {
    return scoreOf(answers, words) + (near.get(lineAt(place, index)) ?? 0);
  });
  return [...best].flatMap(([number, answers]) => {
    const place = placeAt(number, index, release);
    return place === null ? [] : [[place, answers] as const];
  });
}

function placeAt(number: number, index: WordIndex, release: ReleaseIndex): Place | null {
  const [kind, lineId, entity = '', name = null] = index.document(number);
  const line = release.catalog.lineById.get(lineId);
  return kind !== 'place' || line === undefined ? null : { line, entity, name };
}

/** The line whose places begin last before a number. */
function lineAt(place: number, { terms }: WordIndex): string {
  const { lines } = terms.head;
  const next = firstWhere(lines.length, (at) => (lines[at]?.[1] ?? 0) > place);
  return lines[Math.max(0, next - 1)]?.[0] ?? '';
}

const WITH_NUMBER = /\d{4}/;

/** Entities whose whole id is a part of the question that has a long number: no term is. */
function idAnswers(
  question: string,
  words: readonly QuestionWord[],
  index: WordIndex,
): [number, Answers][] {
  const parts = question
    .slice(0, QUESTION_CHARS_MAX)
    .split(/[\s,;?!]+|\/(?=\S)/)
    .filter((part) => WITH_NUMBER.test(part));
  const { lines, documents } = index.terms.head;
  return parts.slice(0, 2).flatMap((part) => {
    const answers = words.map(({ said }) => (part.includes(said) ? 1 : 0));
    return lines.flatMap(([, first], at): [number, Answers][] => {
      const count = (lines[at + 1]?.[1] ?? documents) - first;
      const entityAt = (number: number): string => index.document(first + number)[2] ?? '';
      const number = firstWhere(count, (one) => entityAt(one) >= part);
      return number < count && entityAt(number) === part ? [[first + number, answers]] : [];
    });
  });
}

/** Everything that may answer a question. */
function subjectsOf(sources: Sources): Subject[] {
  const { places, words } = sources;
  const records = places.flatMap((one) => recordsOf(one, sources));
  const bundles = places.flatMap((one) => bundleOf(one, records, sources));
  const signals = signalsOf(sources);
  const best = (found: readonly Subject[]): Subject[] =>
    [...found]
      .sort((a, b) => scoreOf(b.answers, words) - scoreOf(a.answers, words))
      .slice(0, JOINED_MAX);
  const joined = [...best(records), ...best(signals)];
  return [...records, ...bundles, ...signals, ...operationsOf(sources, joined)];
}

/** What a signal says of the words; undefined where it says nothing. */
function topicAnswers(name: string, { index, topics }: Sources): Answers | undefined {
  const topic = index.topicOf.get(name);
  return topic === undefined ? undefined : topics.get(topic);
}

/** The latest readings of a place, by signal; those that the words are about where there are many. */
function recordsOf([place, answers]: Sources['places'][number], sources: Sources): Subject[] {
  const { release, words } = sources;
  const ids = place.line.signals.map(({ id }) => id).sort();
  const told = ids.map((id) => ({ id, ofSignal: topicAnswers(id, sources) }));
  if (told.length > READINGS_A_PLACE) {
    const score = ({ ofSignal }: (typeof told)[number]): number => scoreOf(ofSignal ?? [], words);
    told.sort((a, b) => score(b) - score(a));
  }
  return told.slice(0, READINGS_A_PLACE).flatMap(({ id, ofSignal }) => {
    const values = { signal_id: id, entity: place.entity };
    const row = recordOperation(values, release);
    if (row === null || !addsTo(answers, ofSignal)) return [];
    const entry = release.catalog.entryById.get(id) ?? null;
    return [{ row, values, entry, place, answers: together(answers, ofSignal) }];
  });
}

/** The operation that sells a reading: the record, or the first other one where that is not offered. */
function recordOperation(values: Values, release: ReleaseIndex): Endpoint | null {
  return readingOperations(release).find((row) => isStored(row, values, release)) ?? null;
}

/** The paid operations whose file is called after a signal and an entity, or one of them; the record first. */
const readingOperations = perRelease(({ catalog }): readonly Endpoint[] => {
  const record = catalog.operationByPath.get('/gauge');
  const others = catalog.operations.filter((row) => {
    const slots = slotsOf(row);
    return row.priceUsd !== null && slots.every((one) => one === 'signal_id' || one === 'entity');
  });
  return record === undefined ? others : [record];
});

function bundleOf(
  [place, answers]: Sources['places'][number],
  records: readonly Subject[],
  sources: Sources,
): Subject[] {
  const { bundle } = place.line;
  const { release, words } = sources;
  const row = release.catalog.operationByPath.get(bundle?.path ?? '');
  if (bundle === undefined || row === undefined) return [];
  const values = { [bundle.param]: place.entity };
  if (!isStored(row, values, release)) return [];
  const whole = together(answers, topicAnswers(row.path, sources));
  // Where no word tells the readings of a place apart, and some are open or none is about them, the bundle has whichever is meant.
  const legs = records.filter((one) => one.place === place);
  const scores = legs.map((one) => scoreOf(one.answers, words));
  const [most, least] = [Math.max(...scores), Math.min(...scores)];
  const isOpen = legs.every((one) => one.answers === answers || leavesOpen(one.answers, words));
  const isTie = legs.length > 1 && isOpen && most - least < ORDER_STEP;
  const scoreMin = isTie ? most + TIE_STEP : 0;
  return [{ row, values, entry: null, place, answers: whole, scoreMin }];
}

function leavesOpen(answers: Answers, words: readonly QuestionWord[]): boolean {
  return words.some((word, at) => !isSpan(word) && answers[at] === 0);
}

/** The signals that answer by themselves, without a place. */
function signalsOf({ release, index, topics }: Sources): Subject[] {
  const { entryById, operationByPath } = release.catalog;
  const row = operationByPath.get('/gauge') ?? readingOperations(release)[0];
  return [...topics].flatMap(([topic, answers]) => {
    const [kind, id] = index.document(topic);
    const entry = kind === 'signal' ? entryById.get(id) : undefined;
    if (entry === undefined || row === undefined) return [];
    return [{ row, values: { signal_id: id }, entry, place: null, answers }];
  });
}

/** The operations that answer by themselves, and the same asked of what the other words are about. */
function operationsOf(sources: Sources, asked: readonly Subject[]): Subject[] {
  const { release, index, topics, words } = sources;
  const touched = [...topics]
    .sort(([, a], [, b]) => scoreOf(b, words) - scoreOf(a, words))
    .flatMap(([topic, answers]) => {
      const [kind, path] = index.document(topic);
      const row = kind === 'operation' ? release.catalog.operationByPath.get(path) : undefined;
      return row === undefined || !sellsNow(row, release) ? [] : [{ row, answers }];
    })
    .slice(0, OPERATIONS_MAX);
  return touched.flatMap(({ row, answers }) => {
    const own = { row, values: null, entry: null, place: null, answers };
    // Of the sentence that describes it, any word may be in a question about the reading itself.
    const telling = answers.map((one, at) => (isSpan(words[at]) || one < CALLED_MIN ? 0 : one));
    return [own, ...asked.flatMap((subject) => askedOf(row, telling, { subject, release }))];
  });
}

/** How much a word says that an operation is called by, its path included. */
const CALLED_MIN = 0.6;

/** An operation asked of a subject, if that is stored. */
function askedOf(
  row: Endpoint,
  answers: Answers,
  { subject, release }: { subject: Subject; release: ReleaseIndex },
): Subject[] {
  const values = valuesFor(slotsOf(row), subject);
  if (values === null || !isStored(row, values, release)) return [];
  if (!addsTo(answers, subject.answers)) return [];
  return [{ ...subject, row, values, answers: together(answers, subject.answers) }];
}

/** The values of a subject for the slots of a file; the one slot that is no signal is the entity. */
function valuesFor(slots: readonly string[], { entry, place }: Subject): Values | null {
  const others = slots.filter((slot) => slot !== 'signal_id');
  const [other] = others;
  if (slots.length === 0 || others.length > 1 || entry === null) return null;
  // Without a place nobody is asked about, and what is of all places is not of one.
  if ((other === undefined) !== (place === null)) return null;
  return {
    ...(slots.includes('signal_id') ? { signal_id: entry.signal.id } : {}),
    ...(other === undefined || place === null ? {} : { [other]: place.entity }),
  };
}

/** Whether a subject is about what the question names: to whoever asks about Boston nothing of Houston is offered. */
function isAbout(one: Subject, sources: Sources): boolean {
  const { named, words, places } = sources;
  const counted = one.answers.filter((_, at) => !isSpan(words[at]));
  const answered = counted.filter((answer) => answer > 0).length;
  const isCalled = calledBy(one, sources) >= CALLED_WORDS_MIN;
  if (!isCalled && answered < ANSWERED_SHARE_MIN * counted.length) return false;
  const isAnswered = (thing: NamedThing): boolean => isNamedBy(one.answers, thing);
  if (named.length === 0) return true;
  const open = named.filter((thing) => !isAnswered(thing));
  // The price of a share is no reading of its company, whatever else is sold of that.
  if (open.some(({ isMeasure }) => isMeasure)) return false;
  // An operation for whoever is sold here: it is asked of them in a further step.
  if (one.entry === null && one.place === null) {
    const isOfNobody = slotsOf(one.row).length === 0;
    return isOfNobody && open.every((thing) => isSold(thing, places));
  }
  if (
    !isCalled &&
    (open.length === named.length || open.some((thing) => narrows(thing, one, named)))
  )
    return false;
  return (
    one.place === null ||
    subjectScore(one.answers, sources) >= SUBJECT_SHARE_MIN * sources.most.score
  );
}

/** Whether a subject is a reading of what is named and some of what is asked, where it is not clear what is asked. */
function isNamedThere(
  { place, answers }: Subject,
  told: Line | undefined,
  sources: Sources,
): boolean {
  const { named, places, most } = sources;
  if (place === null) return false;
  // Whoever has readings in a line is never told as missing from it, nor as missing from what may not be meant.
  if (told !== place.line && most.sure !== undefined) return false;
  return (
    named.every((thing) => isSold(thing, places)) &&
    named.some((thing) => isNamedBy(answers, thing))
  );
}

/** How many words of the question a place is called by; those of somebody else's name do not count. */
function calledBy({ place }: Subject, { places, named }: Sources): number {
  const [, answers = []] = places.find(([one]) => one === place) ?? [];
  const others = named.filter((thing) => !isNamedBy(answers, thing));
  const isCalled = answers.map((answer, at) => answer === 1 && !isWithin(at, others));
  // `water at London Bridge` does not name the Blue Water Bridge.
  return isCalled.filter((one, at) => one && (isCalled[at - 1] || isCalled[at + 1])).length;
}

/** Whoever is called by so many words is meant, whatever else is named. */
const CALLED_WORDS_MIN = 2;

/** Where most words are open it is chance that one is not. */
const ANSWERED_SHARE_MIN = 0.4;

function isNamedBy(answers: Answers, { from, end }: NamedThing): boolean {
  return answers.slice(from, end).every((answer) => answer > 0);
}

function isSold(thing: NamedThing, places: Sources['places']): boolean {
  return places.some(([, answers]) => isNamedBy(answers, thing));
}

/** `Portland, Maine` is not the Portland of another state. */
function narrows(open: NamedThing, { place }: Subject, named: readonly NamedThing[]): boolean {
  const isAfterName = named.some(({ end }) => end === open.from);
  return isAfterName && place?.name?.includes(',') === true;
}

/** What some answers say of the words that are no names. */
function subjectScore(answers: Answers, { words, named }: AskedWords): number {
  const told = answers.map((answer, at) => {
    return isSpan(words[at]) || isWithin(at, named) ? 0 : answer;
  });
  return scoreOf(told, words);
}

/** The most that any signal or bundle says of them; it is surely meant where most of them are about it. */
function mostOfSubject(
  topics: Sources['topics'],
  { index, release, ...asked }: AskedWords & Pick<Sources, 'index' | 'release'>,
): Sources['most'] {
  const lined = [...topics].flatMap(([topic, answers]) => {
    const line = index.lineOfTopic[topic];
    return line == null ? [] : [{ line, score: subjectScore(answers, asked) }];
  });
  const [best = { line: '', score: 0 }] = lined.sort((a, b) => b.score - a.score);
  const whole = asked.words.map(() => 1);
  const isSure = best.score > SURE_SHARE_MIN * subjectScore(whole, asked);
  return { score: best.score, sure: isSure ? release.catalog.lineById.get(best.line) : undefined };
}

const SURE_SHARE_MIN = 0.4;

/** Of what is asked about a place, this much has to be answered: the airport of a city is not its air. */
const SUBJECT_SHARE_MIN = 0.4;

/** What a result is called by, once in an answer. */
function idOf(one: Subject, release: ReleaseIndex): string {
  const { row, entry, place, values } = one;
  if (row.file?.startsWith('record/') === true && entry !== null) {
    return place === null ? entry.signal.id : `${entry.signal.id}/${place.entity}`;
  }
  return values === null ? row.path : targetOf(one, release);
}

/** Whether an operation is asked about somebody, by a file or by a value. */
function takesSubject(row: Endpoint): boolean {
  return slotsOf(row).some((slot) => slot !== 'signal_id') || row.params.entity !== undefined;
}

const LIST_PATH = '/gauge/catalog';

/** The target that asks for a subject; without a place the free list of those that a signal has. */
function targetOf({ row, values, entry, place }: Subject, release: ReleaseIndex): string {
  if (
    entry !== null &&
    place === null &&
    values?.signal_id !== undefined &&
    slotsOf(row).includes('entity')
  )
    return canonicalTarget(LIST_PATH, { signal_id: entry.signal.id });
  if (values === null) return release.offers.get(row.path)?.request ?? row.path;
  return canonicalTarget(row.path as EndpointPath, askedFor(row, values, release));
}

function shown(one: Subject, { release, words }: Sources): ResolvedWord {
  const { row, entry, place } = one;
  const subject = entry === null ? place?.line.title : entry.signal.measures;
  const where = place === null ? '' : `: ${place.name ?? place.entity}`;
  const cadence = entry === null ? '' : `, ${entry.signal.cadence}`;
  // The example of an operation would be about somebody else.
  const open = words.flatMap(({ said }, at) => ((one.answers[at] ?? 0) > 0 ? [] : [said]));
  const isOpen = one.values === null && open.length > 0 && takesSubject(row);
  const request = isOpen ? row.path : targetOf(one, release);
  const price = pricedRow(row, one.values ?? {}).priceUsd ?? '0';
  const isList = request.startsWith(LIST_PATH);
  const list = isList ? `, ${price} USD each; the request lists its places` : '';
  return {
    id: idOf(one, release),
    title: subject === undefined ? row.summary : `${subject}${where}`,
    answers: `${row.summary}${cadence}${list}`,
    price_usd: isList ? '0' : price,
    request,
    open,
  };
}

/**
 * The request of a row with one of its values as somebody calls it put right, and nothing else of it: null where that is not
 * sold, or where two have the name.
 */
export async function resolveWithin(
  { said, slot, values }: { readonly said: string; readonly slot: string; readonly values: Values },
  { row, release }: { readonly row: Endpoint; readonly release: ReleaseIndex },
): Promise<Values | null> {
  const index = await wordIndex(release);
  if (index === null) return null;
  const { words } = askedWords(said, index, true);
  const { places } = answersOf(words, index);
  const found = [...places].flatMap(([number, answers]) => {
    if (!words.every((_, at) => (answers[at] ?? 0) > 0)) return [];
    const place = placeAt(number, index, release);
    const meant = { ...values, [slot]: place?.entity ?? '' };
    const isSold = place !== null && isStored(row, meant, release);
    return isSold ? [{ meant, score: scoreOf(answers, words) }] : [];
  });
  found.sort((a, b) => b.score - a.score);
  const [best, next] = found;
  return best === undefined || next?.score === best.score ? null : best.meant;
}

import { ASKING_FILES, FILLER_FILES, SPAN_FILES } from '../../../compiler/catalog/name-files.ts';
import {
  CODE_MARK,
  isUnspaced,
  postedDocument,
  postedWeight,
  SEARCH_WEIGHT_MAX,
  type SearchHead,
  type SpokenWord,
  searchWords,
  spokenWords,
  stem,
  type TermRow,
} from '../../../compiler/catalog/search-index.ts';
import type { TermTable, WordIndex } from './open-words.ts';

/** Longest text that is searched for, in UTF-16 units. */
export const QUESTION_CHARS_MAX = 200;
/** Words of a question that are looked up; the others are left out. */
const QUESTION_WORDS_MAX = 12;
/** Words of one question that are taken for misspelt or shortened, and as many for compounds: each costs hundreds of look-ups. */
const CORRECTED_WORDS_MAX = 4;
const TERMS_A_WORD_MAX = 8;

/** How sure it is that a term is meant, by the way in which it was found. */
const SURE = { same: 1, joined: 1, beginning: 0.8, misspelt: 0.75 } as const;
const BEGINNING_CHARS_MIN = 4;
/** Both parts of a compound have as many letters at least. */
const PART_CHARS_MIN = 4;
/** Words of so many letters may differ by one or two; no term is longer. */
const [MISSPELT_CHARS_MIN, TWICE_MISSPELT_CHARS_MIN, MISSPELT_CHARS_MAX] = [5, 8, 32];
/** Ids and figures are never taken for others. */
const LETTERS = /^\p{L}+$/u;
/** Longest name, in words. */
const NAME_WORDS_MAX = 4;

/** Words that ask, or that say when, and say nothing of what is asked about, whatever here is called so. */
const ASKING_WORDS = wordsOf(ASKING_FILES);

/** The same of all languages, where no topic here is called so. */
const FILLERS = wordsOf(FILLER_FILES);

/** Words that say how far back: neither a subject nor a product besides the reading is meant by one. */
const SPANS = wordsOf(SPAN_FILES);

export function isSpan(one: SpokenWord | undefined): boolean {
  return one !== undefined && (SPANS.has(one.word) || /^\d+[hd]$/.test(one.word));
}

function wordsOf(files: readonly unknown[]): ReadonlySet<string> {
  const rows = (files as readonly { readonly names: readonly string[] }[]).flatMap(
    (one) => one.names,
  );
  return new Set(rows.flatMap((row) => row.split('|').flatMap(searchWords)));
}

function isFiller(word: string, terms: TermTable): boolean {
  if (ASKING_WORDS.has(word)) return true;
  const isGrammar = FILLERS.has(word) || SPANS.has(word) || GRAMMAR.test(word);
  return isGrammar && (terms.find(word)?.topics ?? 0) === 0;
}

/** Endings and particles of Japanese, and single signs of Chinese that are left between known words. */
const GRAMMAR = /^(?:\p{sc=Hiragana}+|\p{sc=Han})$/u;

/** Words that fit any measure; they count only where at most one other word is left. */
const QUANTITIES = new Set(['amount', 'level', 'number']);

interface Meaning {
  readonly row: TermRow;
  /** 0 to 1. */
  readonly sure: number;
}

export interface QuestionWord extends SpokenWord {
  /** Empty for a word that the index does not know. */
  readonly meanings: readonly Meaning[];
  /** How much it says; a rare word says more. */
  readonly weight: number;
}

/** What a question names: words of it, from one to the one before another. */
export interface NamedThing {
  readonly said: string;
  readonly from: number;
  readonly end: number;
  /** Whether it is measured of many, as a price is, in place of being one of whom something is measured. */
  readonly isMeasure: boolean;
}

/** Whether a word is one of a name. */
export function isWithin(at: number, named: readonly NamedThing[]): boolean {
  return named.some(({ from, end }) => at >= from && at < end);
}

export interface AskedWords {
  readonly words: readonly QuestionWord[];
  readonly named: readonly NamedThing[];
}

/** The words of a question that say something, each with the terms it stands for, and the names among them. */
export function askedWords(question: string, index: WordIndex, isWhole: boolean): AskedWords {
  const { terms } = index;
  let compounds = isWhole ? 0 : CORRECTED_WORDS_MAX;
  const spoken = spokenWords(question.slice(0, QUESTION_CHARS_MAX)).flatMap((one) => {
    if (isUnspaced(one.word)) return piecesOf(one, index);
    const parts = compounds === 0 ? null : partsOf(one, index);
    if (parts === null) return [one];
    compounds -= 1;
    // What is nearly known is misspelt.
    return nearTerms(one.word, terms).length > 0 ? [one] : parts;
  });
  const names = namesIn(question, spoken, index);
  const isShouted = isAllCapitals(spoken);
  const isTelling = ({ said, word }: SpokenWord): boolean =>
    (!isShouted && isCode(said)) || !isFiller(word, terms);
  const numbered = spoken.map((one, at) => ({ ...one, at }));
  const telling = isWhole
    ? numbered
    : numbered.filter((one) => isWithin(one.at, names) || isTelling(one));
  const told = telling.filter(({ word }) => !QUANTITIES.has(word));
  const kept = told.length > 1 && !isWhole ? told : telling;
  const words = (kept.length > 0 ? kept : numbered).slice(0, QUESTION_WORDS_MAX);
  const place = new Map(words.map(({ at }, place) => [at, place]));
  const named = names.flatMap(({ from, end, ...thing }) => {
    const [first, last] = [place.get(from), place.get(end - 1)];
    const isKept = first !== undefined && last !== undefined;
    return isKept ? [{ ...thing, from: first, end: last + 1 }] : [];
  });
  return { words: meant(words, { named, terms }), named };
}

function meant(
  words: readonly SpokenWord[],
  { named, terms }: { readonly named: readonly NamedThing[]; readonly terms: TermTable },
): QuestionWord[] {
  const joined = joinedTerms(words, terms);
  let corrections = CORRECTED_WORDS_MAX;
  return words.map(({ said, word }, at) => {
    const same = terms.find(word);
    const known = [
      ...(same === null ? [] : [{ row: same, sure: SURE.same }]),
      ...(joined[at] ?? []),
    ];
    // A name that is known is no misspelling of another.
    const mayBeOther = known.length === 0 && !isWithin(at, named) && corrections > 0;
    if (mayBeOther) corrections -= 1;
    const meanings = mayBeOther ? corrected({ said, word }, terms) : known;
    return { said, word, meanings, weight: weightOf(meanings, terms.head) };
  });
}

/** Both parts of a compound: `Stromlast` is `Strom` and `last`; null for what is known, and for any other word. */
function partsOf(one: SpokenWord, { terms, names }: WordIndex): SpokenWord[] | null {
  const { said, word } = one;
  if (!LETTERS.test(word) || terms.find(word) !== null || names.has(word)) return null;
  if (isFiller(word, terms)) return null;
  const isTopic = (part: string): boolean => (terms.find(part)?.topics ?? 0) > 0;
  const headOf = (at: number): string | undefined => {
    const head = word.slice(0, at);
    const heads = [head, stem(head), head.replace(/(?:e?[ns]|er)$/, '')];
    return heads.find((form) => isTopic(form) || names.has(form));
  };
  const cut = cutsOf(word).find((at) => isTopic(stem(word.slice(at))) && headOf(at) !== undefined);
  const head = cut === undefined ? undefined : headOf(cut);
  if (cut === undefined || head === undefined) return null;
  return [
    { said: said.slice(0, cut), word: head },
    { said: said.slice(cut), word: stem(word.slice(cut)) },
  ];
}

/** The words of a text without blanks: the longest names and terms in it, and what is left between them. */
function piecesOf({ word }: SpokenWord, { terms, names }: WordIndex): SpokenWord[] {
  const isKnown = (one: string): boolean =>
    terms.find(one) !== null || names.has(one) || FILLERS.has(one) || SPANS.has(one);
  const pieces: SpokenWord[] = [];
  let from = 0;
  const cut = (at: number, end: number): void => {
    const rest = [...SEGMENTS.segment(word.slice(from, at))].filter(
      ({ segment }) => !isFiller(segment, terms),
    );
    // Nobody parted it: it is one unknown thing.
    const left = rest.map(({ segment }) => segment).join('');
    for (const one of [left, word.slice(at, end)]) {
      if (one !== '') pieces.push({ said: one, word: one });
    }
    from = end;
  };
  for (let at = 0; at < word.length; at = Math.max(at + 1, from)) {
    let end = Math.min(word.length, at + UNSPACED_CHARS_MAX);
    while (end > at && !isKnown(word.slice(at, end))) end -= 1;
    if (end > at) cut(at, end);
  }
  cut(word.length, word.length);
  return pieces;
}

const SEGMENTS = new Intl.Segmenter('ja', { granularity: 'word' });
const UNSPACED_CHARS_MAX = 16;

/** Names of the world in a question, the longest where they overlap. What is asked for here is no name of something else. */
function namesIn(
  question: string,
  spoken: readonly SpokenWord[],
  { names, terms }: WordIndex,
): NamedThing[] {
  const isShouted = isAllCapitals(spoken);
  const formOf = (run: readonly SpokenWord[]) => names.get(run.map(({ word }) => word).join(' '));
  const isName = (run: readonly SpokenWord[]): boolean => {
    const [first] = run;
    if (first === undefined) return false;
    const form = formOf(run);
    const isCoded = run.length === 1 && !isShouted && names.has(CODE_MARK + first.said);
    if (form === undefined && !isCoded) return false;
    const isCapital = /^\p{Lu}/u.test(first.said);
    const isTopic = ({ word }: SpokenWord): boolean => (terms.find(word)?.topics ?? 0) > 0;
    const isSubject = (run.length === 1 || form !== 'measure') && run.every(isTopic);
    // `la Manche` is a name, and `manche Stadt` is none.
    const isWord = run.length === 1 && isFiller(first.word, terms);
    const isSpelt = !isWord || (isCapital && !isShouted && first !== spoken[0]);
    const isWritten = form !== undefined && isSpelt && (form !== 'capital' || isCapital);
    return !isSubject && (isWritten || isCoded);
  };
  const found: NamedThing[] = [];
  for (let from = 0; from < spoken.length; ) {
    let end = Math.min(spoken.length, from + NAME_WORDS_MAX);
    while (end > from && !isName(spoken.slice(from, end))) end -= 1;
    if (end > from) {
      const run = spoken.slice(from, end);
      const isMeasure = formOf(run) === 'measure';
      found.push({ said: spellingOf(question, run), from, end, isMeasure });
    }
    from = Math.max(end, from + 1);
  }
  return found;
}

/** Some words as a question has them, with what stands between them. */
function spellingOf(question: string, run: readonly SpokenWord[]): string {
  const [first, last] = [run[0]?.said ?? '', run.at(-1)?.said ?? ''];
  const start = question.indexOf(first);
  const end = question.indexOf(last, start + (run.length > 1 ? first.length : 0));
  return start < 0 || end < 0
    ? run.map(({ said }) => said).join(' ')
    : question.slice(start, end + last.length);
}

function isAllCapitals(spoken: readonly SpokenWord[]): boolean {
  return spoken.length > 1 && spoken.every(({ said }) => said === said.toUpperCase());
}

/** `LA`, `DEN`: no article of any language. */
function isCode(said: string): boolean {
  return /^[A-Z]{2,}$/.test(said);
}

/** `SAP`, where nothing here is called so. */
export function unknownCodes(words: readonly QuestionWord[]): NamedThing[] {
  return words.flatMap(({ said, meanings }, at) => {
    return isCode(said) && meanings.length === 0
      ? [{ said, from: at, end: at + 1, isMeasure: false }]
      : [];
  });
}

/** Terms that are written in two words: `st louis`, `pm 25`, `10 k`. */
function joinedTerms(words: readonly SpokenWord[], terms: TermTable): Meaning[][] {
  const found: Meaning[][] = words.map(() => []);
  for (let at = 0; at + 1 < words.length; at += 1) {
    const row = terms.find(`${words[at]?.word}${words[at + 1]?.word}`);
    if (row === null) continue;
    for (const one of [at, at + 1]) found[one]?.push({ row, sure: SURE.joined });
  }
  return found;
}

function corrected({ said, word }: SpokenWord, terms: TermTable): Meaning[] {
  const { length } = said;
  const begun =
    word.length < BEGINNING_CHARS_MIN ? [] : terms.beginningWith(word, TERMS_A_WORD_MAX);
  const near =
    !LETTERS.test(word) || length < MISSPELT_CHARS_MIN || length > MISSPELT_CHARS_MAX
      ? []
      : nearTerms(word, terms);
  return [
    ...begun.map((row) => ({ row, sure: SURE.beginning })),
    ...near.map((row) => ({ row, sure: SURE.misspelt })),
  ];
}

/** Where a compound may be cut, the longest beginning first. */
function cutsOf({ length }: string): number[] {
  const count = length > MISSPELT_CHARS_MAX ? 0 : length - 2 * PART_CHARS_MIN + 1;
  return Array.from({ length: Math.max(0, count) }, (_, at) => length - PART_CHARS_MIN - at);
}

/** Two neighbours that are swapped are one mistake. */
function nearTerms(word: string, terms: TermTable): TermRow[] {
  const swapped = Array.from({ length: word.length - 1 }, (_, at) =>
    terms.find(`${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`),
  ).filter((row) => row !== null);
  if (swapped.length > 0 || word.length < MISSPELT_CHARS_MIN) return swapped;
  const edits = word.length < TWICE_MISSPELT_CHARS_MIN ? 1 : 2;
  // Nobody errs at the first letter.
  const near = terms.nearTo(word, edits, 2 * TERMS_A_WORD_MAX);
  return near.filter(({ term }) => term[0] === word[0]).slice(0, TERMS_A_WORD_MAX);
}

function weightOf(meanings: readonly Meaning[], head: SearchHead): number {
  const places = head.documents - head.topics;
  if (meanings.length === 0) return Math.log(1 + Math.max(places, head.topics));
  return Math.max(
    ...meanings.map(({ row }) => {
      const both = [rarity(row.topics, head.topics), rarity(row.places, places)];
      return Math.min(...both.filter((one) => one > 0));
    }),
  );
}

/** The less documents have a term, the more it says. */
function rarity(having: number, all: number): number {
  return having === 0 ? 0 : Math.log(1 + all / having);
}

/** How much a document says about each word, 0 to 1. Read without a guard, thousands of times a question. */
export type Answers = readonly number[];

/** Postings that one question may read, some tens of nanoseconds each. */
const POSTINGS_MAX = 20_000;

/** What each topic and each place says of the words, by number; and the postings that were read, which is what it costs. */
export function answersOf(
  words: readonly QuestionWord[],
  index: WordIndex,
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

export function scoreOf(answers: Answers, words: readonly QuestionWord[]): number {
  return words.reduce((sum, { weight }, at) => sum + weight * (answers[at] ?? 0), 0);
}

export function together(one: Answers, other: Answers | undefined): Answers {
  if (other === undefined) return one;
  return one.map((value, at) => Math.max(value, other[at] ?? 0));
}

/** Whether a document answers a word that another one leaves open. */
export function addsTo(one: Answers, other: Answers | undefined): boolean {
  return one.some((value, at) => value > 0 && (other?.[at] ?? 0) === 0);
}

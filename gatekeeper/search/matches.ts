import { defined } from '../../compiler/contract/defined.ts';
import {
  postedDocument,
  postedWeight,
  SEARCH_WEIGHT_MAX,
} from '../../compiler/contract/search-index.ts';
import type { SearchIndex } from './open-index.ts';
import type { QuestionWord } from './question-words.ts';

/** Postings that one question may read, some tens of nanoseconds each. */
const POSTINGS_MAX = 20_000;
/** Topics and places that are looked at more closely. */
const TOPICS_MAX = 200;
const PLACES_MAX = 40;

/**
 * How much a document says about each word of a question, 0 to 1 in the order of the words; as long as the question has
 * words. It is read without a guard, thousands of times a question.
 */
export type MatchAnswers = readonly number[];

/** What a question finds in the index. */
export interface Matches {
  /** By number, those that say most. */
  readonly topics: ReadonlyMap<number, MatchAnswers>;
  readonly places: ReadonlyMap<number, MatchAnswers>;
  /** Postings that were read, which is what the question costs. */
  readonly postings: number;
}

/** Looks the words of a question up. Which line a place is of counts too: a common name alone says little. */
export function matchesOf(words: readonly QuestionWord[], index: SearchIndex): Matches {
  const { topics, places, postings } = postingsOf(words, index);
  const near = lineScores(topics, words, index);
  const ofPlace = (place: number, answers: MatchAnswers): number =>
    score(answers, words) + (near.get(lineAt(place, index)) ?? 0);
  return {
    topics: best(topics, (_, answers) => score(answers, words), TOPICS_MAX),
    places: best(places, ofPlace, PLACES_MAX),
    postings,
  };
}

interface ReadPostings {
  readonly topics: Map<number, number[]>;
  readonly places: Map<number, number[]>;
  readonly postings: number;
}

/** Reads the postings of every term that a word may stand for. */
function postingsOf(words: readonly QuestionWord[], index: SearchIndex): ReadPostings {
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

/** How well a document answers all words. */
export function score(answers: MatchAnswers, words: readonly QuestionWord[]): number {
  return words.reduce((sum, { weight }, at) => sum + weight * (answers[at] ?? 0), 0);
}

/** What it adds that both of two documents say the same. */
const SAID_TWICE = 0.05;

/** What two documents say together. */
export function together(one: MatchAnswers, other: MatchAnswers | undefined): MatchAnswers {
  if (other === undefined) return one;
  return one.map((value, at) => {
    const more = other[at] ?? 0;
    return Math.max(value, more) + SAID_TWICE * Math.min(value, more);
  });
}

/** Whether a document answers a word that another one leaves open. */
export function addsTo(one: MatchAnswers, other: MatchAnswers | undefined): boolean {
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
  let [low, high] = [0, lines.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (defined(lines[middle], 'a line')[1] <= place) low = middle;
    else high = middle;
  }
  return defined(lines[low], 'the line of a place')[0];
}

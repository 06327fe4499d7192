import { pricedRow } from '../../../compiler/catalog/route.ts';
import { spokenOf } from '../../../compiler/catalog/spoken.ts';
import { grouped } from '../../../compiler/format/lists.ts';
import type { SignalEntry } from '../../../compiler/products/shapes/line.ts';
import { canonicalTarget } from '../../../compiler/products/shapes/path.ts';
import { say } from '../../../compiler/products/shapes/say.ts';
import {
  type Answered,
  KEEP_FOR_RELEASE,
  type Question,
  type Service,
} from '../../heart/answers/service.ts';
import type { ReleaseIndex } from '../../heart/release/release-index.ts';
import { jsonContent } from '../json-content.ts';
import {
  type Candidate,
  candidates,
  matchesOf,
  QUESTION_CHARS_MAX,
  type QuestionWord,
  questionWords,
  targetOf,
} from './candidates.ts';
import { type SearchIndex, searchIndex } from './open-index.ts';

/** Results of one answer where the question does not say. */
const RESULTS_DEFAULT = 5;
/** A result that says much less than the best one is left out. */
const SCORE_SHARE_MIN = 0.55;
/** How much of the weight of all words must be answered. */
const COVERAGE_MIN = 0.6;

/** Units of the rate limit: what every question costs, and postings that cost as much as a plain answer. */
export const QUESTION_COST = 8;
const POSTINGS_A_UNIT = 2000;

/** `/gauge/search`: what is sold about a question. Computed, because the words are the caller's. */
export async function search(question: Question, { release }: Service): Promise<Answered> {
  const { q = '', limit } = question.route.values;
  question.spend(QUESTION_COST);
  const index = await searchIndex(release);
  const found = await foundBy(q, { release, index, spend: question.spend });
  const max = limit === undefined ? RESULTS_DEFAULT : Number(limit);
  const shown = found.results.slice(0, max).map((one) => resultOf(one, release));
  const said = q.slice(0, QUESTION_CHARS_MAX).toWellFormed();
  const body =
    shown.length > 0
      ? { q: said, results: shown }
      : { q: said, results: [], unknown: found.unknown, hint: hintOf(found) };
  return jsonContent(body, KEEP_FOR_RELEASE, { isEmpty: shown.length === 0 });
}

interface SearchResult {
  results: readonly Candidate[];
  /** Words that nothing here is called by. */
  unknown: readonly string[];
  /** The signal that is next to the question where nothing answers it; its places are others than the one that was asked. */
  nearest: SignalEntry | null;
}

async function foundBy(
  q: string,
  by: { release: ReleaseIndex; index: SearchIndex | null; spend: Question['spend'] },
): Promise<SearchResult> {
  const { release, index, spend } = by;
  if (index === null) return { results: [], unknown: [], nearest: null };
  const words = questionWords(q, index.terms);
  const matches = matchesOf(words, index);
  spend(matches.postings / POSTINGS_A_UNIT);
  const all = await candidates({ release, index, words, matches, spend });
  const unknown = words.filter(({ meanings }) => meanings.length === 0).map(({ text }) => text);
  const asked = all.filter((one) => !isOfAnother(one, words));
  const [best] = asked;
  if (best === undefined || coverage(best, words) < COVERAGE_MIN) {
    const nearest = all.find(({ entry, place }) => entry !== null && place === null);
    return { results: [], unknown, nearest: nearest?.entry ?? null };
  }
  const results = asked.filter(({ score }) => score >= SCORE_SHARE_MIN * best.score);
  // The first of all that lead to the same request.
  const groups = grouped(results, (one) => idOf(one, release)).values();
  return { results: Array.from(groups, ([first]) => first), unknown, nearest: null };
}

/** Whether the example place of a signal is shown to a question that names another, or something that nothing here is called. */
function isOfAnother(
  { entry, isExample, answers }: Candidate,
  words: readonly QuestionWord[],
): boolean {
  if (entry === null || !isExample) return false;
  return words.some(
    ({ weight, openWeight }, at) => openWeight > weight && !((answers[at] ?? 0) > 0),
  );
}

/** The share of the words that are answered at all, a rare one counting more. */
function coverage({ answers }: Candidate, words: readonly QuestionWord[]): number {
  let [answered, open] = [0, 0];
  for (const [at, { weight, openWeight }] of words.entries()) {
    if ((answers[at] ?? 0) > 0) answered += weight;
    else open += openWeight;
  }
  return answered / (answered + open);
}

function hintOf({ unknown: [word], nearest }: SearchResult): string {
  const why = word === undefined ? 'Nothing here answers this' : `Nothing here is about "${word}"`;
  if (nearest === null) return `${why}. GET /gauge/preview lists what is sold.`;
  const { id } = nearest.signal;
  const list = canonicalTarget('/gauge/catalog', { signal_id: id });
  return `${why}. Nearest: ${spokenOf(nearest).title} (${id}); GET ${list} lists its places.`;
}

/** What a result is called by, once in an answer. */
function idOf(one: Candidate, release: ReleaseIndex): string {
  const { row, entry, place, isExample, values } = one;
  if (row.file?.startsWith('record/') === true && entry !== null) {
    return place === null ? entry.signal.id : `${entry.signal.id}/${place.entity}`;
  }
  return isExample || values === null ? row.path : targetOf(one, release);
}

function titleOf({ row, entry, place }: Candidate): string {
  if (entry === null) {
    return place === null ? row.summary : `${place.name ?? place.entity}: ${place.line.title}`;
  }
  const spoken = spokenOf(entry);
  const { entity, name } = place ?? {};
  return entity === undefined ? spoken.title : say(spoken, { entity, entity_name: name }).topic;
}

function resultOf(one: Candidate, release: ReleaseIndex): object {
  const { row, entry } = one;
  const cadence = entry === null ? '' : `, ${entry.signal.cadence}`;
  const example = entry !== null && one.isExample ? '; the request shows one of its places' : '';
  return {
    id: idOf(one, release),
    title: titleOf(one),
    answers: `${row.summary}${cadence}${example}`,
    price_usd: pricedRow(row, one.values ?? {}).priceUsd ?? '0',
    request: targetOf(one, release),
  };
}

import {
  type Answered,
  KEEP_FOR_RELEASE,
  type Question,
  type Service,
} from '../heart/answers/service.ts';
import { QUESTION_CHARS_MAX } from '../heart/words/question.ts';
import { resolveWords } from '../heart/words/resolve-words.ts';
import { jsonContent } from './json-content.ts';

/** `/gauge/search`: what is sold about a question. Computed, because the words are the caller's. */
export async function search(question: Question, { release }: Service): Promise<Answered> {
  const { q = '', limit } = question.route.values;
  const { spend } = question;
  const found = await resolveWords(q, {
    release,
    spend,
    ...(limit === undefined ? {} : { limit: Number(limit) }),
  });
  const body = { q: q.slice(0, QUESTION_CHARS_MAX).toWellFormed(), ...found };
  return jsonContent(body, KEEP_FOR_RELEASE, { isEmpty: found.results.length === 0 });
}

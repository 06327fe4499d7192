import { BoundedMap } from '../system/bounded-map.ts';
import { gone } from './refuse-method.ts';
import { type Answered, KEEP_FOR_RELEASE, type Question, type Service } from './service.ts';
import { storedFile } from './stored-file.ts';

const KEPT_BYTES_MAX = 6 * 1024 * 1024;
/** Longest canonical target that an answer is kept under. */
const KEPT_TARGET_CHARS_MAX = 256;

/**
 * Answers of one release that are computed once, because each spelling of a request would otherwise pay for them again.
 * Keyed by canonical target, which unknown parameters do not change.
 */
const keptAnswers = new WeakMap<Service, BoundedMap<string, Answered>>();

/** The answer to a routed request: a stored file, or what the room of its word computes; if it throws, nobody is charged. */
export async function answer(question: Question, service: Service): Promise<Answered> {
  const { endpoint, target } = question.route;
  const { answer: word } = endpoint;
  if (word === 'file') return storedFile(question, service);
  if (word === 'gone') return { kind: 'reply', reply: gone() };
  const room = service.rooms.answers[word];
  if (room.isKept !== true || target.length > KEPT_TARGET_CHARS_MAX) {
    return room.answer(question, service);
  }
  const kept =
    keptAnswers.get(service) ??
    new BoundedMap<string, Answered>({ bytes: KEPT_BYTES_MAX, isByUse: true });
  keptAnswers.set(service, kept);
  const known = kept.get(target);
  if (known !== undefined) return known;
  const answered = await room.answer(question, service);
  if (answered.kind === 'content' && answered.content.keepMs === KEEP_FOR_RELEASE) {
    kept.set(target, answered, answered.content.body.length);
  }
  return answered;
}

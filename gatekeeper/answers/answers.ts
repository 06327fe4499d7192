import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { findRow } from '../../compiler/contract/route.ts';
import { JSON_MEDIA_TYPE, jsonReply, type Reply } from '../http/reply.ts';
import { requestFile } from '../release/release-index.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import {
  type Answered,
  IS_THERE,
  KEEP_FOR_RELEASE,
  MISS,
  type Question,
  type Service,
} from './service.ts';

const KEPT_BYTES_MAX = 6 * 1024 * 1024;
const KEPT_TARGET_CHARS_MAX = 256;

/** Answers by canonical target, computed once for a release: each spelling of a request would pay for them again. */
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

/** Milliseconds that a body with members of request time may be given again. */
const TIMED_KEEP_MS = 1000;

/** The stored body of the request, with its members of request time. */
export async function storedFile(question: Question, service: Service): Promise<Answered> {
  const { release, clock } = service;
  const { route, isProbe, spend } = question;
  const path = requestFile(route.endpoint, route.values);
  if (!release.has(path)) return MISS;
  const body = await release.body(path, spend);
  if (isProbe) return IS_THERE;
  // A description stays what it was compiled to: of the examples in it none is an answer of this moment.
  const isDescription = route.endpoint.file?.startsWith('well-known/') === true;
  const timed = body.isTimed && !isDescription;
  const packed = timed ? null : await packedFile(path, question, service);
  if (packed !== null) return packed;
  const content = {
    body: timed ? release.bytesAt(body, clock()) : body.bytes,
    contentType: JSON_MEDIA_TYPE,
    keepMs: timed ? TIMED_KEEP_MS : KEEP_FOR_RELEASE,
  };
  return { kind: 'content', content: timed ? content : { ...content, sha256: body.sha256 } };
}

/** The body under a content coding; null where it has none. Only free bodies have: the length of a sold one tells nothing. */
async function packedFile(
  path: string,
  { route, acceptEncoding, spend }: Question,
  { release, rooms }: Service,
): Promise<Answered | null> {
  if (route.endpoint.priceUsd !== null) return null;
  const { place, headers } = rooms.codedFile(path, acceptEncoding, release);
  if (headers.length === 0) return null;
  const { bytes: body, sha256 } = await release.body(place, spend);
  const content = { body, contentType: JSON_MEDIA_TYPE, keepMs: KEEP_FOR_RELEASE, sha256, headers };
  return { kind: 'content', content: { ...content, isCoded: true } };
}

/** Answers of step 1: unknown path, retired path, method that is not the row's own; null when the row may go on. */
export function refuseMethod(path: string, method: string, catalog: Catalog): Reply | null {
  const found = findRow(path, catalog);
  if (found === undefined) return notFound(path);
  if (found.row.answer === 'gone') return gone();
  const own = found.row.method;
  const allowed = own === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [own];
  if (allowed.includes(method) || method === 'OPTIONS') return null;
  const error = `${method} is not a method of ${found.row.path}; send ${own}`;
  return jsonReply(405, { error, allow: allowed }, [['allow', allowed.join(', ')]]);
}

export function notFound(path: string): Reply {
  const error = `No operation at "${path.slice(0, 200)}"; the free catalog lists what is sold`;
  return jsonReply(404, { error, catalog: '/gauge/catalog', manifest: '/manifest' });
}

export function gone(): Reply {
  return jsonReply(410, {
    error: 'Retired; do not retry. Batches are listed at /gauge/anchor',
    no_charge: true,
  });
}

import { hash } from 'node:crypto';
import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import { findRow } from '../../../compiler/catalog/route.ts';
import { nearest } from '../../../compiler/products/shapes/nearest.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { JSON_MEDIA_TYPE, jsonReply, type Reply } from '../../wire/reply.ts';
import { perRelease, requestFile } from '../release/release-index.ts';
import {
  type Answered,
  IS_THERE,
  KEEP_FOR_RELEASE,
  MISS,
  type Question,
  type Service,
} from './service.ts';

/** Of an unknown path, in an error whose start alone clients show. */
const SHOWN_PATH_CHARS = 100;
const KEPT_BYTES_MAX = 6 * 1024 * 1024;
const KEPT_TARGET_CHARS_MAX = 256;

/** Answers by canonical target, computed once for a release: each spelling of a request would pay for them again. */
const keptAnswers = perRelease(
  () => new BoundedMap<string, Answered>({ bytes: KEPT_BYTES_MAX, isByUse: true }),
);

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
  const kept = keptAnswers(service.release);
  const known = kept.get(target);
  if (known !== undefined) return known;
  const answered = await room.answer(question, service);
  if (answered.kind !== 'content' || answered.content.keepMs !== KEEP_FOR_RELEASE) return answered;
  const { content } = answered;
  const hashed = { ...content, sha256: content.sha256 ?? hash('sha256', content.body) };
  const ready = { kind: 'content', content: hashed } as const;
  kept.set(target, ready, content.body.length);
  return ready;
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
  const contentType = JSON_MEDIA_TYPE;
  if (timed) {
    const bytes = release.bytesAt(body, clock());
    return { kind: 'content', content: { body: bytes, contentType, keepMs: TIMED_KEEP_MS } };
  }
  const content = { contentType, keepMs: KEEP_FOR_RELEASE };
  // Only free bodies have a content coding: the length of a sold one tells nothing.
  if (route.endpoint.priceUsd === null) {
    const { place, headers } = service.rooms.codedFile(path, question.acceptEncoding, release);
    if (headers.length > 0) {
      const { bytes, sha256 } = await release.body(place, spend);
      const packed = { ...content, body: bytes, sha256, headers, isCoded: true } as const;
      return { kind: 'content', content: packed };
    }
  }
  return { kind: 'content', content: { ...content, body: body.bytes, sha256: body.sha256 } };
}

/** Answers of step 1: unknown path, retired path, method that is not the row's own; null when the row may go on. */
export function refuseMethod(path: string, method: string, catalog: Catalog): Reply | null {
  const found = findRow(path, catalog);
  if (found === undefined) return notFound(path, catalog);
  if (found.row.answer === 'gone') return gone();
  const own = found.row.method;
  const allowed = own === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [own];
  if (allowed.includes(method) || method === 'OPTIONS') return null;
  const error = `${method} is not a method of ${found.row.path}; send ${own}`;
  return jsonReply(405, { error, allow: allowed }, [['allow', allowed.join(', ')]]);
}

/** Names the operation whose path is nearest, if one is near. */
export function notFound(path: string, { operations }: Catalog): Reply {
  // What a path begins with is no misspelling of it, or the last one that is thought of.
  const live = operations.flatMap((row) =>
    row.answer === 'gone' || path.startsWith(`${row.path}/`) ? [] : row.path,
  );
  const others = live.filter((one) => !path.startsWith(one));
  const near = nearest(path, others) ?? nearest(path, live);
  const hint = near === null ? '' : `the nearest is ${near}; `;
  const error = `No operation at "${path.slice(0, SHOWN_PATH_CHARS)}"; ${hint}the free catalog lists what is sold`;
  return jsonReply(404, { error, catalog: '/gauge/catalog', manifest: '/manifest' });
}

export function gone(): Reply {
  return jsonReply(410, {
    error: 'Retired; do not retry. Batches are listed at /gauge/anchor',
    no_charge: true,
  });
}

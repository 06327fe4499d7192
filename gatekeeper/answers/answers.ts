import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { JSON_MEDIA_TYPE } from '../http/media-type.ts';
import { mcp } from '../mcp/mcp.ts';
import { BoundedCache } from '../release/bounded-cache.ts';
import { codedFile } from '../release/coded-file.ts';
import { bytesAt, type ReleaseIndex } from '../release/release-index.ts';
import { requestFile } from '../release/request-file.ts';
import { anchor } from './anchor.ts';
import { catalog } from './catalog.ts';
import { channels } from './channels.ts';
import { check } from './check.ts';
import { coverage } from './coverage.ts';
import { paymentManifest } from './manifest.ts';
import { mint } from './mint.ts';
import { preview } from './preview.ts';
import { previewSearch } from './preview-search.ts';
import { proof } from './proof.ts';
import { gone } from './refuse-method.ts';
import { resolve } from './resolve.ts';
import { series } from './series.ts';
import {
  type Answered,
  IS_THERE,
  KEEP_FOR_RELEASE,
  MISS,
  type Question,
  type Service,
} from './service.ts';
import { verify } from './verify.ts';
import { watch } from './watch.ts';

/** Milliseconds that a body with request-time fields may be given again; its age has a tenth of an hour. */
const SPLICED_KEEP_MS = 1000;

/**
 * Answers of one release that are computed once, because each spelling of a request would otherwise pay for them again.
 */
const KEPT_WORDS: readonly string[] = ['anchor', 'catalog', 'manifest', 'preview', 'proof'];
const KEPT_BYTES_MAX = 16 * 1024 * 1024;
/** Longest canonical target that an answer is kept under. */
const KEPT_TARGET_CHARS_MAX = 256;

/** Keyed by canonical target, which unknown parameters do not change. */
const keptAnswers = new WeakMap<Service, BoundedCache<string, Answered>>();

/** One function per `answer` word of the table; if it throws, nobody is charged. */
export async function answer(question: Question, service: Service): Promise<Answered> {
  const { endpoint, target } = question.route;
  if (!KEPT_WORDS.includes(endpoint.answer) || target.length > KEPT_TARGET_CHARS_MAX) {
    return made(question, service);
  }
  const kept = keptAnswers.get(service) ?? new BoundedCache<string, Answered>(KEPT_BYTES_MAX);
  keptAnswers.set(service, kept);
  const known = kept.get(target);
  if (known !== undefined) return known;
  const answered = await made(question, service);
  if (answered.kind === 'content' && answered.content.keepMs === KEEP_FOR_RELEASE) {
    kept.set(target, answered, answered.content.body.length);
  }
  return answered;
}

function made(question: Question, service: Service): Promise<Answered> {
  const { answer: word } = question.route.endpoint;
  switch (word) {
    case 'file':
      return file(question, service);
    case 'series':
      return series(question, service);
    case 'coverage':
      return coverage(question, service);
    case 'catalog':
      return catalog(question, service.release);
    case 'preview':
      return preview(service);
    case 'search':
      return question.route.values.q === undefined
        ? file(question, service)
        : previewSearch(question, service);
    case 'channels':
      return channels(service);
    case 'verify':
      return verify(question, service);
    case 'manifest':
      return Promise.resolve(paymentManifest(service));
    case 'rpc':
      return mcp(question, service);
    case 'gone':
      return Promise.resolve({ kind: 'reply', reply: gone() });
    case 'resolve':
      return resolve(question, service);
    case 'anchor':
      return anchor(question, service);
    case 'proof':
      return proof(question, service);
    case 'mint':
      return mint(service);
    case 'watch':
      return watch(question, service);
    case 'check':
      return check(question, service);
  }
}

/** The stored body of the request, its request-time fields filled in. */
async function file(question: Question, { release, clock }: Service): Promise<Answered> {
  const { route, isProbe, spend } = question;
  const path = requestFile(route.endpoint, route.values);
  if (!release.has(path)) return MISS;
  const body = await release.body(path, spend);
  if (isProbe) return IS_THERE;
  // A description stays what it was compiled to: of the examples in it none is an answer of this moment.
  const timed = body.points.length > 0 && !isDescription(route.endpoint);
  const packed = timed ? null : await packedFile(path, question, release);
  if (packed !== null) return packed;
  const content = {
    body: timed ? bytesAt(body, clock()) : body.bytes,
    contentType: 'application/json',
    keepMs: timed ? SPLICED_KEEP_MS : KEEP_FOR_RELEASE,
  };
  return { kind: 'content', content: timed ? content : { ...content, sha256: body.sha256 } };
}

function isDescription({ file }: Endpoint): boolean {
  return file?.startsWith('well-known/') === true;
}

/**
 * The body under a content coding, or as it is beside such forms; null where it has none. Only free bodies have them: what
 * is sold is delivered again byte for byte, and its length tells nothing.
 */
async function packedFile(
  path: string,
  { route, acceptEncoding, spend }: Question,
  release: ReleaseIndex,
): Promise<Answered | null> {
  if (route.endpoint.priceUsd !== null) return null;
  const { place, headers } = codedFile(path, acceptEncoding, release);
  if (headers.length === 0) return null;
  const { bytes: body, sha256 } = await release.body(place, spend);
  const content = { body, contentType: JSON_MEDIA_TYPE, keepMs: KEEP_FOR_RELEASE, sha256, headers };
  return { kind: 'content', content: { ...content, isCoded: true } };
}

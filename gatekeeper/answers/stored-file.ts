import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { JSON_MEDIA_TYPE } from '../http/media-type.ts';
import { codedFile } from '../release/coded-file.ts';
import { bytesAt, type ReleaseIndex } from '../release/release-index.ts';
import { requestFile } from '../release/request-file.ts';
import {
  type Answered,
  IS_THERE,
  KEEP_FOR_RELEASE,
  MISS,
  type Question,
  type Service,
} from './service.ts';

/** Milliseconds that a body with request-time fields may be given again; its age has a tenth of an hour. */
const SPLICED_KEEP_MS = 1000;

/** The stored body of the request, its request-time fields filled in. */
export async function storedFile(
  question: Question,
  { release, clock }: Service,
): Promise<Answered> {
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

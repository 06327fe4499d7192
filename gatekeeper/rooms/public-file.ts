// What a stranger needs to check a release from outside: its public list, and each public file by its hash and path. A path
// that is not public is as unknown as any other, whether there is such a file or not.

import { type PublicFile, publicFileUrl } from '../../compiler/contract/release.ts';
import type { StaticRow } from '../../compiler/contract/static-files.ts';
import { notFound } from '../answers/refuse-method.ts';
import type { Service, StaticFile } from '../answers/service.ts';
import { inRange } from '../http/byte-range.ts';
import { costOfSending } from '../http/cost.ts';
import type { HttpRequest } from '../http/request.ts';
import { publicBytes, publicList } from '../release/public-part.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { sentAs, wrongMethod } from './static-reply.ts';

/** Bytes for a program: none of them is a page of this service, whatever its path says. */
const AS_BYTES = { contentType: 'application/octet-stream', cache: 'immutable' } as const;

interface FoundBytes {
  readonly bytes: Buffer;
  /** In hex. */
  readonly sha256: string;
}

/** The public lines of the list of files. */
export async function listOfPublicFiles(
  row: StaticRow,
  asked: HttpRequest,
  release: ReleaseIndex,
): Promise<StaticFile> {
  return sent(await publicList(release), row, asked);
}

/** A public file of this release, or of an earlier one that is still kept. */
export async function publicFile(
  file: PublicFile,
  asked: HttpRequest,
  { release }: Service,
): Promise<StaticFile> {
  const url = publicFileUrl(file);
  const refusal = wrongMethod(url, asked.method);
  if (refusal !== null) return refusal;
  const bytes = await publicBytes(file, { release, spend: asked.spend });
  if (bytes === null) return { reply: notFound(url), etag: null };
  return sent({ bytes, sha256: file.sha256 }, AS_BYTES, asked);
}

function sent(
  { bytes, sha256 }: FoundBytes,
  as: Parameters<typeof sentAs>[0],
  { method, facts, spend }: HttpRequest,
): StaticFile {
  const { range, ifRange } = facts;
  // All of it was read and hashed, however little of it is sent.
  if (method === 'HEAD' || range !== null) spend(costOfSending(bytes.length));
  const { headers, etag } = sentAs(as, sha256);
  const whole = { status: 200, headers, body: bytes };
  // A range is of the body that a GET brings (RFC 9110, section 14.2).
  const asks = { range: method === 'GET' ? range : null, ifRange };
  return { reply: inRange(whole, etag, asks), etag };
}

import { createHash } from 'node:crypto';
import { defined } from '../../compiler/contract/defined.ts';
import { SHOP_STYLES, SHOP_STYLES_URL } from '../../compiler/contract/html.ts';
import { FILES_NAME, parsePublicFileUrl, RELEASE_NAME } from '../../compiler/contract/release.ts';
import {
  findStaticFile,
  type StaticRow,
  serviceLinks,
} from '../../compiler/contract/static-files.ts';
import { FREE_CACHE, type Service, type StaticFile } from '../answers/service.ts';
import type { Header } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { codedFile } from '../release/coded-file.ts';
import { isOfTip, logTip } from '../release/log-tip.ts';
import { oncePerRelease } from '../release/per-release.ts';
import { hasPublicList } from '../release/public-part.ts';
import type { ReleaseIndex, ReleaseReader } from '../release/release-index.ts';
import { listOfPublicFiles, publicFile } from './public-file.ts';
import { sentAs, wrongMethod } from './static-reply.ts';

/**
 * What stands at a path beside the table, asked for by its path alone: a file of the release, as it is stored. Null at
 * once when the release has none there.
 */
export function staticFile(
  asked: HttpRequest,
  path: string,
  service: Service,
): Promise<StaticFile> | null {
  const { method, facts, spend } = asked;
  if (path === SHOP_STYLES_URL && method === 'GET') return Promise.resolve(shopStyles(service));
  const { release } = service;
  const open = parsePublicFileUrl(path);
  if (open !== null) return publicFile(open, asked, service);
  const found = findStaticFile(path);
  if (found === null || !isStored(found.path, release)) return null;
  const refusal = wrongMethod(path, method);
  if (refusal !== null) return Promise.resolve(refusal);
  if (found.path === FILES_NAME) return listOfPublicFiles(found.row, asked, release);
  if (found.path === RELEASE_NAME) return Promise.resolve(signedHead(found.row, release));
  if (isOfTip(found.path, release)) return fileOfTip(found, release);
  const links = linksOf(found.row, service);
  return storedFile({ ...found, links }, facts.acceptEncoding, { release, spend });
}

/** The head signs the list of files, and neither stands in one; the proof of the head and what follows from it neither. */
function isStored(path: string, release: ReleaseIndex): boolean {
  if (path === FILES_NAME) return hasPublicList(release);
  return path === RELEASE_NAME || release.has(path) || isOfTip(path, release);
}

const headSha256 = oncePerRelease(({ place }) => ({
  hex: createHash('sha256').update(place.head).digest('hex'),
}));

/** The head as it was checked, from memory. */
function signedHead(row: StaticRow, release: ReleaseIndex): StaticFile {
  const { headers, etag } = sentAs(row, headSha256(release).hex);
  return { reply: { status: 200, headers, body: release.place.head }, etag };
}

/** The newest checkpoint, the proof that holds it, and the tiles that they ask for. */
async function fileOfTip(
  { row, path }: Pick<FoundFile, 'row' | 'path'>,
  release: ReleaseIndex,
): Promise<StaticFile> {
  const tip = await logTip(release);
  const { bytes, sha256 } = defined(tip?.files.get(path), 'a file of the newest tree');
  const { headers, etag } = sentAs(row, sha256);
  return { reply: { status: 200, headers, body: bytes }, etag };
}

/** Computed, because the pages of the release cannot know whether payments are pretended here. */
function shopStyles({ operator }: Service): StaticFile {
  const body = operator.settlement === 'test' ? SHOP_STYLES.test : SHOP_STYLES.real;
  const headers: Header[] = [['content-type', 'text/css; charset=utf-8'], FREE_CACHE];
  return { reply: { status: 200, headers, body }, etag: null };
}

/** Where a reader starts, an answer leads to all that describes the service. */
function linksOf({ rel, url }: StaticRow, { baseUrl }: Service): Header[] {
  return rel === undefined && url !== '/' ? [] : [['link', serviceLinks(baseUrl)]];
}

interface FoundFile {
  readonly row: StaticRow;
  readonly path: string;
  readonly links: readonly Header[];
}

async function storedFile(
  { row, path, links }: FoundFile,
  acceptEncoding: string,
  { release, spend }: ReleaseReader,
): Promise<StaticFile> {
  const { place, headers: coded } = codedFile(path, acceptEncoding, release);
  const { bytes, sha256 } = await release.body(place, spend);
  const { headers, etag } = sentAs(row, sha256);
  return { reply: { status: 200, headers: [...headers, ...links, ...coded], body: bytes }, etag };
}

import { createHash } from 'node:crypto';
import { defined } from '../../compiler/contract/defined.ts';
import { RELEASE_NAME } from '../../compiler/contract/release.ts';
import { SHOP_STYLES, SHOP_STYLES_URL } from '../../compiler/contract/site-page.ts';
import {
  findStaticFile,
  type StaticRow,
  serviceLinks,
} from '../../compiler/contract/static-files.ts';
import { FREE_CACHE, type Service, type StaticFile } from '../answers/service.ts';
import { type Header, jsonReply, type Reply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { codedFile } from '../release/coded-file.ts';
import { isOfTip, logTip } from '../release/log-tip.ts';
import { SITE_POLICY } from '../release/page-parts.ts';
import { oncePerRelease } from '../release/per-release.ts';
import type { ReleaseIndex, ReleaseReader } from '../release/release-index.ts';

/** Seconds that anybody may keep a file that a later release may replace. */
const RELEASE_MAX_AGE_S = 60;

const CACHE = {
  immutable: 'public, max-age=604800, immutable',
  release: `public, max-age=${RELEASE_MAX_AGE_S}`,
} as const;
const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/**
 * What stands at a path beside the table, asked for by its path alone: a file of the release, as it is stored. Null at
 * once when the release has none there.
 */
export function staticFile(
  { method, facts, spend }: HttpRequest,
  path: string,
  service: Service,
): Promise<StaticFile> | null {
  if (path === SHOP_STYLES_URL && method === 'GET') return Promise.resolve(shopStyles(service));
  const { release } = service;
  const found = findStaticFile(path);
  if (found === null || !isStored(found.path, release)) return null;
  if (!METHODS.includes(method)) {
    return Promise.resolve({ reply: wrongMethod(path, method), etag: null });
  }
  if (found.path === RELEASE_NAME) return Promise.resolve(signedHead(found.row, release));
  if (isOfTip(found.path, release)) return fileOfTip(found, release);
  const links = linksOf(found.row, service);
  return storedFile({ ...found, links }, facts.acceptEncoding, { release, spend });
}

/** The head signs the list of files and stands in none; its proof and what follows from it neither. */
function isStored(path: string, release: ReleaseIndex): boolean {
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

/** What a reply says of a file of this hash. */
function sentAs(
  { contentType, cache, site }: StaticRow,
  sha256: string,
): { readonly headers: readonly Header[]; readonly etag: string } {
  const etag = `"${sha256.slice(0, 32)}"`;
  const headers: Header[] = [
    ['content-type', contentType],
    ['etag', etag],
    ['cache-control', CACHE[cache]],
    ['x-content-type-options', 'nosniff'],
    ...(site === true ? SITE_POLICY : []),
  ];
  return { headers, etag };
}

function wrongMethod(path: string, method: string): Reply {
  const error = `${method} is not a method of ${path.slice(0, 200)}; send GET`;
  return jsonReply(405, { error, allow: METHODS }, [['allow', METHODS.join(', ')]]);
}

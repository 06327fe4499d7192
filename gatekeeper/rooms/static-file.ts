import { createHash } from 'node:crypto';
import { defined } from '../../compiler/contract/defined.ts';
import { SHOP_STYLES, SHOP_STYLES_URL } from '../../compiler/contract/html.ts';
import {
  FILES_NAME,
  type PublicFile,
  parsePublicFileUrl,
  publicFileUrl,
  RELEASE_NAME,
} from '../../compiler/contract/release.ts';
import {
  findStaticFile,
  type StaticRow,
  serviceLinks,
} from '../../compiler/contract/static-files.ts';
import { notFound } from '../answers/answers.ts';
import { FREE_CACHE, type Service, type StaticFile } from '../answers/service.ts';
import { inRange } from '../http/byte-range.ts';
import { costOfSending } from '../http/cost.ts';
import { type Header, jsonReply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { codedFile } from '../release/coded-file.ts';
import { hexInTurns } from '../release/listed-files.ts';
import { isOfTip, logTip } from '../release/log-tip.ts';
import { oncePerRelease, perRelease } from '../release/per-release.ts';
import { DamagedFileError } from '../release/read-body.ts';
import type { ReleaseIndex, ReleaseReader } from '../release/release-index.ts';
import { SITE_POLICY } from './pages.ts';

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
  // Where a reader starts, an answer leads to all that describes the service.
  const { rel, url } = found.row;
  const links: Header[] =
    rel === undefined && url !== '/' ? [] : [['link', serviceLinks(service.baseUrl)]];
  return storedFile({ ...found, links }, facts.acceptEncoding, { release, spend });
}

/** The head signs the list of files, and neither stands in one; the proof of the head and what follows from it neither. */
function isStored(path: string, release: ReleaseIndex): boolean {
  if (path === FILES_NAME) return release.head.public_files !== undefined;
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

interface FoundFile {
  row: StaticRow;
  path: string;
  links: readonly Header[];
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

/** Seconds that anybody may keep a file that a later release may replace. */
const RELEASE_MAX_AGE_S = 60;

const CACHE = {
  immutable: 'public, max-age=604800, immutable',
  release: `public, max-age=${RELEASE_MAX_AGE_S}`,
} as const;
const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** What a reply says of a file of this hash. */
function sentAs(
  { contentType, cache, site }: Pick<StaticRow, 'contentType' | 'cache' | 'site'>,
  sha256: string,
): { headers: readonly Header[]; etag: string } {
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

/** The refusal of any other method than that of a file; null for one that it answers. */
function wrongMethod(path: string, method: string): StaticFile | null {
  if (METHODS.includes(method)) return null;
  const error = `${method} is not a method of ${path.slice(0, 200)}; send GET`;
  const reply = jsonReply(405, { error, allow: METHODS }, [['allow', METHODS.join(', ')]]);
  return { reply, etag: null };
}

// What a stranger needs to check a release from outside: its public list, and each public file by its hash and path. A path
// that is not public is as unknown as any other, whether there is such a file or not.

/** Bytes for a program: none of them is a page of this service, whatever its path says. */
const AS_BYTES = { contentType: 'application/octet-stream', cache: 'immutable' } as const;

interface FoundBytes {
  bytes: Buffer;
  /** In hex. */
  sha256: string;
}

/** The public lines of the list of files. */
async function listOfPublicFiles(
  row: StaticRow,
  asked: HttpRequest,
  release: ReleaseIndex,
): Promise<StaticFile> {
  return sent(await publicList(release), row, asked);
}

/** A public file of this release, or of an earlier one that is still kept. */
async function publicFile(
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

/** Longest file of an earlier release that is given, whose size no list at hand says. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

const publicLines = perRelease(async ({ files, head }: ReleaseIndex) => {
  const bytes = files.publicLines();
  const sha256 = await hexInTurns(bytes);
  return { bytes, sha256, isSigned: `sha256:${sha256}` === head.public_files?.sha256 };
});

/** The lines of the list that anybody may have, with their sha256 in hex; throws where they are not those of the head. */
async function publicList(release: ReleaseIndex): Promise<{ bytes: Buffer; sha256: string }> {
  const lines = await publicLines(release);
  if (lines.isSigned) return lines;
  throw new DamagedFileError(
    `Cannot serve "${FILES_NAME}": its public lines are not those of the head; compile again`,
  );
}

/** Files that are being read, by the URL of each. */
const reading = oncePerRelease(() => new Map<string, Promise<Buffer | null>>());

/**
 * The bytes of a public file of this release, or of an earlier one that is still kept, so that a download outlives a switch; null
 * where there is none. They stay out of the memory that is for buyers, and many who ask at once share one reading.
 */
export function publicBytes(file: PublicFile, reader: ReleaseReader): Promise<Buffer | null> {
  const files = reading(reader.release);
  const url = publicFileUrl(file);
  const known = files.get(url);
  if (known !== undefined) return known;
  const bytes = readPublic(file, reader).finally(() => files.delete(url));
  files.set(url, bytes);
  return bytes;
}

async function readPublic(
  { path, sha256 }: PublicFile,
  { release, spend }: ReleaseReader,
): Promise<Buffer | null> {
  const listed = release.files.get(path);
  if (listed?.sha256 === sha256) return release.place.body(listed, spend);
  return release.place.kept({ path, sha256, size: KEPT_BYTES_MAX }, spend);
}

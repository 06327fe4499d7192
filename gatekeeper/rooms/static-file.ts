import { hash } from 'node:crypto';
import {
  findStaticFile,
  type StaticRow,
  serviceLinks,
} from '../../compiler/catalog/static-files.ts';
import { logOrigin, verifierKey } from '../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import { SHOP_STYLES, SHOP_STYLES_URL } from '../../compiler/format/html.ts';
import { PROOF_BYTES_MAX, parseProof } from '../../compiler/format/ots-proof.ts';
import {
  FILES_NAME,
  type PublicFile,
  parsePublicFileUrl,
  publicFileUrl,
  RELEASE_NAME,
} from '../../compiler/format/release.ts';
import {
  CHECKPOINT_PATH,
  encodeBundle,
  LOG_FOLDER,
  LOG_KEY_PATH,
  parseTilePath,
} from '../../compiler/format/tiles.ts';
import { notFound } from '../heart/answers/answers.ts';
import { FREE_CACHE, type Service, type StaticFile } from '../heart/answers/service.ts';
import { codedFile } from '../heart/release/coded-file.ts';
import { hexInTurns } from '../heart/release/listed-files.ts';
import { entryOfSequence } from '../heart/release/log-files.ts';
import { anchorStateOf } from '../heart/release/log-place.ts';
import { logTip } from '../heart/release/log-tip.ts';
import { DamagedFileError, sha256 } from '../heart/release/read-body.ts';
import {
  perRelease,
  type ReleaseIndex,
  type ReleaseReader,
} from '../heart/release/release-index.ts';
import { faultOf } from '../heart/release/release-source.ts';
import { takenBytes } from '../heart/release/taken-files.ts';
import { costOfSending, FILE_COST } from '../wire/cost.ts';
import type { HeaderFacts } from '../wire/header-facts.ts';
import { type Header, jsonReply, type Reply } from '../wire/reply.ts';
import type { HttpRequest } from '../wire/request.ts';
import { thingAt, thingPage } from './atlas/atlas.ts';
import { CHART_STYLES } from './atlas/chart.ts';
import { SITE_POLICY } from './atlas/pages.ts';
import { ownShades } from './atlas/parts.ts';

/** A file of the release at a path beside the table, as it is stored; null at once where none stands. */
export function staticFile(
  asked: HttpRequest,
  path: string,
  service: Service,
): Promise<StaticFile> | null {
  if (path === SHOP_STYLES_URL && asked.method === 'GET') {
    // Computed, because the pages of the release cannot know whether payments are pretended here, nor the colours of agencies.
    const own = service.operator.settlement === 'test' ? SHOP_STYLES.test : SHOP_STYLES.real;
    const body = own + CHART_STYLES + ownShades(service.release.catalog);
    const headers: Header[] = [['content-type', 'text/css; charset=utf-8'], FREE_CACHE];
    return Promise.resolve({ reply: { status: 200, headers, body }, etag: null });
  }
  const { release } = service;
  const open = parsePublicFileUrl(path);
  if (open !== null) return publicFile(open, asked, release);
  const found = findStaticFile(path);
  if (found === null) {
    const thing = thingAt(path);
    if (thing === null) return null;
    const refusal = wrongMethod(path, asked.method);
    return refusal === null ? thingPage(thing, asked, service) : Promise.resolve(refusal);
  }
  const isOfLog = found.path.startsWith(`${LOG_FOLDER}/`);
  // The head signs the list of files, and neither stands in one. The log stands beside all releases.
  const isStored =
    found.path === FILES_NAME
      ? release.head.public_files !== undefined
      : isOfLog || found.path === RELEASE_NAME || release.has(found.path);
  if (!isStored) return null;
  const refusal = wrongMethod(path, asked.method);
  if (refusal !== null) return Promise.resolve(refusal);
  return isOfLog
    ? logFile(found.row, found.path, asked, release)
    : storedFile(found.row, found.path, asked, service);
}

async function storedFile(
  row: StaticRow,
  path: string,
  asked: HttpRequest,
  { release, baseUrl }: Service,
): Promise<StaticFile> {
  if (path === FILES_NAME) {
    const lines = await publicLines(release);
    if (lines.isSigned) return sent(lines, row, asked);
    throw new DamagedFileError(
      `Cannot serve "${FILES_NAME}": its public lines are not those of the head; compile again`,
    );
  }
  // As it was checked, from memory.
  if (path === RELEASE_NAME) return whole(release.place.head, headSha256(release), row);
  const { place, headers: coded } = codedFile(path, asked.facts.acceptEncoding, release);
  const { bytes, sha256 } = await release.body(place, asked.spend);
  // Where a reader starts, an answer leads to all that describes the service.
  const isStart = row.rel !== undefined || row.url === '/';
  const links: Header[] = isStart ? [['link', serviceLinks(baseUrl)]] : [];
  return whole(bytes, sha256, row, [...links, ...coded]);
}

function whole(
  body: Buffer,
  sha256: string,
  row: StaticRow,
  others: readonly Header[] = [],
): StaticFile {
  const { headers, etag } = sentAs(row, sha256);
  return { reply: { status: 200, headers: [...headers, ...others], body }, etag };
}

const headSha256 = perRelease(({ place }) => hash('sha256', place.head));

/** Seconds that anybody may keep a file that a later release may replace. */
const RELEASE_MAX_AGE_S = 60;

const CACHE = {
  immutable: 'public, max-age=604800, immutable',
  release: `public, max-age=${RELEASE_MAX_AGE_S}`,
} as const;
const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

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

// The log, which stands beside the releases. Nothing of it is believed: what is given was checked against the root that proves
// the release which is served, so a tile of any earlier width is a part of the one at hand.

async function logFile(
  row: StaticRow,
  path: string,
  asked: HttpRequest,
  release: ReleaseIndex,
): Promise<StaticFile> {
  asked.spend(FILE_COST);
  const bytes = await logBytes(path, { release, spend: asked.spend });
  if (bytes === null) return { reply: notFound(`/${path}`, release.catalog), etag: null };
  return sent({ bytes, sha256: await hexInTurns(bytes) }, row, asked);
}

const SMALL_BYTES_MAX = 16 * 1024;
const TAKEN = /^log\/new\/([1-9][0-9]{0,14})$/;
const ANCHOR = /^log\/anchor\/([0-9a-f]{64})\.(json|ots)$/;

/** The bytes of a file of the log; null where there is none. */
async function logBytes(path: string, reader: ReleaseReader): Promise<Buffer | null> {
  const { release } = reader;
  const { place, head, keys } = release;
  if (path === CHECKPOINT_PATH) return Buffer.from((await logTip(release)).proof.checkpoint);
  if (path === LOG_KEY_PATH) {
    const origin = logOrigin(head.base_url);
    const own = keys.keys.map(({ did }) => verifierKey(origin, parseDidKey(did), sha256));
    const isOwn = (bytes: Buffer): boolean =>
      bytes
        .toString('utf8')
        .trimEnd()
        .split('\n')
        .every((line) => own.includes(line));
    const fault = (bytes: Buffer) => (isOwn(bytes) ? null : 'it is not a key of the issuer');
    return place.log(path, { max: SMALL_BYTES_MAX, fault });
  }
  const [, root, kind] = ANCHOR.exec(path) ?? [];
  if (root !== undefined) {
    const max = kind === 'json' ? SMALL_BYTES_MAX : PROOF_BYTES_MAX;
    const fault = (bytes: Buffer): string | null =>
      faultOf(() =>
        kind === 'json' ? anchorStateOf(bytes, root) : parseProof(bytes, Buffer.from(root, 'hex')),
      );
    return place.log(path, { max, fault });
  }
  const [, sequence] = TAKEN.exec(path) ?? [];
  if (sequence !== undefined) return takenBy(Number(sequence), reader);
  const tile = parseTilePath(path);
  if (tile === null) return null;
  const { tree } = await logTip(release);
  const { level, width } = tile;
  const whole = tree.tileAt(tile);
  if (whole === null || whole.width < width) return null;
  return level === 'entries'
    ? Buffer.from(encodeBundle((await tree.entriesOf(whole)).slice(0, width)))
    : Buffer.concat((await tree.hashesOf({ ...whole, level })).slice(0, width));
}

async function takenBy(sequence: number, { release, spend }: ReleaseReader) {
  const { tree } = await logTip(release);
  const found = await entryOfSequence(sequence, tree).catch((error: unknown) => {
    if (error instanceof RangeError) return null;
    throw error;
  });
  if (found === null || found.entry.new.count === 0) return null;
  const { place } = release;
  return takenBytes(found.entry, { place, spend });
}

// What a stranger needs to check a release from outside: its public list, and each public file by its hash and path. A path
// that is not public is as unknown as any other, whether there is such a file or not.

/** Bytes for a program: none of them is a page of this service, whatever its path says. */
const AS_BYTES = { contentType: 'application/octet-stream', cache: 'immutable' } as const;

/** A public file of this release, or of an earlier one that is still kept. */
async function publicFile(
  file: PublicFile,
  asked: HttpRequest,
  release: ReleaseIndex,
): Promise<StaticFile> {
  const url = publicFileUrl(file);
  const refusal = wrongMethod(url, asked.method);
  if (refusal !== null) return refusal;
  const bytes = await publicBytes(file, { release, spend: asked.spend });
  if (bytes === null) return { reply: notFound(url, release.catalog), etag: null };
  return sent({ bytes, sha256: file.sha256 }, AS_BYTES, asked);
}

function sent(
  { bytes, sha256 }: { bytes: Buffer; sha256: string },
  as: Parameters<typeof sentAs>[0],
  { method, facts, spend }: HttpRequest,
): StaticFile {
  const { range, ifRange } = facts;
  // All of it was read and hashed, however little of it is sent.
  if (method === 'HEAD' || range !== null) spend(costOfSending(bytes.length));
  const { headers, etag } = sentAs(as, sha256);
  const reply = { status: 200, headers, body: bytes };
  // A range is of the body that a GET brings (RFC 9110, section 14.2).
  const asks = { range: method === 'GET' ? range : null, ifRange };
  return { reply: inRange(reply, etag, asks), etag };
}

/** Longest file of an earlier release that is given, whose size no list at hand says. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

const publicLines = perRelease(async ({ files, head }: ReleaseIndex) => {
  const bytes = files.publicLines();
  const sha256 = await hexInTurns(bytes);
  return { bytes, sha256, isSigned: `sha256:${sha256}` === head.public_files?.sha256 };
});

/** Files that are being read, by the URL of each. */
const reading = perRelease(() => new Map<string, Promise<Buffer | null>>());

/** A public file of this or a kept release, so that downloads outlive a switch. Kept out of the memory for buyers. */
export function publicBytes(file: PublicFile, reader: ReleaseReader): Promise<Buffer | null> {
  const files = reading(reader.release);
  const url = publicFileUrl(file);
  const known = files.get(url);
  if (known !== undefined) return known;
  const { path, sha256 } = file;
  const { release, spend } = reader;
  const listed = release.files.get(path);
  const read =
    listed?.sha256 === sha256
      ? release.place.body(listed, spend)
      : release.place.kept({ path, sha256, size: KEPT_BYTES_MAX }, spend);
  const bytes = read.finally(() => files.delete(url));
  files.set(url, bytes);
  return bytes;
}

/** One range of bytes (RFC 9110, section 14.1.2); several at once are answered whole, as the standard allows. */
const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** What a request asks of a whole answer: a part of it, where one is asked for that is there. */
function inRange(
  reply: Reply & { readonly body: Buffer },
  etag: string,
  { range, ifRange }: Pick<HeaderFacts, 'range' | 'ifRange'>,
): Reply {
  const { length } = reply.body;
  const part = (status: number, where: string, body: Reply['body']): Reply => {
    return {
      status,
      headers: [...whole.headers, ['content-range', `bytes ${where}/${length}`]],
      body,
    };
  };
  const whole: Reply = { ...reply, headers: [...reply.headers, ['accept-ranges', 'bytes']] };
  // Whoever has a part of something else gets all of this.
  if (range === null || (ifRange !== null && ifRange !== etag)) return whole;
  const [, first, last] = RANGE.exec(range.trim()) ?? [];
  if (first === undefined || last === undefined || first + last === '') return whole;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return whole;
  // Without a first byte, so many of the end. The end is left out.
  const from = first === '' ? Math.max(0, length - Number(last)) : Number(first);
  const to = first === '' || last === '' ? length : Math.min(Number(last) + 1, length);
  if (from >= to) return part(416, '*', '');
  return part(206, `${from}-${to - 1}`, reply.body.subarray(from, to));
}

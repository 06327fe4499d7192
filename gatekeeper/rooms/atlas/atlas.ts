import { hash } from 'node:crypto';
import { sitePage } from '../../../compiler/format/html.ts';
import { decodeSegment, encodeSegment } from '../../../compiler/products/shapes/path.ts';
import { notFound } from '../../heart/answers/answers.ts';
import { FREE_CACHE, type Service, type StaticFile } from '../../heart/answers/service.ts';
import { perRelease, type ReleaseReader } from '../../heart/release/release-index.ts';
import { BoundedMap } from '../../wire/maps.ts';
import type { Header } from '../../wire/reply.ts';
import type { HttpRequest } from '../../wire/request.ts';
import { chart, chartFile } from './chart.ts';
import { freeReading } from './free-reading.ts';
import {
  chainPage,
  linePage,
  lineSitemap,
  logPage,
  logSitemap,
  placePage,
  releasePage,
} from './overview-pages.ts';
import { pageShop, SITE_POLICY } from './pages.ts';
import type { ThingPage } from './parts.ts';
import { readingsCsv, recordPage } from './record-page.ts';

// A page for each thing, made from what is free anyway and kept while its release is served. Nothing of it is stored.

interface Made {
  readonly body: Buffer;
  readonly type: 'html' | 'svg' | 'csv' | 'xml';
  readonly isOfNow: boolean;
}

const TYPES: Readonly<Record<Made['type'], readonly Header[]>> = {
  html: [['content-type', 'text/html; charset=utf-8'], ...SITE_POLICY],
  // A picture has its styles in itself, and nothing else.
  svg: [
    ['content-type', 'image/svg+xml'],
    ['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'"],
  ],
  csv: [['content-type', 'text/csv; charset=utf-8']],
  xml: [['content-type', 'application/xml; charset=utf-8']],
};

/** Units that making a page costs, some 3 ms; afterwards it is kept for everybody. */
const PAGE_COST = 60;

const KEPT_BYTES_MAX = 4 * 1024 * 1024;
const kept = perRelease(
  () => new BoundedMap<string, Made>({ bytes: KEPT_BYTES_MAX, isByUse: true }),
);

const START = /^\/(r|line|place|chain|release|log)\//;

/** The page of a thing, or that it is not there. */
export async function thingPage(
  address: Address,
  asked: HttpRequest,
  service: Service,
): Promise<StaticFile> {
  const absent = { reply: notFound(address.path, service.release.catalog), etag: null };
  return (await answer(address, asked, service)) ?? absent;
}

/** What a path may be the address of; null at once for a path of no thing, and where another spelling is the address. */
export function thingAt(path: string): Address | null {
  if (!START.test(path)) return null;
  try {
    const parts = path.slice(1).split('/');
    const plain = parts.map((part) => (part === '' ? '' : decodeSegment(part)));
    const isOne = plain.every((part, at) => (part === '' ? '' : encodeSegment(part)) === parts[at]);
    return isOne ? { path, parts: plain } : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** A path and what its parts stand for. Only the path tells them apart: a name may hold a slash. */
interface Address {
  readonly path: string;
  readonly parts: readonly string[];
}

async function answer(
  address: Address,
  asked: HttpRequest,
  service: Service,
): Promise<StaticFile | null> {
  const { release } = service;
  const pages = kept(release);
  const known = pages.get(address.path);
  const made = known ?? (await make(address, { release, spend: asked.spend }, service));
  if (made === null) return null;
  if (known === undefined) asked.spend(PAGE_COST);
  if (known === undefined && !made.isOfNow) pages.set(address.path, made, made.body.length);
  const etag = `"${hash('sha256', made.body).slice(0, 32)}"`;
  const headers: Header[] = [...TYPES[made.type], ['etag', etag], FREE_CACHE];
  return { reply: { status: 200, headers, body: made.body }, etag };
}

async function make(
  { path, parts }: Address,
  reader: ReleaseReader,
  service: Service,
): Promise<Made | null> {
  const [kind = '', first = '', second = '', third, ...more] = parts;
  if (more.length > 0) return null;
  const whole = (page: ThingPage): Made => wholePage(page, path, service);
  if (kind === 'r') return ofRecord([first, second, third], reader, whole);
  if (second === 'sitemap.xml' || first === 'sitemap.xml') return sitemap(kind, first, reader);
  const page = third === undefined ? await overview(kind, [first, second], reader) : null;
  return page === null ? null : whole(page);
}

async function ofRecord(
  [signal = '', entity = '', file]: readonly (string | undefined)[],
  reader: ReleaseReader,
  whole: (page: ThingPage) => Made,
): Promise<Made | null> {
  const reading =
    signal === '' || entity === ''
      ? null
      : await freeReading({ signal_id: signal, entity }, reader);
  if (reading === null) return null;
  if (file === undefined) return whole(await recordPage(reading, reader));
  if (file === 'readings.csv') return made(readingsCsv(reading), 'csv');
  const drawing =
    file === 'chart.svg' ? chart(reading.signal, reading.preview.rows, reading.zone) : null;
  return drawing === null ? null : made(chartFile(drawing), 'svg');
}

async function sitemap(kind: string, line: string, reader: ReleaseReader): Promise<Made | null> {
  if (kind === 'log') return made(logSitemap(reader), 'xml');
  const text = kind === 'line' ? await lineSitemap(line, reader) : null;
  return text === null ? null : made(text, 'xml');
}

function overview(
  kind: string,
  [first, second]: readonly [string, string],
  reader: ReleaseReader,
): Promise<ThingPage | null> | null {
  if (kind === 'log' && first === '' && second === '') return logPage(reader);
  if (first === '') return null;
  if (kind === 'chain' && second !== '') return chainPage(first, second, reader);
  if (second !== '') return null;
  if (kind === 'line') return linePage(first, reader);
  if (kind === 'place') return placePage(first, reader);
  const isNumber = kind === 'release' && /^[1-9][0-9]{0,14}$/.test(first);
  return isNumber ? releasePage(Number(first), reader) : null;
}

function made(text: string, type: Made['type'], isOfNow = false): Made {
  return { body: Buffer.from(text), type, isOfNow };
}

function wholePage(page: ThingPage, path: string, { release, operator }: Service): Made {
  const { facts, isOfNow = false, ...said } = page;
  const { scripts, ...shop } = pageShop(release, 'thing');
  const own = {
    'as-of': release.head.as_of,
    'issuer-did': release.head.issuer_did,
    'base-url': release.head.base_url,
    settlement: operator.settlement,
  };
  const script = facts === undefined ? null : (scripts[0] ?? null);
  const text = sitePage({
    ...said,
    ...shop,
    path,
    script,
    facts: { ...own, ...facts },
    isListed: true,
  });
  return made(text, 'html', isOfNow);
}

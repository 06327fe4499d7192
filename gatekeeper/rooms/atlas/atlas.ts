import { hash } from 'node:crypto';
import { sitePage } from '../../../compiler/format/html.ts';
import { decodeSegment, encodeSegment } from '../../../compiler/products/shapes/path.ts';
import { notFound } from '../../heart/answers/answers.ts';
import { FREE_CACHE, type Service, type StaticFile } from '../../heart/answers/service.ts';
import { perRelease } from '../../heart/release/per-release.ts';
import type { ReleaseReader } from '../../heart/release/release-index.ts';
import { BoundedMap } from '../../wire/bounded-map.ts';
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

/** The page of a thing, or that it is not there; null at once for a path of no thing. */
export function thingPage(
  asked: HttpRequest,
  path: string,
  service: Service,
): Promise<StaticFile> | null {
  if (!START.test(path) || !['GET', 'HEAD'].includes(asked.method)) return null;
  const parts = partsOf(path);
  if (parts === null) return null;
  const absent = { reply: notFound(path, service.release.catalog), etag: null };
  return answer(parts, asked, service).then((found) => found ?? absent);
}

/** The parts of a path; null where another spelling of it is the address. */
function partsOf(path: string): readonly string[] | null {
  try {
    const parts = path.slice(1).split('/');
    const plain = parts.map((part) => (part === '' ? '' : decodeSegment(part)));
    const isOne = plain.every((part, at) => (part === '' ? '' : encodeSegment(part)) === parts[at]);
    return isOne ? plain : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

async function answer(
  parts: readonly string[],
  asked: HttpRequest,
  service: Service,
): Promise<StaticFile | null> {
  const { release } = service;
  const key = parts.join('/');
  const pages = kept(release);
  const known = pages.get(key);
  const made = known ?? (await make(parts, { release, spend: asked.spend }, service));
  if (made === null) return null;
  if (known === undefined) asked.spend(PAGE_COST);
  if (known === undefined && !made.isOfNow) pages.set(key, made, made.body.length);
  const etag = `"${hash('sha256', made.body).slice(0, 32)}"`;
  const headers: Header[] = [...TYPES[made.type], ['etag', etag], FREE_CACHE];
  return { reply: { status: 200, headers, body: made.body }, etag };
}

async function make(
  parts: readonly string[],
  reader: ReleaseReader,
  service: Service,
): Promise<Made | null> {
  const [kind = '', first = '', second = '', third, ...more] = parts;
  if (more.length > 0) return null;
  if (kind === 'r') return ofRecord([first, second, third], reader, service);
  if (second === 'sitemap.xml' || first === 'sitemap.xml') return sitemap(kind, first, reader);
  const page = third === undefined ? await overview(kind, [first, second], reader) : null;
  return page === null ? null : whole(page, `/${parts.map(segment).join('/')}`, service);
}

const segment = (part: string): string => (part === '' ? '' : encodeSegment(part));

async function ofRecord(
  [signal = '', entity = '', file]: readonly (string | undefined)[],
  reader: ReleaseReader,
  service: Service,
): Promise<Made | null> {
  const reading =
    signal === '' || entity === ''
      ? null
      : await freeReading({ signal_id: signal, entity }, reader);
  if (reading === null) return null;
  if (file === undefined) {
    const path = `/r/${segment(signal)}/${segment(entity)}`;
    return whole(await recordPage(reading, reader), path, service);
  }
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

function whole(page: ThingPage, path: string, { release, operator }: Service): Made {
  const { facts = {}, isOfNow = false, ...said } = page;
  const { scripts, ...shop } = pageShop(release, 'thing');
  const own = {
    'as-of': release.head.as_of,
    'issuer-did': release.head.issuer_did,
    'base-url': release.head.base_url,
    settlement: operator.settlement,
  };
  const script = scripts[0] ?? null;
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

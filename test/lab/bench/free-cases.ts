import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { FORMAT_DOCUMENTS, SKILL_URL } from '../../../compiler/catalog/static-files.ts';
import { recordUrl } from '../../../compiler/catalog/thing-urls.ts';
import { siteAssets } from '../../../compiler/describe/pages.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { KEYS_PATH } from '../../../compiler/format/key-history.ts';
import {
  FILES_NAME,
  PUBLIC_LIST_URL,
  parseFiles,
  parseVerifyEntry,
  publicFileUrl,
} from '../../../compiler/format/release.ts';
import type { JsonValue } from '../../../compiler/format/strict-json.ts';
import { BASKET_REQUESTS_MAX } from '../../../compiler/products/shapes/basket.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { QUESTION_COST } from '../../../gatekeeper/heart/words/resolve-words.ts';
import { checkCost, judgingCost } from '../../../gatekeeper/rooms/check.ts';
import { RECOMPUTED_BYTES_MAX } from '../../../gatekeeper/rooms/verify-hash.ts';
import {
  costOfParsing,
  costOfReading,
  FILE_COST,
  REQUEST_COST,
} from '../../../gatekeeper/wire/cost.ts';

/**
 * What is asked about: pairs of the catalog as queries, record hashes of the log, a whole record, a row of a long file, URLs of
 * public files by their hashes.
 */
export interface FreeSubject {
  readonly pairs: readonly string[];
  readonly hashes: readonly string[];
  readonly record: string;
  readonly row: LookedUpRow;
  readonly publicFiles: readonly string[];
}

/** One question that costs nothing, asked in as many spellings as there are requests. */
export interface FreeCase {
  readonly name: string;
  /** The n-th target; unlike all others where the case is `cold`. */
  readonly target: (n: number) => string;
  /** The body of a POST. */
  readonly body?: (n: number) => string;
  /** Units of the rate limit that one of them costs before its answer is sent. */
  readonly units: number;
  /** Whether it is a free operation of the table, which others are compared with. */
  readonly isOperation?: boolean;
}

/** Stands for a text that nobody has sent before. */
const FRESH = '{fresh}';
const LONG_CHARS = 64;
/** A public file under a hash that it never had. */
const OTHER_HASH = publicFileUrl({ path: KEYS_PATH, sha256: '0'.repeat(64) });

/** Letters and digits that differ for each n, as long as asked for; made without chance, so that runs are alike. */
export function fresh(n: number, chars: number): string {
  let text = '';
  for (let seed = n + 1; text.length < chars; seed = (seed * 48_271) % 2_147_483_647) {
    text += seed.toString(16);
  }
  return text.slice(0, chars);
}

function get(name: string, target: string, chars = 8): FreeCase {
  return { name, target: (n) => target.replaceAll(FRESH, fresh(n, chars)), units: REQUEST_COST };
}

/** `name` begins with the path: `POST /mcp, initialize`. */
function post(name: string, body: (n: number) => string, more = 0): FreeCase {
  const path = name.slice('POST '.length, name.indexOf(','));
  const units = REQUEST_COST + costOfReading(Buffer.byteLength(body(0))) + more;
  return { name, target: () => path, body, units };
}

/** As many words as one question may have, none of which is known. */
function twelveWords(n: number): string {
  return Array.from({ length: 12 }, (_, at) => fresh(12 * n + at, 9)).join('+');
}

function coverageCases(pair: (n: number) => string): FreeCase[] {
  return [
    get('coverage', `/gauge/coverage?x=${FRESH}`),
    get('coverage, a page', `/gauge/coverage?page=2&x=${FRESH}`),
    get('coverage, compact', `/gauge/coverage?summary=1&x=${FRESH}`),
    get('coverage of an unknown entity', `/gauge/coverage?entity=${FRESH}`, LONG_CHARS),
    {
      name: 'coverage of a pair',
      target: (n) => `/gauge/coverage?${pair(n)}&x=${fresh(n, 8)}`,
      units: REQUEST_COST,
    },
  ];
}

/** None of them is kept in memory. */
function publicFileCases(urls: readonly string[]): FreeCase[] {
  const read = (name: string, url: (n: number) => string): FreeCase => ({
    name,
    target: (n) => `${url(n)}?x=${fresh(n, 8)}`,
    units: REQUEST_COST + FILE_COST,
  });
  return [
    read('public file by its hash', (n) => defined(urls[n % urls.length], 'the URL of a file')),
    read('public file, another hash', () => OTHER_HASH),
  ];
}

/** The page of a pair that is named by a query. */
function pageOf(pair: string): string {
  const query = new URLSearchParams(pair);
  return recordUrl(query.get('signal_id') ?? '', query.get('entity') ?? '');
}

/** Every free operation and file, each at its dearest: with a parameter that nobody knows, so that nothing is ready. */
function freeCases({ pairs, hashes, publicFiles }: FreeSubject): FreeCase[] {
  const pair = (n: number): string => pairs[n % pairs.length] ?? '';
  const hash = (n: number): string => hashes[(n * 37) % hashes.length] ?? '';
  const each = (name: string, target: (n: number) => string): FreeCase => ({
    name,
    target,
    units: REQUEST_COST,
  });
  const dear = (name: string, target: (n: number) => string): FreeCase => ({
    ...each(name, target),
    units: REQUEST_COST + QUESTION_COST,
  });
  return [
    ...coverageCases(pair),
    get('catalog', `/gauge/catalog?x=${FRESH}`),
    get('catalog, all', `/gauge/catalog?all=1&x=${FRESH}`),
    get('catalog of an unknown signal', `/gauge/catalog?signal_id=${FRESH}`),
    dear('search', (n) => `/gauge/search?q=air+quality+in+denver+${fresh(n, 8)}`),
    dear('search, twelve words', (n) => `/gauge/search?q=${twelveWords(n)}`),
    get('preview', `/gauge/preview?x=${FRESH}`),
    get('sample', `/gauge/sample?x=${FRESH}`),
    each('history-preview', (n) => `/gauge/history-preview?${pair(n)}&x=${fresh(n, 8)}`),
    each('raw', (n) => `/gauge/raw?signal_id=hydrology.river-level&entity=07010000&x=${n}`),
    each('verify, listed', (n) => `/gauge/verify?hash=${hash(n)}&x=${fresh(n, 8)}`),
    get('verify, unknown', `/gauge/verify?hash=${FRESH}`, LONG_CHARS),
    get('verify, 8 digits', `/gauge/verify?hash=${FRESH}`),
    each('v, listed', (n) => `/v/${hash(n)}?x=${fresh(n, 8)}`),
    each('proof, listed', (n) => `/proof/${hash(n)}?x=${fresh(n, 8)}`),
    get('proof, unknown', `/proof/${FRESH}`, LONG_CHARS),
    get('anchor, list', `/gauge/anchor?x=${FRESH}`),
    ...publicFileCases(publicFiles),
    {
      name: 'page of a reading',
      target: (n) => `${pageOf(pair(n))}?x=${fresh(n, 8)}`,
      units: REQUEST_COST + FILE_COST,
    },
    each('anchor of a hash', (n) => `/gauge/anchor?hash=${hash(n)}&x=${fresh(n, 8)}`),
    get('channels', `/gauge/channels?x=${FRESH}`),
    get('stablecoin-deaths/preview', `/stablecoin-deaths/preview?x=${FRESH}`),
    get('trust/preview', `/trust/preview?x=${FRESH}`),
    get('trust/preview, search', `/trust/preview?q=${FRESH}`),
    get('stable/preview', `/stable/preview?x=${FRESH}`),
    get('mcp/preview', `/mcp/preview?x=${FRESH}`),
    get('resolve/preview', `/resolve/preview?x=${FRESH}`),
    get('resolve/proposer/preview', `/resolve/proposer/preview?x=${FRESH}`),
    get('manifest', `/manifest?x=${FRESH}`),
    get('manifest, all', `/manifest?all=1&x=${FRESH}`),
    get('x402', `/.well-known/x402?x=${FRESH}`),
    get('agent card', `/.well-known/agent-card.json?x=${FRESH}`),
    get('agent card, legacy', `/.well-known/agent.json?x=${FRESH}`),
    get('merkle/proof (410)', `/merkle/proof?x=${FRESH}`),
    get('merkle/spec', `/merkle/spec?x=${FRESH}`),
    get('healthz', '/healthz'),
    get('404', `/${FRESH}`, LONG_CHARS),
    get('404, 8 KB', `/${FRESH}`, 8000),
  ];
}

/** Files as they stand in a release. */
const FILE_TARGETS: readonly string[] = [
  '/openapi.json',
  '/.well-known/did.json',
  '/.well-known/catalog.json',
  '/.well-known/release.json',
  PUBLIC_LIST_URL,
  '/.well-known/keys.json',
  '/.well-known/security.txt',
  '/.well-known/api-catalog',
  '/.well-known/agent-skills/index.json',
  '/.well-known/agent-registration.json',
  SKILL_URL,
  '/.well-known/mcp/server-card.json',
  '/mcp/server-card',
  '/server.json',
  '/llms.txt',
  '/llms-full.txt',
  '/robots.txt',
  '/favicon.svg',
  '/favicon.ico',
  ...FORMAT_DOCUMENTS.map(({ url }) => url),
  '/log/checkpoint',
  '/log/vkey',
  '/log/tile/entries/000.p/1',
  '/log/new/1',
  '/',
  '/site/',
  '/docs',
  '/docs/',
  '/changes.json',
  '/changes.atom',
  '/sitemap.xml',
  '/og.png',
  '/site/data/signals.json',
];

/** What the page loads is named by its content. */
function assetTargets(): readonly string[] {
  const { script, styles } = siteAssets();
  return [script, ...styles];
}

/** Values that a paid row is asked for so that nothing is stored for them, and the table allows them. */
function openValues({ params }: Endpoint, n: number): string {
  const required = Object.entries(params).filter(([, param]) => param.required);
  const values = required.map(([name, param]) => {
    const value = param.enum === undefined ? fresh(n, LONG_CHARS) : (param.enum[0] ?? '');
    return `${name}=${value}`;
  });
  return [...values, `x=${fresh(n, 8)}`].join('&');
}

/** What a paid row says for nothing: its price, and the refusal of what it does not have. */
function unpaidCases(): FreeCase[] {
  const paid = BUILTIN.operations.filter(({ priceUsd }) => priceUsd !== null);
  return paid.flatMap((row): FreeCase[] => [
    { name: `402 ${row.path}`, target: () => row.path, units: REQUEST_COST },
    {
      name: `answer to ${row.path}`,
      target: (n) => `${row.path}?${openValues(row, n)}`,
      units: REQUEST_COST,
    },
  ]);
}

const AQI = 'signal_id=airquality.aqi';

/** Refusals and prices that take a stranger's text. */
function textCases({ pairs }: FreeSubject): FreeCase[] {
  const pair = (n: number): string => pairs[n % pairs.length] ?? '';
  const resolve = '/resolve?entity=AAPL&form=10-K&cutoff=2026-03-31';
  return [
    { name: '402 of a pair', target: (n) => `/gauge?${pair(n)}`, units: REQUEST_COST },
    { name: '402 of a series', target: (n) => `/gauge/history-series?${pair(n)}`, units: 1 },
    { name: '422, unknown name', target: (n) => `/gauge?${pair(n)}&x${n}=1`, units: REQUEST_COST },
    get('402 of a settlement', `${resolve}&market_or_event=${FRESH}`),
    get('402 of a settlement, 8 KB', `${resolve}&market_or_event=${FRESH}`, 7900),
    get('422, parameter missing', `/gauge?entity=${FRESH}`),
    get('422, unknown signal', `/gauge?entity=a&signal_id=${FRESH}`, LONG_CHARS),
    get('422, unknown entity', `/gauge?${AQI}&entity=${FRESH}`, LONG_CHARS),
    get('422, every letter', `/gauge?${AQI}&entity=qwertyuiopasdfghjklzxcvbnm-${FRESH}`),
    get('422, near many', `/gauge?signal_id=nas.ground_ops&entity=x${FRESH}`, 2),
    get('422, unknown city', `/gauge/air?loc=${FRESH}`, LONG_CHARS),
    get('422 of a free row', `/gauge/history-preview?${AQI}&entity=${FRESH}`, LONG_CHARS),
    get('422, no day', `/gauge/anchor?day=${FRESH}`),
    get(
      '422, 64 parameters',
      `/gauge?${Array.from({ length: 63 }, (_, n) => `${FRESH}${n}=1`).join('&')}`,
    ),
  ];
}

function rpc(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function tool(name: string, given: object): string {
  return rpc('tools/call', { name, arguments: given });
}

function offerOf(entity: string): string {
  return tool('get_official_record', { signal_id: 'airquality.aqi', entity });
}

const BATCH = 20;

/** A look-up that parses a long file each time. */
function rowCases({ row }: FreeSubject): FreeCase[] {
  const units = REQUEST_COST + costOfParsing(row.bytes);
  return [
    {
      name: 'verify, a row of the longest file',
      target: (n) => `/gauge/verify?hash=${row.hash}&x=${fresh(n, 8)}`,
      units,
    },
    {
      name: 'v, a row of the longest file',
      target: (n) => `/v/${row.hash}?x=${fresh(n, 8)}`,
      units,
    },
  ];
}

/** What a body is sent to; judged by what it costs in units, not by the median. */
function postCases({ hashes, pairs, record }: FreeSubject): FreeCase[] {
  const asked = (n: number): string => `/gauge?${pairs[n % pairs.length] ?? ''}&x=${n}`;
  const basket = (n: number): string =>
    JSON.stringify({
      requests: Array.from({ length: BASKET_REQUESTS_MAX }, (_, at) => asked(n + at)),
    });
  const hash = (n: number): string => hashes[(n * 37) % hashes.length] ?? '';
  const judged = judgingCost(checkCost(JSON.parse(record) as JsonValue));
  const zeros = `[${Array(100_000).fill(0).join(',')}]`;
  const full = tool('find_signal', { full: true });
  const batch = `[${Array(BATCH).fill(full).join(',')}]`;
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  return [
    post('POST /verify, a record', () => record, judged),
    post('POST /verify, nothing', () => '{"a":1}'),
    post('POST /gauge/basket, 30 records', basket, BASKET_REQUESTS_MAX),
    post('POST /mcp, initialize', () => rpc('initialize', hello)),
    post('POST /mcp, tools/list', () => rpc('tools/list', {})),
    post('POST /mcp, find_signal', () => tool('find_signal', {}), REQUEST_COST),
    post('POST /mcp, find_signal full', () => full, REQUEST_COST),
    post(
      'POST /mcp, search',
      (n) => tool('search', { query: `smog denver ${fresh(n, 8)}` }),
      REQUEST_COST + QUESTION_COST,
    ),
    post('POST /mcp, quote', () => tool('quote', { request: '/gauge/region' }), REQUEST_COST),
    post(
      'POST /mcp, find_signal, unknown',
      (n) => tool('find_signal', { signal_id: fresh(n, LONG_CHARS) }),
      REQUEST_COST,
    ),
    post(
      'POST /mcp, verify_citation',
      (n) => tool('verify_citation', { record_hash: hash(n) }),
      REQUEST_COST,
    ),
    post('POST /mcp, get_official_record', () => offerOf('us-denver'), REQUEST_COST),
    post('POST /mcp, record, unknown', (n) => offerOf(fresh(n, LONG_CHARS)), REQUEST_COST),
    post('POST /mcp, batch of 20 in full', () => batch, 2 * BATCH - 1),
    post('POST /mcp, 200 KB of no call', () => zeros),
  ];
}

/** Everything that can be asked without paying, GETs first. */
export function allCases(subject: FreeSubject): readonly FreeCase[] {
  return [
    ...freeCases(subject).map((one) => ({ ...one, isOperation: true })),
    ...[...FILE_TARGETS, ...assetTargets()].map((target) => get(target, target)),
    ...textCases(subject),
    ...unpaidCases(),
    ...rowCases(subject),
    ...postCases(subject),
  ];
}

/** A row of a stored file: looking its hash up parses the whole file. */
interface LookedUpRow {
  readonly hash: string;
  readonly bytes: number;
}

/** A row of the longest file of a data folder that a free look-up parses. */
export function longestRow(data: string): LookedUpRow {
  const files = parseFiles(readFileSync(join(data, 'current', FILES_NAME), 'utf8'));
  const sizes = new Map(files.map(({ path, size }) => [path, size]));
  let longest: LookedUpRow = { hash: '', bytes: 0 };
  for (const { path, sha256 } of files.filter((file) => file.path.startsWith('verify/'))) {
    const lines = readFileSync(join(data, storedPath(path, sha256)), 'utf8').split('\n');
    for (const { kind, file, record_hash } of lines.slice(0, -1).map(parseVerifyEntry)) {
      const bytes = (file === null ? undefined : sizes.get(file)) ?? 0;
      const isParsed = kind !== 'citation' && bytes <= RECOMPUTED_BYTES_MAX;
      if (isParsed && bytes > longest.bytes) longest = { hash: record_hash, bytes };
    }
  }
  return longest;
}

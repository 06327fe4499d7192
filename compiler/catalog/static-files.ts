import { defined } from '../format/errors.ts';
import { FILES_NAME, PUBLIC_LIST_URL, RELEASE_NAME } from '../format/release.ts';
import {
  SITE_CHANGES_PATH,
  SITE_DOCS_PATH,
  SITE_FEED_PATH,
  SITE_FOLDER,
  SITE_INDEX_PATH,
} from './site.ts';
import { WHOLE_CATALOG_PATH } from './whole-catalog.ts';

/** Free files that are served as they stand in a release, beside the operations of the table. */
export interface StaticRow {
  /** URL path; one that ends in `/` stands for every path below it, unless it is `exact`. */
  readonly url: string;
  readonly exact?: true;
  /** Path in the release, or the folder of it for a row that ends in `/`. */
  readonly path: string;
  /** The row is for paths with this end only. */
  readonly end?: string;
  readonly contentType: string;
  /** What stands at an `immutable` path never changes, in no release. */
  readonly cache: 'immutable' | 'release';
  /** What a reader finds there; rows with one are named by the manifest, OpenAPI and llms.txt. */
  readonly summary?: string;
  /** Belongs to the page for people: sent with its policy. */
  readonly site?: true;
  /** What it is to the service (RFC 8631, RFC 9727): the catalogue of APIs and `Link` headers name rows with one. */
  readonly rel?: LinkRelation;
}

type LinkRelation = 'service-desc' | 'service-doc' | 'service-meta' | 'api-catalog';

const TEXT = 'text/plain; charset=utf-8';
const BYTES = 'application/octet-stream';
const JSON_TYPE = 'application/json';
const MARKDOWN = 'text/markdown; charset=utf-8';
/** A set of links (RFC 9264) of the kind that RFC 9727 defines. */
const API_CATALOG_TYPE =
  'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
const SERVER_CARD_TYPE = 'application/mcp-server-card+json';

const file = (url: string, path: string, contentType: string): StaticRow => ({
  url,
  path,
  contentType,
  cache: 'release',
});
const described = (url: string, path: string, contentType: string): StaticRow =>
  file(url, `well-known/${path}`, contentType);

const named = (summary: string, row: StaticRow): StaticRow => ({ ...row, summary });
const linked = (rel: LinkRelation, row: StaticRow): StaticRow => ({ ...row, rel });
const logFile = (url: string): StaticRow => file(url, url.slice(1), TEXT);

const HTML = 'text/html; charset=utf-8';
const page = (url: string, path: string, contentType: string): StaticRow => ({
  ...file(url, path, contentType),
  exact: true,
  site: true,
});
/** What the page loads, by the end of its name. */
const part = (folder: 'assets' | 'data', end: string, contentType: string): StaticRow => ({
  url: `/site/${folder}/`,
  path: `${SITE_FOLDER}/${folder}/`,
  end,
  contentType,
  // Files of the bundle are named by their content.
  cache: folder === 'assets' ? 'immutable' : 'release',
  site: true,
});

/** The DID document in a release. */
export const DID_PATH = 'well-known/did.json';
/** Where the history of the issuer keys and the newest checkpoint of the log are read. */
export const KEYS_URL = '/.well-known/keys.json';
export const LOG_URL = '/log/checkpoint';
/** Where the catalogue of the release is read, and the head that proves it. */
export const CATALOG_URL = '/.well-known/catalog.json';
export const RELEASE_URL = '/.well-known/release.json';

/** The picture of the service, as directories show it. */
export const ICON_URL = '/og.png';

/** What agents are taught to do here, by the name under which they keep it. */
export const SKILL_NAME = 'official-readings';
export const SKILL_URL = `/.well-known/agent-skills/${SKILL_NAME}/SKILL.md`;

/** Where the document that defines every hash and signature is read. */
export const FORMAT_URL = '/format.md';
const FORMAT_SUMMARY = 'how bodies are hashed, signed and logged: verify one without this service';
/** That document and those that it leads on to: beside the code, where they are read, and where a release holds them. */
export const FORMAT_DOCUMENTS = ['FORMAT.md', 'AUDIT.md', 'PRODUCTS.md'].map((source) => {
  const name = source.toLowerCase();
  return { source, url: `/${name}`, path: `well-known/${name}` };
});
/** Every operation in full, for a language model. */
export const LLMS_FULL_URL = '/llms-full.txt';
/** The card of the tool server, also beside it. */
const SERVER_CARD_URL = '/.well-known/mcp/server-card.json';
const SERVER_CARD_NAME = 'mcp-server-card.json';

/** What is given away as files; the first row that fits counts. */
export const STATIC_FILES: readonly StaticRow[] = [
  linked(
    'service-desc',
    named('OpenAPI 3.1 description', described('/openapi.json', 'openapi.json', JSON_TYPE)),
  ),
  named(
    'every issuer key as a DID document',
    described('/.well-known/did.json', 'did.json', JSON_TYPE),
  ),
  linked(
    'service-meta',
    named('signed history of the issuer keys', described(KEYS_URL, 'keys.json', JSON_TYPE)),
  ),
  named(
    'catalogue: what is measured, of whom, by which scales, at which price',
    file(CATALOG_URL, WHOLE_CATALOG_PATH, JSON_TYPE),
  ),
  named(
    'signed head of the release, which proves the catalogue',
    file(RELEASE_URL, RELEASE_NAME, JSON_TYPE),
  ),
  named(
    'hash, size and path of every file that is free under each catalogue, to be had by hash and path',
    file(PUBLIC_LIST_URL, FILES_NAME, TEXT),
  ),
  ...FORMAT_DOCUMENTS.map(({ url, path }): StaticRow => {
    const row = file(url, path, MARKDOWN);
    // Whoever has read the first document knows of the others.
    return url === FORMAT_URL ? named(FORMAT_SUMMARY, row) : row;
  }),
  page('/', SITE_INDEX_PATH, HTML),
  page('/site/', SITE_INDEX_PATH, HTML),
  linked('service-doc', page('/docs', SITE_DOCS_PATH, HTML)),
  { ...file('/docs/', `${SITE_FOLDER}/docs/`, HTML), site: true },
  page('/changes.json', SITE_CHANGES_PATH, JSON_TYPE),
  page('/changes.atom', SITE_FEED_PATH, 'application/atom+xml; charset=utf-8'),
  page('/sitemap.xml', `${SITE_FOLDER}/sitemap.xml`, 'application/xml; charset=utf-8'),
  page(ICON_URL, `${SITE_FOLDER}/og.png`, 'image/png'),
  part('assets', '.js', 'text/javascript; charset=utf-8'),
  part('assets', '.css', 'text/css; charset=utf-8'),
  part('data', '.json', JSON_TYPE),
  described('/.well-known/security.txt', 'security.txt', TEXT),
  linked('service-doc', described('/llms.txt', 'llms.txt', TEXT)),
  linked('service-doc', described(LLMS_FULL_URL, 'llms-full.txt', TEXT)),
  linked(
    'api-catalog',
    described('/.well-known/api-catalog', 'api-catalog.json', API_CATALOG_TYPE),
  ),
  linked('service-meta', described(SERVER_CARD_URL, SERVER_CARD_NAME, SERVER_CARD_TYPE)),
  described('/mcp/server-card', SERVER_CARD_NAME, SERVER_CARD_TYPE),
  described('/server.json', 'server.json', JSON_TYPE),
  linked(
    'service-meta',
    described('/.well-known/agent-skills/index.json', 'agent-skills.json', JSON_TYPE),
  ),
  described(SKILL_URL, 'skill.md', MARKDOWN),
  linked(
    'service-meta',
    described('/.well-known/agent-registration.json', 'agent-registration.json', JSON_TYPE),
  ),
  described('/robots.txt', 'robots.txt', TEXT),
  described('/favicon.svg', 'favicon.svg', 'image/svg+xml'),
  described('/favicon.ico', 'favicon.svg', 'image/svg+xml'),
  named('signed checkpoint of the transparency log (C2SP tlog-tiles)', logFile(LOG_URL)),
  named('public key of the log checkpoints', logFile('/log/vkey')),
  { url: '/log/tile/', path: 'log/tile/', contentType: BYTES, cache: 'immutable' },
  { url: '/log/new/', path: 'log/new/', contentType: BYTES, cache: 'immutable' },
  { ...file('/log/anchor/', 'log/anchor/', JSON_TYPE), end: '.json' },
  { ...file('/log/anchor/', 'log/anchor/', BYTES), end: '.ots' },
];

/** Files that descriptions name, since a reader needs them to check what was bought. */
export const NAMED_FILES = STATIC_FILES.flatMap(({ url, summary }) =>
  summary === undefined ? [] : [{ path: url, summary }],
);

/** What describes the service, by its relation to it, in the order of the table. */
export const LINKED_FILES = STATIC_FILES.flatMap(({ url, contentType, rel }) =>
  rel === undefined ? [] : [{ url, contentType, rel }],
);

/** The value of a `Link` header (RFC 8288) that leads from an answer to what describes the service. */
export function serviceLinks(baseUrl: string): string {
  const shown = LINKED_FILES.filter(({ rel }) => rel !== 'service-meta');
  return shown.map(({ url, rel }) => `<${baseUrl}${url}>; rel="${rel}"`).join(', ');
}

/** The one link of an answer whose headers have to stay short: to the list of what describes the service. */
export function catalogLink(baseUrl: string): string {
  const { url, rel } = defined(
    LINKED_FILES.find((file) => file.rel === 'api-catalog'),
    'the API catalog of the table',
  );
  return `<${baseUrl}${url}>; rel="${rel}"`;
}

/** The row of a URL path and the path in the release, which need not exist there; null for any other URL. */
export function findStaticFile(url: string): { row: StaticRow; path: string } | null {
  const row = STATIC_FILES.find(({ url: known, exact, end = '' }) => {
    if (exact === true || !known.endsWith('/')) return known === url;
    return url.startsWith(known) && url.endsWith(end);
  });
  if (row === undefined) return null;
  return { row, path: row.path + url.slice(row.url.length) };
}

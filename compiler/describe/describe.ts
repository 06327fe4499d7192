import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { tagsOf } from '../catalog/operations.ts';
import {
  DID_PATH,
  FORMAT_DOCUMENTS,
  KEYS_URL,
  LINKED_FILES,
  LOG_URL,
} from '../catalog/static-files.ts';
import { toolsOf } from '../catalog/tools.ts';
import { encodeBase64Url } from '../format/did-key.ts';
import {
  formatKeyHistory,
  KEYS_PATH,
  type KeyHistory,
  keyStanding,
} from '../format/key-history.ts';
import { grouped } from '../format/lists.ts';
import { CONTRACT_VERSION } from '../format/release.ts';
import { endpointAt, type TablePath } from '../products/products.ts';
import { knownFilePath, type Values } from '../products/shapes/path.ts';
import { otherPrices } from '../products/shapes/price.ts';
import { requestForModel } from '../products/shapes/product.ts';
import type { Press } from '../release/press.ts';
import { jcs } from '../system/jcs.ts';
import { PACKAGE_FOLDER } from '../system/package-folder.ts';
import { readPlain } from '../system/plain-file.ts';
import type { Issuer, Sealer } from '../system/sealer.ts';
import { agentRegistration, skillIndex, skillText } from './agent-files.ts';
import { describeSite, type SiteMaterial } from './describe-site.ts';
import { describeDocs } from './docs.ts';
import type { Shelf } from './examples.ts';
import {
  type Described,
  described,
  forSale,
  type ManifestEntry,
  manifestBody,
  rowOf,
  withoutExamples,
} from './manifest.ts';
import { openApi } from './openapi.ts';
import { writeSearchIndex } from './search-index.ts';
import { FAVICON, llmsFullText, llmsText, robotsText, securityText } from './texts.ts';

/** Longest document, as this version of the package has it. */
const FORMAT_BYTES_MAX = 2 ** 20;

const DID_CONTEXT = ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'];

export interface Description {
  /** What was published before the descriptions. */
  readonly shelf: Shelf;
  /** `mailto:` or https address of the operator; null when none was given. */
  readonly contact: string | null;
  /** Whether subscriptions, and what they open, are offered. */
  readonly subscriptions: boolean;
  /** Issuer keys, past ones and announced ones too. */
  readonly keys: KeyHistory;
  /** What the page for people shows beside what is described. */
  readonly site: Omit<SiteMaterial, 'shelf' | 'entries' | 'keys'>;
}

/** Writes every description of the service; all of them are projections of the tables and of what is stored. */
export function describe(
  press: Press,
  { shelf, contact, subscriptions, keys, site }: Description,
): void {
  const { issuer, asOf } = press;
  const all = described(shelf, press.catalog, subscriptions);
  describeOffer(press, all, { contact, counts: site.counts });
  press.put('/manifest', { platform: 'mcp' }, { tools: toolsOf(press.catalog) });
  press.pack(DID_PATH, JSON.stringify(didDocument({ issuer, keys, asOf })));
  for (const { source, path } of FORMAT_DOCUMENTS) {
    const document = join(PACKAGE_FOLDER, 'compiler/format', source);
    press.pack(path, readPlain(document, FORMAT_BYTES_MAX));
  }
  press.pack(KEYS_PATH, formatKeyHistory(keys));
  press.file('well-known/robots.txt', robotsText(issuer));
  press.file('well-known/security.txt', securityText(issuer, asOf, contact));
  press.file('well-known/favicon.svg', FAVICON);
  press.file('well-known/api-catalog.json', JSON.stringify(apiCatalog(issuer)));
  press.file('well-known/mcp-server-card.json', JSON.stringify(serverCard(issuer)));
  press.file('well-known/server.json', JSON.stringify(registryEntry(issuer)));
  const skill = skillText(issuer);
  press.file('well-known/skill.md', skill);
  press.file('well-known/agent-skills.json', JSON.stringify(skillIndex(skill)));
  const registration = agentRegistration(issuer, CARD_DESCRIPTION);
  press.file('well-known/agent-registration.json', JSON.stringify(registration));
  const hasOtherNames = site.news?.hasOtherNames ?? true;
  writeSearchIndex(press, shelf, { entries: all.entries, hasOtherNames });
  describeSite(press, { ...site, shelf, keys, entries: all.entries });
}

/** The descriptions that name what is for sale. */
function describeOffer(
  press: Press,
  all: Described,
  { contact, counts }: Pick<Description, 'contact'> & Pick<Description['site'], 'counts'>,
): void {
  const { issuer, catalog } = press;
  const entries = forSale(all.entries);
  const card = { issuer, entries, catalog };
  const put = (path: TablePath, values: Values, body: object): void =>
    press.pack(knownFilePath(endpointAt(path), values), JSON.stringify(body));
  put('/manifest', {}, manifestBody(withoutExamples(entries)));
  put('/manifest', { all: '1' }, manifestBody(all.entries));
  put('/manifest', { platform: 'a2a' }, agentCard(card));
  put('/.well-known/agent-card.json', {}, signedCard(agentCard(card), press));
  put('/.well-known/agent.json', {}, legacyCard(card));
  const document = openApi({ issuer, contact, entries, bodies: all.bodies, catalog });
  press.pack('well-known/openapi.json', JSON.stringify(document));
  describeDocs(press, document);
  press.pack('well-known/llms.txt', llmsText({ issuer, catalog, counts }, entries));
  press.pack('well-known/llms-full.txt', llmsFullText({ issuer, catalog, counts }, entries));
}

/** The did:web document of the service's address: every issuer key, the current one first; only those that may sign assert. */
function didDocument({ issuer, keys, asOf }: { issuer: Issuer; keys: KeyHistory; asOf: string }) {
  const current = (did: string): boolean => did === issuer.did;
  const listed = [...keys.keys].sort((a, b) => Number(current(b.did)) - Number(current(a.did)));
  const valid = listed.filter((key) => keyStanding(keys, key.did, asOf) === 'valid');
  return {
    '@context': DID_CONTEXT,
    id: didWeb(issuer.baseUrl),
    alsoKnownAs: listed.map((key) => key.did),
    verificationMethod: listed.map((key) => ({
      id: key.key_id,
      type: 'Multikey',
      controller: key.did,
      publicKeyMultibase: key.did.slice('did:key:'.length),
      ...(key.valid_until === null ? {} : { expires: key.valid_until }),
      ...(key.revoked_from === null ? {} : { revoked: key.revoked_from }),
    })),
    assertionMethod: valid.map((key) => key.key_id),
  };
}

/** did:web spells host and port with `%3A`, and path segments with colons. */
function didWeb(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  const path = pathname.split('/').filter((part) => part !== '');
  return ['did:web', host.replace(':', '%3A'), ...path].join(':');
}

const CARD_VERSION = '2.0';
const PROTOCOL_BINDING = 'HTTP+x402';
const PROTOCOL_VERSION = '1.0';
const LEGACY_PROTOCOL_VERSION = '0.3.0';
const JSON_MODE = ['application/json'];

const NOT_IMPLEMENTED =
  'The A2A message transport is NOT implemented: skills are plain HTTP GET endpoints, paid per call through x402.';
const CARD_DESCRIPTION =
  'Stored snapshots of official-source readings as signed records, verifiable offline. Descriptive only.';

const cardText = (baseUrl: string): string =>
  `${CARD_DESCRIPTION} ${NOT_IMPLEMENTED} Issuer keys: ${baseUrl}${KEYS_URL}. Transparency log: ${baseUrl}${LOG_URL}.`;

interface CardOptions {
  readonly issuer: Issuer;
  readonly catalog: Catalog;
  readonly entries: readonly ManifestEntry[];
}

/** The capability card: what can be bought, as skills. Only members that A2A v1.0 knows, since only those are signed. */
function agentCard({ issuer, entries, catalog }: CardOptions) {
  const { baseUrl, name } = issuer;
  return {
    name,
    description: cardText(baseUrl),
    supportedInterfaces: [
      { url: baseUrl, protocolBinding: PROTOCOL_BINDING, protocolVersion: PROTOCOL_VERSION },
    ],
    provider: { url: baseUrl, organization: name },
    version: CARD_VERSION,
    documentationUrl: `${baseUrl}/llms.txt`,
    iconUrl: `${baseUrl}/favicon.svg`,
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: JSON_MODE,
    defaultOutputModes: JSON_MODE,
    skills: skills({ issuer, entries, catalog }),
  };
}

function skills({ issuer: { baseUrl }, entries, catalog }: CardOptions) {
  return entries
    .filter((entry) => entry.price_atomic !== '0')
    .map((entry) => ({
      id: entry.path.slice(1).replaceAll('/', '.'),
      name: `${entry.method} ${entry.path}`,
      description: `${entry.description}. ${entry.price_usd} USD a call${otherPrices(entry.price_by_signal ?? null)} through x402.`,
      tags: [...new Set(['x402', ...tagsOf(entry.subjects ?? entry.path.slice(1).split(/[/-]/))])],
      examples: [baseUrl + requestForModel(rowOf(entry, catalog), entry.input_example_request)],
      inputModes: JSON_MODE,
      outputModes: JSON_MODE,
    }));
}

/** The card with a JWS (RFC 7515, EdDSA) over its canonical JSON without `signatures`. */
export function signedCard(card: object, { issuer, sealer }: { issuer: Issuer; sealer: Sealer }) {
  const header = { alg: 'EdDSA', kid: issuer.keyId, typ: 'JOSE' };
  const encode = (text: string): string => encodeBase64Url(new TextEncoder().encode(text));
  const signed = encode(jcs(header));
  const signature = sealer.signText(`${signed}.${encode(jcs(card))}`);
  return { ...card, signatures: [{ protected: signed, signature }] };
}

/** The card in its v0.3 shape, for clients that ask for `/.well-known/agent.json`. */
function legacyCard({ issuer, entries, catalog }: CardOptions) {
  const { baseUrl, name } = issuer;
  return {
    protocolVersion: LEGACY_PROTOCOL_VERSION,
    name,
    description: cardText(baseUrl),
    url: baseUrl,
    preferredTransport: PROTOCOL_BINDING,
    provider: { url: baseUrl, organization: name },
    version: CARD_VERSION,
    documentationUrl: `${baseUrl}/llms.txt`,
    iconUrl: `${baseUrl}/favicon.svg`,
    capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
    defaultInputModes: JSON_MODE,
    defaultOutputModes: JSON_MODE,
    skills: skills({ issuer, entries, catalog }),
  };
}

// What crawlers and clients read before they know anything of the service: where its descriptions are, and how its tool
// server is reached. All of it follows from the table of files and the address.

/** Operations that describe the service, beside the files that do. */
const DESCRIBING: readonly TablePath[] = ['/.well-known/x402', '/.well-known/agent-card.json'];

/** `/.well-known/api-catalog` (RFC 9727): one API, with links to everything that describes it, and its tool server. */
export function apiCatalog({ baseUrl, name }: Issuer): object {
  const type = 'application/json';
  const operations = DESCRIBING.map((url) => {
    return { url, contentType: type, rel: 'service-meta' } as const;
  });
  const others = [...LINKED_FILES, ...operations].filter(({ rel }) => rel !== 'api-catalog');
  const targets = [...grouped(others, ({ rel }) => rel)].map(([rel, rows]) => {
    return [rel, rows.map(({ url, contentType }) => ({ href: baseUrl + url, type: contentType }))];
  });
  const item = [{ href: `${baseUrl}/mcp`, type }];
  return { linkset: [{ anchor: baseUrl, title: name, ...Object.fromEntries(targets), item }] };
}

const REGISTRY_SCHEMA =
  'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json';
/** Both formats allow 100 characters. */
const INDEX_DESCRIPTION =
  'Signed records of official readings: find, price and verify them; paid per call by x402';
const TITLE_CHARS_MAX = 100;

/** The card of the tool server (draft SEP-2127): how it is reached, not what it offers; that is asked of it. */
export function serverCard(issuer: Issuer): object {
  return { $schema: CARD_SCHEMA, ...toolServer(issuer) };
}

/** What an operator hands to a registry of tool servers (`server.json`, schema of 2025-12-11). */
export function registryEntry(issuer: Issuer): object {
  return { $schema: REGISTRY_SCHEMA, ...toolServer(issuer) };
}

function toolServer({ baseUrl, name }: Issuer): object {
  return {
    name: `${namespaceOf(baseUrl)}/signals`,
    title: [...name].slice(0, TITLE_CHARS_MAX).join(''),
    description: INDEX_DESCRIPTION,
    // As the tool server itself says it.
    version: `${CONTRACT_VERSION}.0.0`,
    websiteUrl: baseUrl,
    remotes: [{ type: 'streamable-http', url: `${baseUrl}/mcp` }],
  };
}

/** The host with its labels turned round, as registries ask for it; an address of digits stays as it is. */
function namespaceOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const isAddress = /^[0-9.]+$/.test(hostname) || hostname.startsWith('[');
  return isAddress
    ? hostname.replace(/[^0-9a-f.]+/g, '-')
    : hostname.split('.').reverse().join('.');
}

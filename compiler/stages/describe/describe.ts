import { join } from 'node:path';
import { endpointAt, type TablePath } from '../../contract/endpoints.ts';
import {
  formatKeyHistory,
  KEYS_PATH,
  type KeyHistory,
  keyStanding,
} from '../../contract/key-history.ts';
import { knownFilePath, type Values } from '../../contract/path.ts';
import { SITE_DOCS_PATH } from '../../contract/site.ts';
import { DID_PATH, FORMAT_DOCUMENTS } from '../../contract/static-files.ts';
import { toolsOf } from '../../contract/tools.ts';
import { PACKAGE_FOLDER } from '../../package-folder.ts';
import { readPlain } from '../../verify/plain-file.ts';
import type { Press } from '../publish/press.ts';
import type { Issuer } from '../seal/sealer.ts';
import { agentCard, legacyCard, signedCard } from './agent-card.ts';
import { apiCatalog, registryEntry, serverCard } from './discovery.ts';
import { type Described, described, forSale, manifestBody, withoutExamples } from './manifest.ts';
import { openApi } from './openapi.ts';
import { writeSearchIndex } from './search-index.ts';
import { siteAssets } from './site/assets.ts';
import { describeSite, type SiteMaterial } from './site/describe-site.ts';
import { docsPage } from './site/docs-page.ts';
import type { Shelf } from './stored-bodies.ts';
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
  describeOffer(press, all, contact);
  press.put('/manifest', { platform: 'mcp' }, { tools: toolsOf(press.catalog) });
  press.pack(DID_PATH, JSON.stringify(didDocument({ issuer, keys, asOf })));
  for (const { source, path } of FORMAT_DOCUMENTS) {
    const document = join(PACKAGE_FOLDER, 'compiler/contract', source);
    press.pack(path, readPlain(document, FORMAT_BYTES_MAX));
  }
  press.pack(KEYS_PATH, formatKeyHistory(keys));
  press.file('well-known/robots.txt', robotsText(issuer));
  press.file('well-known/security.txt', securityText({ issuer, asOf, contact }));
  press.file('well-known/favicon.svg', FAVICON);
  press.file('well-known/api-catalog.json', JSON.stringify(apiCatalog(issuer)));
  press.file('well-known/mcp-server-card.json', JSON.stringify(serverCard(issuer)));
  press.file('well-known/server.json', JSON.stringify(registryEntry(issuer)));
  const hasOtherNames = site.news?.hasOtherNames ?? true;
  writeSearchIndex(press, shelf, { entries: all.entries, hasOtherNames });
  describeSite(press, { ...site, shelf, keys, entries: all.entries });
}

/** The descriptions that name what is for sale. */
function describeOffer(press: Press, all: Described, contact: string | null): void {
  const { issuer, catalog } = press;
  const entries = forSale(all.entries);
  const card = { issuer, entries };
  const put = (path: TablePath, values: Values, body: object): void =>
    press.pack(knownFilePath(endpointAt(path), values), JSON.stringify(body));
  put('/manifest', {}, manifestBody(withoutExamples(entries)));
  put('/manifest', { all: '1' }, manifestBody(all.entries));
  put('/manifest', { platform: 'a2a' }, agentCard(card));
  put('/.well-known/agent-card.json', {}, signedCard(agentCard(card), press));
  put('/.well-known/agent.json', {}, legacyCard(card));
  const document = openApi({ issuer, contact, entries, bodies: all.bodies, catalog });
  press.pack('well-known/openapi.json', JSON.stringify(document));
  const docs = docsPage(document, { issuer, assets: siteAssets() });
  press.pack(SITE_DOCS_PATH, docs);
  press.pack('well-known/llms.txt', llmsText({ issuer, catalog }, entries));
  press.pack('well-known/llms-full.txt', llmsFullText({ issuer, catalog }, entries));
}

interface DidParts {
  readonly issuer: Issuer;
  readonly keys: KeyHistory;
  /** The time that the document speaks about. */
  readonly asOf: string;
}

/** The did:web document of the service's address: every issuer key, the current one first; only those that may sign assert. */
function didDocument({ issuer, keys, asOf }: DidParts) {
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

import { grouped } from '../../contract/lists.ts';
import { CONTRACT_VERSION } from '../../contract/release.ts';
import { LINKED_FILES } from '../../contract/static-files.ts';
import type { Issuer } from '../seal/sealer.ts';

// What crawlers and clients read before they know anything of the service: where its descriptions are, and how its tool
// server is reached. All of it follows from the table of files and the address.

/** `/.well-known/api-catalog` (RFC 9727): one API, with links to everything that describes it. */
export function apiCatalog({ baseUrl, name }: Issuer): object {
  const others = LINKED_FILES.filter(({ rel }) => rel !== 'api-catalog');
  const targets = [...grouped(others, ({ rel }) => rel)].map(([rel, rows]) => {
    return [rel, rows.map(({ url, contentType: type }) => ({ href: baseUrl + url, type }))];
  });
  return { linkset: [{ anchor: baseUrl, title: name, ...Object.fromEntries(targets) }] };
}

const REGISTRY_SCHEMA =
  'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json';
/** Both formats allow 100 characters. */
const DESCRIPTION =
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
    description: DESCRIPTION,
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

import { findEndpoint } from '../../contract/endpoints.ts';
import { DAY_MS } from '../../contract/iso-time.ts';
import type { Issuer } from '../seal/sealer.ts';
import type { ManifestEntry } from './manifest.ts';

/** Days for which the security contact is said to hold; RFC 9116 asks for less than a year. */
const SECURITY_DAYS = 364;

export interface TextOptions {
  readonly issuer: Issuer;
  readonly entries: readonly ManifestEntry[];
  readonly asOf: string;
  /** `mailto:` or https address of the operator; null when none was given. */
  readonly contact: string | null;
}

/** What a language model needs to use the service, one screen of Markdown. */
export function llmsText({ issuer, entries }: TextOptions): string {
  const { baseUrl, name } = issuer;
  const link = (entry: ManifestEntry): string =>
    `- [${entry.path}](${baseUrl}${entry.input_example_request}): ${entry.description}` +
    (entry.price_atomic === '0' ? '' : `, ${entry.price_usd} USD`);
  const open = entries.filter((entry) => entry.sells_now && entry.method === 'GET');
  const paid = open.filter((entry) => entry.price_atomic !== '0').map(link);
  const unpriced = open.filter((entry) => entry.price_atomic === '0');
  const gated = unpriced.filter(needsToken).map(link);
  const free = unpriced.filter((entry) => !needsToken(entry)).map(link);
  return [
    `# ${name}`,
    '',
    '> Stored snapshots of official-source readings as signed JSON records, sold per call through x402. Descriptive only: no forecast, no advice.',
    '',
    GUIDANCE,
    '',
    `Machine-readable: [OpenAPI](${baseUrl}/openapi.json), [manifest](${baseUrl}/manifest?all=1), MCP tools at \`POST ${baseUrl}/mcp\`.`,
    '',
    '## Free',
    '',
    ...free,
    '',
    '## Paid, charged only when the answer is 200',
    '',
    ...paid,
    '',
    '## Opened by a token of /gauge/subscribe, sent as Authorization: Bearer',
    '',
    ...gated,
    '',
  ].join('\n');
}

const needsToken = ({ path }: ManifestEntry): boolean => findEndpoint(path)?.token === true;

/** The same in a few sentences, for the OpenAPI description. */
export const GUIDANCE = [
  'Find a legal pair of signal_id and entity at /gauge/catalog, then GET the paid URL.',
  'It answers 402 with the price; sign the EIP-3009 authorization and send the same request again with X-PAYMENT.',
  'A 422 is never charged and holds an example_request that answers.',
  'After a lost answer or a 503, send the same X-PAYMENT again: the same body comes back without a second charge.',
  'Above 0.10 USD raise the cap of your client; client_hint says how.',
  'Every record_hash can be recomputed offline and looked up free at /gauge/verify; _citation is signed with Ed25519.',
].join(' ');

export function robotsText({ issuer }: TextOptions): string {
  return ['User-agent: *', 'Allow: /', '', `# ${issuer.baseUrl}/llms.txt`, ''].join('\n');
}

/** RFC 9116; without a contact the service's own address stands there. */
export function securityText({ issuer, asOf, contact }: TextOptions): string {
  const expires = new Date(Date.parse(asOf) + SECURITY_DAYS * DAY_MS).toISOString();
  return [
    `Contact: ${contact ?? issuer.baseUrl}`,
    `Expires: ${expires}`,
    `Canonical: ${issuer.baseUrl}/.well-known/security.txt`,
    'Preferred-Languages: en',
    '',
  ].join('\n');
}

/** A gauge: an arc and a needle. */
export const FAVICON = [
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
  '<rect width="32" height="32" rx="6" fill="#12324a"/>',
  '<path d="M6 22a10 10 0 0 1 20 0" fill="none" stroke="#f4f1e8" stroke-width="3" stroke-linecap="round"/>',
  '<path d="M16 22l5-8" stroke="#f2b134" stroke-width="2.5" stroke-linecap="round"/>',
  '<circle cx="16" cy="22" r="2.2" fill="#f2b134"/>',
  '</svg>',
  '',
].join('\n');

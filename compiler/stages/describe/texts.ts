import type { Catalog } from '../../contract/catalog/catalog.ts';
import type { Param } from '../../contract/endpoints.ts';
import { DAY_MS } from '../../contract/iso-time.ts';
import { otherPrices } from '../../contract/price.ts';
import { LLMS_FULL_URL, NAMED_FILES } from '../../contract/static-files.ts';
import type { Issuer } from '../seal/sealer.ts';
import { isCharged } from './error-responses.ts';
import { type ManifestEntry, rowOf } from './manifest.ts';
import { guideOf } from './operation-guides.ts';

/** Days for which the security contact is said to hold; RFC 9116 asks for less than a year. */
const SECURITY_DAYS = 364;

interface Described {
  readonly issuer: Issuer;
  readonly catalog: Catalog;
}

/** What a language model needs to use the service, one screen of Markdown; `entries` are for sale. */
export function llmsText(of: Described, entries: readonly ManifestEntry[]): string {
  return modelText(of, entries, (entry) => [line(entry, of.issuer.baseUrl)]);
}

/** The same with the question that each operation answers, and with its parameters. */
export function llmsFullText(of: Described, entries: readonly ManifestEntry[]): string {
  return modelText(of, entries, (entry) => [
    line(entry, of.issuer.baseUrl),
    `  ${guideOf(entry, of.catalog)}`,
    ...Object.entries(entry.params).map(([name, param]) => parameterLine(name, param)),
  ]);
}

function modelText(
  { issuer: { baseUrl, name }, catalog }: Described,
  entries: readonly ManifestEntry[],
  linesOf: (entry: ManifestEntry) => readonly string[],
): string {
  const isPaid = (entry: ManifestEntry): boolean => isCharged(rowOf(entry, catalog));
  const unpriced = entries.filter((entry) => !isPaid(entry));
  const gated = unpriced.filter((entry) => rowOf(entry, catalog).token);
  const free = unpriced.filter((entry) => !rowOf(entry, catalog).token);
  const paid = entries.filter(isPaid);
  return [
    `# ${name}`,
    '',
    '> Stored snapshots of official-source readings as signed JSON records, sold per call through x402. Descriptive only: no forecast, no advice.',
    '',
    GUIDANCE,
    '',
    `Machine-readable: [OpenAPI](${baseUrl}/openapi.json), [manifest](${baseUrl}/manifest?all=1), [every operation in full](${baseUrl}${LLMS_FULL_URL}), MCP tools at \`POST ${baseUrl}/mcp\`.`,
    '',
    ...section('Free', free.flatMap(linesOf)),
    ...section('Paid, charged only when the answer is 200', paid.flatMap(linesOf)),
    ...section(
      'Needs a token of /gauge/subscribe, sent as Authorization: Bearer',
      gated.flatMap(linesOf),
    ),
    ...section(
      'Keys and log, to check what was bought',
      NAMED_FILES.map(({ path, summary }) => `- [${path}](${baseUrl}${path}): ${summary}`),
    ),
  ].join('\n');
}

/** A link for what a GET asks, else the request line alone. */
function line(entry: ManifestEntry, baseUrl: string): string {
  const { method, path, input_example_request: example, description, price_usd } = entry;
  const other = otherPrices(entry.price_by_signal ?? null);
  const link = method === 'GET' ? `[${path}](${baseUrl}${example})` : `${method} ${path}`;
  return `- ${link}: ${description}${entry.price_atomic === '0' ? '' : `, ${price_usd} USD${other}`}`;
}

function parameterLine(name: string, { required, description, enum: legal }: Param): string {
  const values = legal === undefined ? '' : `; one of ${legal.join(', ')}`;
  return `  - \`${name}\`${required ? ', required' : ''}: ${description}${values}`;
}

/** A heading with its lines; nothing if there are no lines. */
function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, ''];
}

/** The same in a few sentences, for the OpenAPI description. */
export const GUIDANCE = [
  'Find what you need by words at /gauge/search, or a legal pair of signal_id and entity at /gauge/catalog, then GET the paid URL.',
  'It answers 402 with the price; sign the EIP-3009 authorization and send the same request again with X-PAYMENT.',
  'Where format=thin is offered, it is the short form, signed by itself.',
  'A signed answer that is sold brings _proof, that it is in the log; proof=0 in the query leaves it out.',
  'A 422 is never charged: its error names a free request that lists or finds what you asked for; its example_request works, and may be about another subject.',
  'After a lost answer or a 503, send the same X-PAYMENT again: the same body comes back without a second charge, to its buyer alone: from the same address for 10 minutes, later and for a token with the PAYMENT-IDENTIFIER of the first request or SIGN-IN-WITH-X.',
  'Above 0.10 USD, raise the cap of your client; client_hint says how.',
  'Every record_hash can be recomputed offline and looked up free at /gauge/verify; _citation is signed with Ed25519.',
].join(' ');

export function robotsText({ baseUrl }: Issuer): string {
  return [
    'User-agent: *',
    'Allow: /',
    '',
    `# ${baseUrl}/llms.txt`,
    `Sitemap: ${baseUrl}/sitemap.xml`,
    '',
  ].join('\n');
}

interface SecurityOptions {
  readonly issuer: Issuer;
  readonly asOf: string;
  /** `mailto:` or https address of the operator; null when none was given. */
  readonly contact: string | null;
}

/** RFC 9116; without a contact the service's own address stands there. */
export function securityText({ issuer, asOf, contact }: SecurityOptions): string {
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

import { encodeBase64Url } from '../../contract/did-key.ts';
import { otherPrices } from '../../contract/price.ts';
import { KEYS_URL, LOG_URL } from '../../contract/static-files.ts';
import { jcs } from '../seal/jcs.ts';
import type { Issuer, Sealer } from '../seal/sealer.ts';
import type { ManifestEntry } from './manifest.ts';

const CARD_VERSION = '2.0';
const PROTOCOL_BINDING = 'HTTP+x402';
const PROTOCOL_VERSION = '1.0';
const LEGACY_PROTOCOL_VERSION = '0.3.0';
const JSON_MODE = ['application/json'];

const NOT_IMPLEMENTED =
  'The A2A message transport is NOT implemented: skills are plain HTTP GET endpoints, paid per call through x402.';
const DESCRIPTION =
  'Stored snapshots of official-source readings as signed records, verifiable offline. Descriptive only.';

const cardText = (baseUrl: string): string =>
  `${DESCRIPTION} ${NOT_IMPLEMENTED} Issuer keys: ${baseUrl}${KEYS_URL}. Transparency log: ${baseUrl}${LOG_URL}.`;

interface CardOptions {
  readonly issuer: Issuer;
  /** What is for sale. */
  readonly entries: readonly ManifestEntry[];
}

/** The capability card: what can be bought, as skills. Only members that A2A v1.0 knows, since only those are signed. */
export function agentCard({ issuer, entries }: CardOptions) {
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
    skills: skills(entries, baseUrl),
  };
}

/** One skill for each operation that costs. */
function skills(entries: readonly ManifestEntry[], baseUrl: string) {
  return entries
    .filter((entry) => entry.price_atomic !== '0')
    .map((entry) => ({
      id: entry.path.slice(1).replaceAll('/', '.'),
      name: `${entry.method} ${entry.path}`,
      description: `${entry.description}. ${entry.price_usd} USD a call${otherPrices(entry.price_by_signal ?? null)} through x402.`,
      tags: tagsOf(entry.path),
      examples: [baseUrl + entry.input_example_request],
      inputModes: JSON_MODE,
      outputModes: JSON_MODE,
    }));
}

function tagsOf(path: string): string[] {
  return [...new Set(['x402', ...path.slice(1).split(/[/-]/)])];
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
export function legacyCard({ issuer, entries }: CardOptions) {
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
    skills: skills(entries, baseUrl),
  };
}

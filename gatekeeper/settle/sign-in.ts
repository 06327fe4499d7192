import { z } from 'zod';
import { decodeUtf8, JsonError, parseJson } from '../../compiler/format/strict-json.ts';
import { keccak256 } from './address.ts';
import type { Network } from './networks.ts';
import type { Refusal } from './payment.ts';
import { recoverPayer, SIGNATURE_CHARS_MAX } from './signature.ts';

/** Name of the x402 extension by which an account shows who it is. */
export const SIGN_IN = 'sign-in-with-x';

const HEADER_CHARS_MAX = 8192;
/** How long a message may be used after it was issued. */
const SIGN_IN_MS = 300_000;
/** A message is issued by our clock, unless its client made it alone. */
const AHEAD_MS_MAX = 5000;
const NONCE_BYTES = 16;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
// Whatever is signed stands in a line of its own, so no member may hold another line.
const line = z
  .string()
  .max(2048)
  .regex(/^[\x20-\x7e]+$/);
const time = z
  .string()
  .max(40)
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/)
  .refine((text) => !Number.isNaN(Date.parse(text)));
const message = z.object({
  domain: line,
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  statement: line.optional(),
  uri: line,
  version: z.literal('1'),
  chainId: line,
  type: z.literal('eip191'),
  nonce: z.string().regex(/^[A-Za-z0-9]{8,64}$/),
  issuedAt: time,
  expirationTime: time.optional(),
  notBefore: time.optional(),
  requestId: line.optional(),
  resources: z.array(line).max(16).optional(),
  // That of an account with code may have another length.
  signature: z
    .string()
    .max(SIGNATURE_CHARS_MAX)
    .regex(/^0x([0-9a-fA-F]{2})+$/),
});
type Message = z.infer<typeof message>;

export interface SignIn extends Pick<Message, 'domain' | 'uri'> {
  /** Lower case. */
  readonly address: string;
  readonly nonce: string;
  readonly network: Network;
  /** The key of the account signed; else its code may have, on that network. */
  readonly isByKey: boolean;
  /** The 32 bytes that were signed. */
  readonly digest: Uint8Array;
  readonly signature: string;
}

/** What only the code of an account can judge. */
export type CodeSignature = Pick<SignIn, 'address' | 'network' | 'digest' | 'signature'>;
/** Asks the code of an account on its network; throws when nobody says. */
export type AskCode = (signature: CodeSignature) => Promise<boolean>;

/** Reads the value of `SIGN-IN-WITH-X`; never throws for what it holds. What it was made for is looked at by `placeFault`. */
export function readSignIn(
  header: string,
  terms: { networks: readonly Network[]; nowMs: number },
): SignIn | Refusal {
  const json = parsed(header);
  const read = message.safeParse(json);
  if (!read.success) {
    const field = read.error.issues[0]?.path.join('.') || 'the header';
    return signInRefusal(
      'payload',
      `${field} is missing or malformed; send the header once, in base64`,
    );
  }
  const refused = timeFault(read.data, terms.nowMs);
  if (refused !== null) return refused;
  const { domain, uri, nonce, signature, chainId } = read.data;
  const network = terms.networks.find(({ caip2 }) => caip2 === chainId);
  if (network === undefined) {
    return signInRefusal('unsupported_chain', '"chainId" must be that of an entry of "accepts"');
  }
  const address = read.data.address.toLowerCase();
  const digest = signedDigest(signInText(read.data));
  const isByKey = recoverPayer(digest, signature) === address;
  return { domain, uri, address, nonce, network, isByKey, digest, signature };
}

function parsed(header: string): unknown {
  if (header.length > HEADER_CHARS_MAX || !BASE64.test(header)) return null;
  try {
    return parseJson(decodeUtf8(Buffer.from(header, 'base64')), { depth: 4 });
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    return null;
  }
}

export function signInRefusal(reason: string, error: string): Refusal {
  return { reason: `invalid_siwx_${reason}`, error: `${error}; nothing was delivered` };
}

/** Why a message is not for this URL; null where it is. */
export function placeFault(
  { domain, uri }: Pick<SignIn, 'domain' | 'uri'>,
  url: string,
): Refusal | null {
  if (domain !== new URL(url).host)
    return signInRefusal('domain_mismatch', `"domain" must be "${new URL(url).host}"`);
  return uri === url ? null : signInRefusal('uri_mismatch', `"uri" must be "${url}"`);
}

function timeFault(
  { issuedAt, expirationTime, notBefore }: Message,
  nowMs: number,
): Refusal | null {
  const age = nowMs - Date.parse(issuedAt);
  if (age < -AHEAD_MS_MAX)
    return signInRefusal('issued_at_in_future', '"issuedAt" is in the future');
  if (age > SIGN_IN_MS) {
    const error = `"issuedAt" is over ${SIGN_IN_MS / 1000} s ago; sign the message of a new 402`;
    return signInRefusal('issued_at_too_old', error);
  }
  if (expirationTime !== undefined && Date.parse(expirationTime) < nowMs)
    return signInRefusal('expired', '"expirationTime" is over; sign the message of a new 402');
  if (notBefore !== undefined && Date.parse(notBefore) > nowMs)
    return signInRefusal('not_yet_valid', '"notBefore" is in the future');
  return null;
}

/** The text of ERC-4361 that a wallet shows and signs. */
function signInText(of: Omit<Message, 'signature' | 'type'>): string {
  const optional = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${name}: ${value}`];
  return [
    `${of.domain} wants you to sign in with your Ethereum account:`,
    of.address,
    '',
    ...(of.statement === undefined ? [''] : [of.statement, '']),
    `URI: ${of.uri}`,
    `Version: ${of.version}`,
    `Chain ID: ${of.chainId.replace('eip155:', '')}`,
    `Nonce: ${of.nonce}`,
    `Issued At: ${of.issuedAt}`,
    ...optional('Expiration Time', of.expirationTime),
    ...optional('Not Before', of.notBefore),
    ...optional('Request ID', of.requestId),
    ...(of.resources === undefined ? [] : ['Resources:', ...of.resources.map((one) => `- ${one}`)]),
  ].join('\n');
}

/** What a wallet signs for a text (EIP-191). */
function signedDigest(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`, 'utf8');
  return keccak256(Buffer.concat([prefix, bytes]));
}

/** What a challenge needs for a message that nobody else gets. */
export interface SignInSource {
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
}

/** How a challenge asks an account who it is; `url` is that of the request. */
export function signInDeclaration(
  url: string,
  { networks, clock, random }: SignInSource & { readonly networks: readonly Network[] },
): object {
  const info = {
    domain: new URL(url).host,
    uri: url,
    version: '1',
    nonce: random(NONCE_BYTES).toString('hex'),
    issuedAt: new Date(clock()).toISOString(),
  };
  // A chain is named once, whatever tokens are taken on it.
  const chains = new Set(networks.map(({ caip2 }) => caip2));
  const supportedChains = [...chains].map((chainId) => ({ chainId, type: 'eip191' }));
  return { info, supportedChains, schema: SCHEMA };
}

// Short, because it stands in a header; what a message holds, ERC-4361 says.
const SCHEMA = { type: 'object' };

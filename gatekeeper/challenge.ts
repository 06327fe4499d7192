import type { Endpoint, Param } from '../compiler/contract/endpoints.ts';
import { atomicAmount } from '../compiler/contract/price.ts';
import { clientHint } from './client-hint.ts';
import type { Network } from './networks.ts';
import { outputExample } from './output-example.ts';
import type { X402Version } from './payment-header.ts';
import { type Header, NO_STORE, type Reply } from './reply.ts';
import { checksumAddress } from './signature.ts';

/** Seconds that a payer's authorization should last. */
export const MAX_TIMEOUT_SECONDS = 300;
/** Ready challenges kept, each a few KB. */
export const CHALLENGE_CACHE_MAX = 1000;
/** Longest `path?query` that is kept ready and that the v2 header repeats; headers stay well under 16 KB. */
export const CHALLENGE_TARGET_CHARS_MAX = 1024;
/** Longest list of legal values that the v2 header repeats; the v1 body has them all. */
export const HEADER_ENUM_MAX = 24;

interface CommonRequirements {
  readonly scheme: 'exact';
  readonly network: string;
  readonly payTo: string;
  readonly asset: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}
/** One `accepts[]` entry of x402 v1. */
export interface RequirementsV1 extends CommonRequirements {
  readonly maxAmountRequired: string;
  readonly resource: string;
  readonly description: string;
  readonly mimeType: string;
  readonly outputSchema: object;
}
/** One `accepts[]` entry of x402 v2. */
export interface RequirementsV2 extends CommonRequirements {
  readonly amount: string;
}
export type Requirements = RequirementsV1 | RequirementsV2;

/** A 402 in both versions: the v1 body and the base64 value of the v2 `PAYMENT-REQUIRED` header. */
export interface Challenge {
  readonly status: 402;
  readonly body: Buffer;
  readonly paymentRequired: string;
}

/** What the operator configures about being paid. */
export interface ChallengerOptions {
  /** Public origin without a trailing slash. */
  readonly baseUrl: string;
  readonly payTo: string;
  readonly network: Network;
  /** Shown by v2 catalogues, 1 to 32 printable ASCII characters. */
  readonly serviceName: string;
}

/** Makes challenges, and the requirements that a facilitator is sent for them. */
export interface Challenger {
  readonly network: Network;
  /** `target` is the canonical `path?query` of the request, the path alone for a price question. */
  challenge(endpoint: Endpoint, target: string, error?: string): Challenge;
  /** What was challenged, in the shape of one version. */
  requirements(endpoint: Endpoint, target: string, version: X402Version): Requirements;
}

const ERROR_V1 = 'X-PAYMENT header is required';
const ERROR_V2 = 'PAYMENT-SIGNATURE header is required';
const ERROR_SLOT = '@@error@@';
const RESOURCE_SLOT = '@@resource@@';
const SERVICE_NAME = /^[\x20-\x7e]{1,32}$/;

/** Checks the operator's terms once and makes everything that no request changes ready; throws a RangeError. */
export function challenger(options: ChallengerOptions): Challenger {
  const checked = checkedOptions(options);
  const templates = new WeakMap<Endpoint, Template>();
  const cache = new Map<string, Challenge>();
  const templateOf = (endpoint: Endpoint): Template => {
    const known = templates.get(endpoint);
    if (known !== undefined) return known;
    const made = template(endpoint, checked);
    templates.set(endpoint, made);
    return made;
  };
  return {
    network: checked.network,
    challenge(endpoint, target, error) {
      if (error !== undefined) return fill(templateOf(endpoint), target, error);
      const key = `${endpoint.path} ${target}`;
      const known = cache.get(key);
      if (known !== undefined) return known;
      const made = fill(templateOf(endpoint), target);
      if (target.length <= CHALLENGE_TARGET_CHARS_MAX) keep(cache, key, made);
      return made;
    },
    requirements(endpoint, target, version) {
      const { v1, v2 } = templateOf(endpoint);
      return version === 2 ? v2 : { ...v1, resource: checked.baseUrl + target };
    },
  };
}

/** The reply that carries a challenge. */
export function challengeReply(challenge: Challenge): Reply {
  const required: Header = ['payment-required', challenge.paymentRequired];
  const headers: Header[] = [['content-type', 'application/json'], NO_STORE, required];
  return { status: challenge.status, headers, body: challenge.body };
}

function checkedOptions(options: ChallengerOptions): ChallengerOptions {
  const { baseUrl, payTo, serviceName } = options;
  if (!/^https?:\/\/[^\s/?#]+(\/[^\s?#]*[^\s/?#])?$/.test(baseUrl)) {
    throw new RangeError(
      `Cannot challenge under "${baseUrl}": not a base URL; give scheme and host without a trailing slash`,
    );
  }
  if (!SERVICE_NAME.test(serviceName)) {
    throw new RangeError(
      `Cannot challenge as "${serviceName}": not 1 to 32 printable ASCII characters; shorten the service name`,
    );
  }
  return { ...options, payTo: payeeAddress(payTo) };
}

/** One case throughout is converted; a mixed case that does not check is a typing error in somebody's address. */
function payeeAddress(payTo: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(payTo)) {
    throw new RangeError(`Cannot be paid at "${payTo}": not an address of 40 hex digits`);
  }
  const checksummed = checksumAddress(payTo);
  const digits = payTo.slice(2);
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (oneCase || payTo === checksummed) return checksummed;
  throw new RangeError(`Cannot be paid at "${payTo}": checksum does not match; copy it again`);
}

/** JSON texts of both versions, cut where the error and the resource go. */
interface Template {
  readonly baseUrl: string;
  readonly path: string;
  readonly v1: RequirementsV1;
  readonly v2: RequirementsV2;
  readonly body: readonly string[];
  readonly header: readonly string[];
}

function template(endpoint: Endpoint, options: ChallengerOptions): Template {
  const v1 = requirementsV1(endpoint, options);
  const v2 = requirementsV2(endpoint, options);
  const hint = clientHint(endpoint, options.baseUrl);
  const body = {
    x402Version: 1,
    error: ERROR_SLOT,
    accepts: [v1],
    ...(hint === null ? {} : { client_hint: hint }),
  };
  const header = {
    x402Version: 2,
    error: ERROR_SLOT,
    resource: {
      url: RESOURCE_SLOT,
      description: v1.description,
      mimeType: v1.mimeType,
      serviceName: options.serviceName,
    },
    accepts: [v2],
    extensions: { bazaar: bazaar(endpoint) },
  };
  const { baseUrl } = options;
  return { baseUrl, path: endpoint.path, v1, v2, body: cut(body), header: cut(header) };
}

function cut(value: object): string[] {
  return JSON.stringify(value).split(new RegExp(`"(?:${ERROR_SLOT}|${RESOURCE_SLOT})"`));
}

function fill(ready: Template, target: string, error?: string): Challenge {
  const resource = ready.baseUrl + target;
  const short = target.length <= CHALLENGE_TARGET_CHARS_MAX;
  const shown = short ? resource : ready.baseUrl + ready.path;
  const body = joined(ready.body, error ?? ERROR_V1, resource);
  const header = joined(ready.header, error ?? ERROR_V2, shown);
  return {
    status: 402,
    body: Buffer.from(body, 'utf8'),
    paymentRequired: Buffer.from(header, 'utf8').toString('base64'),
  };
}

function joined(parts: readonly string[], error: string, resource: string): string {
  const [before = '', between = '', after = ''] = parts;
  return before + JSON.stringify(error) + between + JSON.stringify(resource) + after;
}

function keep(cache: Map<string, Challenge>, key: string, made: Challenge): void {
  if (cache.size >= CHALLENGE_CACHE_MAX) {
    const oldest = cache.keys().next();
    if (!oldest.done) cache.delete(oldest.value);
  }
  cache.set(key, made);
}

function priceAtomic(endpoint: Endpoint): string {
  if (endpoint.priceUsd !== null) return atomicAmount(endpoint.priceUsd);
  throw new RangeError(`Cannot challenge "${endpoint.path}": it is free`);
}

function requirementsV1(endpoint: Endpoint, options: ChallengerOptions): RequirementsV1 {
  const { network, payTo } = options;
  return {
    scheme: 'exact',
    network: network.name,
    maxAmountRequired: priceAtomic(endpoint),
    resource: RESOURCE_SLOT,
    description: `${endpoint.tag} ${endpoint.summary}`,
    mimeType: 'application/json',
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    asset: network.asset,
    extra: network.extra,
    outputSchema: {
      input: {
        type: 'http',
        method: endpoint.method,
        discoverable: true,
        queryParams: mapParams(endpoint, queryParam),
      },
      output: outputExample(endpoint),
    },
  };
}

function requirementsV2(endpoint: Endpoint, options: ChallengerOptions): RequirementsV2 {
  const { network, payTo } = options;
  return {
    scheme: 'exact',
    network: network.caip2,
    amount: priceAtomic(endpoint),
    asset: network.asset,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: network.extra,
  };
}

function queryParam(param: Param): object {
  const { type, required, description, examples } = param;
  const legal = param.enum === undefined ? {} : { enum: param.enum };
  return { type, required, description, ...legal, examples };
}

/** The discovery extension of v2: an example call and the JSON Schema that it meets. */
function bazaar(endpoint: Endpoint): object {
  const example = outputExample(endpoint);
  const info = {
    input: {
      type: 'http',
      method: endpoint.method,
      queryParams: mapParams(endpoint, (param) => param.examples[0] ?? ''),
    },
    output: { type: 'json', example },
  };
  const properties = Object.fromEntries(Object.keys(example).map((name) => [name, {}]));
  const output = object({
    type: { type: 'string' },
    example: { type: 'object', properties },
  });
  return { info, schema: object({ input: inputSchema(endpoint), output }) };
}

function inputSchema(endpoint: Endpoint): object {
  const required = Object.keys(endpoint.params).filter((name) => endpoint.params[name]?.required);
  return object({
    type: { const: 'http' },
    method: { const: endpoint.method },
    queryParams: { type: 'object', properties: mapParams(endpoint, schemaParam), required },
  });
}

function schemaParam(param: Param): object {
  const { description } = param;
  const short = param.enum !== undefined && param.enum.length <= HEADER_ENUM_MAX;
  // A query value is always text: an integer parameter takes its digits.
  return { type: 'string', description, ...(short ? { enum: param.enum } : {}) };
}

function object(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required: Object.keys(properties) };
}

function mapParams<T>(endpoint: Endpoint, map: (param: Param) => T): Record<string, T> {
  return Object.fromEntries(
    Object.entries(endpoint.params).map(([name, param]) => [name, map(param)]),
  );
}

import {
  decodeUtf8,
  isObject,
  JsonError,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../compiler/format/strict-json.ts';
import type { HeaderFacts, RpcHeaders } from '../../wire/header-facts.ts';
import { isLoopback } from '../../wire/listen.ts';
import { jsonReply, type Reply } from '../../wire/reply.ts';

/** Codes of JSON-RPC 2.0, and those that revision 2026-07-28 adds. */
const RPC_ERRORS = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;
export type RpcErrorName = keyof typeof RPC_ERRORS;

export type RpcId = string | number;

/** One message of a client as far as it is understood. */
type RpcMessage =
  | {
      kind: 'request';
      id: RpcId;
      method: string;
      params: JsonObject;
    }
  | { kind: 'notification' }
  /** An answer to a question that nobody here has asked. */
  | { kind: 'response' }
  | { kind: 'invalid'; id: RpcId | null; why: string };
export type RpcRequest = Extract<RpcMessage, { kind: 'request' }>;

/** One answer; `name` says what kind of error it is. */
export type RpcAnswer =
  | { readonly id: RpcId; readonly result: object }
  /** A result whose members are JSON text already. */
  | { readonly id: RpcId; readonly members: string }
  | {
      readonly id: RpcId | null;
      readonly name: RpcErrorName;
      readonly message: string;
      readonly data?: object;
    };

/** The value of a body, or a string that says what is wrong if it is not strict JSON. */
export function bodyValue(body: Buffer): { value: JsonValue } | { fault: string } {
  try {
    return { value: parseJson(decodeUtf8(body)) };
  } catch (error) {
    if (error instanceof JsonError) return { fault: error.message };
    throw error;
  }
}

/** Classifies one value of a body; an invalid message keeps its id, so that its sender can match the error. */
export function rpcMessage(value: JsonValue): RpcMessage {
  if (!isObject(value)) return { kind: 'invalid', id: null, why: 'the message is not an object' };
  const { jsonrpc, id, method, params = {} } = value;
  const known = typeof id === 'string' || Number.isSafeInteger(id) ? (id as RpcId) : null;
  const invalid = (why: string): RpcMessage => ({ kind: 'invalid', id: known, why });
  if (jsonrpc !== '2.0') return invalid('jsonrpc is not "2.0"');
  if (method === undefined) {
    const answers = known !== null && ('result' in value || 'error' in value);
    return answers ? { kind: 'response' } : invalid('method is missing');
  }
  if (typeof method !== 'string') return invalid('method is not a string');
  if (!isObject(params)) return invalid('params is not an object');
  if (id === undefined) return { kind: 'notification' };
  if (known === null) return invalid('id is not a string or a whole number');
  return { kind: 'request', id: known, method, params };
}

export function rpcText(answer: RpcAnswer): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(answer.id)}`;
  if ('members' in answer) return `${head},"result":{${answer.members}}}`;
  if ('result' in answer) return `${head},"result":${JSON.stringify(answer.result)}}`;
  const { name, message, data } = answer;
  const error = { code: RPC_ERRORS[name], message, ...(data === undefined ? {} : { data }) };
  return `${head},"error":${JSON.stringify(error)}}`;
}

/** Revisions that begin with a handshake, newest first. */
export const HANDSHAKE_REVISIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
];
export const NEWEST_HANDSHAKE = '2025-11-25';
/** The only revision that knows batches, and the one that a request without a header is taken for. */
export const BATCH_REVISION = '2025-03-26';
/** The revision without handshake: each request says everything about itself. */
export const STATELESS_REVISION = '2026-07-28';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const BASE64_HEADER = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** The protocol rules that a request is answered by, or why its headers and its body do not belong together. */
export function eraOf(
  request: RpcRequest,
  headers: RpcHeaders,
): 'handshake' | 'stateless' | RpcAnswer {
  const meta = request.params._meta;
  const claim = isObject(meta) && Object.hasOwn(meta, VERSION_KEY) ? meta : null;
  // Only a claim of the stateless revision turns `initialize` into an unknown method.
  const isStateless = claim?.[VERSION_KEY] === STATELESS_REVISION;
  if (claim !== null && (request.method !== 'initialize' || isStateless)) {
    return statelessRefusal(request, claim, headers) ?? 'stateless';
  }
  const { version } = headers;
  if (version === null || HANDSHAKE_REVISIONS.includes(version)) return 'handshake';
  if (version === STATELESS_REVISION) {
    if (request.method === 'initialize') {
      const message = `initialize does not exist in ${headers.version}; send server/discover`;
      return refusal(request, 'headerMismatch', message);
    }
    const message = `params._meta["${VERSION_KEY}"] is missing; send "${STATELESS_REVISION}" and "${CAPABILITIES_KEY}"`;
    return refusal(request, 'invalidParams', message);
  }
  return unsupported(request, version, [STATELESS_REVISION, ...HANDSHAKE_REVISIONS]);
}

function refusal(request: RpcRequest, name: RpcErrorName, message: string): RpcAnswer {
  return { id: request.id, name, message };
}

function unsupported(
  request: RpcRequest,
  requested: string,
  supported: readonly string[],
): RpcAnswer {
  const message = `Unsupported protocol version; send one of ${supported.join(', ')}`;
  const data = { supported, requested };
  return { id: request.id, name: 'unsupportedVersion', message, data };
}

function statelessRefusal(
  request: RpcRequest,
  claim: { readonly [key: string]: JsonValue },
  headers: RpcHeaders,
): RpcAnswer | null {
  const claimed = claim[VERSION_KEY];
  if (typeof claimed !== 'string') {
    return refusal(request, 'invalidParams', `params._meta["${VERSION_KEY}"] is not a string`);
  }
  if (!isObject(claim[CAPABILITIES_KEY])) {
    const message = `params._meta["${CAPABILITIES_KEY}"] is not an object; send {} for none`;
    return refusal(request, 'invalidParams', message);
  }
  const { version, method } = headers;
  if (version !== null && version !== claimed) {
    return mismatch(request, 'MCP-Protocol-Version', 'params._meta');
  }
  if (method !== null && method !== request.method)
    return mismatch(request, 'Mcp-Method', 'method');
  if (claimed !== STATELESS_REVISION) return unsupported(request, claimed, [STATELESS_REVISION]);
  if (version === null) return mismatch(request, 'MCP-Protocol-Version', 'params._meta');
  if (method === null) return mismatch(request, 'Mcp-Method', 'method');
  const sent = request.params.name;
  // A value that is not a string is refused with the parameters.
  if (request.method !== 'tools/call' || typeof sent !== 'string') return null;
  // What is no ASCII comes as base64.
  const coded = BASE64_HEADER.exec(headers.name ?? '')?.[1];
  const named = coded === undefined ? headers.name : Buffer.from(coded, 'base64').toString('utf8');
  return named === sent ? null : mismatch(request, 'Mcp-Name', 'params.name');
}

function mismatch(request: RpcRequest, header: string, member: string): RpcAnswer {
  const message = `Header ${header} is missing or differs from ${member} of the body; send what the body says`;
  return refusal(request, 'headerMismatch', message);
}

const TAKEN: readonly string[] = ['application/json', 'application/*', '*/*'];

/** Why the headers of a tool call are refused before its body is read; null when they fit. */
export function mcpRefusal(facts: HeaderFacts, baseUrl: string): Reply | null {
  const foreign = foreignName(facts, hostName(baseUrl));
  if (foreign !== null) return refused(403, foreign);
  if (!isJson(facts.contentType)) return refused(415, 'Send Content-Type: application/json');
  if (takesJson(facts.accept)) return null;
  return refused(406, 'Answers are JSON; send Accept: application/json, text/event-stream');
}

function refused(status: number, message: string): Reply {
  const error = { code: -32600, message };
  return jsonReply(status, { jsonrpc: '2.0', id: null, error });
}

/** A page that reaches this service under another name was not meant to: DNS rebinding. */
function foreignName({ host, origin }: HeaderFacts, own: string): string | null {
  // Only this machine answers to a loopback name, so no page from elsewhere can be served under it.
  const isKnown = (name: string): boolean => name === own || isLoopback(name);
  if (!isKnown(hostName(`http://${host}`))) {
    return 'Host is not a name of this service; send the public host name';
  }
  if (origin === null || isKnown(hostName(origin))) return null;
  return 'Origin is not allowed; call this service from a program or from its own pages';
}

function hostName(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/** The media type of JSON in its only charset. */
function isJson(contentType: string | null): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return type.trim() === 'application/json' && utf8;
}

/** Whether a client that says what it takes would take JSON. */
function takesJson(accept: string): boolean {
  if (accept.trim() === '') return true;
  return accept
    .toLowerCase()
    .split(',')
    .some((range) => {
      const [type = '', ...parameters] = range.split(';').map((one) => one.trim());
      return TAKEN.includes(type) && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
    });
}

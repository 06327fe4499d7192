import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { isObject } from '../../compiler/contract/strict-json.ts';
import type { RpcHeaders } from '../http/header-facts.ts';
import type { RpcAnswer, RpcErrorName, RpcRequest } from './json-rpc.ts';

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
/** Member of the parameters that `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'resources/read': 'uri',
};
const BASE64_HEADER = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** The protocol rules that a request is answered by. */
export type Era = 'handshake' | 'stateless';

/** The era of a request, or why its headers and its body do not belong together. */
export function eraOf(request: RpcRequest, headers: RpcHeaders): Era | RpcAnswer {
  const meta = request.params._meta;
  const claim = isObject(meta) && Object.hasOwn(meta, VERSION_KEY) ? meta : null;
  // Only a claim of the stateless revision turns `initialize` into an unknown method.
  if (claim !== null && (request.method !== 'initialize' || isStateless(claim[VERSION_KEY]))) {
    return statelessRefusal(request, claim, headers) ?? 'stateless';
  }
  const { version } = headers;
  if (version === null || HANDSHAKE_REVISIONS.includes(version)) return 'handshake';
  if (version === STATELESS_REVISION) return withoutClaim(request, headers);
  return unsupported(request, version, [STATELESS_REVISION, ...HANDSHAKE_REVISIONS]);
}

function isStateless(version: JsonValue | undefined): boolean {
  return version === STATELESS_REVISION;
}

function refusal(request: RpcRequest, name: RpcErrorName, message: string): RpcAnswer {
  return { id: request.id, name, message };
}

function withoutClaim(request: RpcRequest, headers: RpcHeaders): RpcAnswer {
  if (request.method === 'initialize') {
    const message = `initialize does not exist in ${headers.version}; send server/discover`;
    return refusal(request, 'headerMismatch', message);
  }
  const message = `params._meta["${VERSION_KEY}"] is missing; send "${STATELESS_REVISION}" and "${CAPABILITIES_KEY}"`;
  return refusal(request, 'invalidParams', message);
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
  return nameRefusal(request, headers);
}

function mismatch(request: RpcRequest, header: string, member: string): RpcAnswer {
  const message = `Header ${header} is missing or differs from ${member} of the body; send what the body says`;
  return refusal(request, 'headerMismatch', message);
}

function nameRefusal(request: RpcRequest, { name }: RpcHeaders): RpcAnswer | null {
  const member = Object.hasOwn(NAMED_BY, request.method) ? NAMED_BY[request.method] : undefined;
  const sent = member === undefined ? undefined : request.params[member];
  // A value that is not a string is refused with the parameters.
  if (member === undefined || typeof sent !== 'string') return null;
  return headerText(name) === sent ? null : mismatch(request, 'Mcp-Name', `params.${member}`);
}

/** The text of a header that carries what is no ASCII as base64. */
function headerText(header: string | null): string | null {
  const coded = header === null ? undefined : BASE64_HEADER.exec(header)?.[1];
  return coded === undefined ? header : Buffer.from(coded, 'base64').toString('utf8');
}

import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { TOOLS } from '../../compiler/contract/tools.ts';
import { jsonReply, NO_STORE, type Reply } from '../reply.ts';
import type { Answered, Question, RpcContext, Service } from '../service.ts';
import { callTool, findTool } from './call-tool.ts';
import {
  bodyValue,
  isObject,
  type JsonObject,
  type RpcAnswer,
  type RpcErrorName,
  type RpcId,
  type RpcRequest,
  rpcBody,
  rpcMessage,
} from './json-rpc.ts';
import {
  BATCH_REVISION,
  type Era,
  eraOf,
  HANDSHAKE_REVISIONS,
  NEWEST_HANDSHAKE,
  STATELESS_REVISION,
} from './revision.ts';

/** Messages of one batch. */
export const BATCH_MESSAGES_MAX = 20;
/** Milliseconds that a client may keep what describes this server. */
const DESCRIPTION_TTL_MS = 60_000;

const INSTRUCTIONS =
  'Official readings, signed and sold one by one over x402. These tools are free and take no payment: find_signal says what is covered, get_official_record returns the payment challenge of one record, verify_citation checks a record hash. To buy, send GET to accepts[0].resource with an X-PAYMENT header.';

/** `POST /mcp`: one stateless JSON answer to one message or to a batch of them. */
export async function mcp({ body, rpc }: Question, service: Service): Promise<Answered> {
  if (body === null || rpc === null) throw new TypeError('Cannot answer a call: no body was read');
  return { kind: 'reply', reply: await rpcReply(body, rpc, service) };
}

async function rpcReply(body: Buffer, rpc: RpcContext, service: Service): Promise<Reply> {
  const parsed = bodyValue(body);
  if ('wrong' in parsed) return answerReply(malformed('parse', parsed.wrong));
  const { value } = parsed;
  if (Array.isArray(value)) return batchReply(value, rpc, service);
  const answer = await answerTo(value, rpc, service);
  return answer === null ? accepted() : answerReply(answer);
}

/** Nothing to say: the message was a notification. */
function accepted(): Reply {
  return { status: 202, headers: [NO_STORE], body: '' };
}

/** An answer with the HTTP status of its own reply; a batch has 200 for all. */
type Told = RpcAnswer & { readonly status?: number };

function malformed(name: RpcErrorName, message: string, id: RpcId | null = null): Told {
  return { id, name, message, status: 400 };
}

function answerReply(answer: Told): Reply {
  const { status = 200 } = answer;
  const headers = status < 400 ? [NO_STORE] : [];
  return jsonReply(status, rpcBody(answer), headers);
}

async function batchReply(
  values: readonly JsonValue[],
  rpc: RpcContext,
  service: Service,
): Promise<Reply> {
  const { version } = rpc.headers;
  if (version !== null && version !== BATCH_REVISION) {
    return answerReply(malformed('invalidRequest', 'Batches are gone; send one message'));
  }
  if (values.length === 0 || values.length > BATCH_MESSAGES_MAX) {
    const message = `A batch holds 1 to ${BATCH_MESSAGES_MAX} messages`;
    return answerReply(malformed('invalidRequest', message));
  }
  if (values.some((value) => isObject(value) && value.method === 'initialize')) {
    return answerReply(malformed('invalidRequest', 'initialize goes alone, not in a batch'));
  }
  const answers: RpcAnswer[] = [];
  for (const value of values) {
    const answer = await answerTo(value, rpc, service);
    if (answer !== null) answers.push(answer);
  }
  if (answers.length === 0) return accepted();
  return jsonReply(200, answers.map(rpcBody), [NO_STORE]);
}

/** The answer to one message; null for what asks for none. */
async function answerTo(value: JsonValue, rpc: RpcContext, service: Service): Promise<Told | null> {
  const message = rpcMessage(value);
  switch (message.kind) {
    case 'notification':
    case 'response':
      return null;
    case 'invalid':
      return malformed('invalidRequest', `Not JSON-RPC: ${message.why}`, message.id);
    case 'request': {
      const era = eraOf(message, rpc.headers);
      if (typeof era !== 'string') return { ...era, status: 400 };
      const answer = await METHODS[era](message, rpc, service);
      if (era === 'handshake') return answer;
      return statelessAnswer(answer, service);
    }
  }
}

/** Every result of the stateless revision says that it is whole and who speaks. */
function statelessAnswer(answer: RpcAnswer, service: Service): Told {
  if ('name' in answer)
    return answer.name === 'methodNotFound' ? { ...answer, status: 404 } : answer;
  const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo(service) };
  return { ...answer, result: { resultType: 'complete', ...answer.result, _meta } };
}

type Method = (request: RpcRequest, rpc: RpcContext, service: Service) => Promise<RpcAnswer>;

const METHODS: Readonly<Record<Era, Method>> = { handshake, stateless };

async function handshake(
  request: RpcRequest,
  rpc: RpcContext,
  service: Service,
): Promise<RpcAnswer> {
  const { id, params } = request;
  switch (request.method) {
    case 'initialize':
      return initialize(request, service);
    case 'ping':
      return { id, result: {} };
    case 'tools/list':
      return pageTrouble(request) ?? { id, result: { tools: TOOLS } };
    case 'tools/call':
      return toolAnswer({ id, params }, rpc);
    default:
      return unknownMethod(request, 'initialize, ping, tools/list, tools/call');
  }
}

async function stateless(request: RpcRequest, rpc: RpcContext): Promise<RpcAnswer> {
  const { id, params } = request;
  const kept = { ttlMs: DESCRIPTION_TTL_MS, cacheScope: 'public' };
  switch (request.method) {
    case 'server/discover':
      return { id, result: { supportedVersions: [STATELESS_REVISION], ...ABILITIES, ...kept } };
    case 'tools/list':
      return pageTrouble(request) ?? { id, result: { tools: TOOLS, ...kept } };
    case 'tools/call':
      return toolAnswer({ id, params }, rpc);
    default:
      return unknownMethod(request, 'server/discover, tools/list, tools/call');
  }
}

const ABILITIES = { capabilities: { tools: {} }, instructions: INSTRUCTIONS };

function serverInfo({ release }: Service): object {
  const { issuer_name, contract_version } = release.head;
  return { name: issuer_name, version: `${contract_version}.0.0` };
}

function initialize({ id, params }: RpcRequest, service: Service): RpcAnswer {
  const { protocolVersion: asked } = params;
  if (typeof asked !== 'string') {
    const message = `protocolVersion is not a string; send "${NEWEST_HANDSHAKE}"`;
    return { id, name: 'invalidParams', message };
  }
  const protocolVersion = HANDSHAKE_REVISIONS.includes(asked) ? asked : NEWEST_HANDSHAKE;
  return { id, result: { protocolVersion, serverInfo: serverInfo(service), ...ABILITIES } };
}

/** The list has one page, so no cursor is one of ours. */
function pageTrouble({ id, params }: RpcRequest): RpcAnswer | null {
  if (params.cursor === undefined) return null;
  return { id, name: 'invalidParams', message: 'cursor is not one of this server; leave it out' };
}

async function toolAnswer(
  { id, params }: Pick<RpcRequest, 'id' | 'params'>,
  rpc: RpcContext,
): Promise<RpcAnswer> {
  const { name, arguments: given = {} } = params;
  const tool = typeof name === 'string' ? findTool(name) : undefined;
  if (tool === undefined) {
    const message = `Unknown tool; send one of ${TOOLS.map((one) => one.name).join(', ')}`;
    return { id, name: 'invalidParams', message };
  }
  if (!isObject(given)) {
    return { id, name: 'invalidParams', message: 'arguments is not an object; send {} for none' };
  }
  return { id, result: await callTool(tool, given as JsonObject, rpc.ask) };
}

function unknownMethod({ id, method }: RpcRequest, legal: string): RpcAnswer {
  const shown = method.slice(0, 60);
  return { id, name: 'methodNotFound', message: `No method "${shown}"; send one of ${legal}` };
}

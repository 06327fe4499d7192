import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { isObject, type JsonObject } from '../../compiler/contract/strict-json.ts';
import { toolsOf } from '../../compiler/contract/tools.ts';
import type { Answered, Question, Service } from '../answers/service.ts';
import type { RpcHeaders } from '../http/header-facts.ts';
import { jsonReply, NO_STORE, type Reply } from '../http/reply.ts';
import { oncePerRelease } from '../release/per-release.ts';
import { FREE_BYTES_MAX } from '../rooms/json-content.ts';
import { type AskTarget, callTool, plainGets, tooLong } from './call-tool.ts';
import {
  bodyValue,
  type RpcAnswer,
  type RpcErrorName,
  type RpcId,
  type RpcRequest,
  rpcMessage,
  rpcText,
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
/** Bytes of everything in the longest batch that neither is a tool's result nor repeats what was sent: 20 lists of tools. */
const FRAME_BYTES_MAX = 150_000;
/** Milliseconds that a client may keep what describes this server. */
const DESCRIPTION_TTL_MS = 60_000;

const INSTRUCTIONS =
  'Official readings, signed and sold one by one over x402. These tools are free and take no payment: find_signal says what is covered, get_official_record returns the payment challenge of one record, verify_citation checks a record hash. To buy, send GET to accepts[0].resource with an X-PAYMENT header.';

/**
 * `POST /mcp`: one stateless JSON answer to one message or to a batch of them. Computed, because the caller brings the messages.
 */
export async function mcp(question: Question, service: Service): Promise<Answered> {
  const { body, rpc, spend } = question;
  if (body === null) throw new TypeError('Cannot answer a call: no body was read');
  const parsed = bodyValue(body);
  if ('fault' in parsed)
    return { kind: 'reply', reply: answerReply(malformed('parse', parsed.fault)) };
  const { value } = parsed;
  const room = FREE_BYTES_MAX - FRAME_BYTES_MAX - body.length;
  const talk = { rpc, ask: plainGets(question, service), service, room };
  // Each message of a batch counts as the request that it could have been.
  if (Array.isArray(value)) {
    spend(Math.max(0, value.length - 1));
    return { kind: 'reply', reply: await batchReply(value, talk) };
  }
  const answer = await answerTo(value, talk);
  return { kind: 'reply', reply: answer === null ? accepted() : answerReply(answer) };
}

/** What the messages of one request have in common. */
interface Talk {
  readonly rpc: RpcHeaders;
  readonly ask: AskTarget;
  readonly service: Service;
  /** Bytes that results of tools may still have. */
  room: number;
}

/** Nothing to say: the message was a notification. */
function accepted(): Reply {
  return { status: 202, headers: [NO_STORE], body: '' };
}

/** An answer with the HTTP status of its own reply; a batch has 200 for all. */
type StatusAnswer = RpcAnswer & { readonly status?: number };

function malformed(name: RpcErrorName, message: string, id: RpcId | null = null): StatusAnswer {
  return { id, name, message, status: 400 };
}

function answerReply(answer: StatusAnswer): Reply {
  const { status = 200 } = answer;
  const headers = status < 400 ? [NO_STORE] : [];
  return jsonReply(status, Buffer.from(rpcText(answer), 'utf8'), headers);
}

async function batchReply(values: readonly JsonValue[], talk: Talk): Promise<Reply> {
  const { version } = talk.rpc;
  if (version !== null && version !== BATCH_REVISION) {
    return answerReply(
      malformed('invalidRequest', 'Batches are not supported in this version; send one message'),
    );
  }
  if (values.length === 0 || values.length > BATCH_MESSAGES_MAX) {
    const message = `A batch holds 1 to ${BATCH_MESSAGES_MAX} messages`;
    return answerReply(malformed('invalidRequest', message));
  }
  if (values.some((value) => isObject(value) && value.method === 'initialize')) {
    return answerReply(
      malformed('invalidRequest', 'initialize cannot be in a batch; send it alone'),
    );
  }
  const answers: RpcAnswer[] = [];
  for (const value of values) {
    const answer = await answerTo(value, talk);
    if (answer !== null) answers.push(answer);
  }
  if (answers.length === 0) return accepted();
  return jsonReply(200, Buffer.from(`[${answers.map(rpcText).join(',')}]`, 'utf8'), [NO_STORE]);
}

/** The answer to one message; null for what asks for none. */
async function answerTo(value: JsonValue, talk: Talk): Promise<StatusAnswer | null> {
  const message = rpcMessage(value);
  switch (message.kind) {
    case 'notification':
    case 'response':
      return null;
    case 'invalid':
      return malformed('invalidRequest', `Not JSON-RPC: ${message.why}`, message.id);
    case 'request': {
      const era = eraOf(message, talk.rpc);
      if (typeof era !== 'string') return { ...era, status: 400 };
      const answer = await METHODS[era](message, talk);
      if (era === 'handshake') return answer;
      return statelessAnswer(answer, talk.service);
    }
  }
}

/** Every result of the stateless revision says that it is whole and who speaks. */
function statelessAnswer(answer: RpcAnswer, service: Service): StatusAnswer {
  if ('name' in answer)
    return answer.name === 'methodNotFound' ? { ...answer, status: 404 } : answer;
  const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo(service) };
  if ('result' in answer) {
    return { ...answer, result: { resultType: 'complete', ...answer.result, _meta } };
  }
  const { id, members } = answer;
  return { id, members: `"resultType":"complete",${members},"_meta":${JSON.stringify(_meta)}` };
}

type Method = (request: RpcRequest, talk: Talk) => Promise<RpcAnswer>;

const METHODS: Readonly<Record<Era, Method>> = { handshake, stateless };

async function handshake(request: RpcRequest, talk: Talk): Promise<RpcAnswer> {
  const { id, params } = request;
  switch (request.method) {
    case 'initialize':
      return initialize(request, talk.service);
    case 'ping':
      return { id, result: {} };
    case 'tools/list':
      return cursorRefusal(request) ?? { id, members: toolList(talk.service.release).member };
    case 'tools/call':
      return toolAnswer({ id, params }, talk);
    default:
      return unknownMethod(request, 'initialize, ping, tools/list, tools/call');
  }
}

async function stateless(request: RpcRequest, talk: Talk): Promise<RpcAnswer> {
  const { id, params } = request;
  switch (request.method) {
    case 'server/discover':
      return { id, result: { supportedVersions: [STATELESS_REVISION], ...ABILITIES, ...KEPT } };
    case 'tools/list':
      return (
        cursorRefusal(request) ?? {
          id,
          members: `${toolList(talk.service.release).member},${KEPT_MEMBERS}`,
        }
      );
    case 'tools/call':
      return toolAnswer({ id, params }, talk);
    default:
      return unknownMethod(request, 'server/discover, tools/list, tools/call');
  }
}

const KEPT = { ttlMs: DESCRIPTION_TTL_MS, cacheScope: 'public' };
/** The tools of a release, and the member of a result that lists them, printed once. */
const toolList = oncePerRelease(({ catalog }) => {
  const tools = toolsOf(catalog);
  return { tools, member: `"tools":${JSON.stringify(tools)}` };
});
const KEPT_MEMBERS = JSON.stringify(KEPT).slice(1, -1);

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

/** The list has one page, so this server issues no cursor. */
function cursorRefusal({ id, params }: RpcRequest): RpcAnswer | null {
  if (params.cursor === undefined) return null;
  return {
    id,
    name: 'invalidParams',
    message: 'cursor was not issued by this server; leave it out',
  };
}

async function toolAnswer(
  { id, params }: Pick<RpcRequest, 'id' | 'params'>,
  talk: Talk,
): Promise<RpcAnswer> {
  const { name, arguments: given = {} } = params;
  const { ask, service } = talk;
  const { catalog } = service.release;
  const { tools } = toolList(service.release);
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const message = `Unknown tool; send one of ${tools.map((one) => one.name).join(', ')}`;
    return { id, name: 'invalidParams', message };
  }
  if (!isObject(given)) {
    return { id, name: 'invalidParams', message: 'arguments is not an object; send {} for none' };
  }
  const result = await callTool(tool, given as JsonObject, { ask, catalog });
  if (result.bytes > talk.room) {
    return { id, members: tooLong(tool, result.bytes, talk.room).members };
  }
  talk.room -= result.bytes;
  return { id, members: result.members };
}

function unknownMethod({ id, method }: RpcRequest, legal: string): RpcAnswer {
  const shown = method.slice(0, 60);
  return { id, name: 'methodNotFound', message: `No method "${shown}"; send one of ${legal}` };
}

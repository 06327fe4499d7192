import { FORMAT_URL } from '../../../compiler/catalog/static-files.ts';
import { toolsOf } from '../../../compiler/catalog/tools.ts';
import { isObject, type JsonObject, type JsonValue } from '../../../compiler/format/strict-json.ts';
import type { Answered, Question, Service } from '../../heart/answers/service.ts';
import { perRelease } from '../../heart/release/release-index.ts';
import type { RpcHeaders } from '../../wire/header-facts.ts';
import { jsonReply, NO_STORE, type Reply } from '../../wire/reply.ts';
import { FREE_BYTES_MAX } from '../json-content.ts';
import { callTool, type Shop, shopOf, tooLong } from './call-tool.ts';
import {
  BATCH_REVISION,
  bodyValue,
  eraOf,
  HANDSHAKE_REVISIONS,
  NEWEST_HANDSHAKE,
  type RpcAnswer,
  type RpcErrorName,
  type RpcId,
  type RpcRequest,
  rpcMessage,
  rpcText,
  STATELESS_REVISION,
} from './json-rpc.ts';

const BATCH_MESSAGES_MAX = 20;
/** Bytes of everything in the longest batch that neither is a tool's result nor repeats what was sent: 20 lists of tools. */
const FRAME_BYTES_MAX = 150_000;
/** Milliseconds that a client may keep what describes this server. */
const DESCRIPTION_TTL_MS = 60_000;

/** What is sold, how it is paid and how it is verified, in at most 120 words: a model reads them at each start. */
function instructions({ baseUrl }: Service): string {
  return (
    'Official readings and rosters, each signed by its issuer and bound into a public log, sold one request at a time over ' +
    'x402 in USDC. These tools are free: none takes a payment or returns what is sold. Start with search: words in; ids, ' +
    'prices and requests out. quote prices any request and says how it is paid. To buy, send the request as GET to ' +
    `${baseUrl} over HTTP (to read it yourself, add format=fact where offered, else proof=0), sign accepts[0] of the 402, ` +
    'and send the same GET with X-PAYMENT; sent again, it fetches the same bytes uncharged. To verify, give ' +
    `record_hash to verify_citation, or POST the body to /verify, or read ${baseUrl}${FORMAT_URL} and check it without us.`
  );
}

/** `POST /mcp`: one stateless answer to a message or a batch. Computed, because the caller brings the messages. */
export async function mcp(question: Question, service: Service): Promise<Answered> {
  const { body, rpc } = question;
  if (body === null) throw new TypeError('Cannot answer a call: no body was read');
  const parsed = bodyValue(body);
  if ('fault' in parsed)
    return { kind: 'reply', reply: answerReply(malformed('parse', parsed.fault)) };
  const { value } = parsed;
  const room = FREE_BYTES_MAX - FRAME_BYTES_MAX - body.length;
  const shop = shopOf(question, service);
  const talk = { rpc, shop, service, room };
  const reply = Array.isArray(value)
    ? await batchReply(value, talk)
    : replyOf(await answerTo(value, talk));
  return { kind: 'reply', reply: { ...reply, wanted: shop.wanted } };
}

function replyOf(answer: StatusAnswer | null): Reply {
  return answer === null ? accepted() : answerReply(answer);
}

interface Talk {
  rpc: RpcHeaders;
  shop: Shop;
  service: Service;
  /** Bytes that results of tools may still have. */
  room: number;
}

/** Nothing to say: the message was a notification. */
function accepted(): Reply {
  return { status: 202, headers: [NO_STORE], body: '' };
}

/** An answer with the HTTP status of its own reply; a batch has 200 for all. */
type StatusAnswer = RpcAnswer & { status?: number };

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
  let fault: string | null = null;
  if (version !== null && version !== BATCH_REVISION)
    fault = 'Batches are not supported in this version; send one message';
  else if (values.length === 0 || values.length > BATCH_MESSAGES_MAX)
    fault = `A batch holds 1 to ${BATCH_MESSAGES_MAX} messages`;
  else if (values.some((value) => isObject(value) && value.method === 'initialize'))
    fault = 'initialize cannot be in a batch; send it alone';
  if (fault !== null) return answerReply(malformed('invalidRequest', fault));
  // Each message counts as the request that it could have been; a batch that is refused was only read.
  talk.shop.spend(values.length - 1);
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
      const answer = await (era === 'handshake' ? handshake : stateless)(message, talk);
      if (era === 'handshake') return answer;
      // Every result of the stateless revision says that it is whole and who speaks.
      if ('name' in answer) {
        return answer.name === 'methodNotFound' ? { ...answer, status: 404 } : answer;
      }
      const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo(talk.service) };
      if ('result' in answer) {
        return { ...answer, result: { resultType: 'complete', ...answer.result, _meta } };
      }
      const { id, members } = answer;
      return { id, members: `"resultType":"complete",${members},"_meta":${JSON.stringify(_meta)}` };
    }
  }
}

async function handshake(request: RpcRequest, talk: Talk): Promise<RpcAnswer> {
  const { id } = request;
  if (request.method === 'initialize') {
    const { protocolVersion: asked } = request.params;
    if (typeof asked !== 'string') {
      const message = `protocolVersion is not a string; send "${NEWEST_HANDSHAKE}"`;
      return { id, name: 'invalidParams', message };
    }
    const protocolVersion = HANDSHAKE_REVISIONS.includes(asked) ? asked : NEWEST_HANDSHAKE;
    const own = { serverInfo: serverInfo(talk.service), ...abilitiesOf(talk.service) };
    return { id, result: { protocolVersion, ...own } };
  }
  if (request.method === 'ping') return { id, result: {} };
  const answer = await shared(request, talk);
  return answer ?? unknownMethod(request, `initialize, ping, ${SHARED_METHODS.join(', ')}`);
}

async function stateless(request: RpcRequest, talk: Talk): Promise<RpcAnswer> {
  const { id } = request;
  if (request.method === 'server/discover') {
    const abilities = abilitiesOf(talk.service);
    return { id, result: { supportedVersions: [STATELESS_REVISION], ...abilities, ...KEPT } };
  }
  const answer = await shared(request, talk);
  if (answer === null) {
    return unknownMethod(request, `server/discover, ${SHARED_METHODS.join(', ')}`);
  }
  // A list says how long it may be kept.
  const isList = request.method === 'tools/list' && 'members' in answer;
  return isList ? { ...answer, members: `${answer.members},${KEPT_MEMBERS}` } : answer;
}

/** What both eras know; null for any other method. */
async function shared(request: RpcRequest, talk: Talk): Promise<RpcAnswer | null> {
  const { id, method, params } = request;
  if (method === 'tools/call') return toolAnswer(request, talk);
  if (method !== 'tools/list') return null;
  if (params.cursor === undefined) return { id, members: toolList(talk.service.release).member };
  // The list has one page, so this server issues no cursor.
  const message = 'cursor was not issued by this server; leave it out';
  return { id, name: 'invalidParams', message };
}
const SHARED_METHODS = ['tools/list', 'tools/call'];

const KEPT = { ttlMs: DESCRIPTION_TTL_MS, cacheScope: 'public' };
/** The tools of a release, and the member of a result that lists them, printed once. */
const toolList = perRelease(({ catalog }) => {
  const tools = toolsOf(catalog);
  return { tools, member: `"tools":${JSON.stringify(tools)}` };
});
const KEPT_MEMBERS = JSON.stringify(KEPT).slice(1, -1);

function abilitiesOf(service: Service): object {
  return { capabilities: { tools: {} }, instructions: instructions(service) };
}

function serverInfo({ release }: Service): object {
  const { issuer_name, contract_version } = release.head;
  return { name: issuer_name, version: `${contract_version}.0.0` };
}

async function toolAnswer({ id, params }: RpcRequest, talk: Talk): Promise<RpcAnswer> {
  const { name, arguments: given = {} } = params;
  const { shop, service } = talk;
  const { tools } = toolList(service.release);
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const message = `Unknown tool; send one of ${tools.map((one) => one.name).join(', ')}`;
    return { id, name: 'invalidParams', message };
  }
  if (!isObject(given)) {
    return { id, name: 'invalidParams', message: 'arguments is not an object; send {} for none' };
  }
  const result = await callTool(tool, given as JsonObject, shop);
  if (result.bytes > talk.room) {
    return { id, members: tooLong(tool, result.bytes, talk.room).members };
  }
  talk.room -= result.bytes;
  return { id, members: result.members };
}

function unknownMethod({ id, method }: RpcRequest, legal: string): RpcAnswer {
  const shown = method.slice(0, 60).toWellFormed();
  return { id, name: 'methodNotFound', message: `No method "${shown}"; send one of ${legal}` };
}

import { SUPERSEDED_HASH } from '../../logged-service.ts';
import { tinyRecord } from '../../tiny-release.ts';

const BODY_BYTES_MAX = 256 * 1024;

export const PAIR = { signal_id: 'airquality.aqi', entity: 'us-denver' };
export const RECORD = tinyRecord(PAIR.signal_id, PAIR.entity, { aqi_index: 42, band: 'good' });
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

/** One request of a corner. */
export interface Sent {
  readonly method?: string;
  /** Lines that take the place of the usual ones of the same name; '' takes one away. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
export type Json = Record<string, unknown>;
export const asked = (method: string, params?: unknown, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
export const call = (name: string, given?: unknown): string =>
  asked('tools/call', { name, ...(given === undefined ? {} : { arguments: given }) });
export const listing = asked('tools/list');

/** A request of the stateless revision with the headers that it needs. */
export function stateless(method: string, params: Json = {}, headers: Sent['headers'] = {}): Sent {
  const name = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
  return {
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name, ...headers },
    body: asked(method, { _meta: META, ...params }),
  };
}

/** A plain listing under other headers. */
const under = (headers: Record<string, string>): Sent => ({ headers, body: listing });
const bare = (method: string): Sent => ({ method, headers: { 'content-length': '' } });
const tool = (name: string, given?: unknown): Sent => ({ body: call(name, given) });
const find = (given?: unknown): Sent => tool('find_signal', given);
const quote = (request: string): Sent => tool('quote', { request });
const verify = (record_hash: unknown): Sent => tool('verify_citation', { record_hash });
const record = (given: Json): Sent => tool('get_official_record', { ...PAIR, ...given });
const rpc = (method: string, params?: unknown, id: unknown = 1): Sent => ({
  body: asked(method, params, id),
});
const batched = (size: number, version?: string): Sent => ({
  ...(version === undefined ? {} : { headers: { 'mcp-protocol-version': version } }),
  body: batch(size),
});
const named = (name: string): Sent =>
  stateless('tools/call', { name: 'find_signal' }, { 'mcp-name': name });
const headed = (headers: Sent['headers']): Sent => stateless('tools/list', {}, headers);

/** What a row wants: a status, and a JSON-RPC code or `result` or `tool error` or nothing. */
export type Want = readonly [status: number, outcome: number | 'result' | 'tool error' | ''];
type Row = readonly [name: string, sent: Sent, want: Want];

const OK: Want = [200, 'result'];
const TOOL_ERROR: Want = [200, 'tool error'];
const TAKEN: Want = [202, ''];
const NO_JSON: Want = [400, -32700];
const INVALID: Want = [400, -32600];
const MISMATCH: Want = [400, -32020];
const NO_VERSION: Want = [400, -32022];
const NO_CLAIM: Want = [400, -32602];
const BAD_PARAMS: Want = [200, -32602];
const NO_RPC: Want = [200, -32601];
const FOREIGN: Want = [403, -32600];
const NO_METHOD: Want = [405, ''];
const NO_ACCEPT: Want = [406, -32600];
const NO_TYPE: Want = [415, -32600];

const deep = (levels: number): string =>
  asked('tools/list').replace(
    '"method"',
    `"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},"method"`,
  );
const padded = (bytes: number): string => listing + ' '.repeat(bytes - listing.length);

const WRONG = { 'content-type': 'text/plain', accept: 'text/html' };
const TRANSPORT: readonly Row[] = [
  ['GET', bare('GET'), NO_METHOD],
  ['DELETE', bare('DELETE'), NO_METHOD],
  ['PUT', bare('PUT'), NO_METHOD],
  ['PATCH', bare('PATCH'), NO_METHOD],
  ['HEAD', bare('HEAD'), NO_METHOD],
  ['OPTIONS', bare('OPTIONS'), [204, '']],
  ['a plain call', { body: listing }, OK],
  ['no Accept', under({ accept: '' }), OK],
  ['Accept */*', under({ accept: '*/*' }), OK],
  ['Accept json', under({ accept: 'application/json' }), OK],
  ['Accept JSON in capitals', under({ accept: 'Application/JSON;q=0.5' }), OK],
  ['Accept application/*', under({ accept: 'application/*' }), OK],
  ['Accept event streams alone', under({ accept: 'text/event-stream' }), NO_ACCEPT],
  ['Accept HTML', under({ accept: 'text/html' }), NO_ACCEPT],
  ['Accept json with q=0', under({ accept: 'application/json;q=0' }), NO_ACCEPT],
  ['no Content-Type', under({ 'content-type': '' }), NO_TYPE],
  ['Content-Type text/plain', under({ 'content-type': 'text/plain' }), NO_TYPE],
  ['a form', under({ 'content-type': 'application/x-www-form-urlencoded' }), NO_TYPE],
  ['Content-Type application/json-x', under({ 'content-type': 'application/json-x' }), NO_TYPE],
  ['two Content-Types', under({ 'content-type': 'application/json, text/plain' }), NO_TYPE],
  ['charset utf-8', under({ 'content-type': 'application/json; charset=UTF-8' }), OK],
  ['another charset', under({ 'content-type': 'application/json; charset=utf-16' }), NO_TYPE],
  ['the public host in capitals', under({ host: 'Records.Example:443' }), OK],
  ['another address of loopback', under({ host: '127.0.0.2' }), OK],
  ['a foreign host before a foreign type', under({ host: 'evil.example', ...WRONG }), FOREIGN],
  ['a foreign page before a foreign type', under({ origin: 'null', ...WRONG }), FOREIGN],
  ['a foreign type before a foreign Accept', under(WRONG), NO_TYPE],
  ['HTML, or else anything', under({ accept: 'text/html, */*;q=0.1' }), OK],
  [
    'a page of a name that ends in loopback',
    under({ origin: 'http://localhost.evil.example' }),
    FOREIGN,
  ],
  ['the public host', under({ host: 'records.example' }), OK],
  ['localhost', under({ host: 'localhost:9' }), OK],
  ['IPv6 loopback', under({ host: '[::1]:9' }), OK],
  ['a foreign host', under({ host: 'evil.example' }), FOREIGN],
  ['a foreign host on our port', under({ host: 'evil.example:4021' }), FOREIGN],
  ['a host that ends like ours', under({ host: 'evilrecords.example' }), FOREIGN],
  ['a host that begins like loopback', under({ host: '127.0.0.1.evil.example' }), FOREIGN],
  ['our own pages', under({ origin: 'https://records.example' }), OK],
  ['a page of this machine', under({ origin: 'http://localhost:6274' }), OK],
  ['a foreign page', under({ origin: 'https://evil.example' }), FOREIGN],
  ['a page without origin', under({ origin: 'null' }), FOREIGN],
  ['two origins', under({ origin: 'http://localhost, https://evil.example' }), FOREIGN],
  ['an origin with a name before @', under({ origin: 'http://localhost@evil.example' }), FOREIGN],
  ['I43: a body of the limit', { body: padded(BODY_BYTES_MAX) }, OK],
  ['I43: a byte less', { body: padded(BODY_BYTES_MAX - 1) }, OK],
  [
    'I43: a byte more',
    { headers: { 'content-length': String(BODY_BYTES_MAX + 1) }, body: '' },
    [413, ''],
  ],
  ['an unknown session', under({ 'mcp-session-id': 'x' }), OK],
];

const MESSAGES: readonly Row[] = [
  ['no body', { body: '' }, NO_JSON],
  ['no JSON', { body: '{' }, NO_JSON],
  ['text after the value', { body: `${listing}x` }, NO_JSON],
  ['a repeated key', { body: listing.replace('"id":1', '"id":1,"id":2') }, NO_JSON],
  ['a prototype key', { body: listing.replace('"id":1', '"id":1,"__proto__":{}') }, NO_JSON],
  ['half a surrogate pair', { body: listing.replace('"id":1', '"id":"\\ud800"') }, NO_JSON],
  ['a byte order mark', { body: `\ufeff${listing}` }, NO_JSON],
  ['I43: 64 open containers', { body: deep(64) }, OK],
  ['I43: 63 open containers', { body: deep(63) }, OK],
  ['I43: 65 open containers', { body: deep(65) }, NO_JSON],
  ['I43: 50,000 open containers', { body: deep(50_000) }, NO_JSON],
  ['null', { body: 'null' }, INVALID],
  ['a number', { body: '1' }, INVALID],
  ['a string', { body: '"tools/list"' }, INVALID],
  ['an empty object', { body: '{}' }, INVALID],
  ['no jsonrpc', { body: '{"id":1,"method":"ping"}' }, INVALID],
  ['jsonrpc 1.0', { body: '{"jsonrpc":"1.0","id":1,"method":"ping"}' }, INVALID],
  ['jsonrpc as a number', { body: '{"jsonrpc":2.0,"id":1,"method":"ping"}' }, INVALID],
  ['no method', { body: '{"jsonrpc":"2.0","id":1}' }, INVALID],
  ['a method that is no string', rpc(5 as never), INVALID],
  ['an id of null', rpc('ping', undefined, null), INVALID],
  ['an id that is an object', rpc('ping', undefined, {}), INVALID],
  ['a fractional id', rpc('ping', undefined, 1.5), INVALID],
  ['an id that is true', rpc('ping', undefined, true), INVALID],
  ['parameters in an array', rpc('ping', []), INVALID],
  ['parameters of null', rpc('ping', null), INVALID],
  ['an id of 0', rpc('ping', undefined, 0), OK],
  ['an empty id', rpc('ping', undefined, ''), OK],
  ['a notification', { body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' }, TAKEN],
  ['an unknown notification', { body: '{"jsonrpc":"2.0","method":"nowhere"}' }, TAKEN],
  ['a call without an id', { body: call('find_signal', {}).replace('"id":1,', '') }, TAKEN],
  ['a response', { body: '{"jsonrpc":"2.0","id":1,"result":{}}' }, TAKEN],
  ['an error response', { body: '{"jsonrpc":"2.0","id":1,"error":{}}' }, TAKEN],
];

const BATCHES: readonly Row[] = [
  ['an empty batch', { body: '[]' }, INVALID],
  ['I43: a batch of 20', batched(20), [200, '']],
  ['I43: a batch of 19', batched(19), [200, '']],
  ['I43: a batch of 21', batched(21), INVALID],
  ['I43: a batch of 5,000', batched(5000), INVALID],
  ['a batch of 2025-03-26', batched(2, '2025-03-26'), [200, '']],
  ['a batch of 2025-06-18', batched(2, '2025-06-18'), INVALID],
  ['a batch of 2025-11-25', batched(2, '2025-11-25'), INVALID],
  ['a batch of 2026-07-28', batched(2, '2026-07-28'), INVALID],
  ['a batch of notifications', { body: '[{"jsonrpc":"2.0","method":"a"}]' }, TAKEN],
  [
    'a handshake in a batch',
    { body: `[${asked('initialize', { protocolVersion: '2025-03-26' })}]` },
    INVALID,
  ],
];

function batch(size: number): string {
  return `[${Array.from({ length: size }, (_, at) => asked('ping', undefined, at)).join(',')}]`;
}

const METHODS: readonly Row[] = [
  ['initialize', rpc('initialize', { protocolVersion: '2025-11-25' }), OK],
  ['initialize without a version', rpc('initialize', {}), BAD_PARAMS],
  ['initialize with a number', rpc('initialize', { protocolVersion: 1 }), BAD_PARAMS],
  ['ping', rpc('ping'), OK],
  ['an unknown method', rpc('nowhere'), NO_RPC],
  ['a method of the prototype', rpc('constructor'), NO_RPC],
  ['prompts', rpc('prompts/list'), NO_RPC],
  ['resources', rpc('resources/list'), NO_RPC],
  ['a file as a resource', rpc('resources/read', { uri: 'file:///etc/passwd' }), NO_RPC],
  ['a quote of a paid request', quote('/gauge?signal_id=airquality.aqi&entity=us-denver'), OK],
  ['a quote of a path', quote('/gauge'), OK],
  ['a quote of what is free', quote('GET /gauge/coverage'), OK],
  ['a quote of nothing', quote('/nowhere'), TOOL_ERROR],
  ['a quote of another host', quote('http://169.254.169.254/'), TOOL_ERROR],
  [
    'a quote of what is not stored',
    quote('/gauge?signal_id=airquality.aqi&entity=nobody'),
    TOOL_ERROR,
  ],
  ['a search', tool('search', { query: 'air quality in Denver' }), OK],
  ['a search without words', tool('search', {}), TOOL_ERROR],
  ['find_signal in words', find({ query: 'smog', entity: 'us-denver' }), OK],
  ['server/discover without a claim', rpc('server/discover'), NO_RPC],
  ['a cursor', rpc('tools/list', { cursor: 'x' }), BAD_PARAMS],
  ['an unknown tool', tool('nowhere', {}), BAD_PARAMS],
  ['a tool of the prototype', tool('constructor', {}), BAD_PARAMS],
  ['a tool without a name', rpc('tools/call', {}), BAD_PARAMS],
  ['a tool whose name is a number', rpc('tools/call', { name: 1 }), BAD_PARAMS],
  ['arguments in an array', find([]), BAD_PARAMS],
  ['arguments of null', find(null), BAD_PARAMS],
  ['arguments that are text', find('x'), BAD_PARAMS],
  ['a known revision', under({ 'mcp-protocol-version': '2025-06-18' }), OK],
  ['an unknown revision', under({ 'mcp-protocol-version': '1999-01-01' }), NO_VERSION],
  ['a revision to come', under({ 'mcp-protocol-version': '2099-01-01' }), NO_VERSION],
  ['two revisions', under({ 'mcp-protocol-version': '2025-06-18, 2025-06-18' }), NO_VERSION],
];

const CALLS: readonly Row[] = [
  ['find_signal without arguments', find(), OK],
  ['find_signal of an industry', find({ industry: 'environment' }), OK],
  ['find_signal of a signal in full', find({ signal_id: PAIR.signal_id, full: true }), OK],
  ['find_signal of an unknown industry', find({ industry: 'enviroment' }), TOOL_ERROR],
  ['find_signal of an unknown signal', find({ signal_id: 'airquality.aq' }), TOOL_ERROR],
  ['find_signal of an unknown entity', find({ entity: 'us-nowhere' }), TOOL_ERROR],
  [
    'find_signal of a signal elsewhere',
    find({ industry: 'aviation', signal_id: PAIR.signal_id }),
    TOOL_ERROR,
  ],
  ['find_signal with full as text', find({ full: 'true' }), TOOL_ERROR],
  ['find_signal with an argument of its own', find({ limit: 1 }), TOOL_ERROR],
  ['verify_citation of a record', verify(RECORD.record_hash), OK],
  ['verify_citation of a superseded one', verify(SUPERSEDED_HASH), OK],
  ['verify_citation of nothing known', verify(`sha256:${'0'.repeat(64)}`), OK],
  ['verify_citation without a hash', tool('verify_citation', {}), TOOL_ERROR],
  ['verify_citation without arguments', tool('verify_citation'), TOOL_ERROR],
  ['verify_citation of text', verify('nowhere'), TOOL_ERROR],
  ['verify_citation of a number', verify(5), TOOL_ERROR],
  ['verify_citation of a long text', verify('a'.repeat(9000)), TOOL_ERROR],
  ['get_official_record', record({}), OK],
  ['get_official_record of another product', record({ dim: 'ruler' }), OK],
  ['get_official_record of an unknown product', record({ dim: 'all' }), TOOL_ERROR],
  ['get_official_record of nothing stored', record({ entity: 'us-nowhere' }), TOOL_ERROR],
  ['get_official_record of an unknown signal', record({ signal_id: 'a.b' }), TOOL_ERROR],
  ['get_official_record without an entity', record({ entity: undefined }), TOOL_ERROR],
  ['get_official_record with a payment', record({ payment: 'x' }), TOOL_ERROR],
  [
    'get_official_record with a path',
    record({ entity: '../../record/airquality.aqi/us-denver' }),
    TOOL_ERROR,
  ],
  ['get_official_record with a query', record({ entity: 'us-denver&format=thin' }), TOOL_ERROR],
  ['get_official_record of an empty entity', record({ entity: '' }), TOOL_ERROR],
];

const listed = stateless('tools/list');
const claim = (meta: unknown, headers = listed.headers): Sent => ({
  headers: { ...headers },
  body: asked('tools/list', { _meta: meta }),
});
const claimOf = (version: string): Sent =>
  claim(
    { ...META, [VERSION_KEY]: version },
    { ...listed.headers, 'mcp-protocol-version': version },
  );

const STATELESS: readonly Row[] = [
  ['server/discover', stateless('server/discover'), OK],
  ['tools/list', listed, OK],
  ['tools/call', stateless('tools/call', { name: 'find_signal', arguments: {} }), OK],
  [
    'a tool call that fails',
    stateless('tools/call', { name: 'find_signal', arguments: { full: 1 } }),
    TOOL_ERROR,
  ],
  ['an unknown tool', stateless('tools/call', { name: 'nowhere' }), BAD_PARAMS],
  ['an unknown method', stateless('nowhere'), [404, -32601]],
  ['initialize', stateless('initialize', { protocolVersion: '2026-07-28' }), [404, -32601]],
  ['ping', stateless('ping'), [404, -32601]],
  ['a subscription', stateless('subscriptions/listen'), [404, -32601]],
  ['a name in base64', named('=?base64?ZmluZF9zaWduYWw=?='), OK],
  ['another name', named('verify_citation'), MISMATCH],
  ['a name in other case', named('Find_Signal'), MISMATCH],
  [
    'a name that is no ASCII in base64',
    stateless('tools/call', { name: 'ä' }, { 'mcp-name': '=?base64?w6Q=?=' }),
    BAD_PARAMS,
  ],
  ['another name in base64', named('=?base64?ZmluZF9zaWduYWX=?='), MISMATCH],
  ['a progress token alone', { body: asked('tools/list', { _meta: { progressToken: 1 } }) }, OK],
  ['no Mcp-Name', named(''), MISMATCH],
  ['no Mcp-Method', headed({ 'mcp-method': '' }), MISMATCH],
  ['another Mcp-Method', headed({ 'mcp-method': 'tools/call' }), MISMATCH],
  ['Mcp-Method in other case', headed({ 'mcp-method': 'TOOLS/LIST' }), MISMATCH],
  ['no version header', headed({ 'mcp-protocol-version': '' }), MISMATCH],
  ['another version header', headed({ 'mcp-protocol-version': '2025-11-25' }), MISMATCH],
  ['no claim', { ...listed, body: listing }, NO_CLAIM],
  ['a claim without a version', claim({ [CAPABILITIES_KEY]: {} }), NO_CLAIM],
  ['a claim without abilities', claim({ [VERSION_KEY]: '2026-07-28' }), NO_CLAIM],
  ['a version that is a number', claim({ ...META, [VERSION_KEY]: 1 }), NO_CLAIM],
  ['abilities in an array', claim({ ...META, [CAPABILITIES_KEY]: [] }), NO_CLAIM],
  ['a version to come', claimOf('2099-01-01'), NO_VERSION],
  ['a version of the handshake', claimOf('2025-11-25'), NO_VERSION],
  [
    'a handshake under the new header',
    {
      headers: { 'mcp-protocol-version': '2026-07-28' },
      body: asked('initialize', { protocolVersion: '2026-07-28' }),
    },
    MISMATCH,
  ],
  [
    'a notification',
    { ...listed, body: '{"jsonrpc":"2.0","method":"notifications/cancelled"}' },
    TAKEN,
  ],
  ['a claim without any header', claim(META, {}), MISMATCH],
];

/** Corners of the protocol by what they are about. */
export const ROWS = { TRANSPORT, MESSAGES, BATCHES, METHODS, CALLS, STATELESS };

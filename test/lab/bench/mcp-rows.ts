import type { ShopOrigin, TokenRow } from './token-row.ts';

const CLIENT = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Calls of a client that looks for something to buy. */
const CALLS: readonly ToolCall[] = [
  { name: 'search', arguments: { query: 'air quality in Denver' } },
  { name: 'search', arguments: { query: 'did Apple file its 10-K' } },
  { name: 'search', arguments: { query: 'wildfires' } },
  { name: 'find_signal', arguments: { query: 'smog', entity: 'us-denver' } },
  { name: 'quote', arguments: { request: '/gauge?signal_id=airquality.aqi&entity=us-denver' } },
  { name: 'quote', arguments: { request: '/gauge/nas-region?entity=ewr' } },
  { name: 'find_signal', arguments: { signal_id: 'airquality.aqi', entity: 'us-denver' } },
  { name: 'find_signal', arguments: {} },
  { name: 'find_signal', arguments: { industry: 'aviation' } },
  { name: 'get_official_record', arguments: { signal_id: 'airquality.aqi', entity: 'us-denver' } },
];

/**
 * What the tool server puts before a model: its instructions, the list of tools and the answers of calls. A client shows
 * either the text of a result or its structured content; both say the same, so one of them is counted.
 */
export async function mcpRows(origin: ShopOrigin): Promise<TokenRow[]> {
  const { instructions } = await result(origin, 'initialize', CLIENT);
  const { tools } = await result(origin, 'tools/list', {});
  const calls = await Promise.all(CALLS.map((call) => callRow(origin, call)));
  return [
    { name: 'MCP instructions', text: String(instructions), goal: 200 },
    { name: 'MCP tools/list', text: JSON.stringify({ tools }), goal: 1000 },
    ...calls,
  ];
}

async function callRow(origin: ShopOrigin, call: ToolCall): Promise<TokenRow> {
  const { content } = await result(origin, 'tools/call', call);
  const [{ text }] = content as [{ text: string }];
  const isFirst = call.arguments.query !== undefined || Object.keys(call.arguments).length === 0;
  const goal = isFirst ? 400 : null;
  return { name: `MCP ${call.name} ${JSON.stringify(call.arguments)}`, text, goal };
}

async function result(
  origin: ShopOrigin,
  method: string,
  params: object,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const body = (await answer.json()) as { result?: Readonly<Record<string, unknown>> };
  if (body.result === undefined) {
    throw new Error(`Cannot measure "${method}": the answer is ${JSON.stringify(body)}`);
  }
  return body.result;
}

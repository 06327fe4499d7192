import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { RequirementsV1 } from '../../../gatekeeper/settle/payment.ts';
import { functionTools, type OpenApiDocument } from '../../function-tools.ts';
import { bench, compileSample } from '../bench.ts';
import { throwAwayPayer } from './buyers.ts';

const NAME_CHARS = 90;

/** Tokens that a model reads of this service, counted with o200k_base on the shipped sample. */
export const experiment = bench({}, async ({ folder, gate, say }) => {
  await compileSample(folder);
  const { port } = await gate({ folder });
  const origin = `http://127.0.0.1:${port}`;
  for (const row of [...(await mcpRows(origin)), ...(await httpRows(origin, Date.now()))]) {
    say(line(row));
  }
});

function line({ name, text, goal: fixed, share }: TokenRow): string {
  const tokens = countTokens(text);
  const goal = share === undefined ? fixed : Math.floor(countTokens(share.of) * share.atMost);
  const bound = goal === null ? '' : `of ${goal}${tokens > goal ? '  MISSED' : ''}`;
  const shown = name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS - 1)}…` : name;
  return `${shown.padEnd(NAME_CHARS)}${String(tokens).padStart(7)} ${bound}`;
}

/** One text that a model reads on its way to a record. */
interface TokenRow {
  readonly name: string;
  readonly text: string;
  /** Most tokens that it may have; null where no figure is set. */
  readonly goal: number | null;
  /** The text that it may have only a share of. */
  readonly share?: { readonly of: string; readonly atMost: number };
}

/** What the ways to a record ask for. */
const QUESTION = 'air quality in Denver';
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const BUNDLE = '/gauge/region?loc=us-denver';
/** Of the full form, which the short one may have. */
const THIN_SHARE = 1 / 3;

/** Descriptions, refusals and bought bodies over plain HTTP, and the ways from a question to a record. */
async function httpRows(origin: string, nowMs: number): Promise<TokenRow[]> {
  const buy = buyer(origin, nowMs);
  const text = async (target: string): Promise<string> => (await fetch(origin + target)).text();
  const openApi = await text('/openapi.json');
  const rows = [
    row('/openapi.json', openApi),
    row('/openapi.json as function tools', toolsText(openApi), 12_000),
    row('/llms.txt', await text('/llms.txt')),
    row('/llms-full.txt', await text('/llms-full.txt')),
    row('/manifest', await text('/manifest')),
    row('/gauge/search', await text(`/gauge/search?q=${encodeURIComponent(QUESTION)}`), 400),
    row('402 of a record', await text(RECORD)),
    row('402 of a bundle', await text(BUNDLE)),
    row('422 of a record', await text('/gauge?signal_id=airquality.aqi')),
  ];
  const pairs = [await formsOf('record', RECORD, buy), await formsOf('bundle', BUNDLE, buy)];
  return [...rows, ...pairs.flat(), ...(await ways(text, buy))];
}

type Buy = (target: string) => Promise<string>;

function row(name: string, text: string, goal: number | null = null): TokenRow {
  return { name, text, goal };
}

function toolsText(openApi: string): string {
  return JSON.stringify(functionTools(JSON.parse(openApi) as OpenApiDocument));
}

/** A bought body in both forms; the goal of the short one is a share of the other. */
async function formsOf(name: string, target: string, buy: Buy): Promise<TokenRow[]> {
  const full = row(`bought ${name}`, await buy(target));
  const thin = row(`bought ${name}, format=thin`, await buy(`${target}&format=thin`));
  return [full, { ...thin, share: { of: full.text, atMost: THIN_SHARE } }];
}

/** Everything that a model reads from the question to the bought record: the search, the price, the body. */
async function ways(text: (target: string) => Promise<string>, buy: Buy): Promise<TokenRow[]> {
  const found = await text(`/gauge/search?q=${encodeURIComponent(QUESTION)}`);
  const price = await text(RECORD);
  const thin = `${RECORD}&format=thin`;
  return [
    row('way: search, 402, record', found + price + (await buy(RECORD))),
    row('way: search, 402, thin record', found + (await text(thin)) + (await buy(thin)), 2500),
  ];
}

function buyer(origin: string, nowMs: number): Buy {
  const payer = throwAwayPayer(nowMs);
  return async (target) => {
    const { accepts } = (await (await fetch(origin + target)).json()) as {
      accepts: readonly [RequirementsV1];
    };
    const headers = { 'x-payment': payer.signPayment(accepts[0]) };
    const answer = await fetch(origin + target, { headers });
    if (answer.status !== 200) {
      throw new Error(`Cannot measure "${target}": bought with ${answer.status}`);
    }
    return answer.text();
  };
}

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
async function mcpRows(origin: string): Promise<TokenRow[]> {
  const { instructions } = await result(origin, 'initialize', CLIENT);
  const { tools } = await result(origin, 'tools/list', {});
  const calls = await Promise.all(CALLS.map((call) => callRow(origin, call)));
  return [
    { name: 'MCP instructions', text: String(instructions), goal: 200 },
    { name: 'MCP tools/list', text: JSON.stringify({ tools }), goal: 1000 },
    ...calls,
  ];
}

async function callRow(origin: string, call: ToolCall): Promise<TokenRow> {
  const { content } = await result(origin, 'tools/call', call);
  const [{ text }] = content as [{ text: string }];
  const isFirst = call.arguments.query !== undefined || Object.keys(call.arguments).length === 0;
  const goal = isFirst ? 400 : null;
  return { name: `MCP ${call.name} ${JSON.stringify(call.arguments)}`, text, goal };
}

async function result(
  origin: string,
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

import { createMCPClient } from '@ai-sdk/mcp';
import { generateText, jsonSchema, stepCountIs, type ToolSet, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSigner, wrapFetchWithPayment } from 'x402-fetch';
import {
  type SignalpressClient,
  signalpressClient,
} from '../../compiler/client/signalpress-client.ts';
import { functionTools, type OpenApiDocument } from '../function-tools.ts';
import { openShop, type Shop } from './shop.ts';

/** What the model does next: a call of a tool, or its last words. */
type Turn = string | { readonly tool: string; readonly input: object };
/** One turn from the texts of all tool results so far, the newest last. */
type ScriptedTurn = (results: readonly string[]) => Turn;

/** What went between the agent and the tools. */
interface Transcript {
  readonly answer: string;
  /** Texts of the tool results, in the order of the calls. */
  readonly results: readonly string[];
  /** One line for each message, shortened. */
  readonly lines: readonly string[];
  /** What a model reads: the definitions of the tools, and all messages. */
  readonly tokens: { readonly tools: number; readonly messages: number };
}

/** The agent loop of the AI SDK, with a model that follows a script instead of thinking. */
async function runAgent(
  question: string,
  tools: ToolSet,
  script: readonly ScriptedTurn[],
): Promise<Transcript> {
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => generated(nextTurn(script, resultsIn(prompt))),
  });
  const { text, response } = await generateText({
    model,
    tools,
    prompt: question,
    maxRetries: 0,
    stopWhen: stepCountIs(script.length),
  });
  const messages = [{ role: 'user', content: question }, ...response.messages];
  const definitions = model.doGenerateCalls[0]?.tools ?? [];
  return {
    answer: text,
    results: resultsIn(messages),
    lines: messages.map(lineOf),
    tokens: {
      tools: countTokens(JSON.stringify(definitions)),
      messages: countTokens(messages.map(textOf).join('\n')),
    },
  };
}

type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;

function nextTurn(script: readonly ScriptedTurn[], results: readonly string[]): Turn {
  const turn = script[results.length];
  if (turn === undefined) throw new Error(`The script ends after ${script.length} turns`);
  return turn(results);
}

function generated(turn: Turn): Generated {
  const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };
  const usage = { inputTokens: none, outputTokens: none };
  if (typeof turn === 'string') {
    const content = [{ type: 'text' as const, text: turn }];
    return { content, finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
  }
  const call = { type: 'tool-call' as const, toolCallId: turn.tool, toolName: turn.tool };
  const content = [{ ...call, input: JSON.stringify(turn.input) }];
  return { content, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
}

interface AnyMessage {
  readonly role: string;
  readonly content: unknown;
}
interface AnyPart {
  readonly type: string;
  readonly text?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type: string; readonly value?: unknown };
}

function partsOf({ content }: AnyMessage): readonly AnyPart[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (content as readonly AnyPart[]);
}

function resultsIn(messages: readonly AnyMessage[]): string[] {
  return messages.flatMap((message) =>
    partsOf(message)
      .filter(({ type }) => type === 'tool-result')
      .map(partText),
  );
}

/** What a model reads of a part. */
function partText({ text, toolName, input, output }: AnyPart): string {
  if (text !== undefined) return text;
  if (output === undefined) return `${toolName} ${JSON.stringify(input)}`;
  const { value } = output;
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  return (value as readonly AnyPart[]).map((part) => part.text ?? '').join('');
}

function textOf(message: AnyMessage): string {
  return partsOf(message).map(partText).join('\n');
}

const SHOWN_CHARS = 160;

function lineOf(message: AnyMessage): string {
  const text = textOf(message);
  const tokens = countTokens(text);
  const shown = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
  return `${message.role.padEnd(10)}${String(tokens).padStart(6)}  ${shown}`;
}

/**
 * An agent of the AI SDK goes from a question to a verified record, in three ways, and is stopped by a false body and by a
 * price above its cap. SIGNALPRESS_TRANSCRIPTS=1 prints what was said, with its tokens (npm run lab -- agents).
 */
const QUESTION = 'How is the air in Denver?';
const PAIR = { signal_id: 'airquality.aqi', entity: 'us-denver' };
/** 0.01 USD is enough for a record, and not for a bundle. */
const MAX_USD = '0.01';
const MAX_ATOMIC = 10_000n;

let shop: Shop;
let client: SignalpressClient;
let signer: Awaited<ReturnType<typeof createSigner>>;
beforeAll(async () => {
  shop = await openShop();
  signer = await createSigner('base', generatePrivateKey());
  client = signalpressClient({
    baseUrl: shop.url,
    issuer: shop.did,
    maxUsd: MAX_USD,
    pay: (inner, maxAtomic) => wrapFetchWithPayment(inner, signer, maxAtomic) as typeof fetch,
  });
});
afterAll(() => shop.close());

type Texts = Readonly<Record<string, string>>;

/** A function tool of some required texts. */
function textTool(description: string, names: readonly string[], run: (given: Texts) => unknown) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  return tool({
    description,
    inputSchema: jsonSchema<Texts>({ type: 'object', properties, required: [...names] }),
    execute: async (given) => {
      const result = await run(given);
      return typeof result === 'string' ? result : JSON.stringify(result);
    },
  });
}

/** What spends and what judges: our client, which pays over HTTP up to its cap. */
function clientTools(): ToolSet {
  const split = (request: string) => {
    const { pathname, searchParams } = new URL(request, shop.url);
    return [pathname as '/gauge', Object.fromEntries(searchParams)] as const;
  };
  return {
    buy: textTool(
      'Buys a request up to the cap; returns the body, whose signatures were checked.',
      ['request'],
      async ({ request = '' }) => (await client.buy(...split(request))).text,
    ),
    verify: textTool('Judges a saved body offline.', ['body'], async ({ body = '' }) => ({
      verdict: (await client.verify(body)).verdict,
    })),
  };
}

/** Search and quote of our client beside its purchase, with what a model needs of the answers. */
function ownTools(): ToolSet {
  const search = textTool('Words to requests.', ['words'], async ({ words = '' }) => ({
    results: await client.search(words, 2),
  }));
  const quote = textTool('Price of a record in USD.', Object.keys(PAIR), async (pair) => {
    const { url, priceUsd } = await client.quote('/gauge', pair);
    return { url, priceUsd };
  });
  return { search, quote, ...clientTools() };
}

/** One tool for each operation of the OpenAPI document, sent by a fetch that pays up to the cap. */
async function openApiTools(): Promise<ToolSet> {
  const document = (await (await fetch(`${shop.url}/openapi.json`)).json()) as OpenApiDocument;
  const pay = wrapFetchWithPayment(fetch, signer, MAX_ATOMIC) as typeof fetch;
  const requests = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({ path, method: method.toUpperCase() })),
  );
  const made = functionTools(document) as readonly FunctionTool[];
  const named = made.map(({ function: { name, description, parameters } }, at) => {
    const { path, method } = requests[at] ?? { path: '', method: '' };
    const execute = async ({ params = {}, json }: Arguments): Promise<string> => {
      const body = json === undefined ? {} : { body: JSON.stringify(json), headers: JSON_TYPE };
      const url = `${shop.url}${path}?${new URLSearchParams(params)}`;
      return (await pay(url, { method, ...body })).text();
    };
    return [name, tool({ description, inputSchema: jsonSchema<Arguments>(parameters), execute })];
  });
  return Object.fromEntries(named) as ToolSet;
}

interface FunctionTool {
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Parameters<typeof jsonSchema>[0];
  };
}
interface Arguments {
  readonly params?: Record<string, string>;
  readonly json?: unknown;
}
const JSON_TYPE = { 'content-type': 'application/json' };

async function mcpTools(): Promise<ToolSet> {
  const mcp = await createMCPClient({ transport: { type: 'http', url: `${shop.url}/mcp` } });
  closing.push(() => mcp.close());
  return { ...((await mcp.tools()) as ToolSet), ...clientTools() };
}
const closing: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

/** The request of the best result, in the short form. */
const thinRequest = (results: readonly string[]): string =>
  `${JSON.parse(results[0] ?? '').results[0].request}&format=thin`;
const last = (results: readonly string[]): string => results.at(-1) ?? '';
/** Another reading than the signed one. */
const altered = (body: string): string => body.replace(/("observed_at":"20)\d\d/g, '$119');
const thinPair = { ...PAIR, format: 'thin' };

interface Way {
  readonly name: string;
  readonly tools: () => Promise<ToolSet>;
  /** From the question to the bought body, which is the last result. */
  readonly buying: readonly ScriptedTurn[];
  readonly verify: (body: string) => ReturnType<ScriptedTurn>;
  /** A purchase above the cap. */
  readonly dear: ReturnType<ScriptedTurn>;
}

const ownVerdict = {
  verify: (body: string) => ({ tool: 'verify', input: { body } }),
  dear: { tool: 'buy', input: { request: '/gauge/region?loc=us-denver' } },
};

const WAYS: readonly Way[] = [
  {
    name: 'over MCP, bought over HTTP',
    tools: mcpTools,
    buying: [
      () => ({ tool: 'search', input: { query: 'air quality in Denver' } }),
      (found) => ({ tool: 'quote', input: { request: thinRequest(found) } }),
      (found) => ({ tool: 'buy', input: { request: thinRequest(found) } }),
    ],
    ...ownVerdict,
  },
  {
    name: 'function tools of /openapi.json',
    tools: openApiTools,
    buying: [
      () => ({ tool: 'getGaugeSearch', input: { params: { q: 'air quality in Denver' } } }),
      () => ({ tool: 'getGauge', input: { params: thinPair } }),
    ],
    verify: (body) => ({ tool: 'postVerify', input: { json: JSON.parse(body) } }),
    dear: { tool: 'getGaugeRegion', input: { params: { loc: 'us-denver' } } },
  },
  {
    name: 'tools of the JavaScript client',
    tools: async () => ownTools(),
    buying: [
      () => ({ tool: 'search', input: { words: 'air quality in Denver' } }),
      () => ({ tool: 'quote', input: PAIR }),
      (found) => ({ tool: 'buy', input: { request: thinRequest(found) } }),
    ],
    ...ownVerdict,
  },
];

async function settledBy(work: () => Promise<Transcript>) {
  const before = shop.facilitator.settled.length;
  const transcript = await work();
  return { ...transcript, settled: shop.facilitator.settled.length - before };
}

function print(name: string, { lines, tokens }: Transcript): void {
  if (process.env.SIGNALPRESS_TRANSCRIPTS === undefined) return;
  const total = `tools ${tokens.tools} tokens, messages ${tokens.messages} tokens`;
  process.stdout.write(`\n${name}: ${total}\n${lines.join('\n')}\n`);
}

describe.each(WAYS)('$name', ({ name, tools, buying, verify, dear }) => {
  it('goes from the question to a verified record, for one payment', async () => {
    const said = await settledBy(async () =>
      runAgent(QUESTION, await tools(), [
        ...buying,
        (results) => verify(last(results)),
        (results) => `The record is ${JSON.parse(last(results)).verdict}`,
      ]),
    );
    print(name, said);
    expect(said.answer).toBe('The record is verified');
    expect(said.settled).toBe(1);
    const body = said.results[buying.length - 1] ?? '';
    expect(await shop.verify(body)).toMatchObject({ status: 0 });
    expect(JSON.parse(body)).toMatchObject(PAIR);
  });

  it('is told that an altered body is false', async () => {
    const said = await runAgent(QUESTION, await tools(), [
      ...buying,
      (results) => verify(altered(last(results))),
      (results) => `The record is ${JSON.parse(last(results)).verdict}`,
    ]);
    expect(said.answer).toBe('The record is failed');
    const changed = altered(said.results[buying.length - 1] ?? '');
    expect((await shop.verify(changed)).status).not.toBe(0);
  });

  it('does not pay more than its cap', async () => {
    const said = await settledBy(async () =>
      runAgent(QUESTION, await tools(), [() => dear, (results) => last(results)]),
    );
    expect(said.answer).toMatch(/maxUsd is|exceeds/i);
    expect(said.settled).toBe(0);
  });
});

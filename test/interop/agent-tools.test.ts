import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool as langchainTool } from '@langchain/core/tools';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { tool as openaiTool, RunContext } from '@openai/agents-core';
import { jsonSchema, tool } from 'ai';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aiSdkTools } from '../../compiler/client/adapters/ai-sdk.ts';
import { langchainTools } from '../../compiler/client/adapters/langchain.ts';
import { openaiAgentsTools } from '../../compiler/client/adapters/openai-agents.ts';
import { shopTools } from '../../compiler/client/shop-tools.ts';
import { signalpressClient } from '../../compiler/client/signalpress-client.ts';
import { openShop, type Shop } from './shop.ts';

/** The tools of a buyer in the libraries of agents, and over MCP with a wallet. */
let shop: Shop;
let folder: string;
beforeAll(async () => {
  shop = await openShop();
  folder = mkdtempSync(join(tmpdir(), 'signalpress-tools-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await shop.close();
});

const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const DEAR = '/gauge/region?loc=us-denver';

function tools(fetching: typeof fetch = fetch) {
  const account = privateKeyToAccount(generatePrivateKey());
  const { url: baseUrl, did: issuer } = shop;
  const wait = async (): Promise<void> => undefined;
  return shopTools(signalpressClient({ baseUrl, issuer, account, fetch: fetching, wait }), {
    maxUsd: '0.05',
  });
}

type Call = (name: string, args: Readonly<Record<string, string>>) => Promise<string>;

/** One reading is found, quoted and bought; one above the cap is not. */
async function expectBuying(call: Call): Promise<void> {
  const before = shop.facilitator.settled.length;
  const found = JSON.parse(await call('search', { words: 'air quality in Denver' }));
  expect(found.results[0].request).toContain('us-denver');
  expect(JSON.parse(await call('quote', { request: RECORD }))).toEqual({ price_usd: '0.01' });
  expect(shop.facilitator.settled.length).toBe(before);
  const bought = JSON.parse(await call('buy', { request: RECORD }));
  expect(bought).toMatchObject({ verdict: 'verified', paid_usd: '0.01' });
  expect(Object.keys(bought.answer.current)).toContain('aqi_index');
  // A model cannot raise the cap.
  const refused = JSON.parse(await call('buy', { request: DEAR, max_usd: '100' }));
  expect(refused).toMatchObject({ code: 'too_expensive' });
  expect(refused.error).toContain('0.05');
  expect(shop.facilitator.settled.length).toBe(before + 1);
  expect(await shop.charges()).toBe(shop.facilitator.settled.length);
}

describe('the tools of a shop', () => {
  it('are those of the AI SDK', async () => {
    const made = aiSdkTools(tools(), { tool, jsonSchema } as never) as Record<
      string,
      { execute(args: object): Promise<string> }
    >;
    await expectBuying(async (name, args) => String(await made[name]?.execute(args)));
  });

  it('are those of LangChain, which checks what they take', async () => {
    const made = langchainTools(tools(), langchainTool as never) as {
      name: string;
      invoke(args: object): Promise<string>;
    }[];
    const invoke = (name: string, args: object) =>
      made.find((one) => one.name === name)?.invoke(args);
    await expectBuying(async (name, args) => String(await invoke(name, args)));
    await expect(invoke('buy', {})).rejects.toThrow('schema');
  });

  it('are those of OpenAI Agents', async () => {
    const made = openaiAgentsTools(tools(), openaiTool as never) as {
      name: string;
      invoke(context: unknown, args: string): Promise<string>;
    }[];
    await expectBuying(async (name, args) => {
      const found = made.find((one) => one.name === name);
      return String(await found?.invoke(new RunContext(), JSON.stringify(args)));
    });
  });

  it('send a payment again whose answer was lost, and sign no second one', async () => {
    const sent: string[] = [];
    const lossy: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const payment = request.headers.get('payment-signature');
      const answer = await fetch(request);
      if (payment === null) return answer;
      sent.push(payment);
      if (sent.length <= 6) throw new TypeError('fetch failed');
      return answer;
    };
    const buy = tools(lossy).find(({ name }) => name === 'buy');
    const before = shop.facilitator.settled.length;
    expect(JSON.parse((await buy?.run({ request: RECORD }))?.text ?? '')).toMatchObject({
      code: 'unsettled',
    });
    expect(JSON.parse((await buy?.run({ request: RECORD }))?.text ?? '')).toMatchObject({
      verdict: 'verified',
    });
    expect([sent.length, new Set(sent).size]).toEqual([7, 1]);
    expect(shop.facilitator.settled.length).toBe(before + 1);
  });

  it.each([[{}], [{ request: 7 }], [{ request: RECORD, cap: '9' }], ['/gauge'], [null]])(
    'refuse what they cannot read: %j',
    async (args) => {
      const buy = tools().find(({ name }) => name === 'buy');
      const before = shop.facilitator.settled.length;
      expect(await buy?.run(args)).toMatchObject({ isError: true });
      expect(shop.facilitator.settled.length).toBe(before);
    },
  );
});

describe('signalpress mcp', () => {
  async function connected(...options: string[]) {
    const key = join(folder, 'wallet.key');
    writeFileSync(key, generatePrivateKey().slice(2), { mode: 0o600 });
    const args = ['build/compiler/signalpress.js', 'mcp', '--url', shop.url, '--issuer', shop.did];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...args, '--wallet', key, '--max-usd', '0.05', ...options],
    });
    const client = new Client({ name: 'host', version: '1.0.0' });
    await client.connect(transport);
    return client;
  }

  async function called(client: Client, name: string, args: object) {
    const { content, isError } = await client.callTool({ name, arguments: { ...args } });
    const [first] = content as { text: string }[];
    return { isError, text: first?.text ?? '' };
  }

  it('sells one answer to the official SDK as host, and refuses above the cap', async () => {
    const client = await connected();
    const { tools: listed } = await client.listTools();
    expect(listed.map(({ name }) => name)).toEqual(['search', 'quote', 'buy', 'verify']);
    await expectBuying(async (name, args) => (await called(client, name, args)).text);
    expect((await called(client, 'buy', { request: DEAR })).isError).toBe(true);
    const free = (await (await fetch(`${shop.url}/gauge/sample`)).json()) as { sample: object };
    const judged = await called(client, 'verify', { body: JSON.stringify(free.sample) });
    expect(JSON.parse(judged.text)).toMatchObject({ issuer: shop.did });
    await expect(client.callTool({ name: 'steal' })).rejects.toThrow('no tool');
    await client.close();
  });

  it('signs no more in its life than --max-total-usd', async () => {
    const client = await connected('--max-total-usd', '0.01');
    const before = shop.facilitator.settled.length;
    const buys = await Promise.all([1, 2].map(() => called(client, 'buy', { request: RECORD })));
    expect(buys.map(({ isError }) => isError)).toEqual([false, true]);
    expect(buys[1]?.text).toContain('maxTotalUsd 0.01');
    expect(shop.facilitator.settled.length).toBe(before + 1);
    expect(await shop.charges()).toBe(shop.facilitator.settled.length);
    await client.close();
  });
});

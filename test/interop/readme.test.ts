import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, type Shop } from './shop.ts';

/** The snippets of the README section "Buy from it", run as they stand but for the address. */
const QUICK_START = 'http://127.0.0.1:4021';
/** Beside the packages that a snippet imports. */
const SNIPPET = join(import.meta.dirname, 'snippet.mjs');

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(async () => {
  rmSync(SNIPPET, { force: true });
  await shop.close();
});

function snippets(): { kind: string; code: string }[] {
  const readme = readFileSync('README.md', 'utf8');
  const [, section = ''] = readme.split('## Buy from it\n');
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, kind = '', code = '']) => ({
    kind,
    code: code.replaceAll(QUICK_START, shop.url).replaceAll('base-sepolia', 'base'),
  }));
}

async function run(code: string): Promise<string> {
  writeFileSync(SNIPPET, code);
  const env = { ...process.env, WALLET_KEY: generatePrivateKey() };
  const child = spawn(process.execPath, [SNIPPET], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const status = await new Promise((resolve) => child.on('close', resolve));
  expect([status, status === 0 ? '' : output]).toEqual([0, '']);
  return output;
}

describe('README, "Buy from it"', () => {
  it('has two snippets, and then the commands that verify', () => {
    expect(snippets().map(({ kind }) => kind)).toEqual(['js', 'json', 'sh']);
  });

  it('the configuration of an MCP client leads to the tools', async () => {
    const [, second] = snippets();
    const { mcpServers } = JSON.parse(second?.code ?? '{}');
    expect(mcpServers.signalpress.type).toBe('http');
    const client = new Client({ name: 'readme', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(mcpServers.signalpress.url)));
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('get_official_record');
    await client.close();
  });

  it('x402-fetch buys the reading, once', async () => {
    const [first] = snippets();
    const before = shop.facilitator.settled.length;
    expect(await run(first?.code ?? '')).toContain('aqi_index');
    expect(shop.facilitator.settled.length).toBe(before + 1);
  });
});

import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as Newest } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as NewestTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as Oldest } from 'mcp-sdk-1-10/client/index.js';
import { StreamableHTTPClientTransport as OldestTransport } from 'mcp-sdk-1-10/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, type Shop } from './shop.ts';

/** The official SDK clients, oldest and newest of each line, use the tool server unchanged. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close(), 60_000);

const SELF = { name: 'interop', version: '1.0.0' };
const PAIR = { signal_id: 'airquality.aqi', entity: 'us-denver' };

/** What all clients have in common, as far as the tools need it. */
interface AnyClient {
  listTools(): Promise<{ tools: readonly { readonly name: string }[] }>;
  getInstructions(): string | undefined;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  getServerVersion(): { readonly name: string } | undefined;
  close(): Promise<void>;
}
interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

const url = (): URL => new URL('/mcp', shop.url);

async function oldest(): Promise<AnyClient> {
  const client = new Oldest(SELF);
  await client.connect(new OldestTransport(url()) as never);
  return client as unknown as AnyClient;
}

async function newest(): Promise<AnyClient> {
  const client = new Newest(SELF);
  await client.connect(new NewestTransport(url()) as never);
  return client as unknown as AnyClient;
}

const second =
  (mode?: 'auto' | 'legacy' | { readonly pin: string }) => async (): Promise<AnyClient> => {
    const options = mode === undefined ? {} : { versionNegotiation: { mode } };
    const client = new ClientV2(SELF, options as never);
    await client.connect(new TransportV2(url()));
    return client as unknown as AnyClient;
  };

const CLIENTS: readonly (readonly [string, () => Promise<AnyClient>])[] = [
  ['@modelcontextprotocol/sdk 1.10', oldest],
  ['@modelcontextprotocol/sdk 1.32', newest],
  ['@modelcontextprotocol/client 2.4', second()],
  ['@modelcontextprotocol/client 2.4, handshake', second('legacy')],
  ['@modelcontextprotocol/client 2.4, whatever fits', second('auto')],
  ['@modelcontextprotocol/client 2.4, stateless alone', second({ pin: '2026-07-28' })],
];

describe.each(CLIENTS)('%s', (_, connect) => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  const call = async (name: string, given: Record<string, unknown>): Promise<ToolAnswer> =>
    (await client.callTool({ name, arguments: given })) as ToolAnswer;

  it('knows who answers and lists the tools', async () => {
    expect(client.getServerVersion()?.name).toBe('Test issuer');
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      'search',
      'quote',
      'verify_citation',
      'find_signal',
      'get_official_record',
    ]);
  });

  it('finds a signal, is offered its record and checks a citation', async () => {
    const found = await call('find_signal', { signal_id: PAIR.signal_id, full: true });
    expect(JSON.parse(found.content[0]?.text ?? '')).toMatchObject({
      signals: [{ signal_id: PAIR.signal_id }],
    });
    const offer = await call('get_official_record', PAIR);
    const { accepts } = JSON.parse(offer.content[0]?.text ?? '');
    expect(accepts).toMatchObject([
      { scheme: 'exact', network: 'base', maxAmountRequired: '10000' },
    ]);
    const hash = `sha256:${'0'.repeat(64)}`;
    const checked = await call('verify_citation', { record_hash: hash });
    expect(JSON.parse(checked.content[0]?.text ?? '')).toMatchObject({ found: false });
  });

  it('finds in words, is quoted a price, and sends the GET itself', async () => {
    const { results } = JSON.parse(
      (await call('search', { query: 'air quality in Denver' })).content[0]?.text ?? '',
    ) as { results: [{ id: string; request: string }] };
    expect(results[0].id).toBe('airquality.aqi/us-denver');
    const quote = JSON.parse(
      (await call('quote', { request: results[0].request })).content[0]?.text ?? '',
    );
    expect(quote).toMatchObject({ price_usd: '0.01', accepts: [{ maxAmountRequired: '10000' }] });
    const [, target = ''] = /send GET \S+?(\/gauge\S*) over HTTP/.exec(quote.how) ?? [];
    expect((await fetch(shop.url + target)).status).toBe(402);
  });

  it('reads instructions that name the format', async () => {
    const instructions = client.getInstructions() ?? '';
    expect(instructions.split(/\s+/).length).toBeLessThanOrEqual(120);
    const [, path = ''] = /read https?:\/\/[^/ ]+(\/\S+) and check/.exec(instructions) ?? [];
    expect((await fetch(shop.url + path)).status).toBe(200);
  });

  it('is told what to send instead, without data', async () => {
    const refused = await call('get_official_record', { ...PAIR, entity: 'us-nowhere' });
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toBeUndefined();
    expect(refused.content[0]?.text).toMatch(/Not charged\. Try GET /);
  });

  it('rejects what is no tool', async () => {
    await expect(call('nowhere', {})).rejects.toThrow(/Unknown tool/);
  });

  it('asked for no payment', () => {
    expect(shop.facilitator.settled).toEqual([]);
  });
});

describe('a client that validates what it is given', () => {
  it.each(CLIENTS.slice(1))('%s takes the structured content', async (_, connect) => {
    const client = await connect();
    await client.listTools();
    const { structuredContent } = (await client.callTool({
      name: 'get_official_record',
      arguments: PAIR,
    })) as ToolAnswer;
    expect(structuredContent).toMatchObject({ x402Version: 1 });
    await client.close();
  });
});

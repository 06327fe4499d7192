import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { numberToHex } from 'viem';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openSettlementServices } from '../../../../gatekeeper/heart/payment/open-settlement-services.ts';
import type { Config } from '../../../../gatekeeper/settings/config.ts';
import { loadConfig } from '../../../../gatekeeper/settings/load-config.ts';
import type { Meters } from '../../../../gatekeeper/settings/meters.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { ServiceState } from '../../../../gatekeeper/wire/service-state.ts';
import { StartError } from '../../../../gatekeeper/wire/start-error.ts';
import { type RpcStub, rpcStub } from '../../chain-reader.ts';
import { paymentRequest } from '../../payer.ts';
import { untoldState } from '../../tiny-service.ts';

const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7';
const KEY = '11'.repeat(32);
const { chainId } = NETWORKS.base;

let node: RpcStub;
let reported: string[];
beforeEach(async () => {
  reported = [];
  node = await rpcStub((method) => (method === 'eth_chainId' ? numberToHex(chainId) : '0x60'));
});
afterEach(() => node.close());

function config(options: Record<string, string>): Config {
  return loadConfig({
    options: { pay_to: PAYEE, network: 'base', ...options },
    env: {},
    fileText: null,
  });
}
const open = async (options: Record<string, string>) =>
  openSettlementServices(config(options), {
    clock: () => Date.now(),
    state: untoldState(),
    log: () => {},
    report: (error) => reported.push(error instanceof Error ? error.message : String(error)),
  });

async function refusal(options: Record<string, string>): Promise<string> {
  const error = await open(options).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(StartError);
  return String(error);
}

/** A facilitator that lists one network, in these versions, and refuses every payment; the versions it was sent. */
async function facilitator(
  network: keyof typeof NETWORKS,
  listed = [1, 2],
): Promise<{ url: string; server: Server; versions: readonly number[] }> {
  const { name, caip2 } = NETWORKS[network];
  const versions: number[] = [];
  const kinds = listed.map((x402Version) => {
    return { x402Version, scheme: 'exact', network: x402Version === 1 ? name : caip2 };
  });
  const server = createServer(async (request, response) => {
    const isSupported = request.url === '/supported';
    if (request.method === 'POST')
      versions.push(((await json(request)) as { x402Version: number }).x402Version);
    response.end(JSON.stringify(isSupported ? { kinds } : { isValid: false, success: false }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, versions };
}

describe('openSettlementServices()', () => {
  it('openSettlementServices() refuses a node of another chain, or without the token', async () => {
    const options = { relayer_key: KEY, rpc_url: node.url };
    node.answer = () => '0x1';
    expect(await refusal(options)).toMatch(/serves chain 1, but "base" is chain 8453; set/);
    node.answer = (method) => (method === 'eth_chainId' ? numberToHex(chainId) : '0x');
    expect(await refusal(options)).toMatch(/no contract at "0x8335/);
  });

  it('openSettlementServices() opens while the node is down, and says so', async () => {
    const settlers = await open({ relayer_key: KEY, rpc_url: 'http://127.0.0.1:9' });
    expect(reported.join()).toMatch(/Cannot ask the chain node/);
    expect(reported.join()).not.toContain('127.0.0.1:9');
    expect(await settlers.warning()).toMatch(/Cannot settle yet: the chain node gave no answer/);
    expect(await settlers.facilitator.verify(await paymentRequest())).toMatchObject({
      verdict: 'none',
    });
    await settlers.close();
  });

  it('I61: openSettlementServices() tells once when a node stops answering, and once when it answers again', async () => {
    const changes: unknown[] = [];
    const clock = () => Date.now();
    const log = ({ event }: Readonly<Record<string, unknown>>) => void changes.push(event);
    const settlers = await openSettlementServices(
      config({ facilitator_url: 'http://127.0.0.1:9', rpc_url: node.url }),
      { clock, log, report: () => {}, state: new ServiceState({ clock, log, askMs: 20 }) },
    );
    const { asset } = NETWORKS.base;
    const head = () => settlers.evidence?.head({ network: 'base', asset });
    const block = {
      number: '0x7',
      hash: '0xaa',
      timestamp: numberToHex(Math.round(Date.now() / 1000)),
    };
    node.answer = (method) => (method === 'eth_getBlockByNumber' ? block : '0x60');
    expect(await head()).toBe('7:0xaa');
    expect(changes).toEqual([]);
    node.raw = { status: 500, body: '' };
    for (let at = 0; at < 2; at++) expect(await head()).toBeNull();
    await vi.waitFor(() => expect(changes).toEqual(['node_lost']));
    node.raw = null;
    for (let at = 0; at < 2; at++) expect(await head()).toBe('7:0xaa');
    await vi.waitFor(() => expect(changes).toEqual(['node_lost', 'node_back']));
    await settlers.close();
  });

  it('openSettlementServices() logs what a directory says of the listing where it is news, and counts each answer', async () => {
    let bazaar: object | null = { status: 'processing' };
    const server = createServer((_, response) => {
      const header = Buffer.from(JSON.stringify({ bazaar })).toString('base64');
      if (bazaar !== null) response.setHeader('EXTENSION-RESPONSES', header);
      response.end('{"success":false,"errorReason":"no"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [logged, counted] = [[] as unknown[], [] as unknown[]];
    const meters = new Proxy({} as Meters, {
      get: (_, name) => (name === 'listed' ? (...args: unknown[]) => counted.push(args) : () => {}),
    });
    const settlers = await openSettlementServices(config({ facilitator_url: `http://${host}` }), {
      clock: () => Date.now(),
      log: (entry) => void logged.push(entry),
      report: () => {},
      state: untoldState(),
      meters,
    });
    const settle = async () => settlers.facilitator.settle(await paymentRequest());
    expect(settlers.listings()).toEqual([]);
    const rejected = { status: 'rejected', reason: 'no output' };
    for (const said of [
      null,
      { status: 'processing' },
      { status: 'processing' },
      { status: 'rejected', rejectedReason: 'no output' },
      { status: 'success' },
    ]) {
      bazaar = said;
      await settle();
    }
    expect(logged).toEqual([
      { event: 'listing_taken', facilitator: host, status: 'processing' },
      { event: 'listing_rejected', facilitator: host, ...rejected },
      { event: 'listing_taken', facilitator: host, status: 'success' },
    ]);
    expect(counted.map((args) => (args as string[])[1])).toEqual([
      'processing',
      'processing',
      'rejected',
      'success',
    ]);
    expect(settlers.listings()).toEqual([{ status: 'success' }]);
    await settlers.close();
    server.close();
  });

  it('openSettlementServices() settles by the relayer where a key is set', async () => {
    const settlers = await open({ relayer_key: KEY, rpc_url: node.url });
    expect(await settlers.warning()).toBeNull();
    expect(settlers.evidence?.find).toBeTypeOf('function');
    node.answer = (method) => (method === 'eth_getBalance' ? '0x0' : '0x60');
    expect(await settlers.warning()).toMatch(/relayer "0x[0-9a-fA-F]{40}" has no money for gas/);
    await settlers.close();
  });

  it('I48: openSettlementServices() refuses a node or facilitator that anybody on the way could read', async () => {
    expect(await refusal({ relayer_key: KEY, rpc_url: 'http://node.example/key' })).toMatch(
      /"http:\/\/node.example": not https/,
    );
    const list = 'https://f.example,http://g.example';
    expect(await refusal({ facilitator_url: list, rpc_url: node.url })).toMatch(/g\.example/);
  });

  it('openSettlementServices() refuses keys and headers that cannot work, and repeats none of them', async () => {
    const key = await refusal({ relayer_key: `${KEY}22`, rpc_url: node.url });
    expect(key).toMatch(/SIGNALPRESS_RELAYER_KEY/);
    expect(key).not.toContain(KEY);
    const options = { facilitator_url: 'https://f.example', facilitator_auth: 'hunter2' };
    expect(await refusal(options)).not.toContain('hunter2');
  });

  it('openSettlementServices() names every facilitator that does not settle on the network', async () => {
    const [good, bad] = [await facilitator('base'), await facilitator('base-sepolia')];
    const only = await open({ facilitator_url: good.url });
    expect(await only.warning()).toBeNull();
    expect(only).not.toHaveProperty('evidence');
    const request = await paymentRequest();
    expect(await only.facilitator.verify(request)).toMatchObject({ verdict: 'invalid' });
    const both = await open({ facilitator_url: `${good.url},${bad.url}`, rpc_url: node.url });
    expect(await both.warning()).toBe(
      `Cannot settle on "base": "${bad.url}" (2 of 2) does not list it; payments may be refused or answered 503, ` +
        'and in either case nobody is charged; set SIGNALPRESS_NETWORK to one of its networks, or use another facilitator',
    );
    const keyed = await open({ facilitator_url: `${bad.url}/hunter2`, rpc_url: node.url });
    expect(await keyed.warning()).not.toMatch(/hunter2|127\.0\.0\.1/);
    await Promise.all([only.close(), both.close(), keyed.close()]);
    good.server.close();
    bad.server.close();
  });

  it('openSettlementServices() names the auth setting where a facilitator does not know us', async () => {
    const server = createServer((_, response) => response.writeHead(401).end('{"error":"who?"}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const settlers = await open({ facilitator_url: `http://127.0.0.1:${port}` });
    expect(await settlers.warning()).toMatch(
      /^Cannot settle yet: \/supported: status 401, .*check SIGNALPRESS_FACILITATOR_AUTH or/,
    );
    await settlers.close();
    server.close();
  });

  it.each([
    [
      500,
      'status 500; .*; the fault is on its side: wait, tell its operator, or set _FACILITATOR_URL',
    ],
    [302, 'status 302; .*; check _FACILITATOR_URL'],
  ])(
    'openSettlementServices() says what to do when a facilitator answers %i',
    async (status, want) => {
      const server = createServer((_, response) => response.writeHead(status).end('{}'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const settlers = await open({ facilitator_url: `http://127.0.0.1:${port}` });
      const words = want.replace('_FAC', 'SIGNALPRESS_FAC');
      expect(await settlers.warning()).toMatch(
        new RegExp(`^Cannot settle yet: /supported: ${words}`),
      );
      await settlers.close();
      server.close();
    },
  );

  it('openSettlementServices() names the module that makes no headers', async () => {
    const { url, server } = await facilitator('base');
    const folder = mkdtempSync(join(tmpdir(), 'signalpress-auth-'));
    const module = (text: string): string => {
      const path = join(folder, `${text.length}.mjs`);
      writeFileSync(path, `export const authHeaders = async () => ${text};`);
      return path;
    };
    const troubleWith = async (text: string): Promise<string | null> => {
      const settlers = await open({ facilitator_url: url, facilitator_auth_module: module(text) });
      const trouble = await settlers.warning();
      await settlers.close();
      return trouble;
    };
    expect(await troubleWith('Promise.reject(new Error("hunter2"))')).toMatch(
      /^Cannot settle yet: \/supported: no auth headers; [^;]*; check SIGNALPRESS_FACILITATOR_AUTH_MODULE$/,
    );
    expect(await troubleWith('({ a: "b" })')).toBeNull();
    server.close();
  });

  it('openSettlementServices() translates for a facilitator that lists one version, and says so', async () => {
    const { url, server, versions } = await facilitator('base', [2]);
    const settlers = await open({ facilitator_url: url });
    expect(await settlers.warning()).toMatch(
      /^Payments of x402 version 1 are translated: .* nothing to do$/,
    );
    const request = await paymentRequest();
    expect(request.x402Version).toBe(1);
    await settlers.facilitator.verify(request);
    await settlers.facilitator.settle(request);
    expect(versions).toEqual([2, 2]);
    await settlers.close();
    server.close();
  });

  it('openSettlementServices() pretends where nobody is named', async () => {
    const settlers = await open({ network: 'base-sepolia' });
    expect(await settlers.warning()).toBeNull();
    await settlers.close();
  });
});

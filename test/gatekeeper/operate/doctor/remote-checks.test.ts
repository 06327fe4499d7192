import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionResult, type Hex, parseAbi, toFunctionSelector } from 'viem';
import { afterEach, describe, expect, it } from 'vitest';
import { ask } from '../../../../gatekeeper/operate/doctor/check.ts';
import {
  addressCheck,
  chainCheck,
  facilitatorCheck,
  payeeCheck,
} from '../../../../gatekeeper/operate/doctor/remote-checks.ts';
import { tokenNode } from '../../../../gatekeeper/settle/chain/chain-node.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { HANG, type RpcStub, rpcStub } from '../../chain-reader.ts';
import { freePort, type Stub, stub } from '../../raw-http.ts';
import { tinyGate } from '../../tiny-gate.ts';
import { TINY_BASE_URL, TINY_NOW } from '../../tiny-release.ts';
import { answer, examined, proxyTo, reported } from './examined.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

const NETWORK = NETWORKS['base-sepolia'];
const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7';

/** A facilitator that lists these kinds, or answers with a status alone. */
async function facilitator(answer: number | readonly object[]): Promise<Stub> {
  const made = await stub((_, response) => {
    if (typeof answer === 'number') response.writeHead(answer).end('{}');
    else response.end(JSON.stringify({ kinds: answer }));
  });
  open.push(made);
  return made;
}

const kind = (x402Version: number, network: string) => ({ x402Version, scheme: 'exact', network });
const BOTH = [kind(1, NETWORK.name), kind(2, NETWORK.caip2)];

describe('facilitatorCheck()', () => {
  const checked = async (answer: Parameters<typeof facilitator>[0]) => {
    const { url } = await facilitator(answer);
    const config = { facilitatorUrls: [url], payTo: PAYEE };
    const findings = await facilitatorCheck(examined({ config }));
    return findings.map(({ state, detail, remedy = '' }) => `${state}: ${detail} -> ${remedy}`);
  };

  it('is content with one that settles on the network, in one version or both', async () => {
    expect((await checked(BOTH))[0]).toMatch(
      /^ok: 127.0.0.1:[0-9]+ settles "exact" on base-sepolia in x402 version 1 and 2/,
    );
    expect((await checked(BOTH.slice(1)))[0]).toMatch(
      /^ok: .* version 2; payments of the other version are translated/,
    );
  });

  it.each([
    [
      'another network',
      [kind(1, 'base')],
      /^failed: .*does not list it.*-> set SIGNALPRESS_NETWORK/,
    ],
    ['another scheme', [{ ...kind(1, NETWORK.name), scheme: 'upto' }], /^failed: .*does not list/],
    ['a locked door', 401, /^failed: .* -> check SIGNALPRESS_FACILITATOR_AUTH/],
    ['a failure', 500, /^failed: .*status 500.* -> the fault is on its side/],
  ])('fails for %s, and says what to do', async (_, answer, expected) => {
    expect((await checked(answer))[0]).toMatch(expected);
  });

  it('has nothing to ask where payments are simulated', async () => {
    expect(reported(await facilitatorCheck(examined()))).toEqual([
      'skipped: none: payments are simulated',
    ]);
  });
});

const ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function isBlacklisted(address account) view returns (bool)',
]);
type Fact = (typeof ABI)[number]['name'];

interface Chain {
  readonly chainId?: number;
  readonly ageS?: number;
  readonly facts?: Partial<Record<Fact, string | number | boolean>>;
  readonly code?: Hex | null;
  readonly gas?: Hex;
}

/** A node whose answers a test may change. */
async function node(chain: Chain = {}): Promise<RpcStub> {
  const { chainId = NETWORK.chainId, ageS = 2, facts = {}, code = null, gas = '0x1' } = chain;
  const reported = { name: 'USDC', version: '2', decimals: 6, isBlacklisted: false, ...facts };
  const results = new Map(
    ABI.map((item) => {
      const args = { abi: [item], functionName: item.name, result: reported[item.name] };
      return [toFunctionSelector(item), encodeFunctionResult(args as never)];
    }),
  );
  const made = await rpcStub((method, params) => {
    const [first] = params as [{ data?: string; to?: string } | string];
    switch (method) {
      case 'eth_chainId':
        return `0x${chainId.toString(16)}`;
      case 'eth_getCode':
        return first === NETWORK.asset ? '0x60' : (code ?? '0x');
      case 'eth_getBlockByNumber':
        return { number: '0x10', timestamp: `0x${(TINY_NOW / 1000 - ageS).toString(16)}` };
      case 'eth_getBalance':
        return gas;
      default:
        return results.get((first as { data: string }).data.slice(0, 10) as Hex);
    }
  });
  open.push(made);
  return made;
}

/** What checks look at who have a node to ask. */
async function withNode(chain: Chain = {}, config = {}) {
  const { url } = await node(chain);
  const all = { rpcUrl: url, payTo: PAYEE, facilitatorUrls: ['https://pay.example'], ...config };
  return examined({ config: all, node: async () => tokenNode({ url, network: NETWORK }) });
}

describe('chainCheck()', () => {
  it('is content with a node of the network that has its newest block and its token', async () => {
    expect(reported(await chainCheck(await withNode()))).toEqual([
      'ok: chain 84532 (base-sepolia), block 16, 2 s old',
      `ok: token ${NETWORK.asset}: "USDC", version "2", 6 decimals`,
    ]);
    expect(reported(await chainCheck(examined()))).toEqual(['skipped: no chain node is set']);
  });

  it.each([
    [{ chainId: 1 }, /^failed: Cannot use chain node: it serves chain 1/],
    [{ ageS: 120 }, /^warning: .*120 s old/],
    [{ ageS: 3600 }, /^failed: .*3600 s old/],
    [{ facts: { name: 'USD Coin' } }, /failed: token .*"USD Coin".*buyers sign for "USDC"/],
    [{ facts: { version: '1' } }, /failed: token .*version "1"/],
    [{ facts: { decimals: 18 } }, /failed: token .*18 decimals/],
  ] as const)('judges a node with %j', async (chain, expected) => {
    expect(reported(await chainCheck(await withNode(chain))).join('\n')).toMatch(expected);
  });

  it('fails for a node that does not answer, and never shows its URL', async () => {
    const stub = await node();
    const silent = examined({
      node: async () => tokenNode({ url: `${stub.url}/v2/secret`, network: NETWORK }),
    });
    stub.raw = { status: 401, body: 'no such key: secret' };
    const [finding] = await chainCheck(silent);
    expect(finding?.state).toBe('failed');
    expect(JSON.stringify(finding)).not.toContain('secret');
    stub.raw = null;
    stub.answer = () => HANG;
    const hung = examined({
      node: async () => tokenNode({ url: stub.url, network: NETWORK, timeoutMs: 100 }),
    });
    expect((await chainCheck(hung))[0]?.state).toBe('failed');
  });

  it('asks the node of each network, and names the one that is wrong', async () => {
    const amoy = NETWORKS['polygon-amoy'];
    const [first, second] = [await node(), await node({ chainId: amoy.chainId, code: '0x60' })];
    const further = { network: amoy, rpcUrl: second.url, confirmations: 1, maxFeeGwei: '500' };
    const config = { rpcUrl: first.url, furtherNetworks: [further], payTo: PAYEE };
    const settled = { ...config, facilitatorUrls: ['https://pay.example'] };
    const parts = examined({
      config: settled,
      node: async ({ network, rpcUrl }) => tokenNode({ url: rpcUrl ?? '', network }),
    });
    expect(reported(await chainCheck(parts)).map((text) => text.slice(0, 36))).toEqual([
      'ok: chain 84532 (base-sepolia), bloc',
      `ok: token ${NETWORK.asset}`.slice(0, 36),
      'ok: chain 80002 (polygon-amoy), bloc',
      `ok: token ${amoy.asset}`.slice(0, 36),
    ]);
    const payee = reported(await payeeCheck(parts));
    expect(payee.map((text) => text.split(',')[0]).slice(1)).toEqual([
      'ok: base-sepolia: it is a plain account',
      'ok: base-sepolia: the token pays to it',
      'warning: polygon-amoy: it is a contract',
      'ok: polygon-amoy: the token pays to it',
    ]);
    const swapped = examined({
      config: { ...settled, furtherNetworks: [{ ...further, rpcUrl: first.url }] },
      node: parts.node,
    });
    expect(reported(await chainCheck(swapped))[2]).toMatch(
      /^failed: .*serves chain 84532, but "polygon-amoy" is chain 80002/,
    );
  });

  it('looks whether the relayer can pay for gas', async () => {
    const key = join(mkdtempSync(join(tmpdir(), 'signalpress-doctor-')), 'relayer.key');
    writeFileSync(key, '1'.repeat(64), { mode: 0o600 });
    const relays = { relayerKey: key, facilitatorUrls: [] };
    const gas = async (amount: Hex) =>
      (await chainCheck(await withNode({ gas: amount }, relays))).at(-1);
    expect((await gas('0x10'))?.detail).toMatch(/^the relayer 0x[0-9a-fA-F]{40} has 16 wei/);
    expect((await gas('0x0'))?.state).toBe('failed');
    expect(JSON.stringify(await gas('0x0'))).not.toContain('11111111');
  });
});

describe('payeeCheck()', () => {
  it('is content with an account that the token pays to', async () => {
    expect(reported(await payeeCheck(await withNode()))).toEqual([
      `ok: ${PAYEE} is an address with a matching checksum`,
      'ok: it is a plain account',
      'ok: the token pays to it',
    ]);
    const delegated = await withNode({ code: `0xef0100${'11'.repeat(20)}` });
    expect(reported(await payeeCheck(delegated))[1]).toBe(
      'ok: it is an account that delegates to a contract',
    );
  });

  it('warns of a contract, and fails for an account that is barred', async () => {
    expect((await payeeCheck(await withNode({ code: '0x6001' })))[1]?.state).toBe('warning');
    const barred = await payeeCheck(await withNode({ facts: { isBlacklisted: true } }));
    expect(reported(barred)[2]).toMatch(/^failed: the issuer of the token has barred it/);
  });

  it('knows only the spelling without a node, and refuses a wrong one', async () => {
    const config = { payTo: PAYEE, facilitatorUrls: ['https://pay.example'] };
    const alone = reported(await payeeCheck(examined({ config })));
    expect(alone.map((text) => text.split(':')[0])).toEqual(['ok', 'skipped']);
    const wrong = { ...config, payTo: PAYEE.replace('E0F', 'e0F') };
    await expect(payeeCheck(examined({ config: wrong }))).rejects.toThrow(/checksum/);
    expect(reported(await payeeCheck(examined()))).toEqual([
      'skipped: none: payments are simulated',
    ]);
  });
});

/** What is found behind a proxy that passes requests on, with these changes. */
async function behind(change: Parameters<typeof proxyTo>[1] = {}, config = {}) {
  const port = await freePort();
  return addressCheck(examined({ config: { port, ...config }, ask: proxyTo(port, change) }));
}

const FORWARDED = { 'x-forwarded-for': '203.0.113.9' };

describe('addressCheck()', () => {
  it('sees what arrives from the public address, before there is a gatekeeper', async () => {
    const findings = await behind({ headers: FORWARDED }, { trustedProxy: '127.0.0.1' });
    expect(reported(findings).slice(1)).toEqual([
      `ok: ${TINY_BASE_URL} leads here`,
      'ok: the proxy at 127.0.0.1 is trusted and names its clients',
    ]);
  });

  it('leaves the port free again', async () => {
    const port = await freePort();
    const free = () => addressCheck(examined({ config: { port }, ask: proxyTo(port) }));
    for (const findings of [await free(), await free()]) {
      expect(reported(findings)[0]).toBe(`ok: 127.0.0.1:${port} is free`);
    }
  });

  it.each([
    [{ headers: { host: 'inside:4021' } }, /failed: Host arrives as "inside:4021"/],
    [{ lost: ['x-payment'] }, /failed: lost on the way: x-payment$/m],
    [{ lost: ['payment-signature', 'x-receipt'] }, /lost on the way: payment-signature, x-receipt/],
    [{ headers: { authorization: 'Basic x' } }, /failed: lost on the way: authorization/],
    [{ path: '/healthz' }, /failed: the path or the query is changed on the way/],
    [
      { lost: ['payment-identifier', 'sign-in-with-x'] },
      /lost on the way: payment-identifier, sign/,
    ],
    [
      { headers: FORWARDED },
      /warning: a proxy at 127.0.0.1 names its clients, but is not trusted: .*no buyer is known by its address/,
    ],
    [{}, /warning: a proxy at 127.0.0.1 names no client: .*no buyer is known by its address/],
    [{ headers: { via: '1.1 p' } }, /warning: a proxy at 127.0.0.1 names no client/],
    [{ headers: { 'x-real-ip': '203.0.113.9' } }, /warning: a proxy at 127.0.0.1 names no client/],
  ])('names what a proxy does wrong: %j', async (change, expected) => {
    expect(reported(await behind(change)).join('\n')).toMatch(expected);
  });

  it('warns of a trusted proxy that names no client, and of a public address without TLS', async () => {
    const silent = await behind({}, { trustedProxy: '127.0.0.1', baseUrl: 'http://shop.example' });
    expect(reported(silent)).toContain(
      'warning: the trusted proxy at 127.0.0.1 names no client: they all share one rate limit, and no buyer is known by its address',
    );
    expect(reported(silent).join('\n')).toMatch(/warning: http:\/\/shop.example is not https/);
  });

  it('fails where the address leads elsewhere or nowhere', async () => {
    const elsewhere = { ask: async () => answer(502) };
    expect(reported(await addressCheck(examined(elsewhere)))[1]).toBe(
      `failed: ${TINY_BASE_URL} answers with status 502, and not from here`,
    );
    expect(reported(await addressCheck(examined()))[1]).toBe(
      `failed: ${TINY_BASE_URL} does not answer from here: ENOTFOUND`,
    );
  });

  it('asks nobody about an address that is not public', async () => {
    const asked: string[] = [];
    const config = { baseUrl: 'http://127.0.0.1:4021' };
    const noted = async (url: string) => {
      asked.push(url);
      return answer(200);
    };
    expect(reported(await addressCheck(examined({ config, ask: noted })))[1]).toBe(
      'skipped: http://127.0.0.1:4021 is not public: only this machine reaches it',
    );
    expect(asked).toEqual([]);
  });

  it('knows a gatekeeper that runs already from another process', async () => {
    const gate = await tinyGate();
    open.push(gate);
    const passed = (url: string) => ask(url.replace(TINY_BASE_URL, gate.url));
    const running = await addressCheck(examined({ config: { port: gate.port }, ask: passed }));
    expect(reported(running)).toEqual([
      `ok: a gatekeeper runs on 127.0.0.1:${gate.port} and serves release 1`,
      `ok: ${TINY_BASE_URL} answers with release 1`,
    ]);
    const listings = [{ status: 'success' }, { status: 'rejected', reason: 'no output' }];
    const listed = await stub((_, response) =>
      response.end(JSON.stringify({ release: { sequence: 4 }, listings })),
    );
    open.push(listed);
    const heard = reported(await addressCheck(examined({ config: { port: listed.port }, ask })));
    expect(heard.slice(0, 3)).toEqual([
      `ok: a gatekeeper runs on 127.0.0.1:${listed.port} and serves release 4`,
      'ok: the directory of a facilitator took the listing: success',
      expect.stringMatching(/^warning: the directory of a facilitator does not list .*: no output/),
    ]);
    const other = await stub((_, response) => response.end('{}'));
    open.push(other);
    const taken = await addressCheck(examined({ config: { port: other.port }, ask }));
    expect(reported(taken)[0]).toBe(`failed: 127.0.0.1:${other.port} is taken by another process`);
  });

  it('fails for an address that this machine does not have', async () => {
    const findings = await addressCheck(examined({ config: { host: '192.0.2.1' } }));
    expect(reported(findings)[0]).toBe('failed: cannot listen on 192.0.2.1:0: EADDRNOTAVAIL');
  });
});

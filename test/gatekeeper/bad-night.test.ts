import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { numberToHex } from 'viem';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { watchedFacilitator } from '../../gatekeeper/heart/payment/metered.ts';
import type { NoVerdict } from '../../gatekeeper/settle/facilitator.ts';
import type { Journal } from '../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { ServiceState } from '../../gatekeeper/wire/service-state.ts';
import { rpcStub } from './chain-reader.ts';
import { stub } from './raw-http.ts';
import { paymentAt, type TinyGate, type TinyGateOptions, tinyGate } from './tiny-gate.ts';
import { TINY_NOW, writeTinyRelease } from './tiny-release.ts';
import { emptyJournal } from './tiny-service.ts';

// What breaks while the gatekeeper runs is told once when it begins and once when it is over.

const PAID = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
const { chainId } = NETWORKS['base-sepolia'];

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  passed = 0;
  for (const close of closing.splice(0).reverse()) await close();
});

async function gateWith(options: TinyGateOptions = {}): Promise<TinyGate> {
  const gate = await tinyGate({ pollMs: 3_600_000, ...options });
  closing.push(() => gate.close());
  return gate;
}

/** What the log told of the state of the service, in this order. */
function told(gate: TinyGate): readonly unknown[] {
  return gate.logged
    .filter(({ state }) => state !== undefined)
    .map(({ event, state, ok }) => [event, state, ok]);
}

async function buy(gate: TinyGate): Promise<Response> {
  const header = await paymentAt(gate.url + PAID);
  return fetch(gate.url + PAID, { headers: { 'x-payment': header } });
}

/** Lets a time pass that nobody waits for, on the clock that never goes back. */
function pass(ms: number): void {
  passed += ms;
  if (passed === ms) vi.spyOn(performance, 'now').mockImplementation(() => steady() + passed);
}
const steady = performance.now.bind(performance);
let passed = 0;

describe('the state of the service', () => {
  it('says once that the facilitator hangs, and once that it is over', async () => {
    const ends: (() => void)[] = [];
    const hung = () =>
      new Promise<{ verdict: 'none'; detail: string }>((done) => {
        ends.push(() => done({ verdict: 'none', detail: 'late' }));
      });
    const supported = async () => ({ verdict: 'supported', kinds: [] }) as const;
    const facilitator = { verify: hung, settle: hung, supported };
    const gate = await gateWith({ facilitator });
    const bought = buy(gate);
    await expect.poll(() => ends.length).toBeGreaterThan(0);
    const health = async () => (await fetch(`${gate.url}/healthz`)).json();
    expect(await health()).toMatchObject({ status: 'ready' });
    pass(10_000);
    for (let look = 0; look < 3; look += 1) {
      expect(await health()).toMatchObject({
        status: 'not_ready',
        sells: { ok: false, reasons: [{ reason: 'facilitator_slow', of: 'given' }] },
      });
    }
    expect((await fetch(`${gate.url}/healthz`)).status).toBe(200);
    for (const end of ends) end();
    await bought;
    pass(50_000);
    expect(await health()).toMatchObject({ status: 'ready' });
    expect(told(gate)).toEqual([
      ['facilitator_slow', 'sells', false],
      ['facilitator_quick', 'sells', true],
    ]);
  });

  it('says that the facilitator does not answer, also not a question of our own, and that it is back', async () => {
    const logged: unknown[] = [];
    const log = ({ event, of }: Readonly<Record<string, unknown>>) => logged.push([event, of]);
    const state = new ServiceState({ clock: Date.now, log, askMs: 20 });
    const down = { verdict: 'none', detail: 'ECONNREFUSED' } as const;
    const stub = { settled: { ...down, status: 500 } as NoVerdict, supported: down as NoVerdict };
    const { settle } = watchedFacilitator(
      {
        verify: async () => down,
        settle: async () => stub.settled,
        supported: async () => stub.supported,
      },
      'f.example',
      state,
    );
    const request = {} as Parameters<typeof settle>[0];
    const settled = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time += 1) await settle(request);
      await new Promise((done) => setTimeout(done, 60));
    };
    // An answer of any kind is one, and a payment may be the fault of who sent it.
    await settled(3);
    expect(logged).toEqual([]);
    stub.settled = down;
    stub.supported = { ...down, status: 404 };
    await settled(3);
    expect(logged).toEqual([]);
    stub.supported = down;
    await settled(3);
    expect(logged).toEqual([['facilitator_lost', 'f.example']]);
    stub.supported = { ...down, status: 404 };
    await expect.poll(() => logged.at(-1)).toEqual(['facilitator_back', 'f.example']);
    expect(logged).toHaveLength(2);
    state.close();
  });

  it('says once that the journal is slow, and nothing of one that is quick', async () => {
    const waits: (() => void)[] = [];
    const claim: Journal['claim'] = () => new Promise((done) => waits.push(() => done(false)));
    const gate = await gateWith({ journal: { ...emptyJournal(TINY_NOW), claim } });
    const bought = buy(gate);
    await expect.poll(() => waits.length).toBe(1);
    pass(1900);
    expect(told(gate)).toEqual([]);
    pass(2100);
    await expect.poll(() => told(gate)).toEqual([['journal_slow', 'sells', false]]);
    waits[0]?.();
    await bought;
  });

  it('says once that the chain node is out of reach, for its network', async () => {
    const node = await rpcStub((method) =>
      method === 'eth_chainId' ? numberToHex(chainId) : '0x60',
    );
    node.raw = { status: 503, body: '' };
    const facilitator = await silentFacilitator();
    closing.push(() => node.close());
    const config = { rpcUrl: node.url, facilitatorUrls: [facilitator], testPayments: false };
    const gate = await gateWith({ config });
    await expect.poll(() => told(gate)).toEqual([['node_lost', 'sells', false]]);
    const answer = await fetch(`${gate.url}/healthz`);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({
      sells: { ok: false, reasons: [{ reason: 'node_lost', of: 'base-sepolia' }] },
    });
    expect([answer.status, text]).toEqual([200, expect.not.stringContaining(node.url)]);
  });

  it('says once that "current" is gone and once that it is back, and goes on to serve', async () => {
    const gate = await gateWith();
    const [link, aside] = [join(gate.dataDir, 'current'), join(gate.dataDir, 'aside')];
    renameSync(link, aside);
    for (let look = 0; look < 3; look += 1) await gate.checkRelease();
    await fetch(`${gate.url}/healthz`);
    expect((await fetch(`${gate.url}/gauge/sample`)).status).toBe(200);
    renameSync(aside, link);
    await gate.checkRelease();
    await fetch(`${gate.url}/healthz`);
    expect(told(gate)).toEqual([
      ['releases_lost', 'publishes', false],
      ['releases_back', 'publishes', true],
    ]);
  });

  it('says that the data folder is gone, which also holds the release', async () => {
    const gate = await gateWith();
    renameSync(gate.dataDir, `${gate.dataDir}-aside`);
    await gate.checkRelease();
    await fetch(`${gate.url}/healthz`);
    renameSync(`${gate.dataDir}-aside`, gate.dataDir);
    await gate.checkRelease();
    await fetch(`${gate.url}/healthz`);
    expect(told(gate)).toEqual([
      ['release_lost', 'serves', false],
      ['releases_lost', 'publishes', false],
      ['release_back', 'serves', true],
      ['releases_back', 'publishes', true],
    ]);
  });

  it('says once for each release that it is refused, and that one is taken again', async () => {
    const gate = await gateWith();
    for (const sequence of [2, 3]) {
      const root = writeTinyRelease(gate.dataDir, { sequence });
      writeFileSync(join(root, 'files.txt'), 'damaged');
      for (let look = 0; look < 3; look += 1) await gate.checkRelease();
    }
    expect(await (await fetch(`${gate.url}/healthz`)).json()).toMatchObject({
      // It works on with what it has.
      status: 'ready',
      warnings: expect.arrayContaining([expect.stringMatching(/^stale: the newest release is/)]),
      publishes: { ok: false, reasons: [{ reason: 'release_refused' }] },
    });
    writeTinyRelease(gate.dataDir, { sequence: 4 });
    await gate.checkRelease();
    expect(told(gate)).toEqual([
      ['release_refused', 'publishes', false],
      ['release_refused', 'publishes', false],
      ['release_taken', 'publishes', true],
    ]);
  });

  it('says when the release in service becomes stale, and that a fresh one ended it', async () => {
    const head = { valid_until: new Date(TINY_NOW + 1000).toISOString().replace('.000', '') };
    const gate = await gateWith({ release: { head } });
    await fetch(`${gate.url}/healthz`);
    expect(told(gate)).toEqual([]);
    gate.now += 2000;
    await fetch(`${gate.url}/healthz`);
    writeTinyRelease(gate.dataDir, { sequence: 2 });
    await gate.checkRelease();
    await fetch(`${gate.url}/healthz`);
    expect(told(gate)).toEqual([
      ['release_stale', 'publishes', false],
      ['release_fresh', 'publishes', true],
    ]);
  });
});

/** A facilitator that lists nothing. */
async function silentFacilitator(): Promise<string> {
  const { url, close } = await stub((_, response) => response.end('{"kinds":[]}'));
  closing.push(close);
  return url;
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { historyOf, type KeyHistory } from '../../../compiler/format/key-history.ts';
import { logClient } from '../../../compiler/verify/monitor/log-client.ts';
import { defineMonitor } from '../../../compiler/verify/monitor/monitor-command.ts';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { servedShop } from '../../gate.ts';
import { trustText } from '../../seeded-keys.ts';
import { smallSet } from '../../small-set.ts';
import { compileFolder, makeFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';
import { VirtualClock } from '../../sources/fetch/test-row.ts';
import {
  BASE_URL,
  DID,
  didOfSeed,
  filesOf,
  keysOf,
  Network,
  publish,
  publishHours,
  revocation,
  rotation,
} from './lying-service.ts';
import { Watching } from './watching.ts';

const servers: Server[] = [];
afterAll(() => {
  removeFolders();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const [first, second] = publishHours(2);
if (!first || !second) throw new Error('too few releases');
const fork = publish(first, { taken: 700, as_of: second.head.as_of });

interface Ran {
  readonly code: number;
  readonly text: string;
}

/** Runs `monitor` with these words. */
async function run(
  words: readonly string[],
  network = new Network(),
  stops: (() => void)[] = [],
): Promise<Ran> {
  const clock = new VirtualClock('2026-11-20T14:00:00Z');
  const lines: string[] = [];
  let code = -1;
  const command = new Command('monitor');
  defineMonitor(command, {
    version: '0',
    env: () => undefined,
    now: () => clock.now(),
    print: (text) => lines.push(text),
    screen: { isTTY: false, write: () => true },
    exit: (given) => {
      code = given;
    },
    onStop: (stop) => {
      stops.push(stop);
      return () => undefined;
    },
    clock,
    fetch: network.fetch,
  });
  await command.parseAsync([...words], { from: 'user' });
  return { code, text: lines.join('\n') };
}

describe('signalpress monitor', () => {
  it('looks once, tells what it saw, and judges the evidence that it wrote', async () => {
    const network = new Network();
    const state = makeFolder();
    const metrics = join(state, 'monitor.prom');
    const words = [BASE_URL, '--once', '--issuer', DID, '--state', state, '--metrics', metrics];
    network.sites.set(BASE_URL, filesOf(second));
    expect(await run(words, network)).toMatchObject({
      code: 0,
      text: expect.stringContaining('log shop.example/log of 2 entries'),
    });
    expect(readFileSync(metrics, 'utf8')).toContain('signalpress_monitor_alarms 0\n');
    expect(readFileSync(metrics, 'utf8')).toContain('signalpress_monitor_tree_size 2\n');
    network.sites.set(BASE_URL, filesOf(fork));
    const lied = await run(words, network);
    expect(lied).toMatchObject({ code: 1, text: expect.stringContaining('ALARM fork') });
    expect(readFileSync(metrics, 'utf8')).toContain('signalpress_monitor_alarm{kind="fork"} 1\n');
    const [name = ''] = readdirSync(join(state, 'evidence'));
    const file = join(state, 'evidence', name);
    expect(await run(['check', file, '--issuer', DID])).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^PROVEN .*two trees of 2 entries\n {2}signed by did:key:/s),
    });
    expect((await run(['check', file])).code).toBe(2);
    expect(await run(['check', file, '--issuer', didOfSeed(13)])).toMatchObject({
      code: 1,
      text: expect.stringContaining('proves nothing'),
    });
    const keys = join(state, 'known.trust');
    const know = (list: KeyHistory) =>
      writeFileSync(keys, trustText({ issuers: [DID], keys: list }));
    know(historyOf(DID, [], [revocation(7)]));
    expect((await run(['check', file, '--trust', keys])).code).toBe(1);
    const ended = rotation(7, 9, { overlap_until: '2026-11-20T12:31:00Z' });
    know(keysOf([ended]));
    expect(await run(['check', file, '--trust', keys])).toMatchObject({
      code: 1,
      text: expect.stringMatching(
        /^proves nothing .*was in use until 2026-11-20T12:31:00Z: whoever has that key now may have signed it since/s,
      ),
    });
    know(keysOf([rotation(7, 9)]));
    expect((await run(['check', file, '--trust', keys])).code).toBe(0);
    const json = await run(['check', file, '--issuer', DID, '--json']);
    expect(JSON.parse(json.text)).toMatchObject({ verdict: 'proven', issuer_pinned: true });
  });

  it('goes on until it is told to stop', async () => {
    const network = new Network();
    network.sites.set(BASE_URL, filesOf(second));
    const stops: (() => void)[] = [];
    const { fetch } = network;
    let looks = 0;
    const counting = Object.assign(new Network(), {
      fetch: (url: string, init: RequestInit) => {
        if (url.endsWith('/log/checkpoint')) looks += 1;
        if (looks === 5) for (const stop of stops) stop();
        return fetch(url, init);
      },
    });
    const ran = await run([BASE_URL, '--issuer', DID, '--state', makeFolder()], counting, stops);
    expect([ran.code, looks]).toEqual([0, 5]);
  });

  it.each([
    [['ftp://shop.example', '--once'], 'not an address such as'],
    [['https://user:pw@shop.example', '--once'], 'not an address such as'],
    [['https://shop.example?x=1', '--once'], 'not an address such as'],
    [[BASE_URL, '--every', '1s'], 'pass --every 10s or more'],
    [[BASE_URL, 'more'], 'belongs behind "check" only'],
    [[BASE_URL, '--issuer', 'me'], 'did:key'],
    [['check'], 'name a file behind "check"'],
    [['check', '/nowhere/evidence.json'], 'no such file'],
    [[BASE_URL, ...Array(40).fill(['--sample', 'a.b']).flat()], 'run a second monitor'],
  ])('refuses %j with words, and decides nothing', async (words, says) => {
    const state = makeFolder();
    const ran = await run([...words, '--state', state]);
    expect(ran).toMatchObject({ code: 2, text: expect.stringContaining(says) });
  });
});

/** An address where every answer is this one. */
async function served(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const REAL = { steady: () => performance.now() };

describe('logClient()', () => {
  const clientOf = (address: string) =>
    logClient(address, { fetch, clock: REAL, totalMs: 20_000, answerMs: 300 });

  it('reads what is there, and nothing where nothing is', async () => {
    const address = await served((response) => response.end('a checkpoint'));
    expect(Buffer.from((await clientOf(address).get('/x', 12)) ?? []).toString()).toBe(
      'a checkpoint',
    );
    const empty = await served((response) => response.writeHead(404).end('gone'));
    expect(await clientOf(empty).get('/x', 12)).toBeNull();
  });

  it.each<readonly [string, (response: ServerResponse) => void, RegExp]>([
    ['too long an answer', (response) => response.end(Buffer.alloc(13)), /longer than 12 bytes/],
    ['one that never begins', () => undefined, /took too long/],
    [
      'one that trickles in',
      (response) => {
        const timer = setInterval(() => response.write('.'), 100);
        response.on('close', () => clearInterval(timer));
      },
      /took too long/,
    ],
    [
      'one that ends too early',
      (response) => {
        response.writeHead(200, { 'content-length': '12' });
        response.write('half');
        setTimeout(() => response.destroy(), 20);
      },
      /the connection broke/,
    ],
    [
      'a redirect',
      (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      /answered 307/,
    ],
  ])('is not held by %s', async (_, answer, words) => {
    const address = await served(answer);
    const start = performance.now();
    await expect(clientOf(address).get('/x', 12)).rejects.toThrow(words);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('gives up when the time of the whole look is over', async () => {
    const address = await served((response) => setTimeout(() => response.end('late'), 200));
    const client = logClient(address, { fetch, clock: REAL, totalMs: 3000 });
    expect(await client.get('/x', 12)).not.toBeNull();
    const all = async (): Promise<void> => {
      for (let asked = 0; asked < 20; asked += 1) await client.get('/x', 12);
    };
    await expect(all()).rejects.toThrow('took too long');
  });

  it('names an address where nobody listens', async () => {
    await expect(clientOf('http://127.0.0.1:9').get('/x', 12)).rejects.toThrow(
      'http://127.0.0.1:9/x: ',
    );
  });
});

let data: string;
let issuer: string;
let gate: Gatekeeper;
beforeAll(async () => {
  const earlier = Object.entries(smallSet()).filter(([path]) => !path.startsWith('2026-11-20T11Z'));
  const settings = { tokens: false, pollMs: 20 };
  ({ data, issuer, gate } = await servedShop(Object.fromEntries(earlier), settings));
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

describe('Monitor.look() at a real gatekeeper', () => {
  it('follows it over two releases, each with its entry, and finds nothing wrong', async () => {
    const asked: string[] = [];
    let bytes = 0;
    const watching = new Watching({
      addresses: [gate.url],
      issuers: [issuer],
      signals: ['crypto.spot'],
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        asked.push(new URL(url).pathname);
        bytes += (await response.clone().arrayBuffer()).byteLength;
        return response;
      },
    });
    watching.clock.ms = Date.parse('2026-11-20T12:05:00Z');
    await watching.monitor.look();
    expect(watching.alarms()).toEqual([]);
    expect(watching.status()).toMatchObject({ verdict: 'well', release: { sequence: 1 } });
    const { tree_size: before } = watching.status();
    await compileFolder(writeSnapshots(smallSet()), { data, asOf: '2026-11-20T13:00:00Z' });
    await vi.waitFor(async () => {
      const head = await fetch(`${gate.url}/.well-known/release.json`);
      expect(await head.json()).toMatchObject({ sequence: 2 });
    }, 60_000);
    asked.length = 0;
    bytes = 0;
    await watching.monitor.look();
    expect(watching.lines.join('\n')).not.toMatch(/ALARM|seen once|cannot/);
    expect(watching.status()).toMatchObject({ verdict: 'well', release: { sequence: 2 } });
    expect(watching.status().tree_size).toBe(before + 1);
    expect(watching.status().notices).toEqual([]);
    const folder = join(watching.folder, 'readings');
    const kept = readdirSync(folder);
    expect(kept.length).toBeGreaterThan(0);
    // As a kill leaves it between the body and the state.
    writeFileSync(join(folder, `${'0'.repeat(64)}.json`), '{}');
    watching.reopened();
    expect(readdirSync(folder)).toEqual(kept);
    // A look costs a service little.
    expect(asked.length).toBeLessThan(20);
    expect(bytes).toBeLessThan(100_000);
  });
});

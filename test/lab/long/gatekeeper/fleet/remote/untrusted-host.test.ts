import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { built } from '../../../../../command-runs.ts';
import {
  closeGates,
  closeSites,
  type HostedGate,
  type HostedGateOptions,
  hostedGate,
  type StaticSite,
  shippedGate,
  spawned,
  staticSite,
  storedAt,
  until,
  writeHostedRelease,
  writeLoggedRelease,
} from '../../../../../gatekeeper/fleet/remote/hosted-gate.ts';
import { tinyDataDir, tinyFiles, tinyRecord } from '../../../../../gatekeeper/tiny-release.ts';

describe('a gatekeeper over a host', () => {
  const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
  const OTHER = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
  const RECORD = 'record/airquality.aqi/us-denver.json';
  const OTHER_RECORD = 'record/airquality.aqi/us-chicago.json';
  /** Nothing is fetched before it is asked for: the release does not fit. */
  const COLD = { cacheMb: 1 };

  afterEach(async () => {
    await closeGates();
    await closeSites();
  });

  interface Shop {
    readonly site: StaticSite;
    readonly gate: HostedGate;
    readonly root: string;
    /** Where the host has the record of TARGET. */
    readonly at: string;
  }

  /** A release that is larger than the cache lets be fetched ahead, so that the record is read when it is asked for. */
  async function shop(given: Omit<HostedGateOptions, 'data'> = {}): Promise<Shop> {
    const site = await staticSite();
    const files = new Map(tinyFiles());
    files.set('free/ballast.json', Buffer.alloc(1024 * 1024, ' '));
    const root = writeHostedRelease(site.dataDir, { files });
    const gate = await hostedGate({ data: site.url, ...COLD, ...given });
    return { site, gate, root, at: storedAt(root, RECORD) };
  }

  const serve =
    (at: string, give: (response: ServerResponse) => void): StaticSite['spoil'] =>
    (path, response) => {
      if (path !== at) return false;
      give(response);
      return true;
    };

  const whole = tinyFiles().get(RECORD) ?? Buffer.alloc(0);
  const flipped = Buffer.from(whole);
  flipped[200] = (flipped[200] ?? 0) ^ 1;

  /** The file of the cache that holds these bytes. */
  function cachedName(cache: string, bytes: Buffer): string {
    const names = readdirSync(cache, { recursive: true, encoding: 'utf8' }).map((name) =>
      join(cache, name),
    );
    const found = names.find(
      (name) => /[0-9a-f]{64}$/.test(name) && readFileSync(name).equals(bytes),
    );
    if (found === undefined) throw new Error('not in the cache');
    return found;
  }
  it('sells what the host has, byte for byte, and charges once', async () => {
    const { gate, site, at } = await shop();
    const sold = await gate.buy(TARGET);
    expect([sold.status, gate.settled()]).toEqual([200, 1]);
    const { _citation } = JSON.parse(sold.text);
    expect(_citation).toMatchObject({ statement_type: 'description' });
    expect((await gate.buy(TARGET)).status).toBe(200);
    expect(site.asked.filter((one) => one === `200 ${at}`)).toHaveLength(1);
  });

  it('I24: names a path once in the log, however often it is asked for', async () => {
    const { gate, site, at } = await shop({ refusedMs: 60_000 });
    site.spoil = serve(at, (r) => r.end(flipped));
    for (let time = 0; time < 20; time += 1) await gate.get(TARGET);
    const refused = (await gate.events()).filter(({ event }) => event === 'remote_file_refused');
    expect(refused).toEqual([
      expect.objectContaining({
        path: RECORD,
        error: expect.stringMatching(/not the listed ones/),
      }),
    ]);
    // And the host was asked once.
    expect(site.asked.filter((one) => one.endsWith(at))).toHaveLength(1);
  });

  it('goes on for a host that is gone: sells what it has, refuses the rest uncharged, and says so once', async () => {
    const { gate, site } = await shop();
    expect((await gate.buy(TARGET)).status).toBe(200);
    expect((await gate.health()).warnings.join()).not.toContain('stale');
    await site.goAway();
    await until('a word', async () => (await gate.health()).warnings.join().includes('stale'));
    const { status, warnings } = await gate.health();
    expect(status).toBe('ready');
    expect(warnings).toContainEqual(
      expect.stringMatching(/^stale: host unreachable since 20\d\d-\d\d-\d\dT[\d:.]+Z$/),
    );
    for (let time = 0; time < 10; time += 1) {
      expect((await gate.buy(TARGET)).status).toBe(200);
      const cold = await gate.buy(OTHER);
      expect([cold.status, cold.headers.get('retry-after')]).toEqual([503, '10']);
      expect(cold.text).toContain('Not charged');
    }
    expect(gate.settled()).toBe(11);
    await site.comeBack();
    await until('back', async () => (await gate.buy(OTHER)).status === 200);
    const events = (await gate.events()).map(({ event }) => event);
    expect(events.filter((event) => event === 'data_host_unreachable')).toHaveLength(1);
    expect(events.filter((event) => event === 'data_host_back')).toHaveLength(1);
    expect(events).not.toContain('request_failed');
    expect((await gate.health()).warnings.join()).not.toContain('stale');
  });

  it('I24: is not held by a host that trickles: who asks hears of it, the others are served', async () => {
    const { gate, site, at } = await shop({ answerMs: 700 });
    expect((await gate.buy(OTHER)).status).toBe(200);
    site.spoil = serve(at, (r) => {
      const more = setInterval(() => r.write(' '), 100);
      r.on('close', () => clearInterval(more));
    });
    const order: string[] = [];
    const slow = gate.get(TARGET).finally(() => order.push('slow'));
    const other = await gate.buy(OTHER).finally(() => order.push('other'));
    expect(other.status).toBe(200);
    expect((await slow).status).toBe(503);
    expect(order).toEqual(['other', 'slow']);
    expect(gate.settled()).toBe(2);
  });

  it('I24: finds a bit that flipped in its cache, and fetches the file again', async () => {
    const { gate, site, at } = await shop();
    expect((await gate.buy(TARGET)).status).toBe(200);
    await gate.close();
    const cache = join(gate.state, 'cache');
    const name = cachedName(cache, whole);
    writeFileSync(name, flipped);
    const again = await hostedGate({ data: site.url, state: gate.state, ...COLD });
    expect((await again.buy(TARGET)).status).toBe(200);
    expect(site.asked.filter((one) => one === `200 ${at}`)).toHaveLength(2);
    expect(readFileSync(name)).toEqual(whole);
    const damaged = (await again.events()).filter(({ event }) => event === 'cache_file_damaged');
    expect(damaged).toEqual([expect.objectContaining({ sha256: basename(name) })]);
  });

  it('starts from its cache while the host is away, and takes a newer release once it is back', async () => {
    const site = await staticSite();
    writeHostedRelease(site.dataDir);
    const first = await shippedGate({ data: site.url });
    await until('fetched', () => first.reported('release_fetched'));
    await first.kill('SIGKILL');
    await site.goAway();
    const gate = await hostedGate({ data: site.url, state: first.state });
    // All of it fits into the cache, so nothing is missing.
    for (const target of [TARGET, OTHER]) expect((await gate.buy(target)).status).toBe(200);
    expect((await gate.get('/gauge/sample')).status).toBe(200);
    writeHostedRelease(site.dataDir, { sequence: 2 });
    await site.comeBack();
    await until('swapped', async () => (await gate.health()).release.sequence === 2);
    expect((await gate.health()).warnings.join()).not.toContain('stale');
  });

  it('I47: refuses to start without the host and without a cache, and says what to do', async () => {
    const site = await staticSite();
    await site.goAway();
    const { did } = await import('../../../../../gatekeeper/tiny-release.ts').then(({ tinyKey }) =>
      tinyKey(),
    );
    const env = {
      SIGNALPRESS_DATA: site.url,
      SIGNALPRESS_ISSUER_DID: did,
      SIGNALPRESS_TEST_PAYMENTS: '1',
    };
    const { output, exit } = spawned({ ...env, SIGNALPRESS_PORT: '0' });
    expect(await exit).toBe(1);
    expect(output.err).toMatch(
      /^Cannot read "current\/release\.json" of "http:\/\/127\.0\.0\.1:\d+\/": nothing listens there \(ECONNREFUSED\); publish a release there, correct SIGNALPRESS_DATA, or wait/,
    );
  });

  it('asks for the head with its tag, and for nothing else while it is the same', async () => {
    const { gate, site } = await shop();
    await until(
      'looked twice',
      () => site.asked.filter((one) => one.startsWith('304 ')).length > 1,
    );
    const before = site.asked.length;
    await until('looked again', () => site.asked.length > before);
    expect(new Set(site.asked.slice(before))).toEqual(new Set(['304 current/release.json']));
    expect((await gate.health()).release.sequence).toBe(1);
  });

  it('reads what was asked before of a new release before it switches', async () => {
    const { gate, site } = await shop();
    expect((await gate.buy(TARGET)).status).toBe(200);
    const files = new Map(tinyFiles());
    files.set('free/ballast.json', Buffer.alloc(1024 * 1024, ' '));
    for (const path of [RECORD, OTHER_RECORD]) {
      files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), Buffer.from('\n')]));
    }
    const next = writeHostedRelease(site.dataDir, { sequence: 2, files });
    await until('swapped', async () => (await gate.health()).release.sequence === 2);
    expect(site.asked).toContain(`200 ${storedAt(next, RECORD)}`);
    expect(site.asked).not.toContain(`200 ${storedAt(next, OTHER_RECORD)}`);
    await site.goAway();
    expect((await gate.buy(TARGET)).status).toBe(200);
    expect((await gate.buy(OTHER)).status).toBe(503);
  });

  it('shares one fetch among many', async () => {
    const { gate, site, at } = await shop();
    const answers: (() => void)[] = [];
    site.spoil = serve(at, (r) => answers.push(() => void r.end(whole)));
    const asking = Array.from({ length: 10 }, () => gate.get(TARGET));
    await until('asked', () => answers.length > 0);
    await new Promise((done) => setTimeout(done, 300));
    expect(answers).toHaveLength(1);
    answers[0]?.();
    expect(new Set((await Promise.all(asking)).map(({ status }) => status))).toEqual(
      new Set([402]),
    );
  });

  it('charges a stranger more for what is cold', async () => {
    const { gate } = await shop({ ...COLD, env: { SIGNALPRESS_RATE_LIMIT: '2' } });
    // A file and its fetch are owed for longer than ten seconds.
    expect((await gate.get(TARGET)).status).toBe(402);
    expect((await gate.get(TARGET)).status).toBe(429);
  });
});

/** Whether nginx with its dav module is here; Debian has it in nginx-light. */
function hasNginx(): boolean {
  const { stderr } = spawnSync('nginx', ['-V'], { encoding: 'utf8' });
  return stderr?.includes('http_dav_module') === true;
}

describe.skipIf(!hasNginx())(
  'a shop behind nginx (needs a build, and nginx with its dav module)',
  () => {
    const README = join(import.meta.dirname, '../../../../../../compiler/publish/upload/README.md');

    /** An nginx with the configuration that compiler/publish/upload/README.md shows, on a loopback port. */
    interface Nginx {
      readonly url: string;
      /** What it serves. */
      readonly root: string;
      /** The header that may write. */
      readonly auth: string;
      stop(): Promise<void>;
      start(): Promise<void>;
    }

    const running = new Set<ChildProcess>();
    /** For `afterEach`. */
    function stopNginx(): void {
      for (const child of running) child.kill('SIGTERM');
      running.clear();
    }

    async function nginx(): Promise<Nginx> {
      const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
      const root = join(folder, 'shop');
      mkdirSync(root);
      const port = await freePort();
      const [, shown = ''] = /```nginx\n([\s\S]*?)```/.exec(readFileSync(README, 'utf8')) ?? [];
      const word = 'a-long-random-word-of-this-test';
      const server = shown
        .replaceAll('/srv/shop', root)
        .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
        .replace('change-me-to-a-long-random-word', word);
      const paths = ['proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      const lines = [
        ...(process.getuid?.() === 0 ? ['user root;'] : []),
        `pid ${join(folder, 'pid')};`,
        `error_log ${join(folder, 'error.log')};`,
        'worker_processes 1;',
        'events { worker_connections 128; }',
        `http { access_log off; ${paths.join(' ')}\n${server}\n}`,
      ];
      const config = join(folder, 'nginx.conf');
      writeFileSync(config, lines.join('\n'));
      let child: ChildProcess | null = null;
      const site: Nginx = {
        url: `http://127.0.0.1:${port}`,
        root,
        auth: `Authorization: Bearer ${word}`,
        async start() {
          const args = ['-p', folder, '-c', config, '-g', 'daemon off;'];
          child = spawn('nginx', args, { stdio: 'ignore' });
          running.add(child);
          for (let tries = 0; tries < 200; tries += 1) {
            if (
              await fetch(site.url).then(
                () => true,
                () => false,
              )
            )
              return;
            await new Promise((done) => setTimeout(done, 25));
          }
          throw new Error(
            `nginx did not start: ${readFileSync(join(folder, 'error.log'), 'utf8')}`,
          );
        },
        async stop() {
          const stopping = child;
          if (stopping === null) return;
          running.delete(stopping);
          stopping.kill('SIGTERM');
          await new Promise((done) => stopping.once('close', done));
        },
      };
      await site.start();
      return site;
    }

    function freePort(): Promise<number> {
      const server = createServer();
      return new Promise((done) => {
        server.listen(0, '127.0.0.1', () => {
          const { port } = server.address() as AddressInfo;
          server.close(() => done(port));
        });
      });
    }

    const CLI = 'compiler/signalpress.js';
    /** How long nginx is gone at least; a longer time is asked for by hand. */
    const GONE_MS = Number(process.env.NGINX_GONE_MS ?? 500);
    const ENTITIES = [
      'us-swapped',
      'us-truncated',
      'us-replayed',
      'us-missing',
      'us-whole',
      'us-later',
    ];

    const pathOf = (entity: string): string => `record/airquality.aqi/${entity}.json`;
    const targetOf = (entity: string): string => `/gauge?entity=${entity}&signal_id=airquality.aqi`;

    /** Files with a record for each entity, and more than is fetched ahead. */
    function filesOf(aqi_index: number): Map<string, Buffer> {
      const files = new Map(tinyFiles());
      for (const entity of ENTITIES) {
        const record = tinyRecord('airquality.aqi', entity, { aqi_index, band: 'good' });
        files.set(pathOf(entity), Buffer.from(JSON.stringify(record)));
      }
      files.set('free/ballast.json', Buffer.alloc(1024 * 1024, ' '));
      return files;
    }

    async function publish(data: string, to: string, auth: string) {
      const args = [built(CLI), 'publish', '--data', data, '--to', to];
      const env = { PATH: process.env.PATH ?? '', SIGNALPRESS_PUBLISH_AUTH: auth };
      const child = spawn(process.execPath, args, { env });
      let stated = '';
      for (const output of [child.stdout, child.stderr]) {
        output.on('data', (chunk) => {
          stated += chunk;
        });
      }
      return { code: await new Promise((done) => child.on('close', done)), stated };
    }

    afterEach(async () => {
      await closeGates();
      stopNginx();
    });

    it('I24: publishes into it, sells from it, and sells nothing that it spoils', async () => {
      const site = await nginx();
      const data = tinyDataDir();
      const root = writeLoggedRelease(data, { files: filesOf(1) });
      const refused = await publish(data, site.url, 'Authorization: Bearer wrong');
      expect(refused).toEqual({
        code: 1,
        stated: expect.stringMatching(/status 403; set SIGNALPRESS_PUBLISH_AUTH/),
      });
      const first = await publish(data, site.url, site.auth);
      expect(first).toEqual({ code: 0, stated: expect.stringMatching(/^Release 1 is published/) });
      const head = join(site.root, 'current/release.json');
      expect(readFileSync(head)).toEqual(readFileSync(join(root, 'release.json')));

      const next = writeLoggedRelease(data, { sequence: 2, files: filesOf(2) });
      expect((await publish(data, site.url, site.auth)).code).toBe(0);
      const gate = await hostedGate({ data: site.url, cacheMb: 1 });
      expect((await gate.health()).release.sequence).toBe(2);
      const at = (entity: string) => join(site.root, storedAt(next, pathOf(entity)));
      const older = (entity: string) => join(site.root, storedAt(root, pathOf(entity)));
      const whole = readFileSync(at('us-swapped'));
      whole[100] = (whole[100] ?? 0) ^ 1;
      writeFileSync(at('us-swapped'), whole);
      writeFileSync(at('us-truncated'), readFileSync(at('us-truncated')).subarray(0, 200));
      expect(readFileSync(older('us-replayed'))).not.toEqual(readFileSync(at('us-replayed')));
      writeFileSync(at('us-replayed'), readFileSync(older('us-replayed')));
      rmSync(at('us-missing'));
      for (const entity of ['us-swapped', 'us-truncated', 'us-replayed', 'us-missing']) {
        const { status, text, headers } = await gate.buy(targetOf(entity));
        expect([entity, status, headers.get('retry-after')]).toEqual([entity, 503, '30']);
        expect(text).toContain('Not charged');
      }
      expect(gate.settled()).toBe(0);
      expect((await gate.buy(targetOf('us-whole'))).status).toBe(200);
      expect(gate.settled()).toBe(1);

      // The head and the list of an older release, as they once were.
      const now = readFileSync(head);
      writeFileSync(head, readFileSync(join(root, 'release.json')));
      await until('refused', () => gate.reported('release_refused'));
      expect((await gate.health()).release.sequence).toBe(2);
      writeFileSync(head, now);

      expect(basename(writeLoggedRelease(data, { sequence: 3, files: filesOf(3) }))).toMatch(
        /^000003-/,
      );
      const third = await publish(data, site.url, site.auth);
      expect(third).toEqual({
        code: 0,
        stated: expect.stringMatching(/: 6 files written, 0\.0 MB\n$/),
      });
      await until('swapped', async () => (await gate.health()).release.sequence === 3);
      const sold = await gate.buy(targetOf('us-whole'));
      expect(JSON.parse(sold.text).current.aqi_index).toBe(3);
    });

    it(
      'goes away: what was read is sold on, the rest is refused uncharged, and all is well when it is back',
      async () => {
        const site = await nginx();
        const data = tinyDataDir();
        writeLoggedRelease(data, { files: filesOf(1) });
        expect((await publish(data, site.url, site.auth)).code).toBe(0);
        const gate = await hostedGate({ data: site.url, cacheMb: 1 });
        expect((await gate.buy(targetOf('us-whole'))).status).toBe(200);
        await site.stop();
        const [statuses, started]: [Record<string, number>, number] = [{}, performance.now()];
        const count = (what: string): void => {
          statuses[what] = (statuses[what] ?? 0) + 1;
        };
        const isToGoOn = (round: number): boolean =>
          round < 5 || performance.now() - started < GONE_MS;
        const isStale = async (): Promise<boolean> =>
          (await gate.health()).warnings.join().includes('stale');
        for (let round = 0; isToGoOn(round) || !(await isStale()); round += 1) {
          count(`warm ${(await gate.buy(targetOf('us-whole'))).status}`);
          count(`cold ${(await gate.buy(targetOf('us-later'))).status}`);
          await sleep(50);
        }
        expect(Object.keys(statuses).sort()).toEqual(['cold 503', 'warm 200']);
        expect(gate.settled()).toBe(1 + (statuses['warm 200'] ?? 0));
        const { status, warnings } = await gate.health();
        expect([status, warnings.join()]).toEqual([
          'ready',
          expect.stringMatching(/stale: host unreachable since/),
        ]);
        await site.start();
        await until('back', async () => (await gate.buy(targetOf('us-later'))).status === 200);
        const events = (await gate.events()).map(({ event }) => event);
        for (const event of ['data_host_unreachable', 'data_host_back']) {
          expect(events.filter((one) => one === event)).toHaveLength(1);
        }
        process.stdout.write(`nginx gone for ${GONE_MS} ms: ${JSON.stringify(statuses)}\n`);
      },
      120_000 + GONE_MS,
    );
  },
);

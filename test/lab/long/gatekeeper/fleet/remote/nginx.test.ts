import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { built } from '../../../../../built.ts';
import {
  closeGates,
  hostedGate,
  until,
} from '../../../../../gatekeeper/fleet/remote/hosted-gate.ts';
import {
  storedAt,
  writeLoggedRelease,
} from '../../../../../gatekeeper/fleet/remote/static-site.ts';
import { tinyDataDir, tinyFiles, tinyRecord } from '../../../../../gatekeeper/tiny-release.ts';

const README = join(import.meta.dirname, '../../../../../../compiler/publish/upload/README.md');

/** Whether nginx with its dav module is here; Debian has it in nginx-light. */
function hasNginx(): boolean {
  const { stderr } = spawnSync('nginx', ['-V'], { encoding: 'utf8' });
  return stderr?.includes('http_dav_module') === true;
}

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
      throw new Error(`nginx did not start: ${readFileSync(join(folder, 'error.log'), 'utf8')}`);
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

describe.skipIf(!hasNginx())(
  'a shop behind nginx (needs a build, and nginx with its dav module)',
  () => {
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

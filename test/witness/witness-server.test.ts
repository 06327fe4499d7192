import { type ChildProcess, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judgeByPolicy, readPolicy } from '../../compiler/verify/policy-check.ts';
import { REQUEST_BYTES_MAX } from '../../compiler/witness/witness.ts';
import { type ServedWitness, serveWitness } from '../../compiler/witness/witness-server.ts';
import {
  makeWitness,
  openWitness,
  type WitnessStore,
} from '../../compiler/witness/witness-store.ts';
import { built } from '../built.ts';
import { InventedLog } from './invented-log.ts';
import { killerOptions } from './killer.ts';

const [LOG, FORK] = [new InventedLog(), new InventedLog({ branch: 'x' })];

const NOON = Date.parse('2026-11-20T12:00:00Z');

let folder: string;
let vkey: string;
let said: string[];
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'signalpress-witness-')), 'state');
  vkey = makeWitness(folder, 'w.example/1');
  said = [];
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

async function served<T>(
  use: (url: string, store: WitnessStore) => Promise<T>,
  now = () => Date.now(),
  logs = [LOG.key],
): Promise<T> {
  const store = openWitness(folder);
  let server: ServedWitness | null = null;
  try {
    server = await serveWitness({
      store,
      logs,
      host: '127.0.0.1',
      port: 0,
      now,
      log: (text) => said.push(text),
    });
    return await use(`http://127.0.0.1:${server.port}`, store);
  } finally {
    await server?.close();
    store.close();
  }
}

const add = (url: string, body: string): Promise<Response> =>
  fetch(`${url}/add-checkpoint`, { method: 'POST', body });

describe('serveWitness()', () => {
  it('speaks tlog-witness, and shows what it cosigned', async () => {
    await served(async (url) => {
      const path = `${url}/${hash('sha256', LOG.origin)}/checkpoint`;
      expect((await fetch(path)).status).toBe(404);
      const answer = await add(url, LOG.request(0, 8));
      expect(answer.status).toBe(200);
      const line = await answer.text();
      const shown = await (await fetch(path)).text();
      expect(shown).toBe(LOG.note(8) + line);
      const policy = readPolicy(Buffer.from(`${LOG.policyLine}witness W ${vkey}\nquorum W\n`));
      expect(judgeByPolicy(shown, { policy, now: Date.now() }).fault).toBeNull();
      const conflict = await add(url, LOG.request(5, 9));
      expect([
        conflict.status,
        conflict.headers.get('content-type'),
        await conflict.text(),
      ]).toEqual([409, 'text/x.tlog.size', '8\n']);
    });
    expect(said).toEqual(['cosigned a.example/log at size 8']);
  });

  it('answers nothing else, and logs a fork as evidence', async () => {
    await served(async (url) => {
      expect((await fetch(`${url}/add-checkpoint`)).status).toBe(405);
      expect((await fetch(`${url}/`)).status).toBe(404);
      expect((await fetch(`${url}/${'0'.repeat(64)}/checkpoint`)).status).toBe(404);
      expect((await add(url, 'old 0\n')).status).toBe(400);
      await add(url, LOG.request(0, 8));
      expect((await add(url, FORK.request(8, 9))).status).toBe(422);
    });
    expect(said.at(-1)).toContain(FORK.note(9));
  });

  it('reads no endless request', async () => {
    await served(async (url) => {
      const body = Buffer.alloc(REQUEST_BYTES_MAX + 1, 'x');
      const code = await new Promise((resolve) => {
        const request = httpRequest(`${url}/add-checkpoint`, { method: 'POST' }, (answer) => {
          resolve(answer.statusCode);
          answer.resume();
        });
        request.on('error', () => resolve(413));
        request.end(body);
      });
      expect(code).toBe(413);
    });
  });

  it('logs nothing of whoever goes away in the middle of a request', async () => {
    await served(async (url) => {
      const request = httpRequest(`${url}/add-checkpoint`, { method: 'POST' });
      const gone = new Promise((resolve) => request.on('error', resolve));
      request.write('old 0\n');
      await new Promise((resolve) => setTimeout(resolve, 50));
      request.destroy(new Error('gone'));
      await gone;
      expect((await add(url, LOG.request(0, 8))).status).toBe(200);
    });
    expect(said).toEqual(['cosigned a.example/log at size 8']);
  });

  it('slows down all who ask too often together, and lets no reader keep a log waiting', async () => {
    let now = NOON;
    const ask = async (url: string, count: number): Promise<number[]> => {
      const codes: number[] = [];
      for (let at = 0; at < count; at += 1) codes.push((await fetch(`${url}/`)).status);
      return codes;
    };
    await served(
      async (url) => {
        expect(new Set(await ask(url, 200))).toEqual(new Set([404]));
        expect(new Set(await ask(url, 5))).toEqual(new Set([429]));
        expect((await add(url, LOG.request(0, 8))).status).toBe(200);
        now += 1000;
        expect(new Set(await ask(url, 5))).toEqual(new Set([404]));
      },
      () => now,
    );
  });

  it('lets some dozen clients not keep a log waiting', async () => {
    const from = (url: string, client: string, body: string): Promise<Response> => {
      const headers = { 'x-forwarded-for': client };
      return fetch(`${url}/add-checkpoint`, { method: 'POST', headers, body });
    };
    await served(
      async (url) => {
        for (let at = 0; at < 190; at += 1) {
          const { status } = await from(url, `198.51.100.${at % 19}`, 'old 0\n');
          expect(status).toBe(400);
        }
        expect((await from(url, '192.0.2.1', LOG.request(0, 8))).status).toBe(200);
      },
      () => NOON,
    );
  });

  it('lets nobody ask for all others, and believes a server of the own network who asks', async () => {
    let now = 0;
    const from = (url: string, client: string): Promise<Response> =>
      fetch(`${url}/`, { headers: { 'x-forwarded-for': client } });
    await served(
      async (url) => {
        const codes: number[] = [];
        for (let at = 0; at < 12; at += 1) {
          // What stands before the last hop, anybody can write.
          codes.push((await from(url, `192.0.2.${at}, 198.51.100.7`)).status);
        }
        expect(codes).toEqual([...Array(10).fill(404), 429, 429]);
        const refused = await from(url, '198.51.100.7');
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
        expect((await from(url, '198.51.100.8')).status).toBe(404);
        // Addresses of one customer are one client.
        for (let at = 0; at < 10; at += 1) await from(url, `2001:db8::${at}`);
        expect((await from(url, '2001:db8::ffff')).status).toBe(429);
        expect((await from(url, '2001:db8:0:1::1')).status).toBe(404);
        now = 400;
        expect((await from(url, '198.51.100.7')).status).toBe(404);
      },
      () => now,
    );
  });

  it('lets no log wear out the disk, and no other log wait for it', async () => {
    const other = new InventedLog({ origin: 'b.example/log', seed: 8 });
    let now = Date.parse('2026-11-20T12:00:00Z');
    await served(
      async (url, store) => {
        const codes: number[] = [];
        for (let size = 1; size <= 11; size += 1) {
          codes.push((await add(url, LOG.request(size - 1, size))).status);
        }
        expect(codes).toEqual([...Array(10).fill(200), 429]);
        expect((await add(url, other.request(0, 3))).status).toBe(200);
        expect(store.memory.get(LOG.origin)?.checkpoint.size).toBe(10);
        // A forged request takes nothing away from a log.
        now += 1000;
        for (let at = 0; at < 20; at += 1)
          await add(url, LOG.request(10, 11).replace(/.....\n$/, 'AAA=\n'));
        expect((await add(url, LOG.request(10, 11))).status).toBe(200);
      },
      () => now,
      [LOG.key, other.key],
    );
  });

  it('says that its clock ran ahead, and until when it cosigns nothing', async () => {
    let now = Date.parse('2026-11-20T14:00:00Z');
    await served(
      async (url) => {
        expect((await add(url, LOG.request(0, 8))).status).toBe(200);
        now = Date.parse('2026-11-20T12:00:00Z');
        const answer = await add(url, LOG.request(8, 9));
        expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([
          503,
          String(7200 - 5),
          'the clock of this witness says 2026-11-20T12:00:00Z, and it cosigned this log at 2026-11-20T14:00:00Z; it cosigns it again from then on\n',
        ]);
        now = Date.parse('2026-11-20T13:59:55Z');
        expect((await add(url, LOG.request(8, 9))).status).toBe(200);
      },
      () => now,
    );
    expect(said.filter((line) => line.includes('the clock of this witness'))).toHaveLength(1);
  });

  it('I62: gives no cosignature that it could not keep', async () => {
    await served(async (url, store) => {
      await add(url, LOG.request(0, 8));
      const { put } = store.memory;
      store.memory.put = () => {
        throw new Error('the disk is full');
      };
      const answer = await add(url, LOG.request(8, 9));
      expect([answer.status, await answer.text()]).toEqual([
        503,
        expect.not.stringContaining('\u2014'),
      ]);
      store.memory.put = put;
      expect((await add(url, LOG.request(8, 9))).status).toBe(200);
    });
    expect(said).toContain('failed: the disk is full');
  });
});

describe('openWitness()', () => {
  it('goes on from what was cosigned', async () => {
    await served((url) => add(url, LOG.request(0, 8)));
    await served(async (url) => {
      expect((await add(url, FORK.request(0, 9))).status).toBe(409);
      expect((await add(url, FORK.request(8, 9))).status).toBe(422);
      expect((await add(url, LOG.request(8, 9))).status).toBe(200);
    });
  });

  it('opens nothing without its memory, with a changed one, or twice', async () => {
    await served((url) => add(url, LOG.request(0, 8)));
    const path = join(folder, 'cosigned.json');
    const text = readFileSync(path, 'utf8');
    const without = JSON.stringify({ ...JSON.parse(text), notes: [LOG.note(8)] });
    for (const bad of [
      '',
      '{}',
      text.replace(/8\\n/, '7\\n'),
      text.replace('w.example', 'v.example'),
      without,
    ]) {
      writeFileSync(path, bad);
      expect(() => openWitness(folder)).toThrow('Cannot open the witness');
    }
    rmSync(path);
    expect(() => openWitness(folder)).toThrow('missing or unreadable');
    writeFileSync(path, text);
    const open = openWitness(folder);
    expect(() => openWitness(folder)).toThrow('Cannot write into');
    open.close();
    openWitness(folder).close();
  });

  it('remembers no more than it could read again', async () => {
    await served(async (url, { memory }) => {
      await add(url, LOG.request(0, 8));
      const known = memory.get(LOG.origin);
      if (known === null) throw new Error('nothing was cosigned');
      const checkpoint = { ...known.checkpoint, origin: 'b.example/log' };
      const long = { ...known, checkpoint, note: 'x'.repeat(4 * 1024 * 1024) };
      expect(() => memory.put(long)).toThrow('could not read again');
      expect(memory.get('b.example/log')).toBeNull();
    });
    openWitness(folder).close();
  });

  it('keeps its key to its owner, and never replaces it', () => {
    const path = join(folder, 'witness.key');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const before = readFileSync(path, 'utf8');
    expect(() => makeWitness(folder, 'w.example/1')).toThrow('there is one already');
    expect(readFileSync(path, 'utf8')).toBe(before);
  });
});

/** More than the calls of one cosignature: the last kill comes with the next one, or never. */
const STEPS = 12;

class WitnessProcess {
  readonly #child: ChildProcess;
  readonly url: Promise<string>;
  readonly ended: Promise<void>;

  constructor(args: { readonly logs: string; readonly killAt: number; readonly flag: string }) {
    const program = built('compiler/signalpress.js');
    const serve = ['witness', 'serve', '--state', folder, '--logs', args.logs, '--port', '0'];
    this.#child = spawn(
      process.execPath,
      [...killerOptions(join(folder, '..')), program, ...serve],
      {
        env: { KILL_AT: String(args.killAt), KILL_SWITCH: args.flag },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let text = '';
    this.url = new Promise((resolve, reject) => {
      this.#child.stdout?.on('data', (chunk) => {
        text += chunk;
        const port = /Listening at 127\.0\.0\.1:(\d+)/.exec(text)?.[1];
        if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
      });
      this.#child.stderr?.on('data', (chunk) => {
        text += chunk;
      });
      this.#child.on('exit', () => reject(new Error(`The witness ended: ${text}`)));
    });
    this.ended = new Promise((resolve) => this.#child.on('exit', () => resolve()));
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

/** The line of a cosignature, or null where none came. */
async function lineOf(url: string, body: string): Promise<string | null> {
  try {
    const answer = await add(url, body);
    return answer.status === 200 ? await answer.text() : null;
  } catch {
    return null;
  }
}

/** What came out of one witness that died at a step: cosignatures of either history, and what it remembers. */
async function killedAt(killAt: number) {
  const [fork, logs, flag] = [
    new InventedLog({ branch: 'x', from: 8 }),
    join(folder, '..', 'logs.txt'),
    join(folder, '..', 'switch'),
  ];
  writeFileSync(logs, `${LOG.policyLine}quorum none\n`);
  rmSync(folder, { recursive: true, force: true });
  makeWitness(folder, 'w.example/1');
  const dying = new WitnessProcess({ logs, killAt, flag });
  const url = await dying.url;
  expect(await lineOf(url, LOG.request(0, 8))).not.toBeNull();
  writeFileSync(flag, '');
  const answered = await lineOf(url, LOG.request(8, 9));
  await dying.stop();
  rmSync(flag);
  const next = new WitnessProcess({ logs, killAt: 0, flag });
  const again = await next.url;
  const asked = async (log: InventedLog): Promise<boolean[]> => [
    (await lineOf(again, log.request(8, 9))) !== null,
    (await lineOf(again, log.request(9, 9))) !== null,
    (await lineOf(again, log.request(9, 10))) !== null,
  ];
  const forked = await asked(fork);
  const genuine = await asked(LOG);
  await next.stop();
  return {
    isAnswered: answered !== null,
    isForked: forked.includes(true),
    isGenuine: answered !== null || genuine.includes(true),
  };
}

describe('a witness that is killed at any step', () => {
  it('I62: never gives out cosignatures of two histories', async () => {
    const ends = [];
    for (let killAt = 0; killAt < STEPS; killAt += 1) ends.push(await killedAt(killAt));
    const both = ends.filter(({ isForked, isGenuine }) => isForked && isGenuine);
    expect(both).toEqual([]);
    expect(ends.every(({ isForked, isGenuine }) => isForked || isGenuine)).toBe(true);
    // Killed before it remembered, between that and its answer, and not at all.
    expect(ends.filter(({ isForked }) => isForked).length).toBeGreaterThan(2);
    const silent = ends.filter(({ isAnswered, isGenuine }) => isGenuine && !isAnswered);
    expect(silent.length).toBeGreaterThan(0);
    expect(ends.at(-1)).toEqual({ isAnswered: true, isForked: false, isGenuine: true });
  }, 240_000);
});

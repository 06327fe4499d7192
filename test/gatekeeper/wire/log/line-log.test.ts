import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DAY_MS } from '../../../../compiler/format/iso-time.ts';
import { trustedProxies } from '../../../../gatekeeper/wire/limits/client-address.ts';
import {
  type LoggedRequests,
  LogOutput,
  levelOf,
  lineLog,
} from '../../../../gatekeeper/wire/log/line-log.ts';
import { clientHash, requestLog } from '../../../../gatekeeper/wire/log/request-log.ts';
import type { SentAnswer } from '../../../../gatekeeper/wire/request.ts';
import { type Stub, stub } from '../../raw-http.ts';
import { paymentAt, type TinyGate, tinyGate } from '../../tiny-gate.ts';

describe('line log', () => {
  const clock = (): number => 0;

  describe('lineLog()', () => {
    it('I40: writes one JSON object a line, whatever controls are in it', () => {
      const { read, output } = readLog();
      const log = lineLog(output, { clock });
      const path = '/a\n\r\u0000\u001b\u007f\u0085\u009b\u2028\u2029"\\é';
      log({ event: 'x', path });
      log({ event: 'y' });
      output.flush();
      expect(read.entries).toHaveLength(2);
      expect(read.entries[0]).toEqual({
        time: '1970-01-01T00:00:00.000Z',
        level: 'warn',
        event: 'x',
        path,
      });
      expect(read.text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    });

    it('writes an error at once, with what came before it', () => {
      const { read, output } = readLog();
      const log = lineLog(output, { clock });
      log({ event: 'started' });
      expect(read.writes).toEqual([]);
      log({ event: 'payment_failed' });
      expect(read.entries.map(({ event }) => event)).toEqual(['started', 'payment_failed']);
    });

    it('says how many lines a reader that hung did not get, once it reads again', () => {
      const { read, output } = readLog();
      const log = lineLog(output, { clock });
      read.isReading = false;
      const path = 'x'.repeat(1000);
      const tries = Math.ceil((2 * LOG_WAITING_MAX) / path.length);
      for (let at = 0; at < tries; at += 1) log({ path });
      read.goOn();
      log({ event: 'started' });
      output.flush();
      const reported = read.entries.at(-2);
      const kept = read.entries.length - 2;
      expect(reported).toMatchObject({
        event: 'log_lines_lost',
        level: 'warn',
        lines: tries - kept,
      });
      log({ event: 'stopped' });
      output.flush();
      expect(read.entries.slice(-2).map(({ event }) => event)).toEqual(['started', 'stopped']);
    });
  });

  describe('levelOf()', () => {
    it.each([
      [{ status: 200 }, 'info'],
      [{ status: 402 }, 'info'],
      [{ status: 499 }, 'info'],
      [{ status: 500 }, 'warn'],
      [{ event: 'started' }, 'info'],
      [{ event: 'payment_failed' }, 'error'],
      [{ event: 'no_verdict' }, 'warn'],
      [{ event: 'an event that nobody has thought of' }, 'warn'],
      [{ event: 'payment_failed', status: 200 }, 'error'],
    ])('of %j is %s', (entry, level) => {
      expect(levelOf(entry)).toBe(level);
    });

    it('names only events that are logged somewhere', () => {
      const root = join(import.meta.dirname, '../../../../gatekeeper');
      const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts') && !path.endsWith('line-log.ts'))
        .map((path) => readFileSync(join(root, path), 'utf8'))
        .join('\n');
      const table = readFileSync(join(root, 'wire/log/line-log.ts'), 'utf8');
      const named = [...table.matchAll(/^ {2}'([a-z_]+)',$/gm)].map(([, name]) => name);
      expect(named.length).toBeGreaterThan(10);
      expect(named.filter((name) => !sources.includes(`event: '${name}'`))).toEqual([]);
    });
  });

  const LOG_DRAIN_MS = 1000;
  const LOG_WAITING_MAX = 4 * 1024 * 1024;
  const LOG_BATCH_MS = 100;
  const LOG_BATCH_CHARS = 4096;

  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  describe('LogOutput', () => {
    it('collects lines until the time is over, and not longer', () => {
      const { read, output } = readLog();
      output.write('a\n');
      output.write('b\n');
      vi.advanceTimersByTime(LOG_BATCH_MS - 1);
      expect(read.writes).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(read.writes).toEqual(['a\nb\n']);
      vi.advanceTimersByTime(10 * LOG_BATCH_MS);
      expect(read.writes).toHaveLength(1);
    });

    it('writes whole lines of at most as much as a pipe takes at once', () => {
      const { read, output } = readLog();
      const line = `${'x'.repeat(99)}\n`;
      for (let at = 0; at < 1000; at += 1) output.write(line);
      output.flush();
      expect(read.text).toBe(line.repeat(1000));
      expect(read.writes.length).toBeLessThanOrEqual(1000 / Math.floor(LOG_BATCH_CHARS / 100));
      for (const text of read.writes) {
        expect(text.length).toBeLessThanOrEqual(LOG_BATCH_CHARS);
        expect(text.endsWith('\n')).toBe(true);
      }
    });

    it('writes a line that is longer than a batch', () => {
      const { read, output } = readLog();
      output.write('a\n');
      output.write(`${'x'.repeat(2 * LOG_BATCH_CHARS)}\n`);
      output.write('b\n');
      output.flush();
      expect(read.text).toBe(`a\n${'x'.repeat(2 * LOG_BATCH_CHARS)}\nb\n`);
    });

    it('keeps no more than its bound for a reader that hangs, and counts what it leaves out', () => {
      const { read, output } = readLog();
      read.isReading = false;
      const line = `${'x'.repeat(1023)}\n`;
      const tries = (2 * LOG_WAITING_MAX) / 1024;
      for (let at = 0; at < tries; at += 1) output.write(line);
      expect(read.writableLength).toBeLessThanOrEqual(LOG_WAITING_MAX + LOG_BATCH_CHARS);
      expect(output.takeLost()).toBe(0);
      read.goOn();
      output.flush();
      const kept = read.text.length / 1024;
      expect(output.takeLost()).toBe(tries - kept);
      expect(output.takeLost()).toBe(0);
    });

    it('loses nothing at a stop', async () => {
      const { read, output } = readLog();
      output.write('a\n');
      await output.close();
      expect(read.text).toBe('a\n');
    });

    it('does not wait for ever for a reader that hangs', async () => {
      const { read, output } = readLog();
      read.isReading = false;
      output.write('a\n');
      let isOver = false;
      const closed = output.close().then(() => {
        isOver = true;
      });
      await vi.advanceTimersByTimeAsync(LOG_DRAIN_MS - 1);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      await closed;
      expect(isOver).toBe(true);
    });
  });

  type LogStream = ConstructorParameters<typeof LogOutput>[0];

  /** What a reader of the log got, and whether it reads. */
  class ReadLog implements LogStream {
    readonly writes: string[] = [];
    /** While a reader hangs, what is written only waits. */
    isReading = true;
    #waiting: string[] = [];

    write(text: string, done?: () => void): void {
      if (!this.isReading) {
        this.#waiting.push(text);
        return;
      }
      if (text !== '') this.writes.push(text);
      done?.();
    }

    get writableLength(): number {
      return this.#waiting.reduce((sum, text) => sum + text.length, 0);
    }

    goOn(): void {
      this.writes.push(...this.#waiting);
      this.#waiting = [];
      this.isReading = true;
    }

    get text(): string {
      return this.writes.join('');
    }

    /** Parsed lines. */
    get entries(): Record<string, unknown>[] {
      return this.text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    }
  }

  function readLog(): { read: ReadLog; output: LogOutput } {
    const read = new ReadLog();
    return { read, output: new LogOutput(read) };
  }
});

const ANSWER: SentAnswer = {
  id: 'a-1',
  method: 'GET',
  path: '/gauge',
  status: 200,
  bytes: 12,
  ms: 0.12345,
  from: 'made',
  address: '203.0.113.7',
  forwardedFor: null,
};

function logged(
  answers: readonly Partial<SentAnswer>[],
  requests: LoggedRequests = 'all',
): Readonly<Record<string, unknown>>[] {
  const entries: Readonly<Record<string, unknown>>[] = [];
  const note = requestLog({
    requests,
    proxies: trustedProxies('10.0.0.0/8'),
    log: (entry) => entries.push(entry),
    clock: () => 0,
    random: (bytes) => Buffer.alloc(bytes),
  });
  for (const answer of answers) note?.({ ...ANSWER, ...answer });
  return entries;
}

describe('requestLog()', () => {
  it('logs what was asked and answered, and never the address', () => {
    const [entry] = logged([{ payer: '0xab' }]);
    expect(entry).toEqual({
      id: 'a-1',
      method: 'GET',
      path: '/gauge',
      status: 200,
      bytes: 12,
      ms: 0.12,
      client: expect.stringMatching(/^[0-9a-f]{16}$/),
      payer: '0xab',
    });
    expect(JSON.stringify(entry)).not.toContain('203.0.113.7');
  });

  it.each([
    ['signal_id=tides.level entity=oslo', 'signal_id=tides.level entity=oslo'],
    ['q=price of ivory at 12:30', 'q=price of ivory at 12:30'],
    ['entity=0000320193 day=2026-11-30', 'entity=0000320193 day=2026-11-30'],
    ['q=is ann@example.org in it', 'q=is … in it'],
    [`entity=0x${'aB'.repeat(20)}`, 'entity=…'],
    [`q=${'ab'.repeat(32)} left`, 'q=… left'],
    ['q=who is 203.0.113.7', 'q=who is …'],
    ['q=2001:db8::1 and ::1', 'q=… and …'],
  ])('logs that %j was wanted, without addresses', (wanted, logs) => {
    expect(logged([{ wanted }])[0]?.wanted).toBe(logs);
    expect(logged([{}])[0]).not.toHaveProperty('wanted');
  });

  it('tells clients behind a trusted proxy apart, and believes nobody else', () => {
    const [first, second, third, fourth] = logged([
      { address: '10.0.0.1', forwardedFor: '203.0.113.7' },
      { address: '10.0.0.1', forwardedFor: '203.0.113.8' },
      { address: '203.0.113.7' },
      { address: '203.0.113.7', forwardedFor: '203.0.113.8' },
    ]).map(({ client }) => client);
    expect(first).not.toBe(second);
    expect(third).toBe(first);
    expect(fourth).toBe(first);
  });

  it.each([
    ['all', [200, 402, 404, 500, 503]],
    ['errors', [500, 503]],
    ['off', []],
  ] as const)('"%s" logs the statuses %j', (requests, statuses) => {
    const all = [200, 402, 404, 500, 503].map((status) => ({ status }));
    expect(logged(all, requests).map(({ status }) => status)).toEqual(statuses);
  });

  it('leaves out probes, and nothing that only looks like one', () => {
    const paths = ['/healthz', '/metrics', '/healthz/x', '/metrics2'];
    const entries = logged(paths.map((path) => ({ path, status: 503 })));
    expect(entries.map(({ path }) => path)).toEqual(['/healthz/x', '/metrics2']);
  });
});

/** Another salt each time. */
function counting(): (bytes: number) => Buffer {
  let count = 0;
  return (bytes) => {
    count += 1;
    return Buffer.alloc(bytes, count);
  };
}

describe('clientHash()', () => {
  it('names a client the same all day, and others differently', () => {
    const nameOf = clientHash({ clock: () => 0, random: counting() });
    const name = nameOf('203.0.113.7');
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    expect(nameOf('203.0.113.7')).toBe(name);
    expect(nameOf('::ffff:203.0.113.7')).toBe(name);
    expect(nameOf('203.0.113.8')).not.toBe(name);
  });

  it('names a whole /64 the same', () => {
    const nameOf = clientHash({ clock: () => 0, random: counting() });
    expect(nameOf('2001:db8::1')).toBe(nameOf('2001:db8::2'));
    expect(nameOf('2001:db8:0:1::1')).not.toBe(nameOf('2001:db8::1'));
  });

  it('gives another name on the next day, and in another process', () => {
    const time = { now: DAY_MS - 1 };
    const nameOf = clientHash({ clock: () => time.now, random: counting() });
    const before = nameOf('203.0.113.7');
    time.now += 1;
    expect(nameOf('203.0.113.7')).not.toBe(before);
    const other = clientHash({ clock: () => 0, random: (bytes) => Buffer.alloc(bytes, 9) });
    expect(other('203.0.113.7')).not.toBe(before);
  });
});

const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const PAYEE = `0x${'ab'.repeat(20)}`;

/** Names of calls as the facilitator saw them, by path. */
const calls: { path: string; name: string | undefined }[] = [];
let settled = 0;
let isSettling = true;
let facilitator: Stub;
let gate: TinyGate;

beforeAll(async () => {
  facilitator = await stub((request, response) => {
    const { url: path = '', headers } = request;
    if (path !== '/supported') {
      calls.push({ path, name: headers['x-request-id'] as string | undefined });
    }
    request.resume();
    // The clock of the gatekeeper stands still.
    response.sendDate = false;
    response.writeHead(isSettling ? 200 : 500, { 'content-type': 'application/json' });
    settled += 1;
    const transaction = `0x${settled}`;
    response.end(JSON.stringify({ isValid: true, success: true, transaction, kinds: [] }));
  });
  const facilitatorUrls = [facilitator.url];
  gate = await tinyGate({ config: { facilitatorUrls, payTo: PAYEE, verifyFirst: true } });
});
afterAll(async () => {
  await gate.close();
  await facilitator.close();
});

async function bought(name?: string): Promise<Response> {
  const payment = await paymentAt(gate.url + PAID);
  const named = name === undefined ? {} : { 'x-request-id': name };
  calls.length = 0;
  return fetch(gate.url + PAID, { headers: { 'x-payment': payment, ...named } });
}

describe('the name of a request', () => {
  it('goes to the facilitator as we made it', async () => {
    const answer = await bought();
    expect(answer.status).toBe(200);
    const name = answer.headers.get('x-request-id');
    expect(name).not.toBeNull();
    expect(calls).toEqual([
      { path: '/verify', name },
      { path: '/settle', name },
    ]);
  });

  it('goes there never as a client made it: two payments would look like one', async () => {
    const names = [];
    for (let asked = 0; asked < 2; asked += 1) {
      const answer = await bought('theirs');
      expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, 'theirs']);
      expect(new Set(calls.map(({ name }) => name)).size).toBe(1);
      names.push(calls[0]?.name);
    }
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^theirs\.[0-9a-f]{8}-[0-9a-z]+$/);
  });

  it('stands in every line about it, also in that of a silent facilitator', async () => {
    isSettling = false;
    gate.now += 60_000;
    expect((await bought('in-vain')).status).toBe(503);
    isSettling = true;
    const lines = gate.logged.filter(({ id }) => id === 'in-vain');
    expect(lines).toMatchObject([
      { event: 'no_verdict', call: 'verify' },
      { path: '/gauge', status: 503 },
    ]);
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { built } from '../../../command-runs.ts';
import { stub } from '../../../gatekeeper/raw-http.ts';
import { paymentAt } from '../../../gatekeeper/tiny-gate.ts';
import { tinyData } from '../../../gatekeeper/tiny-release.ts';

const MAIN = 'gatekeeper/signalpress-gate.js';

interface Run {
  readonly child: ChildProcess;
  readonly output: { out: string; err: string };
  readonly exit: Promise<number | string | null>;
}

const running = new Set<ChildProcess>();
/** An assertion that fails leaves no gatekeeper behind. */
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});

function run(env: Record<string, string>, args: readonly string[] = []): Run {
  const cwd = mkdtempSync(join(tmpdir(), 'signalpress-run-'));
  const child = spawn(process.execPath, [built(MAIN), ...args], { cwd, env: { ...env, PATH: '' } });
  running.add(child);
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  // A crash shows as the signal that ended it.
  const exit = new Promise<number | string | null>((done) =>
    child.on('close', (code, signal) => done(signal ?? code)),
  );
  return { child, output, exit };
}

async function started(
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<Run & { url: string }> {
  const gate = run(env, args);
  for (let tries = 0; tries < 4000; tries += 1) {
    const url = /listens on (\S+)/.exec(gate.output.err)?.[1];
    if (url !== undefined) return { ...gate, url };
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`not started: ${gate.output.err}`);
}

/** Says yes to everything, but settles only when it is let to. */
async function slowFacilitator() {
  let [wasAsked, answer] = [() => {}, () => {}];
  const asked = new Promise<void>((done) => {
    wasAsked = done;
  });
  const answered = new Promise<void>((done) => {
    answer = done;
  });
  const { url, close } = await stub(async (request, response) => {
    if (request.url === '/settle') {
      wasAsked();
      await answered;
    }
    response.setHeader('content-type', 'application/json');
    response.end('{"isValid":true,"success":true,"transaction":"0x12","kinds":[]}');
  });
  return { url, asked, answer, close };
}

const parsed = (line: string): Record<string, unknown> => JSON.parse(line);

// The build is the program; without it there is nothing to run.
describe('main (needs a build)', () => {
  it.each<{ env: Record<string, string>; args: string[]; message: RegExp }>([
    { env: {}, args: [], message: /^Cannot open release .*signalpress compile/ },
    {
      env: { SIGNALPRESS_PORT: 'x' },
      args: [],
      message: /^Cannot start: 1 setting to correct\n.*SIGNALPRESS_PORT/,
    },
    {
      env: {},
      args: ['--prot', '1'],
      message: /^Cannot read flag "--prot": no such flag; did you mean "--port"\?\n$/,
    },
  ])('I47: exits with 1 and one plain message: $message', async ({ env, args, message }) => {
    const { output, exit } = run(env, args);
    expect(await exit).toBe(1);
    expect(output.err).toMatch(message);
    expect(output.err).not.toMatch(/\n {4}at /);
  });

  it('names a misspelt variable, also when it does not start', async () => {
    const { output, exit } = run({ SIGNALPRESS_DATE: 'x' });
    expect(await exit).toBe(1);
    expect(output.err).toMatch(
      /^WARNING: "SIGNALPRESS_DATE" is not a setting .*; did you mean SIGNALPRESS_DATA\?\nCannot open/,
    );
    const right = run({ SIGNALPRESS_DATA: 'x' });
    await right.exit;
    expect(right.output.err).toMatch(/^Cannot open/);
  });

  it.each([[['--help']], [['-h']], [['--port', '8080', '--help']]])(
    'says how it is called: %j',
    async (args) => {
      const { output, exit } = run({}, args);
      expect([await exit, output.err]).toEqual([0, '']);
      expect(output.out).toMatch(
        /^Usage: signalpress-gate [\s\S]*--facilitator-url[\s\S]*Exit codes:/,
      );
    },
  );

  it('says which version it is', async () => {
    const { output, exit } = run({}, ['--version']);
    expect([await exit, output.err]).toEqual([0, '']);
    const { version } = JSON.parse(readFileSync(resolve('package.json'), 'utf8'));
    expect(output.out).toBe(`${version}\n`);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'I47: serves, says that no money moves, logs JSON lines and stops at %s',
    async (signal) => {
      const dataDir = tinyData();
      const place = { SIGNALPRESS_DATA: dataDir, SIGNALPRESS_PORT: '0' };
      const env = { ...place, SIGNALPRESS_TEST_PAYMENTS: '1' };
      const { url, child, output, exit } = await started(env);
      expect((await fetch(`${url}/gauge/sample`)).status).toBe(200);
      expect(output.err).toMatch(/^WARNING: TEST-ONLY: .*\nTo be paid, set SIGNALPRESS_PAY_TO/m);
      child.kill(signal);
      expect(await exit).toBe(0);
      const lines = output.out.split('\n').slice(0, -1).map(parsed);
      expect(lines.find(({ path }) => path === '/gauge/sample')).toMatchObject({
        level: 'info',
        id: expect.any(String),
        method: 'GET',
        status: 200,
        ms: expect.any(Number),
        client: expect.stringMatching(/^[0-9a-f]{16}$/),
      });
      expect(lines[0]).toMatchObject({
        event: 'started',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        url,
        release: { sequence: expect.any(Number) },
        settings: { test_payments: true, data: dataDir },
      });
      expect(lines.slice(-2)).toMatchObject([{ event: 'stopping', signal }, { event: 'stopped' }]);
    },
  );

  it('logs why it crashed, behind every line before it', async () => {
    const dataDir = tinyData();
    const throwing = "process.on('SIGUSR2', () => { throw new Error('nobody expected this') })";
    const env = {
      SIGNALPRESS_DATA: dataDir,
      SIGNALPRESS_PORT: '0',
      SIGNALPRESS_TEST_PAYMENTS: '1',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(throwing)}`,
    };
    const { url, child, output, exit } = await started(env);
    await fetch(`${url}/gauge/sample`);
    child.kill('SIGUSR2');
    expect(await exit).not.toBe(0);
    const lines = output.out.split('\n').slice(0, -1).map(parsed);
    expect(lines.slice(-2)).toMatchObject([
      { path: '/gauge/sample', status: 200 },
      { event: 'crashed', level: 'error', error: 'nobody expected this' },
    ]);
    expect(output.err).toMatch(/Error: nobody expected this\n {4}at /);
  });

  it('serves and stops although nobody reads its log', async () => {
    const dataDir = tinyData();
    const place = { SIGNALPRESS_DATA: dataDir, SIGNALPRESS_PORT: '0' };
    const env = { ...place, SIGNALPRESS_TEST_PAYMENTS: '1', SIGNALPRESS_RATE_LIMIT: '0' };
    const { url, child, exit } = await started(env);
    child.stdout?.pause();
    // More than what a pipe and the streams on both sides hold.
    for (let asked = 0; asked < 20; asked += 1) {
      const long = 'x'.repeat(190);
      const answers = Array.from({ length: 50 }, (_, at) => fetch(`${url}/${long}${at}`));
      for (const answer of await Promise.all(answers)) expect(answer.status).toBe(404);
    }
    const gone = new Promise((done) => child.on('exit', done));
    child.kill('SIGTERM');
    expect(await gone).toBe(0);
    child.stdout?.resume();
    expect(await exit).toBe(0);
  });

  it.each([
    ['off', []],
    ['errors', []],
    ['all', ['/gauge/sample', '/nowhere']],
  ])('logs requests as --log-requests %s says', async (requests, paths) => {
    const dataDir = tinyData();
    const env = {
      SIGNALPRESS_DATA: dataDir,
      SIGNALPRESS_PORT: '0',
      SIGNALPRESS_TEST_PAYMENTS: '1',
    };
    const { url, child, output, exit } = await started(env, ['--log-requests', requests]);
    await fetch(`${url}/gauge/sample`);
    await fetch(`${url}/nowhere`);
    child.kill('SIGTERM');
    await exit;
    const lines = output.out.split('\n').slice(0, -1).map(parsed);
    expect(lines.flatMap(({ path }) => path ?? [])).toEqual(paths);
  });

  it('I58: does not pretend payments at the public address of a release, whatever is misspelt', async () => {
    const dataDir = tinyData();
    const place = { SIGNALPRESS_DATA: dataDir, SIGNALPRESS_PORT: '0' };
    const { output, exit } = run({ ...place, SIGNALPRESS_FACILITATOR: 'https://f.example' });
    expect([await exit, output.out]).toEqual([1, '']);
    expect(output.err).toMatch(
      /^WARNING: "SIGNALPRESS_FACILITATOR" is not a setting .*\nCannot start: SIGNALPRESS_FACILITATOR_URL: missing although the base URL "https:\/\/records\.example" .*\n$/,
    );
  });

  it('warns where no chain node is asked, and not where one is', async () => {
    const dataDir = tinyData();
    const silent = 'http://127.0.0.1:9';
    const env = {
      SIGNALPRESS_DATA: dataDir,
      SIGNALPRESS_PORT: '0',
      SIGNALPRESS_PAY_TO: '0x52908400098527886E0F7030069857D2E4169EE7',
      SIGNALPRESS_FACILITATOR_URL: silent,
    };
    for (const [more, count] of [
      [{}, 1],
      [{ SIGNALPRESS_RPC_URL: silent }, 0],
    ] as const) {
      const { url, child, output, exit } = await started({ ...env, ...more });
      const body = await (await fetch(`${url}/healthz`)).json();
      child.kill('SIGTERM');
      await exit;
      const reported =
        output.err.match(/^WARNING: No chain node is asked. .*SIGNALPRESS_RPC_URL/gm) ?? [];
      const logged = output.out.match(/"event":"settlement_warning","warning":"No chain/g) ?? [];
      const { warnings = [] } = body as { warnings?: readonly string[] };
      const told = warnings.filter((warning) => warning.startsWith('No chain node'));
      const counts = [reported.length, logged.length, told.length];
      expect(counts).toEqual([count, count, count]);
    }
  });

  it('I47: answers what is being paid for, also when it is told to stop twice', async () => {
    const settling = await slowFacilitator();
    const dataDir = tinyData();
    const { url, child, exit } = await started({
      SIGNALPRESS_DATA: dataDir,
      SIGNALPRESS_PORT: '0',
      SIGNALPRESS_PAY_TO: '0x52908400098527886E0F7030069857D2E4169EE7',
      SIGNALPRESS_FACILITATOR_URL: settling.url,
    });
    const target = `${url}/gauge?entity=us-chicago&signal_id=airquality.aqi`;
    const header = await paymentAt(target, Date.now());
    const bought = fetch(target, { headers: { 'x-payment': header } });
    await settling.asked;
    for (const signal of ['SIGHUP', 'SIGTERM', 'SIGTERM', 'SIGINT'] as const) {
      child.kill(signal);
      await new Promise((done) => setTimeout(done, 50));
    }
    settling.answer();
    expect((await bought).status).toBe(200);
    expect(await exit).toBe(0);
    await settling.close();
  });

  describe('SIGNALPRESS_WORKERS', () => {
    const place = (): Record<string, string> => {
      const dataDir = tinyData();
      const test = { SIGNALPRESS_TEST_PAYMENTS: '1', SIGNALPRESS_RATE_LIMIT: '0' };
      return {
        ...test,
        SIGNALPRESS_DATA: dataDir,
        SIGNALPRESS_PORT: '0',
        SIGNALPRESS_WORKERS: '3',
      };
    };
    const workersOf = ({ child }: Run): number[] =>
      readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
        .split(' ')
        .filter((pid) => pid !== '')
        .map(Number);
    const statuses = async (url: string, count: number): Promise<Set<number>> => {
      const headers = { connection: 'close' };
      const asked = Array.from({ length: count }, () => fetch(`${url}/gauge/sample`, { headers }));
      return new Set((await Promise.all(asked)).map(({ status }) => status));
    };

    it.skipIf(!existsSync('/proc/self/task'))(
      'I47: serves with several, replaces one that is killed, and stops with all (skipped without /proc)',
      async () => {
        const gate = await started(place());
        // Each says so when it listens.
        const listening = (): number => gate.output.out.split('"settlement_warning"').length - 1;
        await vi.waitFor(() => expect(listening()).toBe(3), 60_000);
        expect(await statuses(gate.url, 60)).toEqual(new Set([200]));
        const [first = 0] = workersOf(gate);
        process.kill(first, 'SIGKILL');
        await vi.waitFor(() => expect(gate.output.out).toContain('"worker_ended"'), 60_000);
        expect(await statuses(gate.url, 60)).toEqual(new Set([200]));
        await vi.waitFor(() => expect(listening()).toBe(4), 60_000);
        expect(workersOf(gate)).not.toContain(first);
        expect(await statuses(gate.url, 60)).toEqual(new Set([200]));
        const workers = workersOf(gate);
        gate.child.kill('SIGTERM');
        expect(await gate.exit).toBe(0);
        for (const pid of workers) expect(existsSync(`/proc/${pid}`)).toBe(false);
        expect(gate.output.err.match(/listens on/g)).toHaveLength(1);
        for (const line of gate.output.out.trimEnd().split('\n')) JSON.parse(line);
        await expect(fetch(gate.url)).rejects.toThrow();
      },
    );

    it.skipIf(!existsSync('/proc/self/task'))(
      'I47: workers end in order when their parent is killed (skipped without /proc)',
      async () => {
        const gate = await started(place());
        await vi.waitFor(() => expect(workersOf(gate)).toHaveLength(3), 60_000);
        const workers = workersOf(gate);
        gate.child.kill('SIGKILL');
        await gate.exit;
        const isGone = (pid: number): boolean => !existsSync(`/proc/${pid}`);
        await vi.waitFor(() => expect(workers.every(isGone)).toBe(true), 60_000);
      },
    );

    it('I47: says once why none can start', async () => {
      const { output, exit } = run({ ...place(), SIGNALPRESS_DATA: 'nowhere' });
      expect([await exit, output.out]).toEqual([1, '']);
      expect(output.err).toMatch(/^Cannot open release "nowhere\/current": .*\n$/);
    });
  });
});

import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { workerRole, workerVariables } from '../../../../gatekeeper/fleet/workers/worker-role.ts';
import { Workers, type WorkersOptions } from '../../../../gatekeeper/fleet/workers/workers.ts';

type WorkerProcess = ReturnType<WorkersOptions['fork']>;

const FAILED_STARTS_MAX = 5;

/** A process as its parent sees it, which lives and dies as the test says. */
class Child extends EventEmitter {
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly killed: string[] = [];
  readonly place: number;

  constructor(place: number) {
    super();
    this.place = place;
  }

  kill(signal: NodeJS.Signals): boolean {
    this.killed.push(signal);
    return true;
  }

  listen(): void {
    this.emit('message', { listens: 'http://127.0.0.1:1' });
  }

  end(code: number | null = 0, signal: string | null = null): void {
    this.emit('close', code, signal);
  }
}

function pool(count = 3, restartMs: [number, number] = [1, 4]) {
  const children: Child[] = [];
  const seen = { urls: [] as string[], logged: [] as object[], out: '', err: '', now: 0 };
  const workers = new Workers({
    count,
    fork: (place) => {
      const child = new Child(place);
      children.push(child);
      return child as unknown as WorkerProcess;
    },
    announce: (url) => seen.urls.push(url),
    log: (entry) => seen.logged.push(entry),
    output: (text) => {
      seen.out += text;
    },
    errors: (text) => {
      seen.err += text;
    },
    now: () => seen.now,
    restartMs,
  });
  const child = (at: number): Child => children[at] as Child;
  return { workers, children, child, seen };
}

/** Resolves once so many processes were started. */
async function started({ children }: ReturnType<typeof pool>, count: number): Promise<void> {
  for (let tries = 0; tries < 200 && children.length < count; tries += 1) await pause(1);
  expect(children.map(({ place }) => place)).toHaveLength(count);
}

describe('Workers', () => {
  it('starts the others once the first one listens, and announces one address', () => {
    const { children, child, seen } = pool(3);
    expect(children).toHaveLength(1);
    child(0).emit('message', 'something else');
    expect(children).toHaveLength(1);
    for (const at of [0, 1, 2]) child(at).listen();
    expect(children.map(({ place }) => place)).toEqual([0, 1, 2]);
    expect(seen.urls).toEqual(['http://127.0.0.1:1']);
  });

  it('fails at once when the first one cannot start, for the others could not either', async () => {
    const { workers, children, child } = pool(3);
    child(0).end(1);
    expect(await workers.ended).toBe('failed');
    expect(children).toHaveLength(1);
  });

  it('replaces a worker that ends, at the same place, and says so', async () => {
    const run = pool(2);
    run.child(0).listen();
    run.child(1).listen();
    run.child(1).end(null, 'SIGKILL');
    await started(run, 3);
    expect(run.child(2).place).toBe(1);
    expect(run.seen.logged).toEqual([
      expect.objectContaining({ event: 'worker_ended', worker: 1, signal: 'SIGKILL', again_ms: 1 }),
    ]);
  });

  it('waits longer each time for one that ends soon, up to the longest delay, and forgets it after a long life', async () => {
    const run = pool(2);
    run.child(0).listen();
    for (let death = 1; death <= 4; death += 1) {
      run.child(death).end(1);
      await started(run, death + 2);
    }
    run.seen.now = 60_000;
    run.child(5).listen();
    run.child(5).end(1);
    await started(run, 7);
    const delays = run.seen.logged.map((entry) => (entry as { again_ms: number }).again_ms);
    expect(delays).toEqual([1, 2, 4, 4, 1]);
  });

  it('gives up when none listens and start after start fails, not while one listens', async () => {
    const run = pool(2, [0, 0]);
    run.child(0).listen();
    for (let death = 1; death <= 2 * FAILED_STARTS_MAX; death += 1) {
      run.child(death).end(1);
      await started(run, death + 2);
    }
    let ended: string | null = null;
    void run.workers.ended.then((how) => {
      ended = how;
    });
    await pause(1);
    expect(ended).toBe(null);
    run.child(0).end(null, 'SIGSEGV');
    expect(await Promise.race([run.workers.ended, pause(20, 'going on')])).toBe('going on');
    run.children.at(-2)?.end(1);
    run.children.at(-1)?.end(1);
    expect(await run.workers.ended).toBe('failed');
  });

  it('I47: passes a stop on, waits for the last one, and starts none any more', async () => {
    const run = pool(2);
    run.child(0).listen();
    run.child(1).listen();
    run.child(1).end(1);
    run.workers.stop('SIGTERM');
    run.workers.stop('SIGTERM');
    expect(run.child(0).killed).toEqual(['SIGTERM']);
    expect(await Promise.race([run.workers.ended, pause(20, 'waiting')])).toBe('waiting');
    run.child(0).end(0);
    expect(await run.workers.ended).toBe('stopped');
    expect(run.children).toHaveLength(2);
  });

  it('passes the output of all on in whole lines, and what one said last', async () => {
    const { child, seen } = pool(2);
    child(0).listen();
    child(0).stdout.write('{"a":');
    child(1).stdout.write('{"b":1}\n{"b"');
    child(0).stdout.write('1}\n');
    child(1).stderr.end('Cannot open');
    await pause(5);
    expect(seen.out).toBe('{"b":1}\n{"a":1}\n');
    expect(seen.err).toBe('Cannot open\n');
  });
});

describe('workerRole()', () => {
  it.each([[{ place: 0, fd: null }], [{ place: 12, fd: 3 }]])(
    'reads what workerVariables() writes: %j',
    (role) => {
      expect(workerRole(workerVariables(role))).toEqual(role);
    },
  );

  it.each([['x'], ['-1'], ['1:'], ['']])('takes %j for none', (text) => {
    expect(workerRole({ GATE_WORKER: text })).toBe(null);
  });
});

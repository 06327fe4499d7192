import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { levelOf } from '../../../gatekeeper/wire/log/line-log.ts';
import {
  CallWatch,
  REASONS,
  type Reason,
  type ReasonRow,
  reasonsOf,
  ServiceState,
} from '../../../gatekeeper/wire/service-state.ts';

const SINCE = '2026-01-01T00:00:00.000Z';

function stateAt(now = Date.parse(SINCE)) {
  const time = { now };
  const logged: Readonly<Record<string, unknown>>[] = [];
  const state = new ServiceState({ clock: () => time.now, log: (entry) => logged.push(entry) });
  return { time, logged, state };
}

describe('ServiceState', () => {
  it('tells the log once that a reason begins and that it ends, whoever fails in between', () => {
    const { time, logged, state } = stateAt();
    const lost = state.trouble('journal_lost');
    lost.end();
    expect([lost.since, logged]).toEqual([null, []]);
    for (let at = 0; at < 50; at += 1) {
      state.trouble('journal_lost').begin(`failure ${at}`);
      time.now += 10;
    }
    expect(lost.since).toBe(SINCE);
    lost.end();
    lost.end();
    expect(logged).toEqual([
      {
        ...{ event: 'journal_lost', state: 'sells', ok: false, since: SINCE, error: 'failure 0' },
        do: REASONS.journal_lost.do,
      },
      { event: 'journal_back', state: 'sells', ok: true, since: SINCE },
    ]);
    expect(lost.since).toBeNull();
  });

  it('tells of something else that is wrong for the same reason', () => {
    const { logged, state } = stateAt();
    const refused = state.trouble('release_refused');
    for (const release of ['6', '6', '7']) refused.begin('damaged', { release });
    expect(logged.map(({ release }) => release)).toEqual(['6', '7']);
  });

  it('says of a state that it holds only when the last of its reasons is over', () => {
    const { logged, state } = stateAt();
    const [one, other] = [
      state.trouble('node_lost', 'base'),
      state.trouble('node_lost', 'polygon'),
    ];
    state.trouble('release_stale').begin('stale');
    one.begin('x');
    other.begin('y');
    one.end();
    expect(reasonsOf('sells', state.standing())).toMatchObject([
      { reason: 'node_lost', of: 'polygon' },
    ]);
    other.end();
    expect(logged.slice(1).map(({ event, of, ok }) => [event, of, ok])).toEqual([
      ['node_lost', 'base', false],
      ['node_lost', 'polygon', false],
      ['node_back', 'base', false],
      ['node_back', 'polygon', true],
    ]);
    expect(reasonsOf('serves', state.standing())).toEqual([]);
  });

  it('asks by itself for what nobody reports, until it is closed', async () => {
    const { logged, state } = stateAt();
    let fault: string | null = 'behind';
    state.watch('clock_behind', () => fault);
    expect(logged).toEqual([]);
    state.run();
    expect(logged).toMatchObject([{ event: 'clock_behind', error: 'behind' }]);
    fault = null;
    await expect.poll(() => logged.at(-1)?.event).toBe('clock_right');
    fault = 'again';
    state.close();
    state.standing();
    state.trouble('journal_lost').begin('after the end');
    expect(logged).toHaveLength(2);
  });

  it('asks somebody else again and again, and at once when told to, never twice at a time', async () => {
    const logged: unknown[] = [];
    const log = ({ event }: Readonly<Record<string, unknown>>) => logged.push(event);
    const state = new ServiceState({ clock: Date.now, log, askMs: 20 });
    let fault: string | null = null;
    const asked = { all: 0, now: 0, most: 0 };
    const again = state.ask('node_lost', async () => {
      asked.all += 1;
      asked.now += 1;
      asked.most = Math.max(asked.most, asked.now);
      await new Promise((done) => setTimeout(done, 5));
      asked.now -= 1;
      return fault;
    });
    fault = 'down';
    again();
    again();
    await expect.poll(() => logged).toEqual(['node_lost']);
    await expect.poll(() => asked.all).toBeGreaterThan(2);
    fault = null;
    await expect.poll(() => logged).toEqual(['node_lost', 'node_back']);
    state.close();
    again();
    const { all } = asked;
    await new Promise((done) => setTimeout(done, 100));
    expect([asked.all, asked.most]).toEqual([all, 1]);
  });

  it('tells strangers no detail where a reason has words for them', () => {
    const { state } = stateAt();
    state.trouble('journal_lost').begin('connect ECONNREFUSED 10.0.0.7:5432');
    state.trouble('node_lost').begin('Cannot ask https://node.example/KEY');
    expect(JSON.stringify(state.standing())).not.toMatch(/10\.0\.0\.7|KEY/);
  });
});

describe('the reasons', () => {
  const names = Object.keys(REASONS) as Reason[];
  it('are a table of SIGNS.md, with the events of the log; vitest writes it with --update', async () => {
    const path = join(import.meta.dirname, '../../../gatekeeper/SIGNS.md');
    const rows = Object.entries<ReasonRow>(REASONS).map(
      ([reason, { over, state, means, do: remedy = 'nothing' }]) =>
        `| \`${reason}\`, \`${over}\` | ${state} | ${means} | ${remedy} |\n`,
    );
    const written = readFileSync(path, 'utf8');
    const made = written.replace(/(^\| `\w+`, `\w+` .*\n)+/m, () => rows.join(''));
    await expect(made).toMatchFileSnapshot(path);
  });

  it.each(names)('%s is at least a warning in the log, and its end is news', (reason) => {
    expect(levelOf({ event: REASONS[reason].over })).toBe('info');
    if (reason !== 'stopping') expect(levelOf({ event: reason })).not.toBe('info');
  });
});

const SLOW_COUNTS_MS = 30_000;

function watch() {
  const time = { now: 0 };
  const calls = new CallWatch({ slowMs: 1000, now: () => time.now });
  const ends: (() => void)[] = [];
  const begin = () => calls.watched(() => new Promise<void>((done) => ends.push(done)));
  return { time, calls, begin, ends, fault: () => calls.fault('a call') };
}

describe('CallWatch', () => {
  it('notices a call that hangs while it runs, and none that is quick', async () => {
    const { time, begin, ends, fault } = watch();
    const running = begin();
    time.now = 999;
    expect(fault()).toBeNull();
    time.now = 1000;
    expect(fault()).toBe('a call takes more than 1 s');
    ends[0]?.();
    await running;
    time.now += SLOW_COUNTS_MS - 1;
    expect(fault()).not.toBeNull();
    time.now += 1;
    expect(fault()).toBeNull();
  });

  it('notices a slow call that ended before anybody looked, also one that failed', async () => {
    const { time, calls, fault } = watch();
    const failing = calls.watched(async () => {
      time.now += 1000;
      throw new Error('down');
    });
    await expect(failing).rejects.toThrow('down');
    expect(fault()).not.toBeNull();
  });

  it('goes by the oldest call, and forgets when it is told to', async () => {
    const { time, calls, begin, ends, fault } = watch();
    const first = begin();
    time.now = 600;
    const second = begin();
    ends[0]?.();
    await first;
    time.now = 1500;
    expect(fault()).toBeNull();
    time.now = 1600;
    expect(fault()).not.toBeNull();
    calls.forget();
    expect(fault()).toBeNull();
    time.now = 9000;
    ends[1]?.();
    await second;
    expect(fault()).toBeNull();
  });
});

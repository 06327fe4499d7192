import { fstatSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepNewest } from '../../../gatekeeper/heart/release/newest-served.ts';
import { isLoopback, passedSocket } from '../../../gatekeeper/wire/listen.ts';
import { BoundedMap, OwnValues } from '../../../gatekeeper/wire/maps.ts';
import { replaceFile } from '../../../gatekeeper/wire/plain-file.ts';
import { inTime, Slots, SlotsFullError } from '../../../gatekeeper/wire/slots.ts';
import { tinyService } from '../tiny-service.ts';

/** A map of at most three, and these set in it one after another. */
function holding(...keys: readonly string[]): string[] {
  const map = new BoundedMap<string, number>(3);
  for (const [at, key] of keys.entries()) map.set(key, at);
  return [...map].map(([key, at]) => `${key}${at}`);
}

describe('BoundedMap', () => {
  it('I43: holds as many entries as it may, and with one more all but the oldest', () => {
    expect(holding('a', 'b', 'c')).toEqual(['a0', 'b1', 'c2']);
    expect(holding('a', 'b', 'c', 'd')).toEqual(['b1', 'c2', 'd3']);
    expect(holding(...'abcdefg')).toEqual(['e4', 'f5', 'g6']);
  });

  it('takes an entry that is set again for the newest, and drops none for it', () => {
    expect(holding('a', 'b', 'c', 'a')).toEqual(['b1', 'c2', 'a3']);
    expect(holding('a', 'b', 'c', 'a', 'd')).toEqual(['c2', 'a3', 'd4']);
  });

  it('drops what was set longest ago, however entries came and went before', () => {
    const map = new BoundedMap<string, number>(5);
    for (const [at, key] of [...'abcde'].entries()) map.set(key, at);
    map.delete('b');
    map.set('a', 6);
    for (const key of 'fgh') map.set(key, 7);
    expect([...map.keys()]).toEqual(['e', 'a', 'f', 'g', 'h']);
    map.clear();
    for (const key of 'ijklmn') map.set(key, 8);
    expect([...map.keys()].join('')).toBe('jklmn');
  });

  it('keeps what is used where use counts, and what is young where it does not', () => {
    const left = (isByUse: { isByUse?: true }): string => {
      const map = new BoundedMap<string, string>({ bytes: 10, ...isByUse });
      map.set('a', 'A', 4).set('b', 'B', 4);
      map.get('a');
      map.set('c', 'C', 4);
      expect(map.bytes).toBe(8);
      return [...map.keys()].join('');
    };
    expect([left({ isByUse: true }), left({})]).toEqual(['ac', 'bc']);
  });

  it('never holds more bytes than its bound, also for one huge or one repeated key', () => {
    const map = new BoundedMap<string, string>({ bytes: 10 });
    map.set('huge', 'H', 11);
    expect(map.get('huge')).toBeUndefined();
    for (let at = 0; at < 100; at += 1) {
      map.set(`k${at % 7}`, 'K', at % 11);
      expect(map.bytes).toBeLessThanOrEqual(10);
    }
    for (const key of [...map.keys()]) map.delete(key);
    expect([map.size, map.bytes]).toEqual([0, 0]);
    map.set('whole', 'W', 10);
    expect([...map.keys()]).toEqual(['whole']);
    map.clear();
    expect(map.bytes).toBe(0);
  });

  it('finds the oldest as fast in a large map as in a small one', () => {
    // Each iterator steps over all that was deleted before it, so there must be few.
    let iterators = 0;
    class Counting extends BoundedMap<number, number> {
      override keys(): MapIterator<number> {
        iterators += 1;
        return super.keys();
      }
    }
    const [held, sets] = [10_000, 20_000];
    const map = new Counting(held);
    for (let at = 0; at < held + sets; at += 1) map.set(at, at);
    expect([map.size, map.has(sets - 1), map.has(sets)]).toEqual([held, false, true]);
    expect(iterators).toBeLessThan(50);
  });
});

const LIMIT_MS = 1000;
const comes = <T>(ms: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, ms, value));

describe('inTime()', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('gives what is there in time, and leaves no timer behind', async () => {
    const found = inTime(comes(LIMIT_MS - 1, 'there'), LIMIT_MS);
    await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
    expect(await found).toBe('there');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives null for what comes later', async () => {
    const found = inTime(comes(LIMIT_MS + 1, 'late'), LIMIT_MS);
    await vi.advanceTimersByTimeAsync(LIMIT_MS);
    expect(await found).toBeNull();
  });

  it('throws what the work throws, and leaves no timer behind', async () => {
    await expect(inTime(Promise.reject(new Error('broken')), LIMIT_MS)).rejects.toThrow('broken');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('isLoopback()', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.5.5.5', '::1', '[::1]', '::ffff:127.0.0.1'])(
    'knows "%s", as a setting, a URL or a socket spells it',
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each([
    '',
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '127.evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'evil.example/127.0.0.1',
    '::1%eth0',
  ])('does not take "%s" for this machine', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});

describe('once()', () => {
  it('makes one value for an owner and a maker, and another one for another of either', () => {
    const [left, right] = [new OwnValues(), new OwnValues()];
    const [one, other] = [(name: string) => ({ name }), (name: string) => ({ name })];
    expect(left.once(one, 'left')).toBe(left.once(one, 'left'));
    expect(left.once(other, 'left')).not.toBe(left.once(one, 'left'));
    expect(right.once(one, 'right')).toEqual({ name: 'right' });
  });

  it('tries again where making it failed', () => {
    const values = new OwnValues();
    let fails = true;
    const make = (of: string): string => {
      if (fails) throw new Error('not yet');
      return of;
    };
    expect(() => values.once(make, 'a')).toThrow('not yet');
    fails = false;
    expect(values.once(make, 'a')).toBe('a');
  });
});

describe('passedSocket()', () => {
  it('takes the one socket that was passed to this process', () => {
    expect(passedSocket({ LISTEN_PID: '7', LISTEN_FDS: '1' }, 7)).toBe(3);
  });

  it.each([
    [{}],
    [{ LISTEN_FDS: '1' }],
    [{ LISTEN_PID: '7' }],
    [{ LISTEN_PID: '8', LISTEN_FDS: '1' }],
  ])('takes none that was not: %j', (env) => {
    expect(passedSocket(env, 7)).toBe(null);
  });

  it('refuses several: one of them would be open and never answer', () => {
    expect(() => passedSocket({ LISTEN_PID: '7', LISTEN_FDS: '2' }, 7)).toThrow(
      /LISTEN_FDS is "2", .* keep one ListenStream= in the \.socket unit$/,
    );
  });
});

const NEWEST_NAME = 'newest-release.json';

const steps: string[] = [];

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    fsyncSync: (handle: number) => {
      const stats = fstatSync(handle);
      steps.push(stats.isDirectory() ? 'sync folder' : `sync ${stats.size} bytes`);
      fs.fsyncSync(handle);
    },
    renameSync: (from: string, to: string) => {
      steps.push('rename');
      fs.renameSync(from, to);
    },
  };
});

afterEach(() => {
  steps.length = 0;
});

const folder = () => mkdtempSync(join(tmpdir(), 'signalpress-state-'));

describe('replaceFile()', () => {
  it('I17: writes the whole file to the disk before its name, and the name before it returns', () => {
    const path = join(folder(), 'note.json');
    for (const text of ['first', 'second one']) {
      steps.length = 0;
      replaceFile(path, text);
      expect(steps).toEqual([`sync ${text.length} bytes`, 'rename', 'sync folder']);
      expect(readFileSync(path, 'utf8')).toBe(text);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('leaves the old file and throws where nothing can be written', () => {
    expect(() => replaceFile(join(folder(), 'missing', 'note.json'), 'x')).toThrow('ENOENT');
    expect(steps).toEqual([]);
  });
});

describe('keepNewest()', () => {
  it('I26: leaves no note that a power cut could empty', async () => {
    const state = folder();
    const { release } = await tinyService();
    steps.length = 0;
    keepNewest(state, release);
    expect(steps.slice(-3)).toEqual([
      expect.stringMatching(/^sync [1-9]\d+ bytes$/),
      'rename',
      'sync folder',
    ]);
    expect(readdirSync(state)).toEqual([NEWEST_NAME]);
  });
});

describe('Slots', () => {
  it('runs so many at once, the others in their order, and refuses a crowd', async () => {
    const slots = new Slots(2, 3);
    const [ends, order]: [(() => void)[], number[]] = [[], []];
    let running = 0;
    let most = 0;
    const work = (at: number) => () => {
      running += 1;
      most = Math.max(most, running);
      order.push(at);
      return new Promise<void>((done) => ends.push(done)).finally(() => {
        running -= 1;
      });
    };
    const all = [0, 1, 2, 3, 4].map((at) => slots.run(work(at)));
    await expect(slots.run(work(5))).rejects.toThrow(SlotsFullError);
    for (let at = 0; at < 5; at += 1) {
      await new Promise((done) => setTimeout(done, 1));
      ends[at]?.();
    }
    await Promise.all(all);
    expect([most, order]).toEqual([2, [0, 1, 2, 3, 4]]);
  });

  it('gives the slot of work that failed to the next', async () => {
    const slots = new Slots(1, 10);
    const failing = slots.run(() => Promise.reject(new Error('x')));
    const next = slots.run(() => Promise.resolve(7));
    await expect(failing).rejects.toThrow('x');
    expect(await next).toBe(7);
    expect(await slots.run(() => Promise.resolve(8))).toBe(8);
  });
});

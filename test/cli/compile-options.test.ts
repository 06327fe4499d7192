import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { publicationTime, retentionOf, seriesDaysOf } from '../../compiler/cli/compile-options.ts';
import { memoryFile } from '../../compiler/cli/verify-cli.ts';
import { askAfter } from '../../compiler/publish/witness/ask-after.ts';
import { InventedLog } from '../publish/witness/invented-log.ts';
import { StubWitness } from '../publish/witness/stub-witness.ts';
import { smallSet } from '../small-set.ts';
import { compileFolder, makeFolder, removeFolders, writeSnapshots } from '../snapshot-folder.ts';

const NOW = '2026-11-20T12:00:00Z';
const at = (flags: Parameters<typeof publicationTime>[0]) =>
  publicationTime(flags, Date.parse(NOW));

describe('publicationTime()', () => {
  it('is the clock, or the time that is given', () => {
    expect(at({})).toEqual({ asOf: NOW });
    expect(at({ asOf: '2020-01-01T00:00:00Z' })).toEqual({ asOf: '2020-01-01T00:00:00Z' });
    expect(at({ asOf: '2026-11-20T12:05:00Z' })).toEqual({ asOf: '2026-11-20T12:05:00Z' });
  });

  it('I21: refuses a time of the future, which would lock the folder until then', () => {
    for (const asOf of ['2026-11-20T12:05:01Z', '2099-01-01T00:00:00Z']) {
      expect(() => at({ asOf })).toThrow(
        /^Cannot use --as-of ".*": more than 5 minutes after the clock of this machine, 2026-11-20T12:00:00Z; give a time that has passed/,
      );
    }
  });

  it('accepts the clock when another one shows the same, and no other', () => {
    for (const acceptClock of ['2026-11-20T12:00', '2026-11-20T12:01Z', '2026-11-20T11:58:00Z']) {
      expect(at({ acceptClock })).toEqual({ asOf: NOW, acceptClock: true });
    }
    expect(() => at({ acceptClock: '2026-11-20T12:03' })).toThrow(/more than 2 minutes from/);
    expect(() => at({ acceptClock: 'yes' })).toThrow(/not a time in UTC; write what another/);
    expect(() => at({ acceptClock: '2026-11-20T12:00', asOf: NOW })).toThrow(/leave --as-of out/);
  });
});

describe('retentionOf()', () => {
  it.each([
    [{ keepLast: '4' }, { last: 4, days: 0 }],
    [
      { keepLast: '1', keepDays: '1' },
      { last: 1, days: 1 },
    ],
    [
      { keepLast: '999999', keepDays: '36500' },
      { last: 999_999, days: 36_500 },
    ],
  ])('takes %j', (flags, retention) => {
    expect(retentionOf(flags)).toEqual(retention);
  });

  it.each([
    [{ keepLast: '0' }, '--keep-last "0"'],
    [{ keepLast: 'all' }, '--keep-last "all"'],
    [{ keepLast: '' }, '--keep-last ""'],
    [{ keepLast: '1.5' }, '--keep-last "1.5"'],
    [{ keepLast: '-1' }, '--keep-last "-1"'],
    [{ keepLast: '1000000' }, '--keep-last "1000000": not a whole number from 1 to 999999'],
    [{ keepLast: '4', keepDays: '0' }, '--keep-days "0"'],
    [{ keepLast: '4', keepDays: 'a week' }, '--keep-days "a week"'],
    [
      { keepLast: '4', keepDays: '36501' },
      '--keep-days "36501": not a whole number from 1 to 36500',
    ],
  ])('refuses %j', (flags, says) => {
    expect(() => retentionOf(flags)).toThrow(`Cannot use ${says}`);
  });
});

describe('seriesDaysOf()', () => {
  it.each(['1', '30', '1000'])('takes %s days', (days) => {
    expect(seriesDaysOf(days)).toBe(Number(days));
  });

  it.each(['0', '1001', '-1', '30.5', 'all', ''])('refuses "%s"', (days) => {
    const says = `Cannot use --series-days "${days}": not a whole number from 1 to 1000`;
    expect(() => seriesDaysOf(days)).toThrow(says);
  });
});

describe('askAfter()', () => {
  const NOW = Date.parse('2026-11-20T12:30:00Z');

  /** The key that signs the log of `compileFolder`. */
  const LOG = new InventedLog({ origin: 'example.org/log', seed: 7 });

  afterAll(removeFolders);

  it.each(['quorum W', 'quorum none'])(
    'asks a witness again that was down when the release came, under "%s", and tells once that it signed',
    async (quorum) => {
      let asked = 0;
      const now = (): number => {
        asked += 1;
        return NOW;
      };
      const witness = new StubWitness({ name: 'w.example', logs: [LOG.key], now });
      const first = await witness.serve();
      await first.close();
      const witnesses = join(makeFolder(), 'witnesses.txt');
      const line = `witness W ${witness.vkey} http://127.0.0.1:${first.port}`;
      writeFileSync(witnesses, `${line}\n${quorum}\n`);
      const data = join(makeFolder(), 'data');
      const told: string[] = [];
      const settings = { now: () => NOW, print: (text: string) => told.push(text) };
      const { ask, askAgain } = askAfter({ data, witnesses }, settings);
      // Before the first release there is nothing to ask about.
      await askAgain();
      expect(told).toEqual([]);
      await compileFolder(writeSnapshots(smallSet()), { data });
      await ask();
      expect(told).toEqual([expect.stringContaining('The policy is not met')]);
      await askAgain();
      expect(told).toHaveLength(1);
      const second = await witness.serve(first.port);
      await askAgain();
      expect(told.slice(1)).toEqual([expect.stringContaining('cosigned by W at 2026-11-20T12:30')]);
      const before = asked;
      await askAgain();
      expect([told.length, asked]).toEqual([2, before]);
      await second.close();
    },
  );

  it('asks nobody without a policy, says once that nobody witnesses, and refuses a bad one at once', async () => {
    const told: string[] = [];
    const settings = { now: () => NOW, print: (text: string) => told.push(text) };
    const { ask, askAgain } = askAfter({ data: '/nowhere' }, settings);
    await ask();
    await ask();
    await askAgain();
    expect(told).toEqual([expect.stringMatching(/^Warning: nobody witnesses the log/)]);
    const witnesses = join(makeFolder(), 'witnesses.txt');
    writeFileSync(witnesses, 'witness\n');
    expect(() => askAfter({ data: '/nowhere', witnesses }, settings)).toThrow('--witnesses');
  });
});

describe('memoryFile()', () => {
  afterAll(removeFolders);

  it('is empty before the first save, and holds what was saved', () => {
    const folder = makeFolder();
    const path = join(folder, 'seen');
    const memory = memoryFile(path);
    expect(memory.text).toBeNull();
    memory.save('one');
    expect([memoryFile(path).text, readdirSync(folder)]).toEqual(['one', ['seen']]);
  });
});

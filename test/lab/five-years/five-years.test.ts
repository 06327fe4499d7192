import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RETENTION, releaseNames } from '../../../compiler/release/release-folders.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { judgeAll } from './five-years.ts';
import { SHORT } from './plan.ts';
import { ShopLife } from './shop-life.ts';

const life = new ShopLife(24, SHORT);
let { sold, forged }: Awaited<ReturnType<typeof judgeAll>> = { sold: [], forged: [] };
beforeAll(async () => {
  await life.live();
  ({ sold, forged } = await judgeAll(life));
});
afterAll(removeFolders);

const noticedOf = (event: string) =>
  life.incidents.find((each) => each.event === event)?.noticed ?? [];

describe('a simulated five years, its short form', () => {
  it('I29: each reader is told of each body what he can know', () => {
    expect(sold).toHaveLength(SHORT.months * 3 * 3);
    expect(sold.filter(({ words, expected }) => words !== expected)).toEqual([]);
  });

  it('I29: whoever has the log is told of every body, after the default pruning', () => {
    expect(releaseNames(life.data)).toHaveLength(RETENTION.last + 1);
    expect(SHORT.months).toBeGreaterThan(RETENTION.last + 1);
    const words = sold.filter(({ reader }) => reader === 'log').map((each) => each.words);
    expect(words).toHaveLength(SHORT.months * 3);
    expect(words.filter((each) => each === 'verified').length).toBeGreaterThan(SHORT.months);
  });

  it('I29: no forgery is verified by anybody', () => {
    expect(forged).toHaveLength(7 * 3);
    expect(forged.map(({ words }) => words)).not.toContain('verified');
    expect(forged.filter(({ words, expected }) => words !== expected)).toEqual([]);
  });

  it('who has the log or witnesses is never told that a body cannot be judged', () => {
    const unjudged = (readers: readonly string[], kind = '') =>
      sold.filter(
        ({ reader, words, kind: own }) =>
          readers.includes(reader) && words.startsWith('cannot') && own.startsWith(kind),
      );
    expect(unjudged(['witnesses', 'log'])).toEqual([]);
    expect(unjudged(['list'], 'first key')).toHaveLength(3 * (SHORT.firstRotation - 1));
    expect(unjudged(['list'], 'second key')).toHaveLength(3);
  });

  it('rollback, fork and freeze are noticed by the monitor and by a reader who remembers', () => {
    expect(noticedOf('rollback')).toEqual([
      'monitor: rollback',
      expect.stringContaining('rollback: 6, but 7 was seen before'),
    ]);
    expect(noticedOf('freeze')).toEqual(['monitor: frozen', expect.stringContaining('stale')]);
    expect(noticedOf('fork')).toEqual([
      'monitor: fork',
      'monitor: release_fork',
      'evidence: fork proven',
      'evidence: heads proven',
      'evidence: readings proven',
      expect.stringContaining('policy: not witnessed as the policy demands: 0 of 2 of two'),
      expect.stringContaining('fork: another release 7 was seen before'),
    ]);
  });

  it('two of three witnesses go on, and nothing is noticed where nothing is wrong', () => {
    expect(noticedOf('a witness dies')).toEqual(['policy: met']);
    expect(life.falseAlarms).toEqual([]);
    const later = sold.filter(({ reader, kind }) => reader === 'witnesses' && /third/.test(kind));
    expect(later.map(({ logged }) => /press/.test(logged)).includes(true)).toBe(false);
    expect(later.every(({ logged }) => /witnessed by harbour .* library/.test(logged))).toBe(true);
  });

  it('the log is signed by both keys where one takes over from the other, and by one else', () => {
    const { firstRotation, secondRotation } = SHORT;
    for (const { month, text } of life.bodies) {
      const lines = JSON.parse(text)._proof.match(/^\u2014 example\.org\/log /gm);
      const isOverlap = month === firstRotation || month === secondRotation;
      expect([month, lines.length]).toEqual([month, isOverlap ? 2 : 1]);
    }
  });
});

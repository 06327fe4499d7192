import { describe, expect, it } from 'vitest';
import { firstHistory, historyOf, type Rotation } from '../../compiler/contract/key-history.ts';
import type { Release } from '../../compiler/contract/release.ts';
import { clockCorrected, goesBack } from '../../compiler/contract/release.ts';

const [NOW, SOON, FUTURE] = [
  '2026-11-20T12:00:00Z',
  '2026-11-20T13:00:00Z',
  '2076-01-01T00:00:00Z',
];
const ONE = 'did:key:z6MkOne';
const TWO = 'did:key:z6MkTwo';
const rotation: Rotation = {
  type: 'rotation',
  old_did: ONE,
  new_did: TWO,
  stated_at: NOW,
  valid_from: NOW,
  overlap_until: SOON,
  signature: '',
};
const at = (sequence: number, as_of = NOW) => ({ sequence, as_of });
const later = (sequence: number, as_of: string, clock_corrected?: Release['clock_corrected']) => ({
  sequence,
  as_of,
  issuer_did: ONE,
  ...(clock_corrected && { clock_corrected }),
});

describe('goesBack()', () => {
  it('I21: is false where time goes on or stands, and true where it goes back without a word', () => {
    expect(goesBack(at(1), later(2, NOW))).toBe(false);
    expect(goesBack(at(1), later(2, SOON))).toBe(false);
    expect(goesBack(at(1, SOON), later(2, NOW))).toBe(true);
  });

  it.each<[string, number, string, Release['clock_corrected'], boolean]>([
    ['the release after the wrong one', 8, FUTURE, { sequence: 9, latest: FUTURE }, false],
    ['one that came long after', 3, FUTURE, { sequence: 9, latest: FUTURE }, false],
    [
      'a time that no release before it claimed',
      8,
      '2080-01-01T00:00:00Z',
      { sequence: 9, latest: FUTURE },
      true,
    ],
    ['what was seen after the clock was set right', 9, SOON, { sequence: 9, latest: FUTURE }, true],
    ['a correction that is still to come', 8, FUTURE, { sequence: 11, latest: FUTURE }, true],
  ])('I21: judges %s', (...[, seen, seenAt, corrected, expected]) => {
    expect(goesBack(at(seen, seenAt), later(10, NOW, corrected))).toBe(expected);
  });

  it('I29: believes no correction of a key that another one followed', () => {
    const corrected = { sequence: 9, latest: FUTURE };
    const back = later(10, NOW, corrected);
    const keys = historyOf(ONE, [rotation], []);
    expect(goesBack(at(8, FUTURE), back, firstHistory(ONE))).toBe(false);
    expect(goesBack(at(8, FUTURE), back, keys)).toBe(true);
    expect(goesBack(at(8, FUTURE), { ...back, issuer_did: TWO }, keys)).toBe(false);
  });
});

describe('clockCorrected()', () => {
  it('says nothing while time goes on, notes when it goes back, and is handed on', () => {
    expect(clockCorrected(null, at(1))).toEqual({});
    expect(clockCorrected(at(1), at(2, SOON))).toEqual({});
    const noted = clockCorrected(at(2, FUTURE), at(3, NOW));
    expect(noted).toEqual({ clock_corrected: { sequence: 3, latest: FUTURE } });
    expect(clockCorrected({ ...at(3), ...noted }, at(4, SOON))).toEqual(noted);
  });

  it('keeps the latest of all times that were ever set aside', () => {
    const before = {
      ...at(4, '2030-01-01T00:00:00Z'),
      clock_corrected: { sequence: 3, latest: FUTURE },
    };
    expect(clockCorrected(before, at(5, SOON))).toEqual({
      clock_corrected: { sequence: 5, latest: FUTURE },
    });
  });
});

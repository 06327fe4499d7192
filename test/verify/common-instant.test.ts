import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonInstant, consistentSpans } from '../../compiler/verify/request-time-checks.ts';
import type { TimeWindow } from '../../compiler/verify/request-time-claims.ts';

const WINDOW = { from: 0, to: 20 };

describe('consistentSpans()', () => {
  const claim = (shown: string) => ({
    where: '',
    shown: { word: shown },
    expected: (now: number) => ({ word: now <= 5 || now > 15 ? 'outer' : 'inner' }),
    turns: [5, 15, 40, -3],
    window: WINDOW,
  });

  it('are the parts of the window in which the words follow', () => {
    expect(consistentSpans(claim('inner'), WINDOW)).toEqual([{ from: 6, to: 15 }]);
    expect(consistentSpans(claim('outer'), WINDOW)).toEqual([
      { from: 0, to: 5 },
      { from: 16, to: 20 },
    ]);
    expect(consistentSpans(claim('outer'), { from: 5, to: 5 })).toEqual([{ from: 5, to: 5 }]);
  });

  it('are none for a word of no instant', () => {
    expect(consistentSpans(claim('other'), WINDOW)).toEqual([]);
  });
});

describe('commonInstant()', () => {
  it('is an instant of as many sets as any other', () => {
    const span = fc.tuple(fc.nat(20), fc.nat(6)).map(([from, more]) => ({ from, to: from + more }));
    fc.assert(
      fc.property(fc.array(span), (spans) => {
        const covering = (at: number) => spans.filter(({ from, to }) => from <= at && at <= to);
        const best = Math.max(0, ...Array.from({ length: 27 }, (_, at) => covering(at).length));
        const { at, covered } = commonInstant(
          spans.map((one): TimeWindow[] => [one]),
          WINDOW,
        );
        expect(covered).toBe(best);
        expect(covering(at)).toHaveLength(best);
      }),
    );
  });

  it('takes spans that only touch, at one instant', () => {
    const sets = [[{ from: 0, to: 5 }], [{ from: 5, to: 9 }]];
    expect(commonInstant(sets, WINDOW)).toEqual({ at: 5, covered: 2 });
    expect(commonInstant([[{ from: 0, to: 4 }], [{ from: 5, to: 9 }]], WINDOW).covered).toBe(1);
  });
});

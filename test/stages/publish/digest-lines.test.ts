import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSameDigest,
  mergedLines,
  placeOf,
  sortedLines,
} from '../../../compiler/stages/publish/digest-lines.ts';

const byte = fc.constantFrom(0, 1, 255);
const line = fc
  .tuple(fc.array(byte, { minLength: 31, maxLength: 31 }), fc.nat(3))
  .map(([rest, number]) => Buffer.from([7, ...rest, 0, 0, 0, number]));
const some = fc.array(line, { maxLength: 30 });
const sorted = (lines: readonly Buffer[]): Buffer => Buffer.concat([...lines].sort(Buffer.compare));

describe('sortedLines()', () => {
  it('sorts by digest and number, also those that begin alike', () => {
    fc.assert(
      fc.property(some, (lines) => {
        expect(sortedLines(Buffer.concat(lines))).toEqual(sorted(lines));
      }),
    );
  });
});

describe('mergedLines()', () => {
  it('gives what sorting both gives', () => {
    fc.assert(
      fc.property(some, some, (lines, others) => {
        const known = new Set(lines.map((one) => one.toString('hex', 0, 32)));
        const fresh = others.filter((one) => !known.has(one.toString('hex', 0, 32)));
        const merged = mergedLines(sorted(lines), sorted(fresh));
        expect(merged).toEqual(sorted([...lines, ...fresh]));
      }),
    );
  });
});

describe('placeOf()', () => {
  it('finds each digest that is there, and the place of one that is not', () => {
    const one = (first: number): Buffer =>
      Buffer.concat([Buffer.alloc(32, first), Buffer.alloc(4)]);
    const lines = Buffer.concat([one(1), one(3)]);
    const find = (first: number) => {
      const at = placeOf(lines, one(first), { at: 0, from: 0 });
      return [at / 36, isSameDigest(lines, one(first), [at, 0])];
    };
    expect([0, 1, 2, 3, 4].map(find)).toEqual([
      [0, false],
      [0, true],
      [1, false],
      [1, true],
      [2, false],
    ]);
  });
});

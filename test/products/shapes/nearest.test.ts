import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namesOf, nearest, nearestIn } from '../../../compiler/products/shapes/nearest.ts';

const NEAREST_STEPS_MAX = 6000;
const CITIES = ['us-denver', 'us-chicago', 'us-newyork'];

describe('nearest()', () => {
  it.each([
    ['denver', 'us-denver'],
    ['US-DENVER', 'us-denver'],
    ['us-dnever', 'us-denver'],
    ['us-chicgo', 'us-chicago'],
  ])('finds what %s most likely means', (text, want) => {
    expect(nearest(text, CITIES)).toBe(want);
  });

  it.each([
    ['prot', 'port'],
    ['payto', 'pay-to'],
    ['por', 'port'],
    ['rulre', 'ruler'],
  ])('takes %s, a third of whose letters may be wrong, for %s', (text, want) => {
    expect(nearest(text, ['ruler', 'port', 'pay-to'])).toBe(want);
  });

  it.each([
    ['0', ['1']],
    ['100', ['1']],
    ['-1', ['1']],
    ['xml', ['json', 'csv']],
    ['prto', ['pear']],
    ['cvs', ['json', 'mcp']],
    ['abcdefghijkl', ['abcd1234ijkl']],
  ])('takes %s for none of %j', (text, options) => {
    expect(nearest(text, options)).toBeNull();
  });

  it.each(['', 'x', 'hormuz', 'y'.repeat(10_000)])('guesses nothing for %.20s', (text) => {
    expect(nearest(text, CITIES)).toBeNull();
  });
});

/** Letters to insert, remove or replace, and neighbours to swap, of every pair of starts. */
function distance(left: string, right: string): number {
  const rows: number[][] = [];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  const swapped = (i: number, j: number): number => {
    const isSwap = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
    return isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
  };
  for (let i = 0; i <= left.length; i += 1) {
    rows.push([]);
    for (let j = 0; j <= right.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const least = Math.min(replaced, at(i - 1, j) + 1, at(i, j - 1) + 1, swapped(i, j));
      rows[i]?.push(i + j === 0 ? 0 : least);
    }
  }
  return at(left.length, right.length);
}

describe('nearest() and its bounds', () => {
  it('finds what comparing every letter finds', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', 'c', 'd'),
      minLength: 1,
      maxLength: 14,
    });
    fc.assert(
      fc.property(word, fc.uniqueArray(word, { minLength: 1, maxLength: 12 }), (text, options) => {
        const score = (option: string): number => {
          const pieces = [text, option].sort((a, b) => a.length - b.length);
          const [short = '', long = ''] = pieces;
          if (text === option) return 0;
          return short.length >= 3 && long.includes(short) ? 1 : distance(text, option);
        };
        const bound = Math.min(3, Math.floor(text.length / 3)) + 1;
        const least = Math.min(...options.map(score));
        const found = nearest(text, options);
        expect(found === null ? bound : score(found)).toBe(Math.min(least, bound));
      }),
    );
  });

  it('I54: no text costs more than a bounded number of steps, over however many names', () => {
    const stem = 'abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrst';
    const names = Array.from({ length: 1000 }, (_, at) => `${stem}${1000 + at}`);
    const texts = [
      `x${stem.slice(1)}xy99`,
      stem.slice(0, 40),
      'aaa',
      'f'.repeat(64),
      `${stem}10 0`,
    ];
    for (const text of texts) {
      expect(nearestIn(text, namesOf(names)).steps).toBeLessThan(1.1 * NEAREST_STEPS_MAX);
    }
    // Names that are all alike are the worst case; of ordinary ones each is looked at.
    const ordinary = Array.from({ length: 1000 }, (_, at) => `us-place-${at}`);
    expect(nearest('us-plcae-999', ordinary)).toBe('us-place-999');
  });

  it('I54: looks at no more than the first names of a list that is very long', () => {
    const behind = (others: number) => [...Array(others).fill('zzzz-zzzz'), 'us-denver'];
    expect(nearest('us-dnever', behind(4999))).toBe('us-denver');
    expect(nearest('us-dnever', behind(5000))).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { firstWhere } from '../../compiler/contract/lists.ts';

describe('firstWhere()', () => {
  it('finds every place there is, and the length where there is none', () => {
    for (const length of [0, 1, 2, 7, 8]) {
      for (let wanted = 0; wanted <= length; wanted += 1) {
        expect(firstWhere(length, (at) => at >= wanted)).toBe(wanted);
      }
    }
  });

  it('I39: asks no more often than halving takes, and nothing outside', () => {
    const asked: number[] = [];
    firstWhere(1_000_000, (at) => {
      asked.push(at);
      return false;
    });
    expect(asked.length).toBeLessThanOrEqual(20);
    expect(Math.max(...asked)).toBeLessThan(1_000_000);
  });
});

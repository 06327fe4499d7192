import { describe, expect, it } from 'vitest';
import { LINES_HELD, portions } from '../../compiler/jobs/signal-change.ts';

const half = LINES_HELD / 2;

describe('portions()', () => {
  it('I34: takes entities together as long as all their lines are few enough', () => {
    const lines = new Map(Object.entries({ a: half, b: half, c: 1, d: half, e: half }));
    const made = [...portions([...lines.keys()], (entity) => lines.get(entity) ?? 0)];
    expect(made).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('takes an entity with too many lines alone, and no entity for nothing', () => {
    expect([...portions(['a', 'b'], () => LINES_HELD + 1)]).toEqual([['a'], ['b']]);
    expect([...portions([], () => 1)]).toEqual([]);
  });
});

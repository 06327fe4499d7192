import { describe, expect, it } from 'vitest';
import { formatAnchorState, parseAnchorState } from '../../compiler/format/anchor-state.ts';

const STATE = {
  root: 'ab'.repeat(32),
  ots_state: 'confirmed' as const,
  bitcoin_height: 900_000,
  bitcoin_block: null,
  stamped_at: '2026-11-20T12:00:00Z',
};

describe('parseAnchorState()', () => {
  it('is the inverse of formatAnchorState', () => {
    expect(parseAnchorState(formatAnchorState(STATE))).toEqual(STATE);
  });

  it('refuses a state that is none', () => {
    const bad = [
      { ...STATE, ots_state: 'unstamped' },
      { ...STATE, bitcoin_height: -1 },
      { ...STATE, bitcoin_block: 'x' },
      { ...STATE, stamped_at: 'yesterday' },
      { ...STATE, more: 1 },
    ];
    for (const one of bad) expect(() => parseAnchorState(JSON.stringify(one))).toThrow();
  });
});

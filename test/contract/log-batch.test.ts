import { describe, expect, it } from 'vitest';
import {
  formatAnchorState,
  formatLogBatch,
  logBatchesPath,
  parseAnchorState,
  parseLogBatches,
} from '../../compiler/contract/log-batch.ts';

const ROW = {
  batch: '2026-11-20T06Z',
  day: '2026-11-20',
  size_before: 3,
  size: 5,
  root: 'ab'.repeat(32),
  checkpoint: 'a/log\n5\n…\n',
};
const STATE = {
  root: 'ab'.repeat(32),
  ots_state: 'confirmed' as const,
  bitcoin_height: 900_000,
  bitcoin_block: null,
  stamped_at: '2026-11-20T12:00:00Z',
};

describe('parseLogBatches()', () => {
  it('is the inverse of formatLogBatch, row by row', () => {
    const rows = [ROW, { ...ROW, batch: '2026-11-20', size_before: 5, size: 9 }];
    expect(parseLogBatches(rows.map(formatLogBatch).join(''))).toEqual(rows);
    expect(parseLogBatches('')).toEqual([]);
  });

  it('refuses another spelling, a member too many, one too few, and one that is none', () => {
    const text = formatLogBatch(ROW);
    const bad = [
      text.trimEnd(),
      text.replace('{', '{ '),
      text.replace('}', ',"more":1}'),
      text.replace('"size_before":3,', ''),
      text.replace(':5,', ':5.5,'),
      text.replace(':5,', ':0,'),
      text.replace('abab', 'ABab'),
      text.replace('T06Z', 'T6'),
      `${text}{}\n`,
    ];
    for (const one of bad) expect(() => parseLogBatches(one)).toThrow();
  });
});

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

describe('log paths', () => {
  it('stand below log/', () => {
    expect(logBatchesPath(12)).toBe('log/batches/000012.txt');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  factsText,
  hashCountText,
  hashLineText,
  isWithin,
  leadOf,
  parseHashCount,
  parseHashLine,
  runPath,
  runPaths,
  runsOf,
  shardOfLead,
} from '../../compiler/format/hash-index.ts';

const RUN_UNIT = 1024;
const HASHES_MAX = 2 ** 32 - 1;

const sizes = fc.integer({ min: 0, max: 30_000 * RUN_UNIT });
const HEX = 'ab'.repeat(32);

describe('runsOf()', () => {
  it.each([
    [0, []],
    [1, ['0-1 in 1']],
    [1023, ['0-1023 in 1']],
    [1024, ['0-1024 in 1']],
    [4096, ['0-4096 in 4']],
    [
      7 * 1024 + 5,
      ['0-4096 in 4', '4096-1024 in 1', '5120-1024 in 1', '6144-1024 in 1', '7168-5 in 1'],
    ],
    [4096 * 1024 * 2 + 1, ['0-4194304 in 4096', '4194304-4194304 in 4096', '8388608-1 in 1']],
  ])('%i hashes', (size, want) => {
    const runs = runsOf(size).map(({ start, count, shards }) => `${start}-${count} in ${shards}`);
    expect(runs).toEqual(want);
  });

  it('covers every hash once, with few runs', () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const runs = runsOf(size);
        let end = 0;
        for (const { start, count, shards } of runs) {
          expect(start).toBe(end);
          expect(count === RUN_UNIT * shards || (shards === 1 && count < RUN_UNIT)).toBe(true);
          end += count;
        }
        expect(end).toBe(size);
        expect(runs.length).toBeLessThanOrEqual(7 + 18 + 1);
      }),
    );
  });

  it('grows by merging: a run of a smaller index is within one run of the larger', () => {
    fc.assert(
      fc.property(sizes, sizes, (one, other) => {
        const [short, long] = [Math.min(one, other), Math.max(one, other)];
        for (const run of runsOf(short)) {
          expect(runsOf(long).filter((outer) => isWithin(run, outer))).toHaveLength(1);
        }
      }),
    );
  });

  it.each([HASHES_MAX + 1, Number.POSITIVE_INFINITY, Number.NaN])('refuses %d', (size) => {
    expect(() => runsOf(size)).toThrow(RangeError);
    expect(runsOf(HASHES_MAX).length).toBeLessThan(1100);
  });
});

describe('runPath()', () => {
  it('numbers the files of a run in hex of one width, in the order of the hashes', () => {
    const [large, small] = runsOf(64 * 1024 + 1);
    if (large === undefined || small === undefined) throw new Error('no runs');
    expect(runPath(large, shardOfLead(large, leadOf(HEX)))).toBe('index/hashes/0-65536/2a.txt');
    expect(runPaths(small)).toEqual(['index/hashes/65536-1/0.txt']);
    expect(runPaths(large)).toHaveLength(64);
    expect(runPaths(large)).toEqual([...runPaths(large)].sort());
  });
});

describe('hashLineText(), parseHashLine()', () => {
  const facts = fc.record({
    kind: fc.constantFrom('reading' as const, 'row' as const),
    signal_id: fc.option(fc.string()),
    entity: fc.string({ unit: 'binary' }),
    observed_at: fc.string(),
  });

  it('undo each other for any text', () => {
    fc.assert(
      fc.property(facts, fc.integer({ min: 1 }), fc.nat(), (value, sequence, index) => {
        const text = hashLineText(HEX, { sequence, index }, factsText(value));
        expect(text.indexOf('\n')).toBe(text.length - 1);
        const line = { record_hash: `sha256:${HEX}`, sequence, index, ...value };
        expect(parseHashLine(text.slice(0, -1))).toEqual(line);
      }),
    );
  });

  it.each([
    '',
    '[]',
    `["sha256:${HEX}",1,0]`,
    `["sha256:${HEX}",0,0,"row",null,"a","b"]`,
    `["sha256:${HEX}",1,-1,"row",null,"a","b"]`,
    `["sha256:${HEX}",1,0,"citation",null,"a","b"]`,
    `["sha256:${HEX}",1,0,"reading",null,null,null]`,
    `["sha256:${HEX}",1,0,null,null,null,null]`,
    `["${HEX}",1,0,"row",null,"a","b"]`,
  ])('refuse %j', (text) => {
    expect(() => parseHashLine(text)).toThrow();
  });
});

describe('hashCountText(), parseHashCount()', () => {
  it('undo each other, and refuse any other spelling', () => {
    for (const total of [0, 7, HASHES_MAX])
      expect(parseHashCount(hashCountText(total))).toBe(total);
    for (const text of ['', '7', '07\n', '-1\n', '1.5\n', ' 7\n', '7\n\n', `${HASHES_MAX + 1}\n`]) {
      expect(() => parseHashCount(text)).toThrow(RangeError);
    }
  });
});

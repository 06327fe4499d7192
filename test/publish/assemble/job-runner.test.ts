import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type DueSignal,
  jobFailure,
  joinShares,
  signalShares,
  thrownFailure,
  wholeSignals,
} from '../../../compiler/publish/assemble/job-runner.ts';
import type { JobResult } from '../../../compiler/publish/assemble/signal-job.ts';
import { FILE_FAULTS_MAX, takes } from '../../../compiler/readings/read-signal.ts';
import { ForgottenError } from '../../../compiler/system/compile-error.ts';
import { errorText } from '../../../compiler/system/error-text.ts';
import { builtinEntry } from '../../builtin-rows.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

const SHARED_BYTES_MAX = 100_000_000;
const SHARE_BYTES_MIN = 1_000_000;
const PLAIN = ['crypto.spot', 'macro.unemployment', 'shipping.throughput'] as const;
const dueSignal = (signal_id: string, bytes: number): DueSignal => {
  return { signal_id, entry: builtinEntry(signal_id), bytes, files: [] };
};
const signals = (...sizes: number[]): DueSignal[] =>
  sizes.map((bytes, at) => dueSignal(PLAIN[at] ?? PLAIN[0], bytes));
const counts = (bytes: readonly number[], workers: number) =>
  signalShares(signals(...bytes), workers).map(({ signal, share }) => {
    return `${signal.signal_id} ${share.index + 1}/${share.of}`;
  });

describe('signalShares()', () => {
  const LARGE = 8 * SHARE_BYTES_MIN;

  it('gives a signal that would keep the others waiting to several workers', () => {
    expect(counts([LARGE], 2)).toEqual(['crypto.spot 1/2', 'crypto.spot 2/2']);
    expect(counts([LARGE], 4)).toHaveLength(4);
    expect(counts([LARGE, 100], 2)).toEqual([
      'crypto.spot 1/2',
      'crypto.spot 2/2',
      'macro.unemployment 1/1',
    ]);
  });

  it('leaves signals whole that keep all workers busy, and what one worker does', () => {
    expect(counts([LARGE, LARGE], 2)).toEqual(['crypto.spot 1/1', 'macro.unemployment 1/1']);
    for (const workers of [0, 1]) expect(counts([LARGE], workers)).toEqual(['crypto.spot 1/1']);
  });

  it('divides the last job where one worker would do it alone, and leaves it whole where that saves little', () => {
    const third = 'shipping.throughput';
    expect(counts([LARGE, LARGE, LARGE], 2).slice(2)).toEqual([`${third} 1/2`, `${third} 2/2`]);
    expect(counts([LARGE, LARGE, LARGE], 3)).toHaveLength(3);
    expect(counts([LARGE, LARGE, SHARE_BYTES_MIN], 2)).toHaveLength(3);
    expect(counts([LARGE, LARGE - 3 * SHARE_BYTES_MIN, 3 * SHARE_BYTES_MIN], 2)).toHaveLength(3);
  });

  it('makes no share smaller than its least, and none of a signal beyond the largest', () => {
    expect(counts([2 * SHARE_BYTES_MIN - 1], 2)).toHaveLength(1);
    expect(counts([2 * SHARE_BYTES_MIN], 2)).toHaveLength(2);
    expect(counts([2 * SHARE_BYTES_MIN], 8)).toHaveLength(2);
    expect(counts([SHARED_BYTES_MAX], 2)).toHaveLength(2);
    expect(counts([SHARED_BYTES_MAX + 1], 2)).toHaveLength(1);
  });

  it('has a job for every signal, also where all files are empty', () => {
    expect(counts([0, 0], 2)).toEqual(['crypto.spot 1/1', 'macro.unemployment 1/1']);
  });

  it('starts with the most work, whole or shared', () => {
    const sizes = [SHARE_BYTES_MIN, 100, 9 * SHARE_BYTES_MIN];
    const first = 'shipping.throughput';
    expect(counts(sizes, 2).map((text) => text.split(' ')[0])).toEqual([
      first,
      first,
      'crypto.spot',
      'macro.unemployment',
    ]);
    const whole = wholeSignals(signals(...sizes)).map(({ signal }) => signal.signal_id);
    expect(whole).toEqual([first, 'crypto.spot', 'macro.unemployment']);
  });
});

describe('takes()', () => {
  it('gives every entity to one share, about as many to each, and what has none to the first', () => {
    for (const of of [1, 2, 3, 8]) {
      const shares = Array.from({ length: of }, (_, index) => ({ index, of }));
      const taken = Array.from({ length: 4000 }, (_, at) => {
        return shares.filter((share) => takes(share, String(10_000_000 + at)));
      });
      expect(taken.every(({ length }) => length === 1)).toBe(true);
      for (const { index } of shares) {
        const own = taken.filter(([share]) => share?.index === index).length;
        expect(own).toBeGreaterThan((4000 / of) * 0.8);
        expect(own).toBeLessThan((4000 / of) * 1.2 + 1);
      }
      expect(shares.filter((share) => takes(share, null))).toEqual([{ index: 0, of }]);
    }
  });
});

describe('joinShares()', () => {
  const FILE = '2026-11-20/crypto.spot.ndjson';
  const result = (more: Partial<JobResult>): JobResult => ({
    signal_id: 'crypto.spot',
    readings: 1,
    entities: 2,
    revisions: 3,
    repeats: 4,
    rejects: { count: 0, digests: {} },
    faults: [],
    digests: { [FILE]: 'ab' },
    ...more,
  });
  const fault = (line: number, file = FILE) =>
    ({ code: 'bad_line', file, line, message: `line ${line}` }) as const;

  it('adds up what the shares counted', () => {
    const joined = joinShares([result({}), result({ readings: 10, repeats: 40 })]);
    expect(joined).toEqual(result({ readings: 11, entities: 4, revisions: 6, repeats: 44 }));
    expect(joinShares([result({})])).toEqual(result({}));
  });

  it('tells the problems that one job would, in their order', () => {
    const odd = Array.from({ length: FILE_FAULTS_MAX }, (_, at) => fault(2 * at + 1));
    const even = Array.from({ length: FILE_FAULTS_MAX }, (_, at) => fault(2 * at + 2));
    const other = fault(7, '2026-11-21/crypto.spot.ndjson');
    const { faults } = joinShares([result({ faults: odd }), result({ faults: [...even, other] })]);
    const lines = faults.filter(({ file }) => file === FILE).map(({ line }) => line);
    expect(lines).toEqual(Array.from({ length: FILE_FAULTS_MAX }, (_, at) => at + 1));
    expect(faults.at(-1)).toEqual(other);
  });

  it('tells once what every share saw, and all that they saw apart', () => {
    const header = { ...fault(1), field: 'header.source_tier' };
    const faults = [header, { ...fault(1), field: 'header.grade' }, fault(3)];
    const joined = joinShares([
      result({ faults: [header, fault(3)] }),
      result({ faults: faults.slice(0, 2) }),
    ]);
    expect(joined.faults).toEqual(faults);
  });

  it('refuses a file that was not the same for all of them', () => {
    const changed = ['cd', 'ef'].map((digest) => result({ digests: { [FILE]: digest } }));
    const message = expect.stringMatching(/changed while/);
    for (const others of [changed.slice(1), changed]) {
      const { faults } = joinShares([result({}), ...others]);
      expect(faults).toEqual([{ code: 'cannot_publish', file: FILE, message }]);
    }
    expect(joinShares([result({}), result({}), result({})]).faults).toEqual([]);
  });
});

describe('a failure between two threads', () => {
  afterAll(removeFolders);

  /** An error as it comes out of another thread. */
  const carried = (error: unknown): Error => thrownFailure(structuredClone(jobFailure(error)));

  it('keeps what the operating system said, so that it is told in the same words', () => {
    const path = join(makeFolder(), 'none', 'x');
    let thrown: unknown;
    try {
      mkdirSync(path);
    } catch (error) {
      thrown = error;
    }
    expect(existsSync(path)).toBe(false);
    expect(errorText(carried(thrown))).toBe(errorText(thrown));
    expect(errorText(carried(thrown))).toContain(`Cannot make folder "${path}"`);
  });

  it('keeps a doubt about what is remembered, and makes none of another error', () => {
    expect(carried(new ForgottenError('cut off'))).toBeInstanceOf(ForgottenError);
    expect(carried(new RangeError('cut off'))).not.toBeInstanceOf(ForgottenError);
    expect(carried(new RangeError('cut off')).message).toBe('cut off');
    expect(carried('text').message).toBe('text');
  });
});

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { errorText } from '../../compiler/commands/error-text.ts';
import { jobFailure, thrownFailure } from '../../compiler/jobs/job-runner.ts';
import { ForgottenError } from '../../compiler/stages/remember/forgotten-error.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

/** An error as it comes out of another thread. */
const carried = (error: unknown): Error => thrownFailure(structuredClone(jobFailure(error)));

describe('a failure between two threads', () => {
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

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/** The hour at which the sample of the tests ends; compile it as of then. */
export const SAMPLE_HOUR = '2026-11-20T12:00:00Z';

interface SampleOptions {
  /** The hour at which it ends. */
  readonly hour?: string;
  /** With the line that needs a data key. */
  readonly isKeyed?: boolean;
}

/** Generates the sample in a folder as `npm run sample` does; needs a build. */
export function makeSample(
  folder: string,
  { hour = SAMPLE_HOUR, isKeyed = false }: SampleOptions = {},
): void {
  const told = execFileSync(process.execPath, [resolve('scripts/build-stamp.js'), 'problem']);
  // An old build would generate the sample of yesterday.
  if (told.length > 0) throw new Error(`Cannot make the sample: ${told}`);
  const env = { PATH: process.env.PATH, SIGNALPRESS_SAMPLE_GRID: isKeyed ? '1' : '0' };
  execFileSync(process.execPath, [resolve('build/scripts/make-sample.js'), folder, hour], { env });
}

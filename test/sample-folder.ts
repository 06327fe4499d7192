import { makeSample, SAMPLE_HOUR } from './make-sample.ts';
import { sharedFolder } from './shared-folder.ts';

// The one way of the tests to the sample that `npm run sample` and `npm start` generate.

export { SAMPLE_HOUR };

const HOUR_MS = 3_600_000;

/** The folder of the whole sample at SAMPLE_HOUR, to be read only. */
export function sampleFolder(): Promise<string> {
  return sharedFolder('sample', (own) => makeSample(own));
}

/** Writes the sample with the line that needs a data key. */
export function writeKeyedSample(snapshots: string): void {
  makeSample(snapshots, { isKeyed: true });
}

/** Writes the sample up to this hour; says at which instant to compile it. */
export function writeFreshSample(snapshots: string): string {
  const nowMs = Math.max(Date.now(), Date.parse(SAMPLE_HOUR));
  const isoOf = (ms: number, stepMs: number): string =>
    new Date(Math.floor(ms / stepMs) * stepMs).toISOString().replace('.000Z', 'Z');
  makeSample(snapshots, { hour: isoOf(nowMs, HOUR_MS) });
  return isoOf(nowMs, 1000);
}

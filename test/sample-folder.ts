import { sampleFiles } from '../scripts/sample/sample-files.ts';
import { SAMPLE_AS_OF, sampleClock, sampleHour } from '../scripts/sample/sample-times.ts';
import { writeSample } from '../scripts/sample/write-sample.ts';
import { sharedFolder } from './shared-folder.ts';

// The one way of the tests to the sample that `npm run sample` and `npm start` generate.

/** The hour at which the sample of the tests ends; compile it as of then. */
export const SAMPLE_HOUR = SAMPLE_AS_OF;

/** The folder of the whole sample at SAMPLE_HOUR, to be read only. */
export function sampleFolder(): Promise<string> {
  return sharedFolder('sample', (own) => {
    writeSample(own, sampleFiles({ hour: SAMPLE_HOUR }));
  });
}

/** Writes the sample with the line that needs a data key. */
export function writeKeyedSample(snapshots: string): void {
  writeSample(snapshots, sampleFiles({ hour: SAMPLE_HOUR, isKeyed: true }));
}

/** Writes the sample up to this hour; says at which instant to compile it. */
export function writeFreshSample(snapshots: string): string {
  const asOf = sampleClock(new Date());
  writeSample(snapshots, sampleFiles({ hour: sampleHour(asOf) }));
  return asOf;
}

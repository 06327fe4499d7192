import { sampleFiles } from '../scripts/sample/sample-files.ts';
import { SAMPLE_AS_OF } from '../scripts/sample/sample-times.ts';
import { writeSample } from '../scripts/sample/write-sample.ts';
import { sharedFolder } from './shared-folder.ts';

/** The folder of the whole sample at SAMPLE_AS_OF, to be read only. */
export function sampleFolder(): Promise<string> {
  return sharedFolder('sample', (own) => {
    writeSample(own, sampleFiles({ hour: SAMPLE_AS_OF }));
  });
}

import { messageOf } from '../gatekeeper/system/message-of.ts';
import { excerptOf, sampleFiles } from './sample/sample-files.ts';
import { SAMPLE_AS_OF } from './sample/sample-times.ts';
import { writeSample } from './sample/write-sample.ts';

// `npm run sample` writes the excerpt of `snapshots/` again; `npm run sample FOLDER` writes the whole sample.

const [folder = 'snapshots'] = process.argv.slice(2);
try {
  const whole = sampleFiles({ hour: SAMPLE_AS_OF });
  const files = folder === 'snapshots' ? excerptOf(whole) : whole;
  const bytes = writeSample(folder, files);
  console.log(`Wrote ${files.size} sample files, ${bytes} bytes, into ${folder}`);
  console.log(`Compile them with --as-of ${SAMPLE_AS_OF}`);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}

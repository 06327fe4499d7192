import { messageOf } from '../compiler/format/errors.ts';
import { excerptOf, sampleFiles } from './sample/sample-files.ts';
import { SAMPLE_AS_OF } from './sample/sample-times.ts';
import { writeSample } from './sample/write-sample.ts';

// `npm run sample` writes the excerpt of `snapshots/` again; `npm run sample FOLDER` writes the whole sample, up to another
// hour where one is named, and with SIGNALPRESS_SAMPLE_GRID=1 the line that needs a data key.

const [folder = 'snapshots', hour = SAMPLE_AS_OF] = process.argv.slice(2);
try {
  const isExcerpt = folder === 'snapshots';
  const isKeyed = !isExcerpt && process.env.SIGNALPRESS_SAMPLE_GRID === '1';
  const whole = sampleFiles({ hour, isKeyed });
  const files = isExcerpt ? excerptOf(whole) : whole;
  const bytes = writeSample(folder, files);
  console.log(`Wrote ${files.size} sample files, ${bytes} bytes, into ${folder}`);
  console.log(`Compile them with --as-of ${hour}`);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}

import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleFiles } from '../scripts/sample/sample-files.ts';
import { SAMPLE_AS_OF } from '../scripts/sample/sample-times.ts';
import { writeSample } from '../scripts/sample/write-sample.ts';

/**
 * The folder of the whole sample at SAMPLE_AS_OF, to be read only. It is generated once for all test files of a run: the
 * first one to need it moves it into its place in one step, and one that comes second gives way.
 */
export function sampleFolder(): string {
  const folder = join(tmpdir(), 'signalpress-sample');
  if (existsSync(folder)) return folder;
  const own = mkdtempSync(join(tmpdir(), 'signalpress-generated-'));
  writeSample(own, sampleFiles({ hour: SAMPLE_AS_OF }));
  try {
    renameSync(own, folder);
  } catch (cause) {
    if (!existsSync(folder)) throw cause;
    rmSync(own, { recursive: true });
  }
  return folder;
}

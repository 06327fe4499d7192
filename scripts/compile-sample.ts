import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { compile } from '../compiler/compile.ts';
import { sampleFiles } from './sample/sample-files.ts';
import { SAMPLE_AS_OF } from './sample/sample-times.ts';
import { writeSample } from './sample/write-sample.ts';

/** Generates the sample in `snapshots` of a folder and compiles it into `data`, for what is measured over it. */
export async function compileSample(folder: string): Promise<void> {
  const snapshots = join(folder, 'snapshots');
  writeSample(snapshots, sampleFiles({ hour: SAMPLE_AS_OF }));
  await compile({
    snapshots,
    data: join(folder, 'data'),
    asOf: SAMPLE_AS_OF,
    issuerName: 'bench',
    baseUrl: 'http://127.0.0.1:4021',
    seed: randomBytes(32),
    workers: 2,
  });
}

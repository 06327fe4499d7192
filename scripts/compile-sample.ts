import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { compile } from '../compiler/compile.ts';
import { SAMPLE_AS_OF } from './sample/sample-times.ts';

/** Compiles the sample into `data` of a folder, for what is measured over it. */
export async function compileSample(folder: string): Promise<void> {
  await compile({
    snapshots: 'snapshots',
    data: join(folder, 'data'),
    asOf: SAMPLE_AS_OF,
    issuerName: 'bench',
    baseUrl: 'http://127.0.0.1:4021',
    seed: randomBytes(32),
    workers: 2,
  });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFolder, fileOf, ndjson, reading, writeSnapshots } from '../snapshot-folder.ts';

/** Free samples of two releases that say another thing of one reading, as delivered. */
export async function sampleBodies(): Promise<[string, string]> {
  const of = async (aqi: number): Promise<string> => {
    const rows = ndjson([reading('us-denver', { aqi_index: aqi })]);
    const { data } = await compileFolder(
      writeSnapshots({ '2026-11-20/airquality.aqi.ndjson': rows }),
    );
    return readFileSync(fileOf(join(data, 'current'), 'free/sample/airquality.aqi.json'), 'utf8');
  };
  return [await of(62), await of(63)];
}

import { afterAll, describe, expect, it } from 'vitest';
import { filePath } from '../../../compiler/products/shapes/path.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import {
  compileFolder,
  ndjson,
  readJson,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const row = (current: object, entity_name: string | undefined) => ({
  entity: 'us-denver',
  observed_at: '2026-11-20T10:00:00Z',
  collected_at: '2026-11-20T11:00:00Z',
  current,
  sources: [{ name: 'test source', weight: 1, independent: true }],
  source_ref: null,
  source_tier: null,
  ...(entity_name === undefined ? {} : { entity_name }),
});

/** Names of the city in its bundle and in its add-on; `names` are those of the index, of the particles and of the river gauge. */
async function namesOf(...names: readonly (string | undefined)[]): Promise<unknown[]> {
  const [aqi, pm25, river] = names;
  const gauge = { ...row({ stage_ft: 3 }, river), entity: '06714000' };
  const files: SnapshotFiles = {
    '2026-11-20/airquality.aqi.ndjson': ndjson([row({ aqi_index: 30 }, aqi)]),
    '2026-11-20/airquality.pm25.ndjson': ndjson([row({ pm25_ugm3: 4 }, pm25)]),
    '2026-11-20/hydrology.river-level.ndjson': ndjson([gauge]),
  };
  const { folder } = await compileFolder(writeSnapshots(files));
  const paths = ['bundle/environment/us-denver.json', 'air/us-denver.json'];
  return paths.map((path) => readJson(folder, path).name);
}

describe('nameAmong()', () => {
  it('names a joined body after the first leg that names its subject', async () => {
    expect(await namesOf('Denver', 'City of Denver', 'South Platte')).toEqual(['Denver', 'Denver']);
  });

  it('never takes the name of another subject, but that of the tables', async () => {
    for (const river of [undefined, 'South Platte']) {
      expect(await namesOf(undefined, undefined, river)).toEqual(['Denver, CO', 'Denver, CO']);
    }
  });

  it('names nobody whom neither a source nor the tables name', async () => {
    const filer = { ...row({ nt_24mo_count: 0 }, undefined), entity: 'EXMPL' };
    const files = { '2026-11-20/filing.delinquency.ndjson': ndjson([filer]) };
    const { folder } = await compileFolder(writeSnapshots(files));
    const path = filePath(builtinOperation('/gauge/filing-company'), { entity: 'EXMPL' }) ?? '';
    expect(readJson(folder, path).name).toBeNull();
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  SEARCH_DOCUMENTS_PATH,
  SEARCH_TERMS_PATH,
} from '../../../../compiler/catalog/search-index.ts';
import {
  compileFolder,
  fileOf,
  filesBelow,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';

/** The index of the search in a release that follows another one. */
afterAll(removeFolders);

const INDEX = [SEARCH_DOCUMENTS_PATH, SEARCH_TERMS_PATH];
const FIRST = {
  '2026-11-20T11Z/airquality.aqi.ndjson': ndjson([reading('us-denver', { aqi_index: 40 })]),
};

/** A later reading of one entity, with a compile an hour after the first. */
const later = (entity: string) => ({
  '2026-11-20T12Z/airquality.aqi.ndjson': ndjson([
    reading(
      entity,
      { aqi_index: 50 },
      { observed_at: '2026-11-20T11:30:00Z', collected_at: '2026-11-20T12:00:00Z' },
    ),
  ]),
});
const NEXT_HOUR = '2026-11-20T13:00:00Z';

/** Where the files of the index stand, which follows from their bytes, and what they say. */
function indexOf(data: string) {
  const current = join(data, 'current');
  const files = filesBelow(current);
  return INDEX.map((path) => ({ path: fileOf(current, path), text: files.get(path) }));
}

async function firstRelease() {
  const snapshots = writeSnapshots(FIRST);
  const { data } = await compileFolder(snapshots);
  return { snapshots, data, index: indexOf(data) };
}

describe('the index of the search, an hour later', () => {
  it('stays by name and by bytes where no name came', async () => {
    const { snapshots, data, index } = await firstRelease();
    await compileFolder(writeSnapshots(later('us-denver'), snapshots), { data, asOf: NEXT_HOUR });
    expect(indexOf(data)).toEqual(index);
    expect(index.map(({ text }) => text?.includes('denver'))).toEqual([true, true]);
  });

  it('is another one where a name came, and the same as that of a compile from nothing', async () => {
    const { snapshots, data, index } = await firstRelease();
    const both = writeSnapshots(later('us-houston'), snapshots);
    await compileFolder(both, { data, asOf: NEXT_HOUR });
    const now = indexOf(data).map(({ text }) => text);
    expect(now).not.toEqual(index.map(({ text }) => text));
    const whole = await compileFolder(both, { asOf: NEXT_HOUR });
    expect(now).toEqual(indexOf(whole.data).map(({ text }) => text));
  });

  it.each(INDEX)('a damaged %s is not kept: the fault says how it is made anew', async (path) => {
    const { snapshots, data, index } = await firstRelease();
    writeFileSync(fileOf(join(data, 'current'), path), 'damaged\n');
    writeSnapshots(later('us-denver'), snapshots);
    const next = { data, asOf: NEXT_HOUR };
    const fault = `Cannot read "${path}": its bytes are not the listed ones; compile with --full`;
    await expect(compileFolder(snapshots, next)).rejects.toThrow(fault);
    await compileFolder(snapshots, { ...next, full: true });
    expect(indexOf(data)).toEqual(index);
  });
});

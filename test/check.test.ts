import { readdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { check, checkText } from '../compiler/cli/check.ts';
import { CompileError } from '../compiler/system/compile-error.ts';
import {
  AS_OF,
  compileFaults,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from './snapshot-folder.ts';
import { TIDE_FILE } from './tide-catalog.ts';

afterAll(removeFolders);

const CATALOG = { 'catalog/tides.json': JSON.stringify(TIDE_FILE) };
const LEVELS = ndjson([
  reading('PIER-ONE', { level_m: 1.2 }),
  reading('QUAY-TWO', { level_m: 0.4 }),
]);
const GOOD = { ...CATALOG, '2026-11-20/tides.level.ndjson': LEVELS };

const checkFiles = (files: SnapshotFiles, scratch = makeFolder()) =>
  check({ snapshots: writeSnapshots(files), data: null, asOf: AS_OF, scratch });

async function faultsOf(files: SnapshotFiles) {
  const error = await checkFiles(files).catch((thrown: unknown) => thrown);
  if (error instanceof CompileError) return error.faults;
  throw error;
}

describe('check()', () => {
  it('counts what is right, and writes nothing', async () => {
    const scratch = makeFolder();
    const found = await checkFiles(GOOD, scratch);
    expect(found).toEqual({ lines: 1, signals: 2, batches: 1, readings: 2, rows: 0 });
    expect(readdirSync(scratch)).toEqual([]);
    expect(checkText(found)).toBe(
      'no problems. catalogue: lines 1, signals 2; snapshots: batches 1, readings 2, rows 0',
    );
  });

  it('names all entities of a short list, and where those of a long one are', async () => {
    const waves = '2026-11-20/tides.waves.ndjson';
    const faultWith = async (entities: readonly string[]) => {
      const lines = TIDE_FILE.lines?.map((line) => ({ ...line, entities }));
      const file = JSON.stringify({ ...TIDE_FILE, lines });
      const stored = { [waves]: ndjson([reading('ELSEWHERE', { height_m: 1 })]) };
      const [fault] = await faultsOf({ 'catalog/tides.json': file, ...stored });
      return fault?.message;
    };
    expect(await faultWith(['PIER-ONE', 'QUAY-TWO'])).toBe(
      '"ELSEWHERE" is not one of PIER-ONE, QUAY-TWO; correct it, or add it to "entities" of the line',
    );
    expect(await faultWith(['A1', 'B2', 'C3', 'D4', 'E5', 'F6', 'G7'])).toBe(
      '"ELSEWHERE" is not one of A1, B2, C3, D4, E5, F6, …; "signalpress lines tides.waves" lists them',
    );
  });

  it.each<[string, SnapshotFiles]>([
    [
      'an entity that the catalogue lacks',
      { ...GOOD, '2026-11-20/tides.waves.ndjson': ndjson([reading('PIER', { height_m: 1 })]) },
    ],
    [
      'a member that nobody knows',
      {
        ...GOOD,
        '2026-11-20/tides.waves.ndjson': ndjson([reading('PIER-ONE', { height_m: 1 }, { foo: 1 })]),
      },
    ],
    [
      'two readings of one time',
      { ...GOOD, '2026-11-19/tides.level.ndjson': ndjson([reading('PIER-ONE', { level_m: 9 })]) },
    ],
    ['a batch of the future', { ...GOOD, '2027-11-20/tides.level.ndjson': '' }],
    ['a row of a collection', { ...GOOD, '2026-11-20/stable.coin.ndjson': '{}\n' }],
    ['a signal of another catalogue', { ...GOOD, '2026-11-20/crypto.spot.ndjson': '' }],
    ['a broken catalogue', { 'catalog/tides.json': '{}' }],
    ['no readings', CATALOG],
  ])('says of %s what a compile says', async (_, files) => {
    const faults = await faultsOf(files);
    expect(faults).not.toEqual([]);
    const strip = (rows: readonly object[]) => rows.map((row) => ({ ...row, file: '' }));
    expect(strip(faults)).toEqual(strip(await compileFaults(files)));
  });
});

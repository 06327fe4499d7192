import { readdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { check, checkText } from '../compiler/cli/check.ts';
import { CompileError, faultText } from '../compiler/system/compile-error.ts';
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
import { TIDE_FILE } from './tide-shop.ts';

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

const FAULTS_SHOWN_MAX = 50;

const fault = { code: 'bad_line', file: 'a.ndjson', message: 'is bad' } as const;

describe('CompileError', () => {
  it('says that nothing was published, and where to look', () => {
    const error = new CompileError([{ ...fault, line: 3, field: 'current.x' }]);
    expect(error.message).toBe(
      'Cannot compile: 1 problem, nothing was published\n  a.ndjson:3 current.x: is bad',
    );
  });

  it('counts what it does not spell out', () => {
    const { message, faults } = new CompileError(Array(FAULTS_SHOWN_MAX + 7).fill(fault));
    expect(faults).toHaveLength(FAULTS_SHOWN_MAX + 7);
    expect(message).toContain('57 problems');
    expect(message).toMatch(/\n {2}… and 7 more in a\.ndjson$/);
    expect(message.split('\n')).toHaveLength(FAULTS_SHOWN_MAX + 2);
  });
});

describe('CompileError of many files', () => {
  const many = (file: string, count: number) => Array(count).fill({ ...fault, file });

  it('names every file, however much is wrong in the first', () => {
    const { message } = new CompileError([...many('a', 200), ...many('b', 1), ...many('c', 30)]);
    expect(message).toContain('231 problems');
    for (const line of ['… and 184 more in a', 'b is bad', '… and 14 more in c']) {
      expect(message).toContain(`\n  ${line}`);
    }
    expect(message).not.toContain('more in b');
  });

  it('says how many files are left when they are too many', () => {
    const all = Array.from({ length: FAULTS_SHOWN_MAX + 3 }, (_, at) => many(`file ${at}`, 2));
    const { message } = new CompileError(all.flat());
    expect(message).toMatch(/\n {2}… and in 3 more files$/);
    expect(message).toContain('\n  … and 1 more in file 49');
  });
});

describe('problemText()', () => {
  it('leaves out what a problem does not have', () => {
    expect(faultText(fault)).toBe('a.ndjson is bad');
  });
});

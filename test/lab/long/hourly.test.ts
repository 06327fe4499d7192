import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import {
  HASH_COUNT_PATH,
  HASH_INDEX_FOLDER,
  parseHashLine,
} from '../../../compiler/format/hash-index.ts';
import { FILES_NAME, parseFiles } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { SERIES_TAIL } from '../../../compiler/products/shapes/series.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../../snapshot-folder.ts';

const OPEN_BATCHES = 168;

afterAll(removeFolders);

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 1);
/** So many that the bytes of readings count beside what each release writes. */
const ENTITIES = 8;
const FEW = 2;
const timeOf = (hour: number) => new Date(START + hour * HOUR_MS).toISOString();
const batchOf = (hour: number) => `${timeOf(hour).slice(0, 13)}Z`;

/** An hour in which every entity of two signals has one new reading. */
function hourOf(hour: number, entities: number): SnapshotFiles {
  const rows = (metric: string) =>
    Array.from({ length: entities }, (_, entity) =>
      reading(
        `e${entity}`,
        { [metric]: ((entity * 7 + hour * 13) % 400) / 10 },
        { observed_at: timeOf(hour - 1), collected_at: timeOf(hour + 0.25) },
      ),
    );
  return {
    [`${batchOf(hour)}/crypto.spot.ndjson`]: ndjson(rows('price_usd')),
    [`${batchOf(hour)}/hydrology.river-level.ndjson`]: ndjson(rows('stage_ft')),
  };
}

const hours = (from: number, to: number, entities = FEW): SnapshotFiles =>
  Object.assign({}, ...Array.from({ length: to - from }, (_, at) => hourOf(from + at, entities)));
const asOf = (hour: number) => timeOf(hour + 0.5);

const sum = (sizes: readonly { readonly size: number }[]) =>
  sizes.reduce((total, { size }) => total + size, 0);

/** What the index of a log says of readings, in the order of the log. */
function readingsOf(data: string): readonly object[] {
  const listed = parseFiles(readFileSync(join(data, 'current', FILES_NAME), 'utf8'));
  return listed
    .filter(({ path }) => path.startsWith(`${HASH_INDEX_FOLDER}/`) && path !== HASH_COUNT_PATH)
    .flatMap(({ path, sha256 }) => {
      const text = readFileSync(join(data, storedPath(path, sha256)), 'utf8');
      return text.split('\n').slice(0, -1).map(parseHashLine);
    })
    .sort((one, other) => (one.record_hash < other.record_hash ? -1 : 1))
    .filter(({ kind }) => kind === 'reading')
    .map(({ sequence, index, ...line }) => line);
}

/** What one more hour writes: files of the release that are new, its list, and what is remembered again. */
async function costOfHour(
  here: { readonly snapshots: string; readonly data: string },
  hour: number,
  entities = FEW,
) {
  const listOf = () => parseFiles(readFileSync(join(here.data, 'current', FILES_NAME), 'utf8'));
  const before = new Set(listOf().map(({ path, sha256 }) => `${path} ${sha256}`));
  const remembered = new Map(Object.entries(stateOf(here.data).files));
  writeSnapshots(hourOf(hour, entities), here.snapshots);
  const { isIncremental } = await compileFolder(here.snapshots, {
    data: here.data,
    asOf: asOf(hour),
  });
  expect(isIncremental).toBe(true);
  const fresh = listOf().filter(({ path, sha256 }) => !before.has(`${path} ${sha256}`));
  const notes = Object.entries(stateOf(here.data).files)
    .filter(([name, sha256]) => remembered.get(name) !== sha256)
    .map(([name]) => ({ size: statSync(join(here.data, 'state', name)).size }));
  return { files: fresh.length + notes.length, bytes: sum(fresh) + sum(notes) };
}

function stateOf(data: string): { readonly files: Readonly<Record<string, string>> } {
  const text = readFileSync(join(data, 'state/state.json'), 'utf8');
  return JSON.parse(text.slice(text.indexOf('\n') + 1));
}

function segmentsIn(data: string): number {
  const list = readFileSync(join(data, 'current', FILES_NAME), 'utf8');
  return parseFiles(list).filter(({ path }) => path.startsWith('segment/')).length;
}

describe('an hour in the life of a shop', () => {
  it('I56: writes no more at an age of 400 hours than at one of 40', async () => {
    const snapshots = writeSnapshots(hours(0, 40, ENTITIES));
    const here = { snapshots, data: join(makeFolder(), 'data') };
    await compileFolder(here.snapshots, { data: here.data, asOf: asOf(39) });
    const young = await costOfHour(here, 40, ENTITIES);
    writeSnapshots(hours(41, 400, ENTITIES), here.snapshots);
    await compileFolder(here.snapshots, { data: here.data, asOf: asOf(399) });
    const old = await costOfHour(here, 400, ENTITIES);
    expect(old.files).toBeLessThan(1.3 * young.files);
    expect(old.bytes).toBeLessThan(1.3 * young.bytes);
    const { faults } = await verifyRelease(join(here.data, 'current'), { trust: 'any' });
    expect(faults).toEqual([]);
  });

  it('I18: hour by hour gives the bytes of one compile of all hours, and the readings of one log', async () => {
    // From the first hour on, and over the hours in which a series gets its first segment.
    const here = { snapshots: writeSnapshots(hours(0, 1)), data: join(makeFolder(), 'data') };
    await compileFolder(here.snapshots, { data: here.data, asOf: asOf(0) });
    await costOfHour(here, 1);
    await costOfHour(here, 2);
    const settled = SERIES_TAIL + 14;
    writeSnapshots(hours(3, settled), here.snapshots);
    await compileFolder(here.snapshots, { data: here.data, asOf: asOf(settled - 1) });
    expect(segmentsIn(here.data)).toBe(0);
    for (let hour = settled; hour < settled + 5; hour += 1) await costOfHour(here, hour);
    expect(segmentsIn(here.data)).toBe(2 * FEW);
    const other = join(makeFolder(), 'data');
    const whole = await compileFolder(here.snapshots, { data: other, asOf: asOf(settled + 4) });
    // What changed is told of the release before, and the index of the log names each release: those are others here and there.
    const isOfNews = (line: string): boolean =>
      / (site\/changes\.|site\/index\.html|index\/hashes\/)/.test(line);
    const list = (data: string) => {
      const lines = readFileSync(join(data, 'current', FILES_NAME), 'utf8').split('\n');
      return lines.filter((line) => !isOfNews(line));
    };
    expect(whole.isIncremental).toBe(false);
    expect(list(here.data).length).toBeGreaterThan(100);
    expect(list(here.data)).toEqual(list(other));
    expect(readingsOf(here.data).length).toBe(2 * FEW * (settled + 5));
    expect(readingsOf(here.data)).toEqual(readingsOf(other));
  });
});

describe('closed batches', () => {
  it('I56: are known by their folder; a full compile names a file that changed in one', async () => {
    const count = OPEN_BATCHES + 3;
    const here = { snapshots: writeSnapshots(hours(0, count)), data: join(makeFolder(), 'data') };
    const compiled = (hour: number, more = {}) =>
      compileFolder(here.snapshots, { data: here.data, asOf: asOf(hour), ...more });
    await compiled(count);
    // What was written within two seconds of a compile may change without a trace.
    await sleep(2500);
    expect((await compiled(count)).isIncremental).toBe(true);
    const old = join(here.snapshots, batchOf(0), 'crypto.spot.ndjson');
    const text = readFileSync(old, 'utf8');
    writeFileSync(old, text.replace('"price_usd":0', '"price_usd":9'));
    expect(await compiled(count)).toMatchObject({ isIncremental: true, changed: [] });
    const full = await compiled(count, { full: true });
    expect(full.changed).toEqual([`${batchOf(0)}/crypto.spot.ndjson`]);
    // A file of a newer batch is looked at each time, and so is a folder that files come to.
    const newer = join(here.snapshots, batchOf(count - 1), 'crypto.spot.ndjson');
    writeFileSync(
      newer,
      readFileSync(newer, 'utf8').replace(/"price_usd":[0-9.]+/, '"price_usd":1'),
    );
    expect(await compiled(count)).toMatchObject({
      isIncremental: false,
      changed: [`${batchOf(count - 1)}/crypto.spot.ndjson`],
    });
    const more = {
      [`${batchOf(0)}/macro.unemployment.ndjson`]: ndjson([
        reading(
          'us',
          { unemployment_pct: 4 },
          { observed_at: timeOf(-1), collected_at: timeOf(0.25) },
        ),
      ]),
    };
    writeSnapshots(more, here.snapshots);
    const came = await compiled(count);
    expect([came.isIncremental, came.release.counts.entities]).toEqual([true, 2 * FEW + 1]);
  });
});

import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompileOptions } from '../../../compiler/cli/compile.ts';
import {
  HASH_COUNT_PATH,
  HASH_INDEX_FOLDER,
  parseHashLine,
} from '../../../compiler/format/hash-index.ts';
import { FILES_NAME, parseFiles } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { SERIES_TAIL } from '../../../compiler/products/shapes/series.ts';
import { rotateKey } from '../../../compiler/publish/keys/key-command.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { FILINGS, filingRow, listingRow } from '../../filing-rows.ts';
import { smallSet } from '../../small-set.ts';
import {
  AS_OF,
  compileFolder,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  SEED,
  type SnapshotFiles,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const NEXT_SEED = new Uint8Array(32).fill(9);
const ROTATION_AT_ONCE = { from: AS_OF, now: AS_OF, overlapDays: 1 };
const AQI = 'airquality.aqi';
const SPOT = 'crypto.spot';
const at = (day: string) => ({
  observed_at: `${day}T10:00:00Z`,
  collected_at: `${day}T11:00:00Z`,
});
const NEWEST = { observed_at: '2026-11-20T11:30:00Z', collected_at: '2026-11-20T11:40:00Z' };
const RECOLLECTED = { collected_at: '2026-11-20T11:45:00Z' };
/** A time of collection in a batch; a late hour of its day where the name tells none. */
const within = (batch: string): string =>
  batch.includes('T') ? `${batch.slice(0, 13)}:59:00Z` : `${batch}T11:40:00Z`;
const file = (batch: string, signal: string, rows: readonly object[]): SnapshotFiles => ({
  [`${batch}/${signal}.ndjson`]: ndjson(
    rows.map((row) => ({ ...row, collected_at: within(batch) })),
  ),
});
/** When what came after the base is compiled. */
const LATER = '2026-11-22T12:00:00Z';
const coins = (day: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) =>
    reading(`coin-${from + index}`, { price_usd: index + Number(day.slice(-2)) }, at(day)),
  );

/** Every kind of body, and a signal of several entities. */
const BASE: SnapshotFiles = {
  ...smallSet(),
  ...file('2026-11-17', SPOT, coins('2026-11-17', 12)),
  ...file('2026-11-18', SPOT, coins('2026-11-18', 12)),
};
const NEXT = file('2026-11-21', SPOT, coins('2026-11-19', 3));

let snapshots = '';
let data = '';
/** What a full compile makes of the base and the next batch. */
let next: ReadonlyMap<string, string>;
beforeAll(async () => {
  snapshots = writeSnapshots(BASE);
  ({ data } = await compileFolder(snapshots));
  const here = copied();
  writeSnapshots(NEXT, here.snapshots);
  const { folder, isIncremental } = await compileFolder(here.snapshots, { ...here, ...AGAIN });
  expect(isIncremental).toBe(false);
  next = filesBelow(folder);
});

/** A copy that shares the bytes: nothing that a compile has written is ever changed in place. */
function linked(from: string, to: string): string {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linked(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkSync(source, target);
  }
  return to;
}

const AGAIN = { asOf: LATER, full: true };

/** A copy of the base with its release, to be changed. */
function copied(): { snapshots: string; data: string } {
  const home = makeFolder();
  const copy = { snapshots: join(home, 'snapshots'), data: linked(data, join(home, 'data')) };
  // Times are kept, the numbers of the files on the disk are not: their hashes say that they are the same.
  cpSync(snapshots, copy.snapshots, { recursive: true, preserveTimestamps: true });
  return copy;
}

function overwrite(path: string, text: string): void {
  rmSync(path);
  writeFileSync(path, text);
}

/** Compiles on what is remembered, and, from the same previous release, on nothing. */
async function both(here: { snapshots: string; data: string }, more: Partial<CompileOptions> = {}) {
  const other = linked(here.data, join(makeFolder(), 'data'));
  rmSync(join(other, 'state'), { recursive: true });
  const options = { asOf: LATER, ...more };
  const changed = await compileFolder(here.snapshots, { ...options, data: here.data });
  const whole = await compileFolder(here.snapshots, { ...options, data: other });
  expect(whole.isIncremental).toBe(false);
  expect(filesBelow(changed.folder)).toEqual(filesBelow(whole.folder));
  expect([changed.bytes, changed.files]).toEqual([whole.bytes, whole.files]);
  expect(readFileSync(join(other, 'state/state.json'), 'utf8').length).toBeGreaterThan(100);
  return changed;
}

/** The base and the next batch are compiled as if nothing were remembered. */
async function isWhole(here: { snapshots: string; data: string }): Promise<void> {
  const { isIncremental, folder } = await compileFolder(here.snapshots, { ...here, asOf: LATER });
  expect(isIncremental).toBe(false);
  expect(filesBelow(folder)).toEqual(next);
}

/** What is wrong with the release, and what stands in the data folder that no release lists. */
async function faultsOf(data: string): Promise<unknown[]> {
  const { faults, strays } = await verifyRelease(data, { trust: 'any' });
  return [...faults, ...strays];
}

const SCENARIOS: Readonly<Record<string, SnapshotFiles>> = {
  'nothing new': {},
  'a new batch': NEXT,
  'a revision': file('2026-11-21', SPOT, [
    reading(
      'coin-1',
      { price_usd: 9.5 },
      { ...at('2026-11-18'), collected_at: '2026-11-20T11:00:00Z' },
    ),
  ]),
  'a late batch between two others': file('2026-11-17T12Z', SPOT, [
    ...coins('2026-11-16', 3, 5),
    ...coins('2026-11-17', 1),
  ]),
  'repeated rows': file('2026-11-21', SPOT, coins('2026-11-18', 3)),
  'repeated rows with other disclosures': file('2026-11-21', SPOT, [
    ...coins('2026-11-18', 3).map((row) => ({ ...row, entity_name: 'renamed', grade: 'B' })),
  ]),
  'a new entity, first and last by name': file('2026-11-21', SPOT, [
    ...coins('2026-11-19', 1, 999),
    reading('aaa', { price_usd: 1 }, at('2026-11-19')),
  ]),
  'a new signal': file('2026-11-21', 'macro.unemployment', [
    reading('us', { unemployment_pct: 4 }, at('2026-11-19')),
  ]),
  'a city, and with it a bundle, a sample and an add-on': file('2026-11-21', AQI, [
    reading('us-denver', { aqi_index: 88 }, at('2026-11-19')),
  ]),
  'a new subject of a bundle': file('2026-11-21', AQI, [
    reading('us-chicago', { aqi_index: 12 }, at('2026-11-19')),
  ]),
  'a ruler that appears and goes': {
    ...file('2026-11-20T09Z', 'hydrology.river-level', [
      reading('06714000', { stage_ft: 13 }, { observed_at: '2026-11-20T09:45:00Z' }),
    ]),
    ...file('2026-11-21', 'hydrology.river-level', [
      reading(
        '06714000',
        { stage_ft: 13 },
        { ...at('2026-11-20'), observed_at: '2026-11-20T10:30:00Z' },
      ),
    ]),
  },
  'a sample and a city that were published without a value': {
    ...file('2026-11-21', SPOT, [reading('Btc', { price_usd: null }, NEWEST)]),
    ...file('2026-11-21', 'precipitation.daily', [
      reading('us-denver', { precip_mm: null }, NEWEST),
    ]),
  },
  'the filings of a filer': file('2026-11-21', 'filing.submission', [listingRow(), ...FILINGS]),
  'a revised filing, a new one and a gap': file('2026-11-21', 'filing.submission', [
    listingRow({ ...RECOLLECTED, gaps: [{ from: '2019-01-02', to: '2019-01-09' }] }),
    filingRow(1, ['10-K', '2026-02-02'], RECOLLECTED),
    filingRow(90, ['10-K', '2026-11-19'], RECOLLECTED),
  ]),
  'several signals at once': {
    ...file('2026-11-21', SPOT, coins('2026-11-19', 2)),
    ...file('2026-11-21', 'filing.delinquency', [
      reading('AAPL', { nt_24mo_count: 1 }, at('2026-11-19')),
      reading('ZZZZ', { nt_24mo_count: 1 }, at('2026-11-19')),
    ]),
  },
};

describe('compile() on what is remembered', () => {
  it('I18: gives the bytes of a full compile after one change upon the other', async () => {
    const here = copied();
    const scenarios = Object.entries(SCENARIOS);
    for (const [index, [name, more]] of scenarios.entries()) {
      const moved = Object.entries(more).map(([path, text]) => {
        const batch = `2026-11-21T${String(index).padStart(2, '0')}Z`;
        const moved = String(text).replaceAll(within('2026-11-21'), within(batch));
        return [path.replace(/^2026-11-21/, batch), moved] as const;
      });
      writeSnapshots(Object.fromEntries(moved), here.snapshots);
      // Nothing new is a compile of its own; of the others, three are compiled at once.
      if (index % 3 !== 0 && index < scenarios.length - 1) continue;
      const { isIncremental } = await both(here);
      expect(isIncremental, name).toBe(true);
    }
    expect(await faultsOf(here.data)).toEqual([]);
  });

  it('I18: joins segments of a series into one, as a full compile does', async () => {
    const btc = (batch: string, from: number, count: number) =>
      file(
        batch,
        SPOT,
        Array.from({ length: count }, (_, index) => {
          const observed_at = new Date(Date.parse('2026-11-01') + (from + index) * 3_600_000);
          return reading('btc', { price_usd: from + index }, { observed_at });
        }),
      );
    const settled = 16 * 16 - 2;
    const base = writeSnapshots({
      ...btc('2026-11-16', 0, settled + SERIES_TAIL),
      ...file('2026-11-17', SPOT, coins('2026-11-17', 3)),
      ...file('2026-11-18', SPOT, coins('2026-11-18', 3)),
    });
    const here = { snapshots: base, data: (await compileFolder(base)).data };
    const segments = () =>
      [...filesBelow(join(here.data, 'current')).keys()].flatMap(
        (path) => /^segment\/crypto.spot\/btc\/(.*).txt$/.exec(path)?.[1] ?? [],
      );
    expect(segments()).toHaveLength(6);
    const revised = reading('btc', { price_usd: 0.5 }, { observed_at: '2026-11-01T03:00:00.000Z' });
    for (const [more, expected] of [
      [btc('2026-11-21T00Z', settled + SERIES_TAIL, 2), ['0-256']],
      [btc('2026-11-21T01Z', settled + SERIES_TAIL + 2, 15), ['0-256']],
      [btc('2026-11-21T02Z', settled + SERIES_TAIL + 17, 1), ['0-256', '256-16']],
      [file('2026-11-21T03Z', SPOT, [revised]), ['0-256', '256-16']],
    ] as const) {
      writeSnapshots(more, here.snapshots);
      const { isIncremental } = await both(here);
      expect([isIncremental, segments()]).toEqual([true, expected]);
    }
    expect(await faultsOf(here.data)).toEqual([]);
  });

  it('I18: leaves no line from the future out, so that a later compile has nothing to take up', async () => {
    const here = copied();
    const ahead = reading('coin-1', { price_usd: 7 }, at('2026-11-23'));
    const rows = [...coins('2026-11-19', 3), ahead];
    const collected = rows.map((row, index) => ({
      ...row,
      collected_at: `2026-11-23T${index === 3 ? '12' : '11'}:00:00Z`,
    }));
    writeSnapshots({ [`2026-11-23/${SPOT}.ndjson`]: ndjson(collected) }, here.snapshots);
    const lenient = { maxRejectsPpm: 500_000 };
    for (const more of [{}, lenient]) {
      const options = { ...more, asOf: '2026-11-23T11:30:00Z', data: here.data };
      const compiled = compileFolder(here.snapshots, options);
      await expect(compiled).rejects.toThrow('2026-11-23/crypto.spot.ndjson:4 collected_at:');
    }
    const { isIncremental } = await both(here, { asOf: '2026-11-23T13:00:00Z' });
    expect(isIncremental).toBe(true);
  });

  it.each<[string, (here: { snapshots: string; data: string }) => void, Partial<CompileOptions>]>([
    [
      'a removed batch',
      ({ snapshots: root }) => rmSync(join(root, '2026-11-17'), { recursive: true }),
      { allowShrink: true },
    ],
    [
      'a changed batch',
      ({ snapshots: root }) =>
        void writeSnapshots(file('2026-11-17', SPOT, coins('2026-11-17', 11)), root),
      {},
    ],
    ['another issuer name', () => undefined, { issuerName: 'Another' }],
    ['another address', () => undefined, { baseUrl: 'https://other.example' }],
    [
      'another key',
      ({ data: root }) =>
        void rotateKey({ data: root, old: SEED, next: NEXT_SEED, ...ROTATION_AT_ONCE }),
      { seed: NEXT_SEED },
    ],
  ])('reads everything again after %s', async (_, harm, more) => {
    const here = copied();
    harm(here);
    expect((await both(here, more)).isIncremental).toBe(false);
  });

  it.each(['state.json', 'entities/crypto.spot/0', 'joined', 'parts-files', 'batches/2026-11-18'])(
    'reads everything again when "%s" of the state is damaged',
    async (name) => {
      const here = copied();
      writeSnapshots(NEXT, here.snapshots);
      const path = join(here.data, 'state', name);
      overwrite(path, readFileSync(path, 'utf8').replace(/[0-9]/, 'x'));
      await isWhole(here);
    },
  );

  it.each([
    ['entities of the signal that changed', 'entities/crypto.spot'],
    ['entities of one that did not', 'entities/airquality.aqi'],
    ['batches', 'batches'],
  ])('reads everything again when the state lacks the %s', async (_, name) => {
    const here = copied();
    writeSnapshots(NEXT, here.snapshots);
    rmSync(join(here.data, 'state', name), { recursive: true });
    await isWhole(here);
  });

  it('I16: does not believe a state that belongs to another release', async () => {
    const here = copied();
    const old = makeFolder();
    cpSync(join(here.data, 'state'), old, { recursive: true });
    writeSnapshots(NEXT, here.snapshots);
    await compileFolder(here.snapshots, { data: here.data, asOf: LATER });
    rmSync(join(here.data, 'state'), { recursive: true });
    cpSync(old, join(here.data, 'state'), { recursive: true });
    expect((await both(here)).isIncremental).toBe(false);
  });

  it('I35: reports everything that is wrong, as a full compile does, and keeps what is there', async () => {
    const here = copied();
    const good = Object.values(file('2026-11-21', SPOT, coins('2026-11-19', 1))).join('');
    const bad = { '2026-11-21/crypto.spot.ndjson': `${good}not json\n` };
    writeSnapshots(bad, here.snapshots);
    const before = filesBelow(here.data);
    const compiled = compileFolder(here.snapshots, { data: here.data, asOf: LATER });
    await expect(compiled).rejects.toThrow('2026-11-21/crypto.spot.ndjson:2');
    expect(filesBelow(here.data)).toEqual(before);
    expect(existsSync(join(here.data, '.staging'))).toBe(false);
  });
});

const OPEN_BATCHES = 168;

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

import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompileOptions } from '../../../compiler/cli/compile.ts';
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

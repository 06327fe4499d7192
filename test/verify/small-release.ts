import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../../compiler/compile.ts';
import { type JsonValue, parseJson } from '../../compiler/contract/strict-json.ts';
import { signingKey } from '../../compiler/stages/seal/sealer.ts';
import { sharedFolder } from '../shared-folder.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  readJson,
  type SnapshotFiles,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { readHeadOf } from './resign.ts';

export const SEED = new Uint8Array(32).fill(7);
export const KEY = signingKey(SEED);
export const BASE_URL = 'https://readings.example';
export const ISSUER_NAME = 'Example readings';
const AS_OF = '2026-11-20T12:00:00Z';
const COLLECTED = '2026-11-20T11:30:00Z';

export type Body = Record<string, JsonValue>;

/** A compiled release of a few signals in a folder of its own. */
export interface SmallRelease {
  readonly data: string;
  readonly root: string;
  readonly did: string;
  /** Where the bytes of a file stand. */
  file(path: string): string;
  text(path: string): string;
  body(path: string): Body;
  dispose(): void;
}

const source = (name: string, value: number | string) => ({
  name,
  value,
  weight: 1,
  role: 'measurement',
  independent: true,
});

const header = (name: string) => ({
  header: {
    collected_at: COLLECTED,
    source_ref: `https://official.example/${name}`,
    source_tier: 'T1',
  },
});

const reading = (
  entity: string,
  observed_at: string,
  current: Record<string, number | string>,
) => ({
  entity,
  observed_at,
  current,
  sources: [source('Official Office', Object.values(current)[0] ?? 0)],
});

/** A river with five years of November readings, so that every add-on has something to say. */
function river(): object[] {
  const years = [2021, 2022, 2023, 2024, 2025];
  const past = years.flatMap((year) =>
    [16, 18, 20, 22].map((day) => [`${year}-11-${day}`, year - 2010 + day / 10] as const),
  );
  const recent = [
    ['2026-11-18', 13.1],
    ['2026-11-19', 13.4],
    ['2026-11-20', 13.6],
  ] as const;
  return [...past, ...recent].map(([day, stage_ft]) => ({
    ...reading('07010000', `${day}T10:45:00Z`, { stage_ft }),
    entity_name: 'Mississippi River at St. Louis, MO',
    collected_at: `${day}T11:00:12Z`,
    thresholds: { action: 28, minor: 30, moderate: 35, major: 40 },
    qualifiers: ['P'],
  }));
}

const now = '2026-11-20T10:00:00Z';
const lifecycle = (entity: string, state: string) => ({
  ...reading(entity, now, { state }),
  lifecycle: { state, birth_at: '1997-12-11', end_at: null, death_type: null, context: null },
});

const SIGNALS: Readonly<Record<string, readonly object[]>> = {
  'hydrology.river-level': river(),
  'airquality.aqi': [reading('us-denver', now, { aqi_index: 64 })],
  'airquality.pm25': [reading('us-denver', '2026-11-20T09:00:00Z', { pm25_ugm3: 11.2 })],
  'precipitation.daily': [reading('us-denver', '2026-11-19T00:00:00Z', { precip_mm: 0 })],
  'climate-policy.lifecycle': [lifecycle('kyoto-protocol', 'operating')],
  'filing.insider': [reading('AAPL', now, { form4_90d_count: 12, form4_30d_count: 3 })],
};

/** The day on which a reading was collected. */
function batchOf(row: object): string {
  return String('collected_at' in row ? row.collected_at : COLLECTED).slice(0, 10);
}

/** Writes the snapshots into a folder and compiles them beside it. */
async function compileInto(home: string): Promise<void> {
  for (const [signal, readings] of Object.entries(SIGNALS)) {
    for (const batch of new Set(readings.map(batchOf))) {
      const folder = join(home, 'snapshots', batch);
      mkdirSync(folder, { recursive: true });
      const own = readings.filter((row) => batchOf(row) === batch);
      const lines = [header(signal), ...own].map((line) => JSON.stringify(line));
      writeFileSync(join(folder, `${signal}.ndjson`), `${lines.join('\n')}\n`);
    }
  }
  await compile({
    snapshots: join(home, 'snapshots'),
    data: join(home, 'data'),
    asOf: AS_OF,
    issuerName: ISSUER_NAME,
    baseUrl: BASE_URL,
    seed: SEED,
    workers: 0,
  });
}

/** A copy of the release, which is compiled once for all test files of a run. */
export async function smallRelease(): Promise<SmallRelease> {
  const home = mkdtempSync(join(tmpdir(), 'signalpress-verify-'));
  const made = await sharedFolder('small-release', compileInto);
  cpSync(made, home, { recursive: true, verbatimSymlinks: true });
  const data = join(home, 'data');
  const folder = realpathSync(join(data, 'current'));
  const { issuer_did: did } = readJson(folder, 'release.json');
  const text = (path: string): string => readFileSync(fileOf(folder, path), 'utf8');
  return {
    data,
    root: folder,
    file: (path) => fileOf(folder, path),
    did,
    text,
    body: (path) => parseJson(text(path)) as Body,
    dispose: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** As `compileFolder`, but compiled once for all test files of a run; the data folder is a copy of one's own. */
export async function compiledOnce(name: string, files: () => SnapshotFiles) {
  const made = await sharedFolder(`release-${name}`, async (folder) => {
    await compileFolder(writeSnapshots(files()), { data: join(folder, 'data') });
  });
  const data = join(makeFolder(), 'data');
  cpSync(join(made, 'data'), data, { recursive: true, verbatimSymlinks: true });
  const folder = realpathSync(join(data, 'current'));
  return { data, folder, release: readHeadOf(folder) };
}

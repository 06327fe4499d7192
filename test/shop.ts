import { cpSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILTIN } from '../compiler/catalog/builtin.ts';
import type { CompileOptions } from '../compiler/cli/compile.ts';
import { FILES_NAME, parseFiles } from '../compiler/format/release.ts';
import { type JsonValue, parseJson } from '../compiler/format/strict-json.ts';
import { storedPath } from '../compiler/products/shapes/path.ts';
import { deliveredText } from '../compiler/products/shapes/request-time.ts';
import { signingKey } from '../compiler/system/sealer.ts';
import { type FilePlace, placeOf } from '../compiler/verify/release-index.ts';
import { SAMPLE_HOUR, sampleFolder, sharedFolder } from './shared-folder.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  readJson,
  SEED,
  type SnapshotFiles,
  writeSnapshots,
} from './snapshot-folder.ts';

// Shops that are compiled once for all test files of a run: some are only read, of others each test file has a copy to spoil.

export const KEY = signingKey(SEED);
export const BASE_URL = 'https://readings.example';

export type Body = Record<string, JsonValue>;

/** A compiled shop. */
export interface Shop {
  readonly data: string;
  /** Folder of its release. */
  readonly folder: string;
  /** The did:key that signs it. */
  readonly did: string;
  /** Where the bytes of a file stand. */
  file(path: string): string;
  text(path: string): string;
  body(path: string): Body;
  /** A body as it is delivered, by default when its release is made. */
  delivered(path: string, now?: number): Body;
  /** Removes a copy. */
  dispose(): void;
}

/** The data folder of a shop that is only read. `write` fills a folder with snapshots, or says which other folder has them. */
export async function compiledShop(
  name: string,
  write: (snapshots: string) => string | Promise<string>,
  options: Partial<CompileOptions> = {},
): Promise<string> {
  const made = await sharedFolder(name, async (own) => {
    const snapshots = await write(join(own, 'snapshots'));
    await compileFolder(snapshots, { ...options, data: join(own, 'data') });
  });
  return join(made, 'data');
}

/** A copy of a shop of these snapshots. */
export async function ownShop(
  name: string,
  files: () => SnapshotFiles,
  options: Partial<CompileOptions> = {},
): Promise<Shop> {
  const write = (snapshots: string): string => writeSnapshots(files(), snapshots);
  const made = await compiledShop(`release-${name}`, write, options);
  const data = join(makeFolder(), 'data');
  cpSync(made, data, { recursive: true, verbatimSymlinks: true });
  const folder = realpathSync(join(data, 'current'));
  const file = (path: string): string => fileOf(folder, path);
  const text = (path: string): string => readFileSync(file(path), 'utf8');
  const { issuer_did: did, as_of } = readJson(folder, 'release.json');
  return {
    data,
    folder,
    did,
    file,
    text,
    body: (path) => parseJson(text(path)) as Body,
    delivered: (path, now = Date.parse(as_of)) => parseJson(deliveredText(text(path), now)) as Body,
    dispose: () => rmSync(dirname(data), { recursive: true, force: true }),
  };
}

/** A copy of a shop of a few signals. */
export function smallShop(): Promise<Shop> {
  return ownShop('small', smallFiles, { baseUrl: BASE_URL, issuerName: 'Example readings' });
}

const row = (entity: string, current: Record<string, number | string>, more: object = {}) => {
  const [value] = Object.values(current);
  return reading(entity, current, {
    collected_at: '2026-11-20T11:30:00Z',
    source_ref: `https://official.example/${entity}`,
    sources: [
      { name: 'Official Office', value, weight: 1, role: 'measurement', independent: true },
    ],
    ...more,
  });
};

/** A river with five years of November readings, so that every add-on has something to say. */
function river() {
  const years = [2021, 2022, 2023, 2024, 2025];
  const past = years.flatMap((year) =>
    [16, 18, 20, 22].map((day) => [`${year}-11-${day}`, year - 2010 + day / 10] as const),
  );
  const recent = [
    ['2026-11-18', 13.1],
    ['2026-11-19', 13.4],
    ['2026-11-20', 13.6],
  ] as const;
  return [...past, ...recent].map(([day, stage_ft]) =>
    row(
      '07010000',
      { stage_ft },
      {
        observed_at: `${day}T10:45:00Z`,
        collected_at: `${day}T11:00:12Z`,
        entity_name: 'Mississippi River at St. Louis, MO',
        thresholds: { action: 28, minor: 30, moderate: 35, major: 40 },
        qualifiers: ['P'],
      },
    ),
  );
}

const OPERATING = { state: 'operating', birth_at: '1997-12-11', end_at: null };

function smallFiles(): SnapshotFiles {
  const signals = {
    'hydrology.river-level': river(),
    'airquality.aqi': [row('us-denver', { aqi_index: 64 })],
    'airquality.pm25': [
      row('us-denver', { pm25_ugm3: 11.2 }, { observed_at: '2026-11-20T09:00:00Z' }),
    ],
    'precipitation.daily': [
      row('us-denver', { precip_mm: 0 }, { observed_at: '2026-11-19T00:00:00Z' }),
    ],
    'climate-policy.lifecycle': [
      row(
        'kyoto-protocol',
        { state: 'operating' },
        { lifecycle: { ...OPERATING, death_type: null, context: null } },
      ),
    ],
    'filing.insider': [row('AAPL', { form4_90d_count: 12, form4_30d_count: 3 })],
  };
  const files: Record<string, string> = {};
  for (const [signal, rows] of Object.entries(signals)) {
    for (const one of rows) {
      const path = `${one.collected_at.slice(0, 10)}/${signal}.ndjson`;
      files[path] = (files[path] ?? '') + ndjson([one]);
    }
  }
  return files;
}

/** The whole sample; nothing is written into its folder. */
export interface CompiledSample extends Pick<Shop, 'data' | 'folder' | 'did' | 'text'> {
  readonly paths: readonly string[];
}

export async function compiledSample(): Promise<CompiledSample> {
  const data = await compiledShop('compiled-sample', () => sampleFolder(), { asOf: SAMPLE_HOUR });
  const folder = realpathSync(join(data, 'current'));
  const { issuer_did } = readJson(folder, 'release.json');
  const listed = parseFiles(readFileSync(join(folder, FILES_NAME), 'utf8'));
  const places = new Map(listed.map(({ path, sha256 }) => [path, storedPath(path, sha256)]));
  const text = (path: string): string => readFileSync(join(data, places.get(path) ?? path), 'utf8');
  return { data, folder, did: issuer_did, paths: [...places.keys()], text };
}

/** A published body with the operation that it answers, and which of its forms it is. */
export interface SampleBody extends FilePlace {
  readonly path: string;
  /** Folder in front: `thin`, `verifiable`; '' for the usual form. */
  readonly form: string;
}

const FORMS = new Set(
  BUILTIN.operations.flatMap((operation) =>
    Object.values(operation.params).flatMap((param) => Object.values(param.variant ?? {})),
  ),
);

/** JSON files that answer an operation. */
export function sampleBodies(paths: readonly string[]): SampleBody[] {
  return paths.flatMap((path) => {
    const place = path.endsWith('.json') ? placeOf(path, BUILTIN) : null;
    const [first = ''] = path.split('/', 1);
    return place === null ? [] : [{ ...place, path, form: FORMS.has(first) ? first : '' }];
  });
}

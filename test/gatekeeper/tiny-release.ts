import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BUILTIN, signalOf } from '../../compiler/catalog/builtin.ts';
import { tables } from '../../compiler/catalog/whole-catalog.ts';
import type { Shelf } from '../../compiler/describe/examples.ts';
import { described, forSale, manifestBody } from '../../compiler/describe/manifest.ts';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import { keyIdOf } from '../../compiler/format/citation.ts';
import { didKey } from '../../compiler/format/did-key.ts';
import { hashCore } from '../../compiler/format/record-hash.ts';
import {
  CATALOG_PATH,
  CONTRACT_VERSION,
  formatCatalogRow,
  formatFiles,
  formatVerifyEntry,
  parseFiles,
} from '../../compiler/format/release.ts';
import { BLOCKS_PATH } from '../../compiler/format/statement-tree.ts';
import { freshnessBasis, freshnessRule } from '../../compiler/products/shapes/freshness.ts';
import { filePath, storedPath, verifyShardPath } from '../../compiler/products/shapes/path.ts';
import { atRequest } from '../../compiler/products/shapes/request-time.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { type Taken, tinyEntries, writeTinyLog } from './tiny-log.ts';

/** The address that tiny releases are compiled for. */
export const TINY_BASE_URL = 'https://records.example';
/** Noon of the day after the readings. */
export const TINY_NOW = Date.parse('2026-11-21T12:00:00Z');
const OBSERVED_AT = '2026-11-21T10:45:00Z';
const LOOKED_AT = '2026-11-21T11:00:00Z';
const DEAD_AT = '2026-09-01T00:00:00Z';

/** A key that is the same in every run. */
export function tinyKey(seed = 1): { key: KeyObject; did: string } {
  const pkcs8 = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.alloc(32, seed),
  ]);
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return { key, did: didKey(Buffer.from(x, 'base64url')) };
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

type Cadence = Parameters<typeof freshnessBasis>[0];

function provenance(
  cadence: Cadence,
  observedAt: string,
  rule: { freshness_rule?: string } = {},
): object {
  const joined =
    rule.freshness_rule === undefined ? [] : (['freshness_leg', 'legs[].freshness'] as const);
  return {
    served_from: 'stored snapshot 2026-11-21',
    data_as_of: observedAt,
    oldest_leg_as_of: observedAt,
    data_age_hours: 0.2,
    ...rule,
    at_request: atRequest(...joined),
    freshness_basis: freshnessBasis(cadence),
    data_lineage: [],
    validation_status: 'screening-level',
  };
}

/** A record as far as the gatekeeper looks into it. */
export function tinyRecord(signalId: string, entity: string, current: object): TinyRecord {
  const core = {
    signal_id: signalId,
    entity,
    snapshot_date: '2026-11-21T00:00:00Z',
    observed_at: OBSERVED_AT,
    current,
    source_ref: 'https://source.example/reading',
    source_tier: 'T1',
    sources: [{ name: 'Source', weight: 1, independent: true }],
    lifecycle: null,
  };
  const record_hash = `sha256:${sha256(canonicalJson(hashCore(core)))}`;
  const cadence = signalOf(signalId)?.cadence ?? 'hourly';
  const { snapshot_date, observed_at, ...rest } = core;
  const looked = { official_cadence: cadence, last_looked_at: LOOKED_AT };
  return {
    nature: 'descriptive',
    ...{ snapshot_date, observed_at, ...looked },
    ...rest,
    summary_en: `paid words about ${signalId} at ${entity}: ${'canary '.repeat(40)}`,
    scope: 'screening-level',
    standard_ruler: null,
    strata: null,
    hash_core_version: 3,
    ots_status: null,
    provenance: provenance(cadence, OBSERVED_AT),
    record_hash,
    _citation: { statement_type: 'description', not_advice: true },
  };
}

/** A leg as far as the gatekeeper looks into it. */
function tinyLeg(cadence: Cadence, observed_at: string): object {
  const head = { leg: 'a leg', position: 1, observed_at, data_age_hours: 0.2 };
  return { ...head, freshness_basis: freshnessBasis(cadence), entity: 'us-denver' };
}
type TinyRecord = Record<string, unknown> & { record_hash: string };

const PAIRS: readonly (readonly [string, string, object])[] = [
  ['airquality.aqi', 'us-denver', { aqi_index: 42, band: 'good' }],
  ['airquality.aqi', 'us-chicago', { aqi_index: 61, band: 'moderate' }],
  ['hydrology.river-level', '07010000', { stage_ft: 13.6 }],
  ['filing.insider', 'AAPL', { form4_90d_count: 7 }],
];

/** Files of a release by path: four records, two rulers, a bundle, lists and free files. */
export function tinyFiles(): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const put = (path: string | null, body: unknown): void => {
    if (path === null) throw new Error('no file');
    files.set(path, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  };
  const records = PAIRS.map(([signalId, entity, current]) => tinyRecord(signalId, entity, current));
  const shards = new Map<string, string>();
  let catalog = '';
  for (const [at, [signal_id, entity]] of PAIRS.entries()) {
    const record = records[at] as TinyRecord;
    const file = filePath(builtinOperation('/gauge'), { signal_id, entity }) ?? '';
    put(file, record);
    put(filePath(builtinOperation('/gauge/history-preview'), { signal_id, entity }), {
      nature: 'last seven',
      snapshots: [],
    });
    const { record_hash } = record;
    const entry = { record_hash, kind: 'reading', state: 'current', file } as const;
    const shard = verifyShardPath(record_hash);
    const line = formatVerifyEntry({
      ...entry,
      signal_id,
      entity,
      observed_at: OBSERVED_AT,
    });
    shards.set(shard, (shards.get(shard) ?? '') + line);
    const row = { signal_id, entity, entity_name: `Name of ${entity}`, observed_at: OBSERVED_AT };
    catalog += formatCatalogRow({ ...row, band: null, record_hash, last_looked_at: LOOKED_AT });
  }
  for (const [path, text] of shards) put(path, text);
  put(
    CATALOG_PATH,
    catalog
      .split('\n')
      .slice(0, -1)
      .sort()
      .map((line) => `${line}\n`)
      .join(''),
  );
  put('ruler/airquality.aqi/us-denver.json', {
    nature: 'descriptive',
    dim: 'ruler',
    ruler: { band: 'good', provenance: 'official scale' },
    provenance: provenance('hourly', OBSERVED_AT),
  });
  put('bundle/environment/us-denver.json', {
    nature: 'descriptive',
    location: 'us-denver',
    legs: {
      'air-quality': tinyLeg('hourly', OBSERVED_AT),
      river: tinyLeg('daily', DEAD_AT),
    },
    provenance: provenance('daily', DEAD_AT, { freshness_rule: freshnessRule(2, 'legs') }),
  });
  put('free/sample/~.json', { sample: records[0] });
  put('free/merkle-spec.json', { retired: true, text: 'archival' });
  put('lifecycle/kyoto-protocol.json', { nature: 'descriptive', lifecycle: { state: 'ended' } });
  return files;
}

export interface TinyOptions {
  readonly files?: ReadonlyMap<string, Buffer>;
  readonly sequence?: number;
  readonly seed?: number;
  /** Record hashes that each release up to this one took in: there is a log beside the releases. */
  readonly taken?: Taken;
  /** Changes the head before it is signed. */
  readonly head?: Readonly<Record<string, unknown>>;
  /** Changes the head after it was signed. */
  readonly forged?: Readonly<Record<string, unknown>>;
}

/** A folder for tests that has no release yet. */
export function tinyDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'signalpress-'));
}

/** A folder with a tiny release. */
export function tinyData(options: TinyOptions = {}): string {
  const dataDir = tinyDataDir();
  writeTinyRelease(dataDir, options);
  return dataDir;
}

/** Writes a signed release and points `current` at it; answers its directory. */
export function writeTinyRelease(dataDir: string, options: TinyOptions = {}): string {
  const { taken = [], sequence = Math.max(1, taken.length), seed = 1 } = options;
  const files = options.files === undefined ? usualFiles() : describedFiles(options.files);
  const id = `${String(sequence).padStart(6, '0')}-${seed}`;
  const root = join(dataDir, 'releases', id);
  const entries = [...files].map(([path, bytes]) => {
    const digest = sha256(bytes);
    const full = join(dataDir, storedPath(path, digest));
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, bytes);
    return { path, size: bytes.length, sha256: digest };
  });
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  mkdirSync(root, { recursive: true });
  const text = formatFiles(entries);
  writeFileSync(join(root, 'files.txt'), text);
  const head = { ...tinyHead(sequence, seed), ...counted(text, entries.length), ...options.head };
  const signature = sign(null, Buffer.from(canonicalJson(head)), tinyKey(seed).key);
  const signed = { ...head, signature: signature.toString('base64url'), ...options.forged };
  writeFileSync(join(root, 'release.json'), JSON.stringify(signed));
  if (taken.length > 0) {
    const { as_of } = signed as unknown as { as_of: string };
    const entries = tinyEntries(taken, { as_of, head: `sha256:${sha256(canonicalJson(signed))}` });
    writeTinyLog(dataDir, entries, { taken, baseUrl: TINY_BASE_URL, signer: tinyKey(seed) });
  }
  symlinkSync(`releases/${id}`, join(dataDir, 'next'));
  renameSync(join(dataDir, 'next'), join(dataDir, 'current'));
  return root;
}

/** The bytes of tinyFiles that stand at a path of the disk. */
export function tinyBytesAt(full: string): Buffer | undefined {
  usualPlaces ??= new Map(
    [...usualFiles()].map(([path, bytes]) => [storedPath(path, sha256(bytes)), bytes]),
  );
  for (const [place, bytes] of usualPlaces) if (full.endsWith(place)) return bytes;
  return undefined;
}
let usualPlaces: ReadonlyMap<string, Buffer> | undefined;

/** What a tiny release holds where a test says nothing else; described once a worker. */
function usualFiles(): ReadonlyMap<string, Buffer> {
  usual ??= describedFiles(tinyFiles());
  return usual;
}
let usual: ReadonlyMap<string, Buffer> | undefined;

/** Files of a release with their manifests, as compile describes what is stored. */
function describedFiles(stored: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  const files = new Map(stored);
  const shelf: Shelf = {
    has: (path) => stored.has(path),
    under: (prefix) => [...stored.keys()].sort().filter((path) => path.startsWith(prefix)),
    read: (path) => stored.get(path) ?? Buffer.alloc(0),
  };
  const { entries } = described(shelf, BUILTIN, true);
  const put = (path: string, shown: typeof entries): void => {
    files.set(path, Buffer.from(JSON.stringify(manifestBody(shown))));
  };
  put('well-known/manifest.json', forSale(entries));
  put('all/well-known/manifest.json', entries);
  files.set(BLOCKS_PATH, Buffer.alloc(0));
  for (const card of ['agent-card', 'agent']) {
    files.set(`well-known/${card}.json`, Buffer.from('{"skills":[]}'));
  }
  return files;
}

/** Where the bytes of a file of a release stand. */
export function tinyFilePath(root: string, path: string): string {
  const listed = parseFiles(readFileSync(join(root, 'files.txt'), 'utf8'));
  const entry = listed.find((each) => each.path === path);
  if (entry === undefined) throw new Error(`"${path}" is not listed`);
  return join(dirname(dirname(root)), storedPath(path, entry.sha256));
}

function counted(text: string, count: number): object {
  return { files_sha256: `sha256:${sha256(text)}`, files_count: count };
}

function tinyHead(sequence: number, seed: number): object {
  const { did } = tinyKey(seed);
  return {
    format: 'signalpress-release/1',
    contract_version: CONTRACT_VERSION,
    sequence,
    as_of: '2026-11-21T11:00:00Z',
    base_url: TINY_BASE_URL,
    issuer_name: 'Tiny Issuer',
    issuer_did: did,
    key_id: keyIdOf(did),
    table_digest: `sha256:${sha256(canonicalJson(tables(BUILTIN)))}`,
    previous: null,
    counts: { readings: 4, entities: 4, records: 4, bundles: 1, revisions: 0, repeats: 0 },
  };
}

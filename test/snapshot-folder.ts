import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { check } from '../compiler/cli/check.ts';
import { type CompileOptions, compile } from '../compiler/cli/compile.ts';
import { parseFiles } from '../compiler/format/release.ts';
import { storedPath } from '../compiler/products/shapes/path.ts';
import { CompileError, type InputFault } from '../compiler/system/compile-error.ts';

/** Snapshot files by path below the snapshots folder. */
export type SnapshotFiles = Readonly<Record<string, string | Uint8Array>>;

export const SEED = new Uint8Array(32).fill(7);
export const AS_OF = '2026-11-20T12:00:00Z';
const made: string[] = [];

/** A new empty folder; `removeFolders` belongs into the afterAll of the test file. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-test-'));
  made.push(folder);
  return folder;
}

export function removeFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** One reading with everything that intake asks for. */
export function reading(entity: string, current: object, more: object = {}) {
  return {
    entity,
    observed_at: '2026-11-20T10:00:00Z',
    collected_at: '2026-11-20T11:00:00Z',
    current,
    sources: [{ name: 'test source', weight: 1, independent: true }],
    source_ref: 'https://example.org/source',
    source_tier: 'T1',
    ...more,
  };
}

export function ndjson(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** The batch of a day: so many prices of a coin, each a dollar above the one before, observed from ten to eleven. */
export function spotPrices(day: string, count: number, first: number): SnapshotFiles {
  const rows = Array.from({ length: count }, (_, at) => {
    const [minute, second] = [at % 60, Math.floor(at / 60)].map((n) => `${n}`.padStart(2, '0'));
    const observed_at = `${day}T10:${minute}:${second}Z`;
    const times = { observed_at, collected_at: `${day}T11:00:00Z` };
    return reading('btc', { price_usd: first + at }, times);
  });
  return { [`${day}/crypto.spot.ndjson`]: ndjson(rows) };
}

export function writeSnapshots(files: SnapshotFiles, root = join(makeFolder(), 'snapshots')) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Compiles in this thread with a fixed clock and key, into a folder of its own. */
export async function compileFolder(snapshots: string, more: Partial<CompileOptions> = {}) {
  const data = more.data ?? join(makeFolder(), 'data');
  const options = { snapshots, data, asOf: AS_OF, issuerName: 'Test issuer', seed: SEED };
  const fixed = { baseUrl: 'https://example.org', workers: 0 };
  const summary = await compile({ ...options, ...fixed, ...more, data });
  return { ...summary, data };
}

/** What a compile of these snapshots finds wrong; nothing for one that is published. */
export function compileFaults(files: SnapshotFiles, more: Partial<CompileOptions> = {}) {
  return faultsOf(compileFolder(writeSnapshots(files), more));
}

/** The same by a dry run, which makes no release of what is right. */
export function checkFaults(files: SnapshotFiles) {
  const snapshots = writeSnapshots(files);
  return faultsOf(check({ snapshots, data: null, asOf: AS_OF, scratch: makeFolder() }));
}

async function faultsOf(work: Promise<unknown>): Promise<readonly InputFault[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (error instanceof CompileError) return error.faults;
    throw error;
  }
}

/** Every file below a folder by its path, of a release by the paths that it lists; symlinks are not followed. */
export function filesBelow(root: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path.slice(root.length + 1), readFileSync(path, 'latin1'));
  }
  for (const { path, sha256 } of listedIn(root)) {
    const full = join(dirname(dirname(realpathSync(root))), storedPath(path, sha256));
    files.set(path, readFileSync(full, 'latin1'));
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function listedIn(folder: string) {
  const list = join(folder, 'files.txt');
  return existsSync(list) ? parseFiles(readFileSync(list, 'utf8')) : [];
}

/** Where the bytes of a file of a release stand; its head and its list stand in its own folder. */
export function fileOf(folder: string, path: string): string {
  const entry = listedIn(folder).find((each) => each.path === path);
  if (entry === undefined) return join(folder, path);
  return join(dirname(dirname(realpathSync(folder))), storedPath(path, entry.sha256));
}

export function readJson(folder: string, path: string) {
  return JSON.parse(readFileSync(fileOf(folder, path), 'utf8'));
}

/** SHA-256 of UTF-8 text in hex, by another implementation than the compiler's. */
export function sha256Text(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

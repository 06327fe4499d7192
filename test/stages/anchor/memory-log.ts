import { hash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openNote } from '../../../compiler/contract/checkpoint.ts';
import { keyIdOf } from '../../../compiler/contract/citation.ts';
import { parseLogBatches } from '../../../compiler/contract/log-batch.ts';
import type { LeafFacts } from '../../../compiler/contract/log-runs.ts';
import type { Leaf } from '../../../compiler/contract/release.ts';
import { CHECKPOINT_PATH, decodeBundle, tilePath } from '../../../compiler/contract/tiles.ts';
import type { AnchorStore } from '../../../compiler/stages/anchor/anchor-store.ts';
import type { PreviousRelease } from '../../../compiler/stages/anchor/previous-log.ts';
import { writeLog } from '../../../compiler/stages/anchor/write-log.ts';
import { leafStore } from '../../../compiler/stages/publish/leaf-store.ts';
import type { Press } from '../../../compiler/stages/publish/press.ts';
import { issuerDid, makeSealer, signingKey } from '../../../compiler/stages/seal/sealer.ts';

type LogParts = Parameters<typeof writeLog>[0];

/** A log in memory: its files by path. */
export type LogFiles = Map<string, Buffer>;

/** Record hashes by batch. */
export type Leaves = Readonly<Record<string, readonly string[]>>;

export interface MemoryOptions extends Partial<Pick<LogParts, 'lastSigned'>> {
  /** The timestamp of a root; none by default. */
  readonly anchorOf?: AnchorStore['read'];
  /** Roots that were stamped since the previous log. */
  readonly stamped?: readonly string[];
  readonly mayResume?: boolean;
  /** What the leaves say beside their hash and batch, where that is not factsOf. */
  readonly stated?: (recordHash: string) => Partial<Leaf>;
  /** Is told what is written, and what of the previous log is read. */
  readonly onWrite?: (path: string) => void;
  readonly onRead?: (path: string) => void;
  readonly previous?: LogFiles;
  readonly seed?: number;
  readonly baseUrl?: string;
}

/** The DID of the key of a seed. */
export function didOf(seed = 7): string {
  return issuerDid(signingKey(new Uint8Array(32).fill(seed)));
}

/** Writes the log of these leaves after that of a previous release; answers its files. */
export function memoryLog(leaves: Leaves, options: MemoryOptions = {}): LogFiles {
  const { previous, lastSigned = null, anchorOf = () => null, stamped = [] } = options;
  const files: LogFiles = new Map();
  const { gone, isResumed } = writeLog({
    press: memoryPress(files, options),
    leaves: storeOf(leaves, options.stated),
    previous: previous === undefined ? null : noted(releaseOf(previous), options.onRead),
    lastSigned,
    anchors: { read: anchorOf, changedSince: () => [...stamped] },
    resumeSince: options.mayResume === true ? 0 : null,
    scratch: mkdtempSync(join(tmpdir(), 'signalpress-log-')),
  });
  for (const [path, bytes] of isResumed ? (previous ?? []) : []) {
    if (!gone.includes(path) && !files.has(path)) files.set(path, bytes);
  }
  return files;
}

function noted(release: PreviousRelease, onRead: MemoryOptions['onRead']): PreviousRelease {
  const read = (path: string): Buffer | null => {
    onRead?.(path);
    return release.read(path);
  };
  return { ...release, read };
}

function memoryPress(files: LogFiles, options: MemoryOptions) {
  const { seed = 7, baseUrl = 'https://a.example', onWrite } = options;
  const key = signingKey(new Uint8Array(32).fill(seed));
  const did = issuerDid(key);
  const issuer = { name: 'Test issuer', did, keyId: keyIdOf(did), baseUrl };
  const press: Partial<Press> = {
    issuer,
    sealer: makeSealer(issuer, key),
    file(path, content) {
      if (files.has(path)) throw new Error(`"${path}" is written twice`);
      files.set(path, Buffer.from(content));
      onWrite?.(path);
    },
  };
  return press as Press;
}

function storeOf(leaves: Leaves, stated: MemoryOptions['stated'] = () => ({})) {
  const store = leafStore(mkdtempSync(join(tmpdir(), 'signalpress-leaves-')));
  for (const [batch, hashes] of Object.entries(leaves)) {
    for (const record_hash of hashes)
      store.add({ batch, record_hash, ...factsOf(record_hash), ...stated(record_hash) });
  }
  return store;
}

/** What the leaf of a hash says in these logs. */
export function factsOf(recordHash: string): LeafFacts {
  const entity = `entity of ${recordHash.slice(7, 11)}`;
  return { kind: 'reading', signal_id: 'a.b', entity, observed_at: '2026-11-20T10:00:00Z' };
}

/** A previous release that holds these files. */
export function releaseOf(files: LogFiles, seed = 7): PreviousRelease {
  return {
    issuerDid: didOf(seed),
    leaf: null,
    read: (path) => files.get(path) ?? null,
    under: (prefix) => [...files.keys()].filter((path) => path.startsWith(prefix)).sort(),
  };
}

/** Distinct record hashes from a number on. */
export function hashes(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    return `sha256:${hash('sha256', `record ${from + at}`, 'hex')}`;
  });
}

/** Entries of a log in their order. */
export function entriesIn(files: LogFiles): string[] {
  const size = checkpointIn(files).size;
  const entries: string[] = [];
  for (let index = 0; entries.length < size; index += 1) {
    const width = Math.min(256, size - 256 * index);
    const bundle = files.get(tilePath({ level: 'entries', index, width }));
    entries.push(...decodeBundle(bundle ?? Buffer.alloc(0)));
  }
  return entries;
}

/** What the newest checkpoint states. */
export function checkpointIn(files: LogFiles) {
  const opened = openNote(String(files.get(CHECKPOINT_PATH)));
  if (opened === null) throw new Error('no checkpoint');
  return opened.checkpoint;
}

/** The rows of the list of batches. */
export function batchesIn(files: LogFiles) {
  const paths = [...files.keys()].filter((path) => path.startsWith('log/batches/')).sort();
  return paths.flatMap((path) => parseLogBatches(files.get(path)?.toString('utf8') ?? ''));
}

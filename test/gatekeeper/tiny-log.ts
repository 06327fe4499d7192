import { hash, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  checkpointText,
  formatNote,
  logOrigin,
  noteKeyHash,
  verifierKey,
} from '../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import {
  factsText,
  HASH_COUNT_PATH,
  hashCountText,
  hashLineText,
  runPath,
  runsOf,
} from '../../compiler/format/hash-index.ts';
import { completeLevels, leafHash, rangeHash } from '../../compiler/format/merkle.ts';
import {
  type ReleaseEntry,
  releaseEntryBytes,
  takenLeaf,
  treeHead,
} from '../../compiler/format/release-entry.ts';
import {
  CHECKPOINT_PATH,
  encodeBundle,
  LOG_KEY_PATH,
  TILE_HEIGHT,
  TILE_WIDTH,
  takenPath,
  tilePath,
  tilesOf,
} from '../../compiler/format/tiles.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/** Record hashes that each release took in, the first one first; the newest is the one that is written. */
export type Taken = readonly (readonly string[])[];

const sorted = (hashes: readonly string[]): readonly string[] => [...hashes].sort();

/** The listed files that lead from a hash to the release that took it in; `entity of` its first digits is what it is about. */
export function tinyIndex(taken: Taken): Map<string, Buffer> {
  const lines = taken.flatMap((hashes, at) =>
    sorted(hashes).map((recordHash, index) => {
      const hex = recordHash.slice('sha256:'.length);
      const facts = factsText({
        kind: 'reading',
        signal_id: 'a.b',
        entity: `entity of ${hex.slice(0, 4)}`,
        observed_at: '2026-11-19T10:00:00Z',
      });
      return hashLineText(hex, { sequence: at + 1, index }, facts);
    }),
  );
  const [run, ...more] = runsOf(lines.length);
  if (run === undefined || more.length > 0) throw new Error('too many hashes for one run');
  return new Map([
    [HASH_COUNT_PATH, Buffer.from(hashCountText(lines.length))],
    [runPath(run, 0), Buffer.from(lines.sort().join(''))],
  ]);
}

/** The entries of releases that took in these hashes; the newest is that of a head. */
export function tinyEntries(
  taken: Taken,
  head: Pick<ReleaseEntry, 'as_of' | 'head'>,
): ReleaseEntry[] {
  const none = { count: 0, root: `sha256:${hash('sha256', '')}` };
  const day = Date.parse(head.as_of);
  return taken.map((hashes, at) => {
    const before = taken.length - 1 - at;
    const leaves = sorted(hashes).map((one) => takenLeaf(one, sha256));
    const levels = completeLevels(leaves, sha256);
    const root = rangeHash({ start: 0, end: leaves.length }, levels, sha256);
    const entry = {
      all: none,
      as_of: new Date(day - before * 3 * 3_600_000).toISOString().replace('.000', ''),
      head: `sha256:${hash('sha256', `head ${at}`)}`,
      new: treeHead(leaves.length, [root], sha256),
      sequence: at + 1,
      valid_until: null,
    };
    return before === 0 ? { ...entry, ...head } : entry;
  });
}

interface TinyLog {
  readonly taken: Taken;
  readonly baseUrl: string;
  readonly signer: { readonly key: KeyObject; readonly did: string };
}

/** Writes a log of such entries beside the releases of a folder. */
export function writeTinyLog(
  dataDir: string,
  entries: readonly ReleaseEntry[],
  { taken, baseUrl, signer: { key, did } }: TinyLog,
): void {
  const put = (path: string, bytes: Uint8Array | string): void => {
    mkdirSync(dirname(join(dataDir, path)), { recursive: true });
    writeFileSync(join(dataDir, path), bytes);
  };
  const bytes = entries.map(releaseEntryBytes);
  const levels = completeLevels(
    bytes.map((entry) => leafHash(entry, sha256)),
    sha256,
  );
  for (const tile of tilesOf(bytes.length)) {
    const { level, index, width } = tile;
    const [from, to] = [index * TILE_WIDTH, index * TILE_WIDTH + width];
    const isBundle = level === 'entries';
    const hashes = isBundle ? [] : (levels[level * TILE_HEIGHT] ?? []);
    put(
      tilePath(tile),
      isBundle ? encodeBundle(bytes.slice(from, to)) : Buffer.concat(hashes.slice(from, to)),
    );
  }
  for (const [at, hashes] of taken.entries()) {
    const hex = sorted(hashes).map((one) => one.slice('sha256:'.length));
    if (hex.length > 0) put(takenPath(at + 1), Buffer.from(hex.join(''), 'hex'));
  }
  const origin = logOrigin(baseUrl);
  const publicKey = parseDidKey(did);
  const root = rangeHash({ start: 0, end: bytes.length }, levels, sha256);
  const text = checkpointText({ origin, size: bytes.length, root });
  const line = { name: origin, keyHash: noteKeyHash(origin, publicKey, sha256) };
  const signature = sign(null, Buffer.from(text), key);
  put(CHECKPOINT_PATH, formatNote({ text, signatures: [{ ...line, signature }] }));
  put(LOG_KEY_PATH, `${verifierKey(origin, publicKey, sha256)}\n`);
}

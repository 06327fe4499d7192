import { createHash } from 'node:crypto';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import { verifyShardPath } from '../../compiler/contract/path.ts';
import { recordHashText } from '../../compiler/contract/record-hash.ts';
import { parseVerifyEntry, type VerifyEntry } from '../../compiler/contract/release.ts';
import { citationText } from '../release/citation-text.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { storedCore } from '../release/stored-core.ts';

/** Fewest hex digits of a hash that are looked up. */
export const HASH_PREFIX_MIN = 8;

/** Longest stored body that a free look-up parses: a few milliseconds of the serving thread. */
export const RECOMPUTED_BYTES_MAX = 256 * 1024;
/** More than any citation is long. */
const CITATION_BYTES_MAX = 16 * 1024;

const HASH_PREFIX = new RegExp(`^(?:sha256:)?([0-9a-f]{${HASH_PREFIX_MIN},64})$`);

/** The hex digits of a whole or shortened record hash, or null for anything else. */
export function hashPrefix(text: string): string | null {
  return HASH_PREFIX.exec(text)?.[1] ?? null;
}

/** What this release knows about a hash. */
export type LookUp =
  | { readonly state: 'not_found' }
  | { readonly state: 'ambiguous'; readonly matches: number }
  | {
      readonly state: 'listed';
      readonly entry: VerifyEntry;
      /** Null where the release no longer holds the fields, and where their file is too long to be parsed. */
      readonly check: Recomputed | null;
    };

/** The hash that a stored body gives now, what was hashed, and the body. */
export interface Recomputed {
  readonly recomputedHash: string;
  readonly core: object;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Looks a hash up in its shard and recomputes it from the stored record; throws when the disk does not allow it. */
export async function lookUpHash(digits: string, release: ReleaseIndex): Promise<LookUp> {
  const shard = verifyShardPath(`sha256:${digits}`);
  if (!release.has(shard)) return { state: 'not_found' };
  const { bytes } = await release.body(shard);
  const entries = matching(bytes.toString('utf8'), digits);
  const [entry] = entries;
  if (entry === undefined) return { state: 'not_found' };
  if (entries.length > 1) return { state: 'ambiguous', matches: entries.length };
  const check = entry.file === null ? null : await recompute(entry, entry.file, release);
  return { state: 'listed', entry, check };
}

/** Entries of a shard whose hash starts with the digits, one for each hash. */
function matching(text: string, digits: string): readonly VerifyEntry[] {
  const opening = `["sha256:${digits}`;
  const found = new Map<string, VerifyEntry>();
  for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
    if (at > 0 && text[at - 1] !== '\n') continue;
    const entry = parseVerifyEntry(text.slice(at, text.indexOf('\n', at)));
    if (found.get(entry.record_hash)?.state !== 'current') found.set(entry.record_hash, entry);
  }
  return [...found.values()];
}

async function recompute(
  entry: VerifyEntry,
  file: string,
  release: ReleaseIndex,
): Promise<Recomputed | null> {
  const isLong = (release.files.get(file)?.size ?? 0) > RECOMPUTED_BYTES_MAX;
  if (isLong && entry.kind !== 'citation') return null;
  const { bytes } = await release.body(file);
  const body = isLong ? citedEnd(bytes) : JSON.parse(bytes.toString('utf8'));
  const core = storedCore(entry, body);
  const digest = createHash('sha256').update(canonicalJson(core)).digest('hex');
  return { body, core, recomputedHash: recordHashText(digest) };
}

/** Of a long body only what its citation says. */
function citedEnd(bytes: Buffer): Recomputed['body'] {
  const end = bytes.subarray(-CITATION_BYTES_MAX).toString('utf8');
  return { _citation: JSON.parse(citationText(end)) };
}

import { createHash } from 'node:crypto';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import { type Citation, citationSchema } from '../../compiler/contract/citation.ts';
import { keyStanding } from '../../compiler/contract/key-history.ts';
import { verifyShardPath } from '../../compiler/contract/path.ts';
import { recordHashText } from '../../compiler/contract/record-hash.ts';
import { parseVerifyEntry, type VerifyEntry } from '../../compiler/contract/release.ts';
import type { Service } from '../answers/service.ts';
import { costOfParsing } from '../http/cost.ts';
import { citationOf } from '../release/citation-text.ts';
import { linesFrom } from '../release/lines-from.ts';
import { findEntries } from '../release/log-index.ts';
import type { ReleaseIndex, ReleaseReader } from '../release/release-index.ts';
import { storedCore } from '../release/stored-core.ts';

/** Fewest hex digits of a hash that are looked up. */
export const HASH_PREFIX_MIN = 8;

const HASH_DIGITS = 64;

/** Longest stored body that a free look-up parses: a few milliseconds of the serving thread. */
export const RECOMPUTED_BYTES_MAX = 256 * 1024;

const HASH_PREFIX = new RegExp(`^(?:sha256:)?([0-9a-f]{${HASH_PREFIX_MIN},64})$`);

/** The hex digits of a whole or shortened record hash, or null for anything else. */
export function hashPrefix(text: string): string | null {
  return HASH_PREFIX.exec(text)?.[1] ?? null;
}

/** What this release and the memory of what was sold know about a hash. */
export type LookUp =
  | { readonly state: 'not_found' }
  | { readonly state: 'ambiguous'; readonly matches: number }
  | {
      readonly state: 'listed';
      readonly entry: VerifyEntry;
      /** Null if the release no longer holds the fields, or if their file is too large to parse. */
      readonly check: Recomputed | null;
    };

/** The hash that a stored body gives now, what was hashed, and the body. */
export interface Recomputed {
  readonly recomputedHash: string;
  readonly core: object;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Where a look-up looks, and who pays for it. */
export type LookUpReader = ReleaseReader & Pick<Service, 'sold'>;

/**
 * Looks a hash up and recomputes it from the stored record, or, where a newer release has
 * replaced what it signed, from the body that was sold; throws when the disk does not allow it.
 */
export async function lookUpHash(digits: string, reader: LookUpReader): Promise<LookUp> {
  const { release, sold } = reader;
  const entries = await listed(digits, reader);
  const [entry] = entries;
  if (entries.length > 1) return { state: 'ambiguous', matches: entries.length };
  if (entry === undefined || (entry.kind === 'citation' && entry.file === null)) {
    const kept = lookUpSold(await sold.citations(digits), release);
    if (entry === undefined || kept.state !== 'not_found') return kept;
  }
  const check = entry.file === null ? null : await recompute(entry, entry.file, reader);
  return { state: 'listed', entry, check };
}

/** What a release lists now, and, of what only its log holds, what that stands for. */
async function listed(digits: string, reader: ReleaseReader): Promise<readonly VerifyEntry[]> {
  const current = await listedNow(digits, reader);
  if (digits.length === HASH_DIGITS && current.length > 0) return current;
  const known = new Set(current.map(({ record_hash }) => record_hash));
  const entries = await findEntries(digits, reader);
  const { log_index: own } = reader.release.head;
  const earlier = entries.flatMap(({ record_hash, position, facts }): VerifyEntry[] => {
    if (facts === null || known.has(record_hash)) return [];
    const state = position === own ? 'current' : 'superseded';
    return [{ record_hash, state, file: null, ...facts }];
  });
  return [...current, ...earlier];
}

/** Whether this release holds the body of a statement, by `sha256:` of it; rejects when the disk does not allow it. */
export async function isPublished(statement: string, reader: ReleaseReader): Promise<boolean> {
  const entries = await listedNow(statement.slice('sha256:'.length), reader);
  return entries.some(({ kind }) => kind === 'citation');
}

async function listedNow(
  digits: string,
  { release, spend }: ReleaseReader,
): Promise<readonly VerifyEntry[]> {
  const shard = verifyShardPath(`sha256:${digits}`);
  if (!release.has(shard)) return [];
  const { bytes } = await release.body(shard, spend);
  return linesFrom(bytes, `["sha256:${digits}`).map(parseVerifyEntry);
}

/** Of bodies of an earlier release only their citations, since what else they say is known under other hashes. */
function lookUpSold(citations: readonly unknown[], { keys }: ReleaseIndex): LookUp {
  if (citations.length > 1) return { state: 'ambiguous', matches: citations.length };
  const [first] = citations;
  if (first === undefined) return { state: 'not_found' };
  const _citation = citationSchema.parse(first);
  const standing = keyStanding(keys, _citation.issuer_DID, _citation.retrieved_at);
  // Sold here by somebody else, before this issuer took over.
  if (standing === 'unknown') return { state: 'not_found' };
  const entry = soldEntry(_citation);
  return { state: 'listed', entry, check: recomputed(entry, { _citation }) };
}

/** The subject of a citation stands in the address that sold its body. */
function soldEntry({ record_hash, source, retrieved_at }: Citation): VerifyEntry {
  const asked = new URL(source.url ?? '', 'http://unknown').searchParams;
  return {
    record_hash,
    kind: 'citation',
    state: 'superseded',
    file: null,
    signal_id: asked.get('signal_id'),
    entity: asked.get('loc') ?? asked.get('entity') ?? [...asked.values()][0] ?? '',
    observed_at: source.published_at ?? retrieved_at,
  };
}

async function recompute(
  entry: VerifyEntry,
  file: string,
  { release, spend }: ReleaseReader,
): Promise<Recomputed | null> {
  const isLong = (release.files.get(file)?.size ?? 0) > RECOMPUTED_BYTES_MAX;
  if (isLong && entry.kind !== 'citation') return null;
  const { bytes } = await release.body(file, spend);
  if (!isLong) spend(costOfParsing(bytes.length));
  const body = isLong ? { _citation: citationOf(bytes) } : JSON.parse(bytes.toString('utf8'));
  return recomputed(entry, body);
}

function recomputed(entry: VerifyEntry, body: Recomputed['body']): Recomputed {
  const core = storedCore(entry, body);
  const digest = createHash('sha256').update(canonicalJson(core)).digest('hex');
  return { body, core, recomputedHash: recordHashText(digest) };
}

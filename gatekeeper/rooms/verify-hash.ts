import { hash } from 'node:crypto';
import type { Catalog } from '../../compiler/catalog/catalog.ts';
import { pricedRow } from '../../compiler/catalog/route.ts';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  CITATION_SEAL_FIELDS,
  citationSchema,
  citationStatement,
} from '../../compiler/format/citation.ts';
import { keyStanding } from '../../compiler/format/key-history.ts';
import { CORE_FIELDS, hashCore, recordHashText } from '../../compiler/format/record-hash.ts';
import { parseVerifyEntry, type VerifyEntry } from '../../compiler/format/release.ts';
import {
  isRosterKind,
  rosterCore,
  rosterCoreFields,
  rosterKindOf,
} from '../../compiler/products/collections.ts';
import { endpointAt } from '../../compiler/products/products.ts';
import { FILING_CORE_FIELDS } from '../../compiler/products/shapes/filing.ts';
import { filePath, verifyShardPath } from '../../compiler/products/shapes/path.ts';
import type { Service } from '../heart/answers/service.ts';
import { findTaken, linesFrom } from '../heart/release/log-index.ts';
import { citationOf } from '../heart/release/read-body.ts';
import {
  perRelease,
  type ReleaseIndex,
  type ReleaseReader,
} from '../heart/release/release-index.ts';
import { costOfParsing } from '../wire/cost.ts';

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

/** Recomputes a hash from the stored record, or from the body that was sold; throws when the disk does not allow it. */
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

const NO_LINES = Buffer.alloc(0);

/** What a release lists now, and, of what was ever taken in and is no longer listed, what that stands for. */
async function listed(digits: string, reader: ReleaseReader): Promise<readonly VerifyEntry[]> {
  const { release, spend } = reader;
  const shard = verifyShardPath(`sha256:${digits}`);
  const bytes = release.has(shard) ? (await release.body(shard, spend)).bytes : NO_LINES;
  const current = linesFrom(bytes, `["sha256:${digits}`).map(parseVerifyEntry);
  if (digits.length === HASH_DIGITS && current.length > 0) return current;
  const known = new Set(current.map(({ record_hash }) => record_hash));
  const taken = await findTaken(digits, reader);
  const earlier = taken.flatMap(({ sequence, index, ...facts }): VerifyEntry[] =>
    known.has(facts.record_hash) ? [] : [{ ...facts, state: 'superseded', file: null }],
  );
  return [...current, ...earlier];
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
  // The subject of a citation stands in the address that sold its body.
  const { record_hash, source, retrieved_at } = _citation;
  const asked = new URL(source.url ?? '', 'http://unknown').searchParams;
  const entry: VerifyEntry = {
    record_hash,
    kind: 'citation',
    state: 'superseded',
    file: null,
    signal_id: asked.get('signal_id'),
    entity: asked.get('loc') ?? asked.get('entity') ?? [...asked.values()][0] ?? '',
    observed_at: source.published_at ?? retrieved_at,
  };
  return { state: 'listed', entry, check: recomputed(entry, { _citation }) };
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
  return { body, core, recomputedHash: recordHashText(hash('sha256', canonicalJson(core))) };
}

/** What a free look-up may say of the thing that a hash stands for. */
export interface FreeFacts {
  readonly signal_id: string | null;
  readonly entity: string | null;
  readonly observed_at: string | null;
}

/**
 * The log lists the hash of every reading and row that was ever published, so whoever reads it can ask for each of them. Subjects
 * of readings stand in the free catalog, and the time of the latest one in the coverage. Earlier times are sold as a
 * series. For a row, a filing or a document only its kind is given, because who is on a roster and when a filing
 * arrived is sold. What a body that joins readings is about is not said either.
 */
export function freeFacts(entry: VerifyEntry, catalog: Catalog): FreeFacts {
  const { kind, state, signal_id, entity, observed_at } = entry;
  switch (kind) {
    case 'reading':
      return { signal_id, entity, observed_at: state === 'current' ? observed_at : null };
    case 'row': {
      const isKind = signal_id !== null && isRosterKind(signal_id);
      return { signal_id: isKind ? signal_id : null, entity: null, observed_at: null };
    }
    case 'citation':
      return isOfReading(entry, catalog)
        ? { signal_id, entity, observed_at }
        : { signal_id: null, entity: null, observed_at: null };
  }
}

/** Whether a hash stands for a reading, or for the citation of what was made of readings of one signal and entity. */
export function isOfReading({ kind, signal_id }: VerifyEntry, { entryById }: Catalog): boolean {
  return (
    kind === 'reading' || (kind === 'citation' && signal_id !== null && entryById.has(signal_id))
  );
}

/**
 * Whether a free endpoint shows this very reading with every member of its core: the latest one where that is free, that of
 * a river gauge at `/gauge/raw`, and the sample of a signal at `/gauge/sample`. `/gauge/history-preview` shows values and times without
 * sources and life cycle, so what it lists is no such reading.
 */
export async function isFreeReading(entry: VerifyEntry, reader: ReleaseReader): Promise<boolean> {
  const { kind, state, signal_id, entity, record_hash } = entry;
  if (kind !== 'reading' || state !== 'current' || signal_id === null) return false;
  const { catalog } = reader.release;
  const record = catalog.operationByPath.get('/gauge');
  if (record !== undefined && pricedRow(record, { signal_id }).priceUsd === null) return true;
  const isRaw = catalog.operationByPath.has('/gauge/raw');
  const raw = filePath(endpointAt('/gauge/raw'), { signal_id, entity });
  if (isRaw && reader.release.has(raw)) return true;
  return (await sampleHash(signal_id, reader)) === record_hash;
}

/** Record hashes of samples by signal, each read once. */
const sampleHashes = perRelease(() => new Map<string, string | null>());

async function sampleHash(
  signalId: string,
  { release, spend }: ReleaseReader,
): Promise<string | null> {
  const known = sampleHashes(release).get(signalId);
  if (known !== undefined) return known;
  const path = filePath(endpointAt('/gauge/sample'), { signal_id: signalId });
  const text = release.has(path) ? (await release.body(path, spend)).bytes.toString('utf8') : '{}';
  const { sample } = JSON.parse(text) as { sample?: { record_hash?: string | null } };
  const recordHash = sample?.record_hash ?? null;
  sampleHashes(release).set(signalId, recordHash);
  return recordHash;
}

const STATEMENT_FIELDS = Object.keys(citationSchema.shape).filter(
  (name) => !(CITATION_SEAL_FIELDS as readonly string[]).includes(name),
);

/**
 * Names of the members that the hash of an entry is taken of; those of a row that was captured by demand with those of
 * demand.
 */
export function coreMembers({ kind, signal_id }: VerifyEntry): readonly string[] {
  if (kind === 'citation') return STATEMENT_FIELDS;
  if (kind === 'reading') return CORE_FIELDS;
  // Filings belong to no signal and to no roster.
  if (signal_id === null) return FILING_CORE_FIELDS;
  // A leg of a document has the core of a reading.
  if (!isRosterKind(signal_id)) return CORE_FIELDS;
  const { fields, demand_v1_fields = [] } = rosterCoreFields(signal_id);
  return [...fields, ...demand_v1_fields];
}

type StoredMembers = Readonly<Record<string, unknown>>;

/** The hash core of an entry of the look-up shards from the body that carries it; throws a TypeError when it does not. */
export function storedCore({ kind, record_hash }: VerifyEntry, body: StoredMembers): object {
  switch (kind) {
    case 'reading':
      return hashCore(body as unknown as Parameters<typeof hashCore>[0]);
    case 'citation':
      return citationStatement(body._citation as Parameters<typeof citationStatement>[0]);
    case 'row': {
      const core = coreOfRow(body, record_hash);
      if (core === null) throw new TypeError(`Cannot find row "${record_hash}": not in its file`);
      return core;
    }
  }
}

/**
 * The core beside a record hash, wherever in the body the row stands; bodies of ours are shallow. A row carries it beside it, or as
 * members of its own; one may only name its hash.
 */
function coreOfRow(value: unknown, recordHash: string): object | null {
  if (typeof value !== 'object' || value === null) return null;
  const row = value as StoredMembers;
  if (row.record_hash === recordHash) {
    const { _hash_core } = row;
    if (typeof _hash_core === 'object' && _hash_core !== null) return _hash_core;
    const kind = rosterKindOf(row);
    if (kind !== null) return rosterCore(kind, row);
    const isLeg = CORE_FIELDS.every((name) => Object.hasOwn(row, name));
    if (isLeg) return hashCore(row as unknown as Parameters<typeof hashCore>[0]);
  }
  for (const member of Object.values(value)) {
    const core = coreOfRow(member, recordHash);
    if (core !== null) return core;
  }
  return null;
}

import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { isRosterKind } from '../../compiler/contract/collections.ts';
import { endpointAt } from '../../compiler/contract/endpoints.ts';
import { filePath } from '../../compiler/contract/path.ts';
import type { VerifyEntry } from '../../compiler/contract/release.ts';
import { pricedRow } from '../../compiler/contract/route.ts';
import { oncePerRelease } from '../release/per-release.ts';
import type { ReleaseReader } from '../release/release-index.ts';

/** What a free look-up may say of the thing that a hash stands for. */
export interface FreeFacts {
  readonly signal_id: string | null;
  readonly entity: string | null;
  readonly observed_at: string | null;
}

/**
 * The log lists the hash of everything that was ever published, so whoever reads it can ask for each of them. Subjects
 * of readings stand in the free catalog, and the time of the latest one in the coverage. Earlier times are sold as a
 * series. For a row, a filing or a document only its kind is given, because who is on a roster and when a filing
 * arrived is sold. The statement of a body that joins readings is in the log too, so what the body is about is not said.
 * The head of a release is public.
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
    case 'release':
      return { signal_id, entity, observed_at };
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
const sampleHashes = oncePerRelease(() => new Map<string, string | null>());

async function sampleHash(
  signalId: string,
  { release, spend }: ReleaseReader,
): Promise<string | null> {
  const known = sampleHashes(release);
  const found = known.get(signalId);
  if (found !== undefined) return found;
  const path = filePath(endpointAt('/gauge/sample'), { signal_id: signalId });
  const hash = release.has(path) ? hashOfSample((await release.body(path, spend)).bytes) : null;
  known.set(signalId, hash);
  return hash;
}

function hashOfSample(bytes: Buffer): string | null {
  const { sample } = JSON.parse(bytes.toString('utf8')) as {
    sample?: { readonly record_hash?: string | null };
  };
  return sample?.record_hash ?? null;
}

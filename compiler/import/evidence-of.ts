import { createHash } from 'node:crypto';
import { FILING_COLLECTION } from '../contract/filing.ts';
import type { Evidence } from '../contract/record.ts';
import { withoutKeys } from './fetch-note.ts';
import type { Imported, Payload } from './payload.ts';
import type { Source } from './source.ts';

/** Names a payload and who reads it, so that a reading can be led back to the bytes that the agency answered. */
export function evidenceOf(
  { id, version }: Pick<Source, 'id' | 'version'>,
  { bytes, note }: Pick<Payload, 'bytes' | 'note'>,
): Evidence {
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    url: withoutKeys(note.url),
    fetched_at: note.fetched_at,
    importer: id,
    importer_version: version,
  };
}

/**
 * Every reading and row with its evidence, except filings: what is sold of one has no lineage that could carry it, and a
 * list repeats each filing every time, so that each repeat would be another row.
 */
export function withEvidence(imported: Imported, evidence: Evidence): Imported {
  const readings = [...imported.readings].map(
    ([signal, list]) => [signal, list.map((reading) => ({ ...reading, evidence }))] as const,
  );
  const rows = [...(imported.rows ?? [])].map(
    ([id, list]) =>
      [id, id === FILING_COLLECTION ? list : list.map((row) => ({ ...row, evidence }))] as const,
  );
  const all = { ...imported, readings: new Map(readings) };
  return imported.rows === undefined ? all : { ...all, rows: new Map(rows) };
}

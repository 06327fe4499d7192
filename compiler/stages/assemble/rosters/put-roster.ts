import { type EndpointPath, endpointAt } from '../../../contract/endpoints.ts';
import { byTime } from '../../../contract/joined-provenance.ts';
import { filePath } from '../../../contract/path.ts';
import { GRADE, NATURE, SCOPE } from '../../../contract/words.ts';
import type { Press } from '../../publish/press.ts';
import {
  oldestRow,
  ROSTER_LINEAGE,
  type RosterSubject,
  rosterProvenance,
} from './roster-provenance.ts';
import type { HashedRow, OriginRow } from './settle-rows.ts';

/** Source notes that one roster repeats at most. */
const NOTES_MAX = 3;

/** A row as a roster shows it. */
export interface ShownRow {
  readonly shown: object;
  readonly from: HashedRow;
}

export interface RosterPage {
  readonly path: EndpointPath;
  /** Name of the list in the body. */
  readonly member: 'rows' | 'deaths' | 'records';
  readonly about: RosterSubject;
  /** A noun phrase for the citation. */
  readonly claim: string;
  readonly rows: readonly ShownRow[];
}

/** Writes a roster in its usual form and with the pre-image of each row; an empty one is not for sale. */
export function putRoster(press: Press, page: RosterPage): void {
  if (page.rows.length === 0) return;
  for (const verifiable of [false, true]) {
    const query = verifiable ? '?verifiable=1' : '';
    const statement = {
      claim: page.claim,
      fact: factOf(page),
      target: page.path + query,
      observed_at: oldestRow(sourceRows(page)).row.observed_at,
      retrieved_at: lastCollection(sourceRows(page)),
    };
    const sealed = press.sealer.seal(rosterBody(page, verifiable), statement);
    press.put(page.path, verifiable ? { verifiable: '1' } : {}, sealed);
  }
}

/** The file whose rows carry their pre-images. */
export function verifiableFile(path: EndpointPath): string | null {
  return filePath(endpointAt(path), { verifiable: '1' });
}

/** When the last of some rows was collected. */
function lastCollection(rows: readonly HashedRow[]): string {
  return (
    rows
      .map(({ row }) => row.collected_at)
      .sort(byTime)
      .at(-1) ?? ''
  );
}

function sourceRows({ rows }: RosterPage): readonly HashedRow[] {
  return rows.map(({ from }) => from);
}

function factOf(page: RosterPage): string {
  const { member, rows } = page;
  const { row } = oldestRow(sourceRows(page));
  return `${rows.length} ${member}, the oldest observed at ${row.observed_at}`;
}

function rosterBody(page: RosterPage, verifiable: boolean): object {
  const rows = sourceRows(page);
  const { row: oldest } = oldestRow(rows);
  const shown = page.rows.map(({ shown, from }) =>
    verifiable ? { ...shown, _hash_core: from.record_hash === null ? null : from.core } : shown,
  );
  return {
    nature: NATURE,
    count: shown.length,
    [page.member]: shown,
    observed_at: oldest.observed_at,
    record_hash_verifiable: verifiableOf(rows, verifiable),
    ...sourceNote(rows),
    provenance: { ...rosterProvenance(page.about, rows), lineage_note: ROSTER_LINEAGE },
    ...disclosureOf(oldest),
  };
}

/** What a body says about its own limits. */
export function disclosureOf({ grade, scope }: OriginRow): { grade: string; scope: string } {
  return { grade: grade ?? GRADE, scope: scope ?? SCOPE };
}

function sourceNote(rows: readonly HashedRow[]): { source_note?: string } {
  const notes = [...new Set(rows.flatMap(({ row }) => row.source_note ?? []))];
  return notes.length === 0 ? {} : { source_note: notes.slice(0, NOTES_MAX).join('; ') };
}

const ONLINE_NOTE =
  'look a hash up free at /gauge/verify?hash=<record_hash>; verifiable=1 adds the pre-image of each row as _hash_core';
const OFFLINE_NOTE =
  'record_hash is sha256 over the canonical JSON of _hash_core; no call to the service is needed';
const NONE_NOTE = 'these rows were imported without hashes; the citation signs them as they are';

function verifiableOf(rows: readonly HashedRow[], verifiable: boolean) {
  const with_hash = rows.filter(({ record_hash }) => record_hash !== null).length;
  const total = rows.length;
  if (with_hash === 0) return { mode: 'none' as const, with_hash, total, note: NONE_NOTE };
  const partial = `${total - with_hash} of ${total} rows were imported without a hash; `;
  const note = (with_hash < total ? partial : '') + (verifiable ? OFFLINE_NOTE : ONLINE_NOTE);
  return { mode: verifiable ? ('offline' as const) : ('online' as const), with_hash, total, note };
}

/** Where the hashes of a roster are found. */
export interface HashPlaces {
  /** Id of the collection. */
  readonly signal: string;
  /** Rows that are served now, with the file that each of them can be recomputed from. */
  readonly current: readonly { from: HashedRow; entity: string; file: string | null }[];
  /** Rows that others have taken the place of. */
  readonly superseded: readonly { from: HashedRow; entity: string }[];
}

/** Makes every hash of a roster findable, each once, and puts it into the log: of what is served now also where it stands. */
export function putHashes(press: Press, { signal, current, superseded }: HashPlaces): void {
  const seen = new Set<string>();
  const put = (from: HashedRow, entity: string, file: string | null): void => {
    const { record_hash, batch, row } = from;
    if (record_hash === null || seen.has(record_hash)) return;
    seen.add(record_hash);
    const facts = { record_hash, kind: 'row', signal_id: signal, entity } as const;
    const { observed_at } = row;
    if (file !== null) press.lookUp({ ...facts, state: 'current', file, observed_at });
    press.leaf({ ...facts, batch, observed_at });
  };
  for (const { from, entity, file } of current) put(from, entity, file);
  for (const { from, entity } of superseded) put(from, entity, null);
}

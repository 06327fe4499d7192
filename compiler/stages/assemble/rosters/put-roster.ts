import type { RosterList } from '../../../contract/collections.ts';
import { endpointAt, type TablePath } from '../../../contract/endpoints.ts';
import { filePath } from '../../../contract/path.ts';
import { type RosterRow, rosterBody, rosterStatement } from '../../../contract/roster-views.ts';
import { GRADE, SCOPE } from '../../../contract/words.ts';
import type { Press } from '../../publish/press.ts';
import { type RosterSubject, rosterPart } from './roster-provenance.ts';
import { putRowHashes, type RowHash } from './row-hashes.ts';
import type { HashedRow, OriginRow } from './settle-rows.ts';

/** A row as a roster shows it. */
interface ShownRow {
  readonly shown: object;
  readonly from: HashedRow;
}

interface RosterPage {
  readonly list: RosterList;
  /** A noun phrase for the citation. */
  readonly claim: string;
  readonly rows: readonly ShownRow[];
}

/** Writes a roster in its usual form and with the pre-image of each row; an empty one is not for sale. */
export function putRoster(press: Press, about: RosterSubject, page: RosterPage): void {
  if (page.rows.length === 0) return;
  const { claim } = page;
  const { path, member } = page.list;
  const rows = page.rows.map((row) => rosterRow(about, row));
  for (const verifiable of [false, true]) {
    const target = path + (verifiable ? '?verifiable=1' : '');
    const statement = rosterStatement({ member, claim, target }, rows);
    const sealed = press.sealer.seal(rosterBody(member, rows, verifiable), statement);
    press.put(path, verifiable ? { verifiable: '1' } : {}, sealed);
  }
}

function rosterRow(about: RosterSubject, { shown, from }: ShownRow): RosterRow {
  const { row, record_hash, core } = from;
  return {
    ...rosterPart(about, from),
    shown,
    core: record_hash === null ? null : core,
    record_hash,
    collected_at: row.collected_at,
    source_note: row.source_note,
    ...disclosureOf(row),
  };
}

/** The file whose rows carry their pre-images. */
export function verifiableFile(path: TablePath): string | null {
  return filePath(endpointAt(path), { verifiable: '1' });
}

/** What a body says about its own limits. */
export function disclosureOf({ grade, scope }: OriginRow): { grade: string; scope: string } {
  return { grade: grade ?? GRADE, scope: scope ?? SCOPE };
}

/** A row that has a hash, with the file that it can be recomputed from; null for one that another has taken the place of. */
interface HashPlace {
  readonly from: HashedRow;
  readonly entity: string;
  readonly file: string | null;
}

/** Puts the hashes of a roster where they are found; `places` has the rows that are served now first. */
export function putHashes(press: Press, signal_id: string, places: readonly HashPlace[]): void {
  const hashes = places.flatMap(({ from, entity, file }): RowHash[] => {
    const { record_hash, batch, row } = from;
    const { observed_at } = row;
    return record_hash === null
      ? []
      : [{ record_hash, signal_id, entity, observed_at, batch, file }];
  });
  putRowHashes(press, hashes);
}

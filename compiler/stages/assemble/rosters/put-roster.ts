import { type EndpointPath, endpointAt } from '../../../contract/endpoints.ts';
import { filePath } from '../../../contract/path.ts';
import {
  type RosterMember,
  type RosterRow,
  rosterBody,
  rosterStatement,
} from '../../../contract/roster-views.ts';
import { GRADE, SCOPE } from '../../../contract/words.ts';
import type { Press } from '../../publish/press.ts';
import { type RosterSubject, rosterPart } from './roster-provenance.ts';
import type { HashedRow, OriginRow } from './settle-rows.ts';

/** A row as a roster shows it. */
export interface ShownRow {
  readonly shown: object;
  readonly from: HashedRow;
}

interface RosterPage {
  readonly path: EndpointPath;
  /** Name of the list in the body. */
  readonly member: RosterMember;
  readonly about: RosterSubject;
  /** A noun phrase for the citation. */
  readonly claim: string;
  readonly rows: readonly ShownRow[];
}

/** Writes a roster in its usual form and with the pre-image of each row; an empty one is not for sale. */
export function putRoster(press: Press, { path, member, about, claim, rows }: RosterPage): void {
  if (rows.length === 0) return;
  const made = rows.map((row) => rosterRow(about, row));
  for (const verifiable of [false, true]) {
    const target = path + (verifiable ? '?verifiable=1' : '');
    const says = rosterStatement({ member, claim, target }, made);
    const sealed = press.sealer.seal(rosterBody(member, made, verifiable), says);
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
export function verifiableFile(path: EndpointPath): string | null {
  return filePath(endpointAt(path), { verifiable: '1' });
}

/** What a body says about its own limits. */
export function disclosureOf({ grade, scope }: OriginRow): { grade: string; scope: string } {
  return { grade: grade ?? GRADE, scope: scope ?? SCOPE };
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

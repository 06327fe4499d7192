import { hash } from 'node:crypto';
import type { Evidence } from '../../../contract/record.ts';
import { recordHashText } from '../../../contract/record-hash.ts';
import { type RosterCore, type RosterKind, rosterCore } from '../../../contract/roster-core.ts';
import type { Problem } from '../../intake/compile-error.ts';
import type { StoredRow } from '../../intake/read-collection.ts';
import type { Origin } from '../../intake/row-origin.ts';
import { jcs } from '../../seal/jcs.ts';

/** What every kind of row has: where it comes from, and whether it was ever hashed. */
export type OriginRow = Origin & {
  readonly imported?: boolean | undefined;
  readonly source_note?: string | undefined;
  readonly evidence?: Evidence | undefined;
};

/** A row that is published, with its hash; null for one that was imported without. */
export interface HashedRow<Row extends OriginRow = OriginRow> extends StoredRow<Row> {
  readonly core: RosterCore;
  readonly record_hash: string | null;
}

/** How rows of one kind are told apart and hashed. */
export interface Identity<Row> {
  readonly kind: RosterKind;
  /** Rows of the same key are repeats or revisions of each other. */
  keyOf(row: Row): string;
  /** The members of the row as they are served, among them all of its core. */
  factsOf(row: Row): Readonly<Record<string, unknown>>;
}

export interface SettledRows<Row extends OriginRow> {
  /** One row a key, in the order of the keys. */
  readonly kept: readonly HashedRow<Row>[];
  /** Rows that a later batch has revised. */
  readonly revised: readonly HashedRow<Row>[];
  readonly problems: readonly Problem[];
}

/** The record hash of a core. */
function rowHash(core: RosterCore): string {
  return recordHashText(hash('sha256', jcs(core), 'hex'));
}

/** What is known of a key so far: the row that counts, and the latest one, even if it is a repeat. */
interface Told<Row extends OriginRow> {
  readonly kept: HashedRow<Row>;
  readonly said: HashedRow<Row>;
}

/**
 * One row for each key: a repeat keeps the first collection, a later batch revises, and two rows of one batch that
 * differ are a conflict, whatever was told before. `stored` is oldest batch first.
 */
export function settleRows<Row extends OriginRow>(
  stored: readonly StoredRow<Row>[],
  identity: Identity<Row>,
): SettledRows<Row> {
  const told = new Map<string, Told<Row>>();
  const revised: HashedRow<Row>[] = [];
  const problems: Problem[] = [];
  for (const item of stored) {
    const key = identity.keyOf(item.row);
    const known = told.get(key);
    const found = hashedRow(item, identity);
    if (known === undefined) {
      told.set(key, { kept: found, said: found });
    } else if (known.said.batch === found.batch) {
      if (jcs(known.said.row) !== jcs(found.row)) problems.push(conflict(known.said, found));
    } else if (isRepeat(known.kept, found)) {
      told.set(key, { kept: disclosed(known.kept, found), said: found });
    } else {
      revised.push(known.kept);
      told.set(key, { kept: found, said: found });
    }
  }
  const inOrder = [...told].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { kept }]) => kept);
  return { kept: inOrder, revised, problems };
}

function hashedRow<Row extends OriginRow>(
  item: StoredRow<Row>,
  identity: Identity<Row>,
): HashedRow<Row> {
  const core = rosterCore(identity.kind, identity.factsOf(item.row));
  return { ...item, core, record_hash: item.row.imported === true ? null : rowHash(core) };
}

/** The same facts again; a row that was never hashed gives way to one that is. */
function isRepeat(known: HashedRow, found: HashedRow): boolean {
  const hashed = known.record_hash !== null || found.record_hash === null;
  return hashed && rowHash(known.core) === rowHash(found.core);
}

/** The first collection with what its newest repeat says beside the facts: names, grades, notes. Nothing of that is hashed. */
function disclosed<Row extends OriginRow>(
  kept: HashedRow<Row>,
  newest: HashedRow<Row>,
): HashedRow<Row> {
  // An import without hashes tells nothing about a row that has one.
  if (newest.record_hash !== kept.record_hash) return kept;
  const { collected_at, evidence } = kept.row;
  return { ...kept, row: { ...newest.row, collected_at, evidence } };
}

function conflict(known: StoredRow<unknown>, found: StoredRow<unknown>): Problem {
  const message = `differs from line ${known.line} of "${known.file}" about the same subject; keep one of them`;
  return { code: 'conflict', file: found.file, line: found.line, message };
}

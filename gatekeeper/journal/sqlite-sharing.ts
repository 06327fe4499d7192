import { setTimeout as pause } from 'node:timers/promises';
import type Database from 'libsql';
import { z } from 'zod';
import type { Journal, PaymentBinding, SharedJournal } from '../money/journal.ts';
import type { GroupCommit } from './group-commit.ts';
import type { LivingHolders } from './living-holders.ts';

/** Keys that are read at once. */
const ROWS = 10_000;
/** Looks at a payment that another process asks for at this moment, and the time between two of them. */
const TAKE_TRIES = 20;
const TAKE_PAUSE_MS = 100;

const UNRESOLVED = `
SELECT id AS place, key, holder FROM payment
WHERE state <> 'settled' AND state IN ('settling', 'unknown') AND id > ? ORDER BY id LIMIT ?`;
const HELD = `
SELECT holder FROM payment WHERE key = ? AND resource = ? AND signed = ? AND state IN ('settling', 'unknown')`;
const TAKE = `UPDATE payment SET holder = ?
WHERE key = ? AND resource = ? AND signed = ? AND state IN ('settling', 'unknown') AND holder IS ?`;
const NEWEST_PLACE = 'SELECT coalesce(max(id), 0) AS place FROM payment';
const NEW_KEYS = 'SELECT id AS place, key FROM payment WHERE id > ? ORDER BY id LIMIT ?';

const openRow = z.object({ place: z.number(), key: z.string(), holder: z.string().nullable() });
const heldRow = z.object({ holder: z.string().nullable() });
const placeRow = z.object({ place: z.number() });
const newRow = z.object({ place: z.number(), key: z.string() });
const dataVersionRow = z.object({ data_version: z.number() });

/** Runs what no other process may do at the same time. */
export function aloneIn<T>(db: Database.Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    return work();
  } finally {
    db.exec('ROLLBACK');
  }
}

/** Open payments that nobody else asks for at this moment; each process is looked at once. */
export function freePayments(db: Database.Database, holders: LivingHolders): Journal['unresolved'] {
  const unresolved = db.prepare(UNRESOLVED);
  return async (after, limit) => {
    const others = new Map<string, boolean>();
    const isFree = (holder: string | null): boolean => {
      if (holder === null || holder === holders.own) return true;
      const isAlive = others.get(holder) ?? holders.isAlive(holder);
      others.set(holder, isAlive);
      return !isAlive;
    };
    const rows = unresolved.all([after, limit]).map((row) => openRow.parse(row));
    return rows.flatMap(({ place, key, holder }) => (isFree(holder) ? [{ place, key }] : []));
  };
}

/** Takes an open payment that nobody else asks for; waits a little for one who does. */
export function taker(
  db: Database.Database,
  commit: GroupCommit,
  holders: LivingHolders,
): SharedJournal['take'] {
  const held = db.prepare(HELD);
  const take = db.prepare(TAKE);
  const { own } = holders;
  /** Null while another process that lives asks. */
  const taken = async (key: string, { resource, signed }: PaymentBinding) => {
    const row = held.get([key, resource, signed]);
    if (row === undefined) return false;
    const { holder } = heldRow.parse(row);
    if (holder !== null && holder !== own && holders.isAlive(holder)) return null;
    const values = [own, key, resource, signed, holder];
    const changes = await commit.run(() => take.run(values).changes);
    return changes === 1 ? true : null;
  };
  return async (key, bound) => {
    for (let tries = 1; tries <= TAKE_TRIES; tries += 1) {
      const isTaken = await taken(key, bound);
      if (isTaken !== null) return isTaken;
      await pause(TAKE_PAUSE_MS);
    }
    return false;
  };
}

/** Reads the rows behind those that it has seen, when another process wrote something. */
export function follower(db: Database.Database, add: (key: string) => void): () => void {
  const dataVersion = db.prepare('PRAGMA data_version');
  const fresh = db.prepare(NEW_KEYS);
  let { place } = placeRow.parse(db.prepare(NEWEST_PLACE).get());
  let seen = 0;
  return () => {
    const { data_version } = dataVersionRow.parse(dataVersion.get());
    if (data_version === seen) return;
    seen = data_version;
    for (let isMore = true; isMore; ) {
      const rows = fresh.all([place, ROWS]).map((row) => newRow.parse(row));
      for (const row of rows) add(row.key);
      place = rows.at(-1)?.place ?? place;
      isMore = rows.length === ROWS;
    }
  };
}

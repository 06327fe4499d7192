import type Database from 'libsql';
import { z } from 'zod';
import { clockIsBehind } from '../money/clock-guard.ts';

/** Rows at the end of the journal that are looked at for its newest time. */
const NEWEST_ROWS = 1000;

// What stands before an accepted clock was noted by a wrong one, and says nothing about the time.
const NEWEST = `
WITH accepted AS (SELECT at, payment_id FROM accepted_clock ORDER BY id DESC LIMIT 1)
SELECT max(coalesce((SELECT at FROM accepted), 0), coalesce(max(created_at), 0), coalesce(max(settled_at), 0)) AS ms
FROM (SELECT created_at, settled_at FROM payment
  WHERE id > coalesce((SELECT payment_id FROM accepted), 0) ORDER BY id DESC LIMIT ?)`;
const AHEAD = 'SELECT count(*) AS n FROM payment WHERE created_at > ?1 OR settled_at > ?1';
const ACCEPT = `
INSERT INTO accepted_clock(at, newest, payment_id) SELECT ?, ?, coalesce(max(id), 0) FROM payment`;

const newestRow = z.object({ ms: z.number() });
const countRow = z.object({ n: z.number() });

/** The newest time that counts, in milliseconds since the epoch; 0 when there is none. */
export function newestTime(db: Database.Database): number {
  return newestRow.parse(db.prepare(NEWEST).get([NEWEST_ROWS])).ms;
}

/** Times of the journal that were set aside. */
export interface AcceptedClock {
  readonly newestMs: number;
  /** Payments that were noted with times ahead of the accepted clock; they stay as they are. */
  readonly payments: number;
}

/** Sets aside the times that a clock which ran ahead left behind; null if no time in the journal blocks payments. */
export function acceptClock(db: Database.Database, nowMs: number): AcceptedClock | null {
  const newestMs = newestTime(db);
  if (!clockIsBehind(nowMs, newestMs)) return null;
  db.pragma('synchronous = FULL');
  db.prepare(ACCEPT).run([nowMs, newestMs]);
  return { newestMs, payments: countRow.parse(db.prepare(AHEAD).get([nowMs])).n };
}

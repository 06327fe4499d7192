import type Database from 'libsql';
import { z } from 'zod';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import { clockIsBehind } from '../money/clock-guard.ts';
import {
  type Conclusion,
  DEAD_AFTER_S,
  JOURNAL_RETENTION_DAYS,
  type Journal,
  type JournalEntry,
  OPEN_COUNTED_MAX,
  type PaymentState,
} from '../money/journal.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { newestTime } from './accepted-clock.ts';
import { BodyStore, PURGE_INTERVAL_MS, PURGE_ROWS_MAX } from './body-store.ts';
import { GroupCommit } from './group-commit.ts';
import {
  ACCOUNT,
  clientSecret,
  IS_UNFINAL,
  openJournalFile,
  tokenRow,
  tokensIn,
} from './journal-file.ts';
import {
  type ClaimValues,
  claimValues,
  entryOf,
  KNOWN_COLUMNS,
  knownOf,
  reviewsOf,
  reviewValues,
} from './journal-row.ts';
import { KeyFilter } from './key-filter.ts';
import { livingHolders } from './living-holders.ts';
import { aloneIn, follower, freePayments, taker as openTaker } from './sqlite-sharing.ts';

/** Transactions that are remembered until their payments are concluded for sure. */
const TAKEN_MAX = 10_000;
/** Keys that are read at once while the filter is filled. */
const FILTER_ROWS = 10_000;

// Nothing is claimed for a body that is not stored, or would be cleaned up too early.
const CLAIM = `
INSERT INTO payment(key, state, resource, version, signed, value, valid_before, body, content_type, created_at,
  holder, identifier, usd, client, claim_block)
SELECT ?1, 'settling', ?2, ?3, ?4, ?5, ?6, sha256, ?7, ?8, ?9, ?12, ?13, ?14, ?15 FROM body WHERE sha256 = ?10 AND purge_at >= ?11
  AND NOT EXISTS (SELECT 1 FROM payment AS other WHERE other.identifier = ?12 AND other.state <> 'refused')
ON CONFLICT(key) DO UPDATE SET state = 'settling', resource = excluded.resource, version = excluded.version,
  signed = excluded.signed, value = excluded.value, valid_before = excluded.valid_before, body = excluded.body,
  content_type = excluded.content_type, detail = NULL, created_at = excluded.created_at,
  holder = excluded.holder, identifier = excluded.identifier, usd = excluded.usd, client = excluded.client,
  claim_block = excluded.claim_block
WHERE payment.state = 'refused'`;
// What is settled stays settled, whatever a late answer says.
const CONCLUDE = `
UPDATE payment SET state = ?, tx = ?, detail = ?, settled_at = ?, waiting_since = ?, holder = NULL WHERE key = ? AND state IN ('settling', 'unknown')`;
const FIND = `
SELECT payment.*, body.encoding, body.bytes FROM payment LEFT JOIN body ON body.sha256 = payment.body WHERE key = ?`;
const BOUND = `SELECT ${KNOWN_COLUMNS} FROM payment WHERE key = ? AND state <> 'refused'`;
const IDENTIFIED = `
SELECT key FROM payment WHERE identifier = ? AND identifier IS NOT NULL AND state <> 'refused'`;
const SALE = `
SELECT id, key FROM payment WHERE ${ACCOUNT} = ? AND resource = ? AND state = 'settled' ORDER BY id DESC LIMIT 1`;
/** Asked about everybody who never paid before, so by an index alone. */
export const SETTLED = `SELECT 1 FROM payment WHERE ${ACCOUNT} = ? AND state = 'settled' LIMIT 1`;
const FORGET_USED =
  'DELETE FROM used_message WHERE message IN (SELECT message FROM used_message WHERE until < ? LIMIT ?)';
const USE = 'INSERT INTO used_message(message, until) VALUES(?, ?) ON CONFLICT DO NOTHING';
const OPEN_OF = `
SELECT COUNT(*) AS payments, MIN(created_at) AS oldest FROM (
  SELECT created_at FROM payment WHERE state = ? AND state <> 'settled' ORDER BY id LIMIT ?)`;
const OTHER_OF =
  'SELECT 1 FROM payment WHERE lower(tx) = ? AND tx IS NOT NULL AND key <> ? LIMIT 1';
const REVIEWS = reviewsOf('payment', ['?1', '?2']);
const UNFINAL = `
SELECT id AS place, key FROM payment WHERE ${IS_UNFINAL} AND id > ? AND settled_at < ? ORDER BY id LIMIT ?`;
const KEYS = 'SELECT key FROM payment WHERE key > ? ORDER BY key LIMIT ?';
// A refusal is forgotten as soon as the token itself cannot take the authorization any more.
const FORGET = `
DELETE FROM payment WHERE id IN (
  SELECT id FROM payment
  WHERE state = 'refused' AND state <> 'settled' AND refund_from IS NULL AND created_at < ? AND valid_before < ? LIMIT ?)`;
const DELIVERED = 'UPDATE payment SET waiting_since = NULL WHERE key = ?';

const keyRow = z.object({ key: z.string() });
const openRow = z.object({ place: z.number(), key: z.string() });
const saleRow = z.object({ id: z.number(), key: z.string() });
const summaryRow = z.object({ payments: z.number(), oldest: z.number().nullable() });
/** Where the journal lies and what time it is there. */
interface SqliteJournalOptions {
  /** File of the database; `-wal` and `-shm` appear beside it. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** A time that has certainly come, by which what is old is deleted; null while nobody can tell, which it is without it. */
  readonly passedMs?: () => number | null;
  /** Told how long each sync of the disk took, in milliseconds. */
  readonly onSync?: (ms: number) => void;
}

/** A journal in one SQLite file: what is written at once shares one transaction, and one sync of the disk. */
export function sqliteJournal(options: SqliteJournalOptions): Journal & { close(): void } {
  const { path, clock, passedMs = () => null } = options;
  const db = openJournalFile(path);
  const { holders, secret } = aloneIn(db, () => {
    return { holders: livingHolders(path), secret: clientSecret(path) };
  });
  const commit = new GroupCommit({ ...options, db, walPath: `${path}-wal` });
  const filter = filledFilter(db);
  const read = reader(db);
  const conclude = db.prepare(CONCLUDE);
  const bodies = new BodyStore(db);
  const claimer = new SqliteClaims(db, bodies, holders.own);
  const purge = purger(db, bodies, passedMs);
  let newest = newestTime(db);
  return {
    secret,
    find: async (key) => (filter.mayHave(key) ? read(key) : null),
    async findOnDisk(key) {
      const entry = read(key);
      if (entry !== null) filter.add(key);
      return entry;
    },
    ...foundIn(db, filter),
    useOnce: messageUser(db, commit, clock),
    async claim(claim) {
      const now = clock();
      const values = claimValues(claim, now);
      // Known from here on, also when another process holds the key and this claim is refused.
      filter.add(claim.key);
      const claimed = await commit.run(() => claimer.claim(values, claim.body));
      newest = Math.max(newest, now);
      purge();
      return claimed;
    },
    takeTransaction: taker(db),
    async conclude(conclusion: Conclusion) {
      const now = clock();
      const values = endValues(conclusion, now);
      const changes = await commit.run(() => conclude.run(values).changes);
      if (changes !== 1)
        throw new Error(`Cannot conclude payment "${conclusion.key}": not open in the journal`);
      newest = Math.max(newest, now);
    },
    unresolved: freePayments(db, holders),
    ...reviewer(db, commit, clock),
    shared: { learn: async () => filter.follow(), take: openTaker(db, commit, holders) },
    citations: async (digits) => bodies.citations(digits),
    newestMs() {
      // A clock that the operator accepted meanwhile counts from now on.
      if (clockIsBehind(clock(), newest)) newest = newestTime(db);
      return newest;
    },
    close() {
      filter.stop();
      for (const part of [commit, db, holders]) part.close();
    },
  };
}

/** What is open, and what is settled until its transfer is there for good. */
function reviewer(
  db: Database.Database,
  commit: GroupCommit,
  clock: () => number,
): Pick<Journal, 'openPayments' | 'unfinal' | 'review' | 'delivered'> {
  const delivered = db.prepare(DELIVERED);
  const unfinal = db.prepare(UNFINAL);
  const reviews = {
    final: db.prepare(REVIEWS.final),
    moved: db.prepare(REVIEWS.moved),
    gone: db.prepare(REVIEWS.gone),
  };
  return {
    openPayments: openCounter(db),
    async delivered(key) {
      await commit.run(() => delivered.run([key]));
    },
    unfinal: async (after, limit, beforeMs) =>
      unfinal.all([after, beforeMs, limit]).map((row) => openRow.parse(row)),
    async review(review) {
      const values = reviewValues(review, clock());
      await commit.run(() => reviews[review.state].run([...values]));
    },
  };
}

/** What CONCLUDE is given. */
function endValues(
  { key, state, transaction, detail, settledMs, isWaiting }: Conclusion,
  now: number,
): (string | number | null)[] {
  const settledAt = state === 'settled' ? (settledMs ?? now) : null;
  const waitingSince = isWaiting === true ? settledAt : null;
  return [state, transaction ?? null, detail ?? null, settledAt, waitingSince, key];
}

class SqliteClaims {
  readonly #insert: Database.Statement;
  readonly #bodies: BodyStore;
  readonly #own: string;

  constructor(db: Database.Database, bodies: BodyStore, own: string) {
    this.#insert = db.prepare(CLAIM);
    this.#bodies = bodies;
    this.#own = own;
  }

  /** Most bodies are there already, so they are sent to the database only when the claim finds none. */
  claim({ row, sha256, purgeAt, more }: ClaimValues, body: Buffer): boolean {
    const values = [...row, this.#own, sha256, purgeAt, ...more];
    const insert = (): boolean => this.#insert.run(values).changes === 1;
    if (insert()) return true;
    this.#bodies.keep(sha256, body, purgeAt);
    return insert();
  }
}

interface FilledFilter {
  add(key: string): void;
  mayHave(key: string): boolean;
  /** Learns the keys that other processes noted since the last call. */
  follow(): void;
  stop(): void;
}

/** Reads the known keys in pieces, so that a large ledger does not hold up the start; until then every key may be known. */
function filledFilter(db: Database.Database): FilledFilter {
  const keys = new KeyFilter();
  const follow = follower(db, (key) => keys.add(key));
  const statement = db.prepare(KEYS);
  let after: string | null = '';
  const fill = (): void => {
    if (after === null) return;
    const rows = statement.all([after, FILTER_ROWS]).map((row) => keyRow.parse(row).key);
    for (const key of rows) keys.add(key);
    after = rows.length < FILTER_ROWS ? null : (rows.at(-1) ?? null);
    if (after !== null) setImmediate(fill);
  };
  fill();
  return {
    add: (key) => keys.add(key),
    mayHave: (key) => after !== null || keys.mayHave(key),
    follow,
    stop: () => {
      after = null;
    },
  };
}

function purger(
  db: Database.Database,
  bodies: BodyStore,
  passedMs: () => number | null,
): () => void {
  const forget = db.prepare(FORGET);
  let last = passedMs() ?? 0;
  return () => {
    const now = passedMs();
    if (now === null || Math.abs(now - last) < PURGE_INTERVAL_MS) return;
    last = now;
    try {
      bodies.purge(now);
      const dead = Math.floor(now / 1000) - DEAD_AFTER_S;
      forget.run([now - JOURNAL_RETENTION_DAYS * DAY_MS, dead, PURGE_ROWS_MAX]);
    } catch {
      // Old rows may wait for the next clean-up; payments may not.
    }
  };
}

/** Payments are concluded a moment after their transaction was taken, so both the disk and the memory are asked. */
function taker(db: Database.Database): Journal['takeTransaction'] {
  const otherOf = db.prepare(OTHER_OF);
  const taken = new BoundedMap<string, string>(TAKEN_MAX);
  return async (key, named) => {
    const transaction = named.toLowerCase();
    const isOthers = (taken.get(transaction) ?? key) !== key;
    if (isOthers || otherOf.get([transaction, key]) !== undefined) return false;
    taken.set(transaction, key);
    return true;
  };
}

/** What is known of payments without their answers. */
function foundIn(
  db: Database.Database,
  filter: FilledFilter,
): Pick<Journal, 'tokens' | 'bindingOf' | 'identifiedKey' | 'soldTo' | 'hasSettled'> {
  const tokens = db.prepare(tokensIn('payment')).all([]);
  const bound = db.prepare(BOUND);
  const identified = db.prepare(IDENTIFIED);
  const sale = db.prepare(SALE);
  const settled = db.prepare(SETTLED);
  return {
    tokens: tokens.map((row) => tokenRow.parse(row).token),
    bindingOf(key) {
      const row = filter.mayHave(key) ? bound.get([key]) : undefined;
      return row === undefined ? null : knownOf(row);
    },
    async identifiedKey(identifier) {
      const row = identified.get([identifier]);
      return row === undefined ? null : keyRow.parse(row).key;
    },
    async soldTo(accounts, resource) {
      const rows = accounts.flatMap((account) => sale.all([account, resource]));
      const sales = rows.map((row) => saleRow.parse(row));
      return sales.sort((left, right) => right.id - left.id)[0]?.key ?? null;
    },
    hasSettled: async (account) => settled.get([account]) !== undefined,
  };
}

function messageUser(
  db: Database.Database,
  commit: GroupCommit,
  clock: () => number,
): Journal['useOnce'] {
  const [forget, use] = [db.prepare(FORGET_USED), db.prepare(USE)];
  return (message, untilMs) =>
    commit.run(() => {
      forget.run([clock(), PURGE_ROWS_MAX]);
      return use.run([message, untilMs]).changes === 1;
    });
}

function openCounter(db: Database.Database): Journal['openPayments'] {
  const select = db.prepare(OPEN_OF);
  const of = (state: PaymentState): z.infer<typeof summaryRow> =>
    summaryRow.parse(select.get([state, OPEN_COUNTED_MAX]));
  return async () => {
    const [settling, unknown] = [of('settling'), of('unknown')];
    const times = [settling.oldest, unknown.oldest].filter((at) => at !== null);
    return {
      settling: settling.payments,
      unknown: unknown.payments,
      oldestMs: times.length === 0 ? null : Math.min(...times),
    };
  };
}

function reader(db: Database.Database): (key: string) => JournalEntry | null {
  const find = db.prepare(FIND);
  return (key) => {
    const row = find.get([key]);
    return row === undefined ? null : entryOf(row);
  };
}

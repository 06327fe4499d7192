import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import { z } from 'zod';
import { isCode } from '../../../compiler/format/errors.ts';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import { clockIsBehind } from '../../settle/clock-guard.ts';
import {
  type Conclusion,
  DEAD_AFTER_S,
  JOURNAL_RETENTION_DAYS,
  type Journal,
  type JournalEntry,
  OPEN_COUNTED_MAX,
  type PaymentBinding,
  type PaymentState,
  type SharedJournal,
} from '../../settle/journal.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { GroupCommit } from './group-commit.ts';
import {
  ACCOUNT,
  clientSecret,
  IS_UNFINAL,
  newestTime,
  openJournalFile,
  tokenRow,
  tokensIn,
} from './journal-file.ts';
import {
  BodyStore,
  type ClaimValues,
  claimValues,
  entryOf,
  KNOWN_COLUMNS,
  knownOf,
  PURGE_INTERVAL_MS,
  PURGE_ROWS_MAX,
  reviewsOf,
  reviewValues,
  summaryOf,
} from './journal-row.ts';

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
/** A journal in one SQLite file: what is written at once shares one transaction, and one sync of the disk. */
export function sqliteJournal(options: {
  path: string;
  clock: () => number;
  passedMs?: () => number | null;
  onSync?: (ms: number) => void;
}): Journal & { close(): void } {
  const { path, clock, passedMs = () => null } = options;
  const db = openJournalFile(path);
  const { holders, secret } = aloneIn(db, () => {
    return { holders: livingHolders(path), secret: clientSecret(path) };
  });
  const commit = new GroupCommit({ ...options, db, walPath: `${path}-wal` });
  const filter = filledFilter(db);
  const [find, conclude] = [db.prepare(FIND), db.prepare(CONCLUDE)];
  const [forgetUsed, use] = [db.prepare(FORGET_USED), db.prepare(USE)];
  const read = (key: string): JournalEntry | null => {
    const row = find.get([key]);
    return row === undefined ? null : entryOf(row);
  };
  const bodies = new BodyStore(db);
  const insert = claimer(db, bodies, holders.own);
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
    useOnce: (message, untilMs) =>
      commit.run(() => {
        // By a time that has certainly come: what is forgotten works again.
        forgetUsed.run([passedMs() ?? 0, PURGE_ROWS_MAX]);
        return use.run([message, untilMs]).changes === 1;
      }),
    async claim(claim) {
      const now = clock();
      const values = claimValues(claim, now);
      // Known from here on, also when another process holds the key and this claim is refused.
      filter.add(claim.key);
      const claimed = await commit.run(() => insert(values, claim.body));
      newest = Math.max(newest, now);
      purge();
      return claimed;
    },
    takeTransaction: transactionTaker(db),
    async conclude(conclusion: Conclusion) {
      const now = clock();
      const { key, state, transaction = null, detail = null, settledMs = now } = conclusion;
      const settledAt = state === 'settled' ? settledMs : null;
      const waitingSince = conclusion.isWaiting === true ? settledAt : null;
      const values = [state, transaction, detail, settledAt, waitingSince, key];
      const changes = await commit.run(() => conclude.run(values).changes);
      if (changes !== 1)
        throw new Error(`Cannot conclude payment "${key}": not open in the journal`);
      newest = Math.max(newest, now);
    },
    unresolved: freePayments(db, holders),
    ...reviewer(db, commit, clock),
    shared: { learn: async () => filter.follow(), take: taker(db, commit, holders) },
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

function reviewer(
  db: Database.Database,
  commit: GroupCommit,
  clock: () => number,
): Pick<Journal, 'openPayments' | 'unfinal' | 'review' | 'delivered'> {
  const [delivered, openOf] = [db.prepare(DELIVERED), db.prepare(OPEN_OF)];
  const unfinal = db.prepare(UNFINAL);
  const reviews = {
    final: db.prepare(REVIEWS.final),
    moved: db.prepare(REVIEWS.moved),
    gone: db.prepare(REVIEWS.gone),
  };
  return {
    async openPayments() {
      const of = (state: PaymentState): unknown => openOf.get([state, OPEN_COUNTED_MAX]);
      return summaryOf(of('settling'), of('unknown'));
    },
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

/** Most bodies are there already, so they are sent to the database only when the claim finds none. */
function claimer(db: Database.Database, bodies: BodyStore, own: string) {
  const statement = db.prepare(CLAIM);
  return ({ row, sha256, purgeAt, more }: ClaimValues, body: Buffer): boolean => {
    const values = [...row, own, sha256, purgeAt, ...more];
    const insert = (): boolean => statement.run(values).changes === 1;
    if (insert()) return true;
    bodies.keep(sha256, body, purgeAt);
    return insert();
  };
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
function transactionTaker(db: Database.Database): Journal['takeTransaction'] {
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

/** Bits of the filter: 8 MB, and one useless look-up in a thousand new payments at 60,000 known ones. */
const BITS_LOG2 = 26;
const HEX_DIGITS = 7;
const MASK = 2 ** BITS_LOG2 - 1;
/** Bits of a page: 64 KB. */
const PAGE_LOG2 = 19;
const PAGE_MASK = 2 ** PAGE_LOG2 - 1;

/** Which keys cannot be known: most are new, and each look-up costs more than the other checks. No false negatives. */
export class KeyFilter {
  /** Each is made with the first key of it, so that a young journal takes no memory. */
  readonly #pages: (Uint8Array | undefined)[] = [];

  add(key: string): void {
    const bit = bitOf(key);
    const page = this.#pages[bit >>> PAGE_LOG2] ?? new Uint8Array(2 ** (PAGE_LOG2 - 3));
    this.#pages[bit >>> PAGE_LOG2] = page;
    const at = (bit & PAGE_MASK) >>> 3;
    page[at] = (page[at] ?? 0) | (1 << (bit & 7));
  }

  mayHave(key: string): boolean {
    const bit = bitOf(key);
    const byte = this.#pages[bit >>> PAGE_LOG2]?.[(bit & PAGE_MASK) >>> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }
}

/** Keys end with the nonce, which is random hex; any other ending shares a bit. */
function bitOf(key: string): number {
  const bits = Number.parseInt(key.slice(-HEX_DIGITS), 16);
  return Number.isNaN(bits) ? 0 : bits & MASK;
}

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

const unresolvedRow = z.object({
  place: z.number(),
  key: z.string(),
  holder: z.string().nullable(),
});
const heldRow = z.object({ holder: z.string().nullable() });
const placeRow = z.object({ place: z.number() });
const newRow = z.object({ place: z.number(), key: z.string() });
const dataVersionRow = z.object({ data_version: z.number() });

/** Runs what no other process may do at the same time. */
function aloneIn<T>(db: Database.Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    return work();
  } finally {
    db.exec('ROLLBACK');
  }
}

/** Open payments that nobody else asks for at this moment; each process is looked at once. */
function freePayments(db: Database.Database, holders: LivingHolders): Journal['unresolved'] {
  const unresolved = db.prepare(UNRESOLVED);
  return async (after, limit) => {
    const others = new Map<string, boolean>();
    const isFree = (holder: string | null): boolean => {
      if (holder === null || holder === holders.own) return true;
      const isAlive = others.get(holder) ?? holders.isAlive(holder);
      others.set(holder, isAlive);
      return !isAlive;
    };
    const rows = unresolved.all([after, limit]).map((row) => unresolvedRow.parse(row));
    return rows.flatMap(({ place, key, holder }) => (isFree(holder) ? [{ place, key }] : []));
  };
}

/** Takes an open payment that nobody else asks for; waits a little for one who does. */
function taker(
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
function follower(db: Database.Database, add: (key: string) => void): () => void {
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

const NAME_BYTES = 8;

/**
 * Processes that use one journal file. Each of them locks a small file of its own for as long as it lives; the system
 * frees the lock when the process ends, however it ends. So a payment that is open is told from one that was left open,
 * and no clock is asked.
 */
interface LivingHolders {
  /** Name of this process in the rows of the journal. */
  readonly own: string;
  isAlive(holder: string): boolean;
  close(): void;
}

/** Takes a lock beside the journal; the caller must keep others from doing so at the same time. */
export function livingHolders(journalPath: string): LivingHolders {
  const prefix = `${journalPath}-holder-`;
  const start = basename(prefix);
  const names = readdirSync(dirname(prefix)).filter((name) => name.startsWith(start));
  for (const name of names.map((own) => own.slice(start.length))) {
    // What SQLite itself puts beside such a file belongs to it.
    if (/^[0-9a-f]+$/.test(name) && !isLocked(prefix + name)) rmSync(prefix + name);
  }
  const own = randomBytes(NAME_BYTES).toString('hex');
  const lock = new Database(prefix + own, { timeout: 0 });
  lock.exec('BEGIN EXCLUSIVE');
  return {
    own,
    isAlive: (holder) => holder === own || isLocked(prefix + holder),
    close() {
      lock.close();
      for (const side of ['', '-journal']) rmSync(prefix + own + side, { force: true });
    },
  };
}

/** Whether another connection holds the lock of a file; a file that is gone has no holder. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const lock = new Database(path, { timeout: 0, fileMustExist: true });
  try {
    lock.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    if (isCode(error, 'SQLITE_BUSY')) return true;
    throw error;
  } finally {
    lock.close();
  }
}

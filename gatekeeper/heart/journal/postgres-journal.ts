/**
 * The journal that several gatekeepers share, in PostgreSQL.
 *
 *  - A claim is one row under a unique key, so of all gatekeepers one gets it. Each statement is a transaction of its own,
 *    and PostgreSQL confirms it once it is on the disk (`synchronous_commit`, checked at the start and from then on).
 *  - The row names the session of the gatekeeper that asks for the money (`holder`). As long as that session lives, no
 *    other gatekeeper asks for the same payment. When it ended, the next repeat of the buyer takes the payment over, as
 *    after a crash.
 *  - The answer to a commit may be lost. So a claim is looked up by the random number that it was written with before
 *    anybody is told how it went, and a conclusion may be written twice.
 *  - While the database cannot be reached, claims fail after a few seconds and nobody is asked for money. A settlement
 *    that could not be noted is kept in memory (`keepingSettlements()`); a payment that could not be let go is let go later.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import { clockIsBehind } from '../../settle/clock-guard.ts';
import {
  type Claim,
  type Conclusion,
  DEAD_AFTER_S,
  JOURNAL_RETENTION_DAYS,
  type Journal,
  type JournalEntry,
  type KnownPayment,
  OPEN_COUNTED_MAX,
  type OpenSummary,
  type PaymentBinding,
  type PaymentState,
  type Review,
} from '../../settle/journal.ts';
import { BoundedMap } from '../../wire/maps.ts';
import type { Trouble } from '../../wire/service-state.ts';
import {
  ACCOUNT,
  atMost,
  connectionOptions,
  newestAmong,
  POOL_CONNECTIONS,
  persistently,
  storable,
} from './connection.ts';
import { IS_UNFINAL, tokenRow, tokensIn } from './journal-file.ts';
import {
  bodyRow,
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
import { LOCK_PURGE, Session } from './session.ts';

const IDLE_MS = 60_000;
/** Bindings that are remembered, so that repeats are told from new payments without a look at the database. */
const BINDINGS_MAX = 10_000;
/** Of what hashes of network addresses are made with. */
const SECRET_BYTES = 32;
const HELD_MAX = 10_000;
/** Rows at the end of the journal that each claim looks at, so that it learns the times of other gatekeepers. */
const CLAIM_NEWEST_ROWS = 16;
/** Looks at a payment that another gatekeeper asks for, and the wait between two of them. */
const TAKE_TRIES = 10;
const TAKE_PAUSE_MS = 200;
/** Time after which a transaction that was taken stands in its payment for sure. */
const TAKEN_MS = 3_600_000;

const CLAIM = `
INSERT INTO signalpress.payment AS known
  (key, state, resource, version, signed, value, valid_before, body, content_type, created_at, holder, claim,
    identifier, usd, client, claim_block)
SELECT $1, 'settling', $2, $3, $4, $5, $6, sha256, $7, $8, $9, $10, $13, $14, $15, $16
FROM signalpress.body WHERE sha256 = $11 AND purge_at >= $12
ON CONFLICT (key) DO UPDATE SET state = 'settling', resource = excluded.resource, version = excluded.version,
  signed = excluded.signed, value = excluded.value, valid_before = excluded.valid_before, body = excluded.body,
  content_type = excluded.content_type, detail = NULL, created_at = excluded.created_at,
  holder = excluded.holder, claim = excluded.claim, identifier = excluded.identifier, usd = excluded.usd,
  client = excluded.client, claim_block = excluded.claim_block
WHERE known.state = 'refused' AND known.claim <> excluded.claim
RETURNING (${newestAmong(`${CLAIM_NEWEST_ROWS}`)}) AS ms`;
// A claim of our own whose answer was lost; the session may be another one by now.
const OWN = `
UPDATE signalpress.payment SET holder = $3
WHERE key = $1 AND claim = $2 AND state = 'settling' AND holder = ANY($4::integer[])`;
const KEEP = `
INSERT INTO signalpress.body AS known (sha256, encoding, bytes, purge_at, citation_hash, citation)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (sha256) DO UPDATE SET purge_at = excluded.purge_at WHERE known.purge_at < excluded.purge_at`;
/** Nobody holds the row, or we do, or somebody whose session ended. */
const isFree = (numbers: string, lockClass: string): string => `
(holder IS NULL OR holder = ANY(${numbers}::integer[]) OR pg_try_advisory_xact_lock_shared(${lockClass}::integer, holder))`;
// What is settled stays settled. A refusal counts only from whoever asks: another one may be asking meanwhile. That of a
// first call counts only while the row is as it was claimed: who took it since has left a call behind.
const CONCLUDE = `
UPDATE signalpress.payment SET state = $2, tx = $3, detail = $4, settled_at = $5, waiting_since = $9, holder = NULL
WHERE key = $1 AND state IN ('settling', 'unknown') AND ($2 = 'settled' OR ${isFree('$6', '$7')})
  AND (NOT $8::boolean OR (state = 'settling' AND holder = ANY($6::integer[])))`;
const DELIVERED = 'UPDATE signalpress.payment SET waiting_since = NULL WHERE key = $1';
const ENDED = 'SELECT state, tx FROM signalpress.payment WHERE key = $1';
const FIND = `
SELECT payment.*, body.encoding, body.bytes
FROM signalpress.payment LEFT JOIN signalpress.body ON body.sha256 = payment.body WHERE key = $1`;
const BOUND = `SELECT ${KNOWN_COLUMNS} FROM signalpress.payment WHERE key = $1 AND state <> 'refused'`;
const IDENTIFIED = `
SELECT key FROM signalpress.payment WHERE identifier = $1 AND identifier IS NOT NULL AND state <> 'refused'`;
const SALE = `
SELECT sale.key FROM unnest($1::text[]) AS account CROSS JOIN LATERAL (
  SELECT id, key FROM signalpress.payment
  WHERE (${ACCOUNT}) COLLATE "C" = account AND resource = $2 AND state = 'settled' ORDER BY id DESC LIMIT 1) AS sale
ORDER BY sale.id DESC LIMIT 1`;
const SETTLED = `
SELECT 1 FROM signalpress.payment WHERE (${ACCOUNT}) COLLATE "C" = $1 AND state = 'settled' LIMIT 1`;
const MAKE_SECRET =
  'INSERT INTO signalpress.secret(id, bytes) VALUES (1, $1) ON CONFLICT DO NOTHING';
const SECRET = 'SELECT bytes FROM signalpress.secret WHERE id = 1';
// Its own answer may be lost: then the message is used up, and its client signs another one.
const USE = `
WITH over AS (DELETE FROM signalpress.used_message WHERE message IN (
  SELECT message FROM signalpress.used_message WHERE until < $3 LIMIT $4))
INSERT INTO signalpress.used_message(message, until) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING message`;
const TAKE = `
UPDATE signalpress.payment SET holder = $2
WHERE key = $1 AND state IN ('settling', 'unknown') AND resource = $5 AND signed = $6 AND ${isFree('$3', '$4')}`;
const LET_GO = `
UPDATE signalpress.payment SET holder = NULL
WHERE key = ANY($1::text[]) AND state IN ('settling', 'unknown') AND holder = ANY($2::integer[])`;
const TAKE_TRANSACTION = `
INSERT INTO signalpress.taken_transaction AS known (tx, key) SELECT $1, $2 WHERE NOT EXISTS (
  SELECT 1 FROM signalpress.payment WHERE lower(tx) = $1 AND tx IS NOT NULL AND key <> $2)
ON CONFLICT (tx) DO UPDATE SET key = known.key RETURNING key`;
// Sessions that live hold their lock, and reading who does costs once a pass.
const UNRESOLVED = `
WITH living AS (SELECT objid::bigint::integer AS holder FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND objid::bigint < 2147483648 AND classid::bigint = $4
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
SELECT id AS place, key FROM signalpress.payment
WHERE state <> 'settled' AND state IN ('settling', 'unknown') AND id > $1
  AND (holder IS NULL OR holder = ANY($3::integer[]) OR holder NOT IN (SELECT holder FROM living))
ORDER BY id LIMIT $2`;
const REVIEWS = reviewsOf('signalpress.payment', ['$1', '$2']);
const UNFINAL = `
SELECT id AS place, key FROM signalpress.payment WHERE ${IS_UNFINAL} AND id > $1 AND settled_at < $2 ORDER BY id LIMIT $3`;
const OPEN_OF = `
SELECT count(*) AS payments, min(created_at) AS oldest FROM (
  SELECT created_at FROM signalpress.payment WHERE state = $1 AND state <> 'settled' ORDER BY id LIMIT $2) AS open`;
// Hex digits come before the letter g. Two rows are enough to know that a prefix is ambiguous.
const CITATIONS = `
SELECT DISTINCT ON (citation_hash) citation FROM signalpress.body
WHERE citation_hash >= $1 AND citation_hash < $1 || 'g' ORDER BY citation_hash LIMIT 2`;
const ALONE = '(SELECT pg_try_advisory_xact_lock($1::integer, $2::integer))';
const PURGE = `
DELETE FROM signalpress.body WHERE ${ALONE} AND purge_at < $3 AND sha256 IN (
  SELECT sha256 FROM signalpress.body WHERE purge_at < $3 LIMIT $4)`;
// A refusal is forgotten as soon as the token itself cannot take the authorization any more.
const FORGET = `
DELETE FROM signalpress.payment WHERE ${ALONE} AND state = 'refused' AND id IN (
  SELECT id FROM signalpress.payment
  WHERE state <> 'settled' AND state = 'refused' AND refund_from IS NULL AND created_at < $3 AND valid_before < $4 LIMIT $5)`;
const FORGET_TAKEN = `
DELETE FROM signalpress.taken_transaction WHERE ${ALONE} AND tx IN (
  SELECT taken.tx FROM signalpress.taken_transaction AS taken JOIN signalpress.payment USING (key)
  WHERE lower(payment.tx) = taken.tx AND settled_at < $3 LIMIT $4)`;

const newestRow = z.object({ ms: z.number() });
const secretRow = z.object({ bytes: z.instanceof(Uint8Array) });
const openRow = z.object({ place: z.number(), key: z.string() });
const endedRow = z.object({ state: z.string(), tx: z.string().nullable() });
const keyRow = z.object({ key: z.string() });
const citationRow = z.object({ citation: z.string() });

interface PostgresJournalOptions {
  /** `postgres://…`, with user and password. */
  readonly url: string;
  readonly clock: () => number;
  readonly passedMs?: () => number | null;
  readonly lost: Pick<Trouble, 'begin' | 'end'>;
  /** A file that shows that there was a journal; null for a new shop. */
  readonly trace?: () => string | null;
}

interface PostgresJournal extends Journal {
  /** Whether the database cannot be reached at this moment, so that nothing is claimed. */
  isLost(): boolean;
  close(): Promise<void>;
}

/** Opens the journal and makes its tables; throws what the database said, or a StartError that says what is wrong with it. */
export async function postgresJournal(options: PostgresJournalOptions): Promise<PostgresJournal> {
  const base = new Base(options);
  await base.open();
  const { session } = base;
  const find = async (key: string): Promise<JournalEntry | null> => {
    const [row] = await base.rows(FIND, [key]);
    const entry = row === undefined ? null : entryOf(row);
    remember(base, key, entry === null || entry.state === 'refused' ? null : entry);
    return entry;
  };
  const tokens = await base.rows(tokensIn('signalpress.payment'), []);
  await base.query(MAKE_SECRET, [randomBytes(SECRET_BYTES)]);
  const [kept] = await base.rows(SECRET, []);
  return {
    tokens: tokens.map((row) => tokenRow.parse(row).token),
    secret: secretRow.parse(kept).bytes,
    find,
    findOnDisk: find,
    bindingOf: (key) => base.bindings.get(key) ?? null,
    async identifiedKey(identifier) {
      const [row] = await base.rows(IDENTIFIED, [identifier]);
      return row === undefined ? null : keyRow.parse(row).key;
    },
    async soldTo(accounts, resource) {
      const [row] = await base.rows(SALE, [accounts, resource]);
      return row === undefined ? null : keyRow.parse(row).key;
    },
    hasSettled: async (account) => (await base.rows(SETTLED, [account])).length === 1,
    async useOnce(message, untilMs) {
      // By a time that has certainly come: what is forgotten works again.
      const values = [message, untilMs, base.passedMs() ?? 0, PURGE_ROWS_MAX];
      return (await base.query(USE, values)).rows.length === 1;
    },
    claim: (claim) => base.claim(claim),
    takeTransaction: (key, transaction) => takeTransaction(base, key, transaction.toLowerCase()),
    conclude: (conclusion) => base.conclude(conclusion),
    delivered: (key) => base.delivered(key),
    async unresolved(after, limit) {
      if (!(await session.leads())) return [];
      const values = [after, limit, session.numbers(), session.lockClass() >>> 0];
      return (await base.rows(UNRESOLVED, values)).map((row) => openRow.parse(row));
    },
    async unfinal(after, limit, beforeMs) {
      if (!(await session.leads())) return [];
      const rows = await base.rows(UNFINAL, [after, beforeMs, limit]);
      return rows.map((row) => openRow.parse(row));
    },
    review: (review) => base.review(review),
    openPayments: () => openPayments(base),
    async citations(digits) {
      const rows = await base.rows(CITATIONS, [digits]);
      return rows.map((row) => JSON.parse(citationRow.parse(row).citation));
    },
    newestMs: () => newestMs(base),
    shared: {
      learn: (key) => learn(base, key),
      take: (key, bound) => take(base, key, bound),
    },
    isLost: () => session.isLost(),
    close: () => base.close(),
  };
}

/** The connections, what this process remembers, and what it writes. */
class Base {
  readonly session: Session;
  readonly clock: () => number;
  readonly passedMs: () => number | null;
  readonly bindings = new BoundedMap<string, KnownPayment>(BINDINGS_MAX);
  /** Payments that nobody asks for any more although their rows still name us. */
  readonly held = new Set<string>();
  readonly #pool: pg.Pool;
  readonly #names = new Map<string, string>();
  #refreshing = false;
  #lettingGo: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | null = null;
  #purgedMs: number;

  constructor({ url, clock, passedMs = () => null, ...options }: PostgresJournalOptions) {
    this.clock = clock;
    this.passedMs = passedMs;
    this.#purgedMs = passedMs() ?? 0;
    this.#pool = new pg.Pool({
      ...connectionOptions(url),
      max: POOL_CONNECTIONS,
      idleTimeoutMillis: IDLE_MS,
    });
    // The next query opens another connection.
    this.#pool.on('error', () => {});
    this.session = new Session({
      url,
      ...options,
      atPing: () => this.letGo().catch(() => {}),
    });
  }

  async open(): Promise<void> {
    try {
      await this.session.open();
    } catch (error) {
      await this.#pool.end();
      throw error;
    }
  }

  /** One statement, prepared once a connection; each is a transaction of its own. */
  async query(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    return this.#pool.query({ name: this.#nameOf(text), text, values: [...values] });
  }

  #nameOf(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = `signalpress-${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }

  /** Rows of a statement that only reads, or that may run twice. */
  async rows(text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    return persistently(async () => (await this.query(text, values)).rows);
  }

  /** Notes that nobody here asks for a payment any more, although its row may still say so. */
  leave(key: string): void {
    if (this.held.size < HELD_MAX) this.held.add(key);
  }

  /** Lets go what could not be let go before. */
  async letGo(): Promise<void> {
    if (this.held.size === 0) return;
    const keys = [...this.held];
    this.#lettingGo = this.query(LET_GO, [keys, this.session.numbers()]);
    await this.#lettingGo;
    for (const key of keys) this.held.delete(key);
  }

  /** From here on a payment may be taken again without being let go a moment later. */
  async keepHold(key: string): Promise<void> {
    this.held.delete(key);
    await this.#lettingGo.catch(() => {});
  }

  /** The answer comes with a later question: nobody waits for it. */
  refreshNewest(): void {
    if (this.#refreshing) return;
    this.#refreshing = true;
    const done = (): void => {
      this.#refreshing = false;
    };
    this.session.refresh().then(done, done);
  }

  /** Closes once, however often it is asked. */
  close(): Promise<void> {
    const end = async (): Promise<void> => {
      await atMost(this.letGo().catch(() => {}));
      await this.session.close();
      await atMost(this.#pool.end());
    };
    this.#closing ??= end();
    return this.#closing;
  }

  async claim(claim: Claim): Promise<boolean> {
    const { session, clock, held } = this;
    const now = clock();
    held.delete(claim.key);
    const { row, sha256, purgeAt, more } = claimValues(claim, now);
    const token = randomUUID();
    const write = async (isRetry: boolean): Promise<boolean> => {
      const number = session.number();
      const values = [...row, number, token, sha256, purgeAt, ...more];
      // Most bodies are there already, so they are sent only when the claim finds none.
      if (await this.#insert(values)) return true;
      if (isRetry && (await this.#isOwn(claim.key, token, number))) return true;
      await this.query(KEEP, bodyRow(sha256, claim.body, purgeAt));
      return this.#insert(values);
    };
    const claimed = await persistently(write).catch((error: unknown) => {
      // It may still arrive at the database, where nobody may wait for us to ask for its money.
      this.leave(claim.key);
      throw error;
    });
    session.note(now);
    if (claimed) remember(this, claim.key, { ...claim, settledMs: null });
    this.#purge();
    return claimed;
  }

  async #insert(values: readonly unknown[]): Promise<boolean> {
    const { rows } = await this.query(CLAIM, values).catch(unlessIdentified);
    if (rows.length === 0) return false;
    this.session.note(newestRow.parse(rows[0]).ms);
    return true;
  }

  async #isOwn(key: string, token: string, number: number): Promise<boolean> {
    const values = [key, token, number, this.session.numbers()];
    return (await this.query(OWN, values)).rowCount === 1;
  }

  /** In the background; of several gatekeepers one at a time. */
  #purge(): void {
    const now = this.passedMs();
    if (now === null || Math.abs(now - this.#purgedMs) < PURGE_INTERVAL_MS) return;
    this.#purgedMs = now;
    // Old rows may wait for the next clean-up; payments may not.
    purge(this, now).catch(() => {});
  }

  async conclude(conclusion: Conclusion): Promise<void> {
    const { key, state, transaction, detail, isFirst = false } = conclusion;
    const { session, bindings, clock } = this;
    const now = clock();
    const { settledMs = now, isWaiting = false } = conclusion;
    const waitingMs = state === 'settled' && isWaiting ? settledMs : null;
    const storedDetail = detail === undefined ? null : storable(detail);
    const values = [
      key,
      state,
      transaction ?? null,
      storedDetail,
      state === 'settled' ? settledMs : null,
    ];
    try {
      const isNoted = await persistently(async () => {
        const free = [session.numbers(), session.lockClass(), isFirst];
        const { rowCount } = await this.query(CONCLUDE, [...values, ...free, waitingMs]);
        return rowCount === 1 || this.#isSo(conclusion);
      });
      if (!isNoted) throw new Error(`Cannot conclude payment "${key}": not open in the journal`);
    } catch (error) {
      // Nobody asks for it any more, so nobody else may wait for us.
      this.leave(key);
      throw error;
    }
    session.note(now);
    const known = bindings.get(key);
    if (state === 'refused') bindings.delete(key);
    else if (state === 'settled' && known !== undefined) bindings.set(key, { ...known, settledMs });
  }

  async delivered(key: string): Promise<void> {
    await persistently(() => this.query(DELIVERED, [key]));
  }

  async review(review: Review): Promise<void> {
    const { clock, bindings } = this;
    const values = reviewValues(review, clock());
    await persistently(() => this.query(REVIEWS[review.state], values));
    if (review.state === 'gone') bindings.delete(review.key);
  }

  /** Whether it was noted already: by an attempt whose answer was lost, or by another gatekeeper. */
  async #isSo({ key, state, transaction }: Conclusion): Promise<boolean> {
    const { rows } = await this.query(ENDED, [key]);
    const ended = rows.length === 0 ? null : endedRow.parse(rows[0]);
    return state !== 'unknown' && ended?.state === state && ended.tx === (transaction ?? null);
  }
}

/** Another payment that stands has the identifier: no row. */
function unlessIdentified(error: unknown): Pick<pg.QueryResult, 'rows'> {
  const isTaken = error instanceof pg.DatabaseError && error.constraint === 'payment_identifier';
  if (isTaken) return { rows: [] };
  throw error;
}

async function purge(base: Base, now: number): Promise<void> {
  const alone = [base.session.lockClass(), LOCK_PURGE];
  const retention = now - JOURNAL_RETENTION_DAYS * DAY_MS;
  const dead = Math.floor(now / 1000) - DEAD_AFTER_S;
  await base.query(PURGE, [...alone, now, PURGE_ROWS_MAX]);
  await base.query(FORGET, [...alone, retention, dead, PURGE_ROWS_MAX]);
  await base.query(FORGET_TAKEN, [...alone, now - TAKEN_MS, PURGE_ROWS_MAX]);
}

/** Of all gatekeepers that share the journal. */
async function openPayments(base: Base): Promise<OpenSummary> {
  const of = async (state: PaymentState): Promise<unknown> =>
    (await base.query(OPEN_OF, [state, OPEN_COUNTED_MAX])).rows[0];
  const [settling, unknown] = await Promise.all([of('settling'), of('unknown')]);
  return summaryOf(settling, unknown);
}

async function learn(base: Base, key: string): Promise<void> {
  const [row] = await base.rows(BOUND, [key]);
  remember(base, key, row === undefined ? null : knownOf(row));
}

/** Without its answer, which may be long. */
function remember(
  { bindings }: Base,
  key: string,
  known:
    | (Pick<Claim, 'resource' | 'signed' | 'identifier' | 'client'> & { settledMs: number | null })
    | null,
): void {
  if (known === null) {
    bindings.delete(key);
    return;
  }
  const { resource, signed, identifier = null, client = null, settledMs } = known;
  bindings.set(key, { resource, signed, identifier, client, settledMs });
}

async function take(base: Base, key: string, bound: PaymentBinding): Promise<boolean> {
  await base.keepHold(key);
  for (let tries = 1; ; tries++) {
    const { rowCount } = await persistently(() => {
      const { session } = base;
      const who = [session.number(), session.numbers(), session.lockClass()];
      return base.query(TAKE, [key, ...who, bound.resource, bound.signed]);
    });
    if (rowCount === 1) return true;
    const [row] = await base.rows(ENDED, [key]);
    const isOpen = row !== undefined && ['settling', 'unknown'].includes(endedRow.parse(row).state);
    if (!isOpen || tries === TAKE_TRIES) return false;
    await pause(TAKE_PAUSE_MS);
  }
}

async function takeTransaction(base: Base, key: string, transaction: string): Promise<boolean> {
  const [row] = await base.rows(TAKE_TRANSACTION, [storable(transaction), key]);
  return row !== undefined && keyRow.parse(row).key === key;
}

function newestMs(base: Base): number {
  const newest = base.session.newestMs();
  // A clock that the operator accepted meanwhile counts a moment later.
  if (clockIsBehind(base.clock(), newest)) base.refreshNewest();
  return newest;
}

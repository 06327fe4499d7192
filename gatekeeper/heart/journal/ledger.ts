import { closeSync, openSync, rmSync } from 'node:fs';
import type Database from 'libsql';
import { z } from 'zod';
import { defined } from '../../../compiler/format/errors.ts';
import { usdAmount } from '../../../compiler/products/shapes/price.ts';
import type { ChainHead } from '../../settle/evidence.ts';
import { MAY_BE_OWED } from './journal-file.ts';

/** Longer amounts cannot exist, and none of them ever settles. */
const USD_DIGITS_MAX = 30;
/** Decimal places of an atomic unit of USDC. */
const USD_PLACES = 6;
/** Rows that are read at once: a reader that stays in one place would keep the write-ahead log from shrinking. */
const PAGE_ROWS = 1000;

const ledgerRow = z.object({
  id: z.number(),
  key: z.string(),
  state: z.enum(['settling', 'settled', 'refused', 'unknown']),
  resource: z.string(),
  version: z.number(),
  value: z.string(),
  tx: z.string().nullable(),
  detail: z.string().nullable(),
  created_at: z.number(),
  settled_at: z.number().nullable(),
  // A file that an older version wrote has no such column.
  usd: z.string().nullish(),
  final_at: z.number().nullish(),
  reorganised_at: z.number().nullish(),
  refund_tx: z.string().nullish(),
});

/** Names of the columns, in the order of an export; a column that does not apply is ''. */
export const LEDGER_COLUMNS = [
  // RFC 3339, UTC; the second is when the settlement was noted.
  'created_at',
  'settled_at',
  'state',
  'method',
  'path',
  'query',
  'payer',
  'network',
  'asset',
  'nonce',
  // Atomic units of the asset, and their worth in dollars when it was sold; '' for an amount that does not exist.
  'value',
  'usd',
  'transaction',
  'x402_version',
  'detail',
  // When no reorganisation could take the transfer away any more, and when a transfer was seen to have vanished.
  'final_at',
  'reorganised_at',
  'refund_transaction',
] as const;

/** One payment as an accountant reads it; no signature and no body. */
export type LedgerRow = Readonly<Record<(typeof LEDGER_COLUMNS)[number], string>>;

/** Which time dates a payment: its claim, or its settlement, which unsettled payments do not have. */
export type LedgerTime = 'created_at' | 'settled_at';

export interface LedgerFilter {
  readonly time: LedgerTime;
  /** Milliseconds since the epoch, from the first to before the second. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly state?: string;
}

function ledgerRowOf(row: z.infer<typeof ledgerRow>): LedgerRow {
  const [network = '', asset = '', payer = '', nonce = ''] = row.key.split('|');
  const [method, target] = row.resource.split(' ');
  const [path, query = ''] = defined(target, 'a target').split('?');
  return {
    created_at: new Date(row.created_at).toISOString(),
    settled_at: timeOf(row.settled_at),
    state: row.state,
    method: defined(method, 'a method'),
    path: defined(path, 'a path'),
    query,
    payer,
    network,
    asset,
    nonce,
    value: row.value,
    usd: usdOf(row.usd ?? row.value),
    transaction: row.tx ?? '',
    x402_version: String(row.version),
    detail: row.detail ?? '',
    final_at: timeOf(row.final_at),
    reorganised_at: timeOf(row.reorganised_at),
    refund_transaction: row.refund_tx ?? '',
  };
}

function timeOf(ms: number | null | undefined): string {
  return ms == null ? '' : new Date(ms).toISOString();
}

/** '' for an amount that does not exist. */
function usdOf(value: string): string {
  return value.length > USD_DIGITS_MAX ? '' : usdAmount(value);
}

export type RevenueBy = 'day' | 'path' | 'payer';

/** Settled payments of one group in one currency. */
export interface RevenueRow {
  readonly group: string;
  readonly network: string;
  readonly asset: string;
  readonly payments: number;
  /** Atomic units. */
  readonly value: string;
  readonly usd: string;
}

/** Sums of what was settled, and how many settled payments are in none of them. */
export interface Revenue {
  readonly rows: readonly RevenueRow[];
  /** Payments of amounts that do not exist. */
  readonly leftOut: number;
}

/** Sums what was settled, per network and asset; the day is that of the settlement, UTC. */
export async function revenueBy(
  rows: AsyncIterable<LedgerRow> | Iterable<LedgerRow>,
  by: RevenueBy,
): Promise<Revenue> {
  const sum = new RevenueSum((row) => (by === 'day' ? settledDay(row) : row[by]));
  for await (const row of rows) sum.add(row);
  return sum.revenue();
}

/** Millionths of a dollar; 0 for an amount that does not exist. */
export function microUsd(usd: string): bigint {
  const [whole = '', places = ''] = usd.split('.');
  return BigInt(whole + places.padEnd(USD_PLACES, '0'));
}

/** Day of the settlement, UTC; '' before it. */
export function settledDay({ settled_at }: LedgerRow): string {
  return settled_at.slice(0, 10);
}

/** Adds settled payments up exactly, one by one. */
export class RevenueSum {
  readonly #groupOf: (row: LedgerRow) => string;
  readonly #groups = new Map<
    string,
    { row: LedgerRow; group: string; payments: number; value: bigint; usd: bigint }
  >();
  #leftOut = 0;

  constructor(groupOf: (row: LedgerRow) => string) {
    this.#groupOf = groupOf;
  }

  add(row: LedgerRow): void {
    if (row.state !== 'settled') return;
    if (row.usd === '') {
      this.#leftOut += 1;
      return;
    }
    const group = this.#groupOf(row);
    const key = `${group}|${row.network}|${row.asset}`;
    const sum = this.#groups.get(key) ?? { row, group, payments: 0, value: 0n, usd: 0n };
    sum.payments += 1;
    sum.value += BigInt(row.value);
    sum.usd += microUsd(row.usd);
    this.#groups.set(key, sum);
  }

  /** Sorted by group, network and asset. */
  revenue(): Revenue {
    const sorted = [...this.#groups].sort(([left], [right]) => (left < right ? -1 : 1));
    const rows = sorted.map(([, { row, group, payments, value, usd }]) => {
      const { network, asset } = row;
      return { group, network, asset, payments, value: `${value}`, usd: usdOf(`${usd}`) };
    });
    return { rows, leftOut: this.#leftOut };
  }
}

/** Writes a whole copy of the journal while it is being written; throws if the file already exists. */
export function backUpJournal(db: Database.Database, file: string): void {
  closeSync(openSync(file, 'wx', 0o600));
  try {
    db.prepare('VACUUM INTO ?').run([file]);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

const idRow = z.object({ id: z.number() });
const bookRow = ledgerRow.extend({
  signed: z.string(),
  claim_block: z.custom<ChainHead>((text) => typeof text === 'string').nullish(),
});

/** A payment as it is compared with the chain. */
export type BookRow = z.infer<typeof bookRow>;

const owedRow = bookRow.extend({
  refund_from: z.string().nullish(),
  refund_at: z.number().nullish(),
});
/** A payment that may have to be paid back, or is. */
export type OwedRow = z.infer<typeof owedRow>;
/** No hash of a body: what is paid back is never delivered again, even if the same bytes are sold once more. */
const NO_BODY = Buffer.alloc(0);

const OWED_MAX = 10_000;

/** Runs one statement of either engine, whose values are `?1`, `?2` and so on, and answers its rows. */
export type AskBooks = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>;

/** What commands read of a journal beside the gatekeepers that write it, in a file or in PostgreSQL. */
export class Books {
  readonly #ask: AskBooks;
  readonly #isDatabase: boolean;
  readonly #schema: string;

  constructor(ask: AskBooks, place: 'file' | 'database') {
    this.#ask = ask;
    this.#isDatabase = place === 'database';
    this.#schema = this.#isDatabase ? 'signalpress.' : '';
  }

  /** Payments as an accountant reads them, in the order in which they were taken; of a database as they stand now. */
  async *rows(filter: LedgerFilter): AsyncGenerator<LedgerRow> {
    const { time, sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, state = null } = filter;
    const where = `${time} >= ?3 AND ${time} < ?4 AND (CAST(?5 AS text) IS NULL OR state = ?5)`;
    if (this.#isDatabase) await this.#ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', []);
    try {
      for await (const row of this.#pages(where, [sinceMs, untilMs, state])) {
        yield ledgerRowOf(ledgerRow.parse(row));
      }
    } finally {
      if (this.#isDatabase) await this.#ask('COMMIT', []);
    }
  }

  /** Payments that were claimed within a span, in the order in which they were taken. */
  async *claimed(fromMs: number, untilMs: number): AsyncGenerator<BookRow> {
    const where = 'created_at >= ?3 AND created_at < ?4';
    for await (const row of this.#pages(where, [fromMs, untilMs])) yield bookRow.parse(row);
  }

  async *#pages(where: string, values: readonly unknown[]): AsyncGenerator<unknown> {
    const text = `
SELECT * FROM ${this.#schema}payment WHERE id > ?1 AND ${where} ORDER BY id LIMIT ?2`;
    let after = 0;
    for (;;) {
      const rows = await this.#ask(text, [after, PAGE_ROWS, ...values]);
      yield* rows;
      if (rows.length < PAGE_ROWS) return;
      after = idRow.parse(rows.at(-1)).id;
    }
  }

  async row(key: string): Promise<OwedRow | null> {
    const [row] = await this.#ask(`SELECT * FROM ${this.#schema}payment WHERE key = ?1`, [key]);
    return row === undefined ? null : owedRow.parse(row);
  }

  /** Settled payments of a chain whose answer was never delivered and is not kept any more, oldest first. */
  async undeliverable(): Promise<readonly OwedRow[]> {
    const rows = await this.#ask(
      `
SELECT * FROM ${this.#schema}payment AS owed
WHERE (${MAY_BE_OWED}) AND waiting_since IS NOT NULL AND state = 'settled' AND key NOT LIKE 'receipt|%'
  AND NOT EXISTS (SELECT 1 FROM ${this.#schema}body WHERE sha256 = owed.body) ORDER BY id LIMIT ?1`,
      [OWED_MAX],
    );
    return rows.map((row) => owedRow.parse(row));
  }

  /** Payments whose refund was begun, oldest first. */
  async refunds(): Promise<readonly OwedRow[]> {
    const text = `
SELECT * FROM ${this.#schema}payment WHERE (${MAY_BE_OWED}) AND refund_from IS NOT NULL ORDER BY id LIMIT ?1`;
    return (await this.#ask(text, [OWED_MAX])).map((row) => owedRow.parse(row));
  }

  /** Notes who pays a payment back, before anything is signed; false where the payment is not as it was read. */
  async beginRefund(row: OwedRow, from: string, nowMs: number): Promise<boolean> {
    const text = `
UPDATE ${this.#schema}payment
SET refund_from = ?2, refund_at = ?3, body = CASE WHEN state = 'settled' THEN ?4 ELSE body END
WHERE key = ?1 AND state = ?5 AND refund_tx IS NULL AND coalesce(refund_from, '') = ?6 RETURNING key`;
    const values = [row.key, from, nowMs, NO_BODY, row.state, row.refund_from ?? ''];
    return (await this.#ask(text, values)).length === 1;
  }

  async endRefund(key: string, transaction: string, nowMs: number): Promise<void> {
    const text = `
UPDATE ${this.#schema}payment SET refund_tx = ?2, refund_at = ?3 WHERE key = ?1 AND refund_tx IS NULL RETURNING key`;
    await this.#ask(text, [key, transaction, nowMs]);
  }
}

import { z } from 'zod';
import type { ChainHead } from '../money/evidence.ts';
import { MAY_BE_OWED } from './journal-file.ts';
import { LEDGER_PAGE_ROWS, ledgerRow } from './ledger.ts';

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

/** Debts that are read at once. */
const OWED_MAX = 10_000;

/** Runs one statement of either engine, whose values are `?1`, `?2` and so on, and answers its rows. */
export type AskBooks = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>;

/** What is read of a journal to compare it with the chain, in a file or in PostgreSQL. */
export class Books {
  readonly #ask: AskBooks;
  /** In front of the names of tables. */
  readonly #schema: string;

  constructor(ask: AskBooks, schema: '' | 'signalpress.') {
    this.#ask = ask;
    this.#schema = schema;
  }

  /** Payments that were claimed within a span, page by page, in the order in which they were taken. */
  async *claimed(fromMs: number, untilMs: number): AsyncGenerator<BookRow> {
    const text = `
SELECT * FROM ${this.#schema}payment
WHERE id > ?1 AND created_at >= ?2 AND created_at < ?3 ORDER BY id LIMIT ?4`;
    let after = 0;
    for (;;) {
      const rows = await this.#ask(text, [after, fromMs, untilMs, LEDGER_PAGE_ROWS]);
      for (const row of rows) {
        const parsed = bookRow.parse(row);
        after = parsed.id;
        yield parsed;
      }
      if (rows.length < LEDGER_PAGE_ROWS) return;
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

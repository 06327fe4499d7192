import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresJournal } from '../../gatekeeper/heart/journal/postgres-journal.ts';
import { withBooks } from '../../gatekeeper/heart/journal/with-journal.ts';
import { audit } from '../../gatekeeper/operate/books/audit.ts';
import {
  blockTimeMs,
  claimed,
  HEAD,
  keyOf,
  PAYEE,
  type Paid,
  paidChain,
  transactionOf,
} from '../gatekeeper/operate/books/paid-chain.ts';
import { NOW_MS } from '../gatekeeper/payer.ts';
import { UNTOLD } from '../gatekeeper/wire/untold.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

const SPAN = { fromMs: NOW_MS - 86_400_000, untilMs: NOW_MS };

describe('the books of a journal in PostgreSQL', () => {
  it('I61: audit() compares them with the chain, as those in a file', async () => {
    const url = await server.freshUrl();
    const time = { now: NOW_MS };
    const journal = await postgresJournal({ url, clock: () => time.now, lost: UNTOLD });
    const paid: Paid[] = [];
    for (let at = 0; at < 4; at++) {
      const block = HEAD - 1000 - 100 * at;
      time.now = blockTimeMs(block) - 3000;
      await journal.claim(claimed(at, { claimBlock: `${BigInt(block - 2)}:0xaa` }));
      const end = { state: 'settled', transaction: transactionOf(at) } as const;
      await journal.conclude({ key: keyOf(at), ...end });
      paid.push({ at, block });
    }
    await journal.close();
    const found = () =>
      withBooks({ stateDir: '', journal: url }, (books) =>
        audit(books, { ...SPAN, payTo: PAYEE, nodes: [paidChain(paid).node] }),
      );
    expect(await found()).toMatchObject({ findings: [], gaps: [], sales: 4, transfers: 4 });
    paid.splice(2, 1, { at: 9, block: HEAD - 1200 });
    expect((await found()).findings).toMatchObject([
      { kind: 'missing', key: keyOf(2) },
      { kind: 'foreign', transaction: transactionOf(9) },
    ]);
  });

  it('I61: name what is owed, and begin and end each refund once', async () => {
    const url = await server.freshUrl();
    const journal = await postgresJournal({ url, clock: () => NOW_MS, lost: UNTOLD });
    for (const at of [0, 1, 2]) {
      await journal.claim(claimed(at));
      const end = { state: 'settled', transaction: transactionOf(at) } as const;
      await journal.conclude({ key: keyOf(at), ...end, isWaiting: at < 2 });
    }
    await journal.close();
    await withBooks({ stateDir: '', journal: url }, async (books) => {
      expect(await books.undeliverable()).toEqual([]);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('DELETE FROM signalpress.body');
      await client.end();
      const owed = await books.undeliverable();
      expect(owed.map(({ key }) => key)).toEqual([keyOf(0), keyOf(1)]);
      const [first] = owed;
      if (first === undefined) throw new Error('nothing is owed');
      expect(await books.beginRefund(first, '0xa', NOW_MS)).toBe(true);
      expect(await books.beginRefund(first, '0xb', NOW_MS)).toBe(false);
      const begun = await books.row(first.key);
      expect(begun).toMatchObject({ refund_from: '0xa', refund_at: NOW_MS, refund_tx: null });
      await books.endRefund(first.key, '0x1', NOW_MS + 1);
      await books.endRefund(first.key, '0x2', NOW_MS + 2);
      expect(await books.refunds()).toMatchObject([{ key: first.key, refund_tx: '0x1' }]);
      if (begun !== null) expect(await books.beginRefund(begun, '0xa', NOW_MS)).toBe(false);
    });
  });
});

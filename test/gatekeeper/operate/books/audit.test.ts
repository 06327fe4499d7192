import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { JOURNAL_NAME } from '../../../../gatekeeper/heart/journal/journal-file.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { withBooks } from '../../../../gatekeeper/heart/journal/with-journal.ts';
import { audit, type Finding } from '../../../../gatekeeper/operate/books/audit.ts';
import type { Claim } from '../../../../gatekeeper/settle/journal.ts';
import { NOW_MS } from '../../payer.ts';
import {
  blockTimeMs,
  claimed,
  HEAD,
  keyOf,
  PAYEE,
  type Paid,
  paidChain,
  payerOf,
  transactionOf,
} from './paid-chain.ts';

const folder = mkdtempSync(join(tmpdir(), 'audit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let journals = 0;
const HOUR_MS = 3_600_000;
const span = { fromMs: NOW_MS - 24 * HOUR_MS, untilMs: NOW_MS };
/** A claim some blocks before its transfer. */
const before = (block: number): Partial<Claim> => ({ claimBlock: `${BigInt(block - 2)}:0xaa` });

/** A journal and a chain that agree about 20 payments, where nothing is added. */
async function shop({ count = 20, logBlocksMax = 2000n } = {}) {
  journals += 1;
  const stateDir = join(folder, String(journals));
  const place = { stateDir, journal: 'sqlite' };
  mkdirSync(stateDir);
  const time = { now: NOW_MS };
  const journal = sqliteJournal({ path: join(stateDir, JOURNAL_NAME), clock: () => time.now });
  const paid: Paid[] = [];
  const claim = async (at: number, block: number, over: Partial<Claim> = before(block)) => {
    time.now = blockTimeMs(block) - 3000;
    await journal.claim(claimed(at, over));
  };
  const settle = (at: number) =>
    journal.conclude({ key: keyOf(at), state: 'settled', transaction: transactionOf(at) });
  for (let at = 0; at < count; at++) {
    const block = HEAD - 1000 - 100 * at;
    await claim(at, block);
    await settle(at);
    paid.push({ at, block });
  }
  return {
    journal,
    paid,
    claim,
    settle,
    async audit(over: Partial<Parameters<typeof audit>[1]> = {}) {
      const { node, asked } = paidChain(paid, logBlocksMax);
      const terms = { ...span, payTo: PAYEE, nodes: [node], attemptPauseMs: 1, ...over };
      return { ...(await withBooks(place, (books) => audit(books, terms))), asked };
    },
    close: () => journal.close(),
  };
}
const brief = (findings: readonly Finding[]) =>
  findings.map(({ kind, transaction, reason }) => [kind, transaction, reason]);

describe('audit()', () => {
  it('I61: finds nothing where journal and chain agree, with few questions', async () => {
    const books = await shop();
    const found = await books.audit();
    expect(found).toMatchObject({ findings: [], gaps: [], sales: 20, transfers: 20 });
    expect(found.asked.logs).toBeLessThan(40);
    expect(found.asked.all).toBeLessThan(80);
    books.close();
  });

  it('I61: finds what the chain does not show, and no other row', async () => {
    const books = await shop();
    books.paid.splice(7, 1);
    // Of another value, or of another payer.
    books.paid[3] = { at: 3, block: HEAD - 1300, value: 9999 };
    const { findings } = await books.audit();
    const reason = 'the chain does not show its transfer';
    expect(brief(findings)).toEqual([
      ['missing', transactionOf(3), reason],
      ['missing', transactionOf(7), reason],
    ]);
    expect(findings[0]).toMatchObject({ key: keyOf(3), payer: payerOf(3), value: '10000' });
    books.close();
  });

  it('I61: finds payments that no row knows, and leaves plain transfers alone', async () => {
    const books = await shop();
    const block = HEAD - 500;
    books.paid.push({ at: 50, block }, { at: 51, block, isPlain: true });
    books.paid.push({ at: 52, block, to: `0x${'c3'.repeat(20)}` });
    // An hour before the span, and after it.
    books.paid.push({ at: 53, block: HEAD - 45_000 });
    const { findings } = await books.audit();
    expect(brief(findings)).toEqual([['foreign', transactionOf(50), 'no row knows it']]);
    expect(findings[0]).toMatchObject({ payer: payerOf(50), value: '10000', key: '' });
    expect((await books.audit({ untilMs: blockTimeMs(block) })).findings).toEqual([]);
    books.close();
  });

  it('I61: finds who paid and got nothing, and who paid somebody else before', async () => {
    const books = await shop();
    const refuse = (at: number, detail: string) =>
      books.journal.conclude({ key: keyOf(at), state: 'refused', detail });
    const block = HEAD - 500;
    // Refused, and paid after its claim.
    await books.claim(60, block);
    await refuse(60, 'insufficient_funds');
    // In doubt, and paid.
    await books.claim(61, block);
    await books.journal.conclude({ key: keyOf(61), state: 'unknown', detail: 'timeout' });
    // Used in the very block of its claim.
    await books.claim(62, block, { claimBlock: `${BigInt(block)}:0xaa` });
    await refuse(62, 'authorization_already_used');
    // Without a node the clocks decide.
    await books.claim(63, block, {});
    await refuse(63, 'authorization_expired');
    await books.claim(64, block + 100, {});
    await refuse(64, 'authorization_expired');
    for (const at of [60, 61, 62, 63, 64]) books.paid.push({ at, block });
    // Refused, and never paid.
    await books.claim(65, block);
    await refuse(65, 'insufficient_funds');
    const { findings } = await books.audit();
    const older = 'used before its row was claimed';
    expect(brief(findings)).toEqual([
      ['foreign', transactionOf(62), older],
      ['foreign', transactionOf(64), older],
      ['undelivered', transactionOf(60), 'refused as insufficient_funds'],
      ['undelivered', transactionOf(61), 'in doubt: timeout'],
      ['undelivered', transactionOf(63), 'refused as authorization_expired'],
    ]);
    books.close();
  });

  it('I61: names a transfer that vanished and did not come back, and none that did', async () => {
    const books = await shop();
    const block = HEAD - 500;
    for (const at of [70, 71, 72]) {
      await books.claim(at, block);
      await books.settle(at);
      await books.journal.review({ key: keyOf(at), state: 'gone' });
    }
    await books.journal.conclude({
      key: keyOf(71),
      state: 'refused',
      detail: 'authorization_expired',
    });
    await books.settle(72);
    books.paid.push({ at: 72, block });
    const { findings } = await books.audit();
    expect(findings.map(({ kind, key }) => [kind, key])).toEqual([
      ['reorganised', keyOf(70)],
      ['reorganised', keyOf(71)],
    ]);
    expect(findings[0]?.reason).toMatch(/^its transfer vanished, seen at 20/);
    books.close();
  });

  it('tells several payments of one transaction apart', async () => {
    const books = await shop({ count: 2 });
    const block = HEAD - 500;
    for (const at of [80, 81]) {
      await books.claim(at, block);
      const conclusion = {
        key: keyOf(at),
        state: 'settled',
        transaction: transactionOf(80),
      } as const;
      await books.journal.conclude(conclusion);
    }
    books.paid.push({ at: 80, block }, { at: 81, block, inTransactionOf: 80 });
    expect((await books.audit()).findings).toEqual([]);
    books.paid.pop();
    expect((await books.audit()).findings).toMatchObject([{ kind: 'missing', key: keyOf(81) }]);
    books.close();
  });

  it('asks in smaller pieces where a node refuses large ones, and says what it could not compare', async () => {
    const books = await shop({ logBlocksMax: 500n });
    expect(await books.audit()).toMatchObject({ findings: [], gaps: [], transfers: 20 });
    const { node } = paidChain(books.paid);
    const refusing = async () => {
      throw new Error('secret.example/key');
    };
    const silent = await books.audit({ nodes: [{ ...node, tokenLogs: refusing }] });
    expect(silent.gaps).toEqual([expect.stringMatching(/^base: Cannot ask the chain node: Error/)]);
    expect(silent.gaps.join()).not.toContain('secret');
    const tiny = await books.audit({ nodes: [paidChain(books.paid, 1n).node] });
    expect(tiny.gaps).toHaveLength(1);
    const others = await books.audit({ nodes: [] });
    expect(others.gaps).toEqual(['payments in tokens that the settings do not name: 20']);
    books.close();
  });
});

import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json as jsonOf } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { catalogOf } from '../../../../compiler/catalog/catalog.ts';
import {
  JOURNAL_NAME,
  readJournalFile,
} from '../../../../gatekeeper/heart/journal/journal-file.ts';
import { challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import type { SettlementContext } from '../../../../gatekeeper/heart/payment/settlement.ts';
import { UNKNOWN_RETRY_S } from '../../../../gatekeeper/heart/purchase/purchase-reply.ts';
import { purchaseService } from '../../../../gatekeeper/heart/purchase/purchase-service.ts';
import {
  Reconciler,
  type ReconcilerOptions,
  reconcileInBackground,
} from '../../../../gatekeeper/heart/purchase/reconcile.ts';
import type { ChainVerdict, WatchedTransfer } from '../../../../gatekeeper/settle/evidence.ts';
import { localFacilitator } from '../../../../gatekeeper/settle/facilitator/local-facilitator.ts';
import type { SettleOutcome } from '../../../../gatekeeper/settle/facilitator.ts';
import { DEAD_AFTER_S, type JournalEntry } from '../../../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import { paidIn, saying } from '../../chain-reader.ts';
import { NOW_MS, payer, windowAt } from '../../payer.ts';
import {
  alice,
  bench,
  buy,
  freshJournal,
  HERE,
  json,
  keyOf,
  network,
  PAY_TO,
  settled,
  shop,
  TARGET,
  tick,
  v1,
  v2,
} from '../../payment-bench.ts';
import { type TinyGate, tinyGate } from '../../tiny-gate.ts';
import { TINY_NOW } from '../../tiny-release.ts';

type Pass = Awaited<ReturnType<Reconciler['pass']>>;

const RECONCILE_RESTS_MAX = 20_000;
const RECONCILE_REST_MS = [20_000, 600_000] as const;
const RECONCILE_INTERVAL_MS = 30_000;
const RECONCILE_PASS_MS = 30_000;
const RECONCILE_PARALLEL = 8;
const RECONCILE_ASKS_MAX = 1000;
const RECONCILE_ROWS_MAX = 10_000;

const none = async (): Promise<SettleOutcome> => ({ verdict: 'none', detail: 'timeout' });

const unasked = (): never => {
  throw new Error('not asked for');
};
const unaskedTerms = {
  challenger: shop,
  facilitator: { verify: unasked, settle: unasked, supported: unasked },
};

function withoutBody(entry: JournalEntry | null): JournalEntry | null {
  return entry === null ? null : { ...entry, body: null };
}

/** Purchases with one payment in doubt, and a second service over its journal, as after a crash. */
async function afterCrash(evidence?: SettlementContext['evidence'], seller = shop) {
  const first = bench();
  const header = await alice.header(v1);
  first.script.settle = none;
  await first.pay({ header });
  const journal = first.journal();
  const calls: string[] = [];
  const script = { now: NOW_MS, settle: settled as () => Promise<SettleOutcome> };
  const purchases = purchaseService({
    journal,
    challenger: seller,
    clock: () => script.now,
    facilitator: {
      verify: async () => ({ verdict: 'none', detail: '' }),
      settle: ({ paymentPayload }) => {
        calls.push(paymentPayload.payload.signature);
        return script.settle();
      },
      supported: none as never,
    },
    ...(evidence === undefined ? {} : { evidence }),
  });
  return { first, header, key: keyOf(header), journal, purchases, calls, script };
}

/** The first pass, as after a start. */
function reconcileOnce(options: Omit<ReconcilerOptions, 'clock'>): Promise<Pass> {
  return new Reconciler({ clock: () => NOW_MS, ...options }).pass();
}

describe('pass()', () => {
  it('I51: asks nobody to settle what is open, after a start or ever; the same payment does', async () => {
    const { journal, purchases, key, header, calls, script } = await afterCrash();
    const reconciler = new Reconciler({ journal, purchases, clock: () => script.now });
    expect(await journal.unresolved(0, 10)).toMatchObject([{ key }]);
    for (let hour = 0; hour < 48; hour++) {
      expect(await reconciler.pass()).toMatchObject({ open: 1, resolved: 0, errors: [] });
      script.now += 3_600_000;
    }
    expect(calls).toEqual([]);
    script.now = NOW_MS + UNKNOWN_RETRY_S * 1000;
    expect((await buy(purchases, { header, deliver: unasked })).status).toBe(200);
    const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
    expect(calls).toEqual([payload.signature]);
    expect(await journal.find(key)).toMatchObject({ state: 'settled' });
    expect(await reconciler.pass()).toMatchObject({ open: 0, resolved: 0 });
  });

  it('I51: a buyer who was answered 503 and bought again is charged once, whatever the background does', async () => {
    const purchases = bench({ verifyFirst: false });
    const local = localFacilitator({ clock: () => purchases.script.now });
    const transfers = new Set<string>();
    purchases.script.settle = none;
    const first = await alice.header(v1);
    expect((await purchases.pay({ header: first })).status).toBe(503);
    purchases.script.settle = async (request) => {
      transfers.add(request.paymentPayload.payload.signature);
      return local.settle(request);
    };
    expect((await purchases.pay({ header: await alice.header(v1) })).status).toBe(200);
    for (let pass = 0; pass < 50; pass++) {
      purchases.script.now += RECONCILE_INTERVAL_MS;
      await reconcileOnce({ journal: purchases.journal(), purchases: purchases.service() });
      if (pass % 10 === 0) purchases.restart();
    }
    expect(transfers.size).toBe(1);
  });

  it('I9: notes what the chain shows as paid or cancelled, and delivers it to the same payment', async () => {
    const cases: [ChainVerdict, string, number][] = [
      [paidIn('0xaa'), 'settled', 200],
      [{ state: 'cancelled' }, 'refused', 402],
    ];
    for (const [evidence, state, status] of cases) {
      const { journal, purchases, key, calls, header } = await afterCrash(
        saying(async () => evidence),
      );
      expect(await reconcileOnce({ journal, purchases })).toMatchObject({ open: 1, resolved: 1 });
      expect(await journal.find(key)).toMatchObject({ state });
      expect(calls).toEqual([]);
      if (status !== 200) continue;
      const reply = await buy(purchases, { header, deliver: unasked });
      expect([reply.status, json(reply)]).toEqual([200, { body: 1 }]);
    }
  });

  it('I9: does the same for what the catalogue no longer sells', async () => {
    const seller = challenger({
      baseUrl: 'https://api.example.com',
      payTo: PAY_TO,
      network,
      serviceName: 'A',
    });
    seller.show({ offers: new Map(), catalog: catalogOf([]) });
    const paid = saying(async () => paidIn('0xaa'));
    const { journal, purchases, key, header } = await afterCrash(paid, seller);
    expect(await reconcileOnce({ journal, purchases })).toMatchObject({ open: 1, resolved: 1 });
    expect(await journal.find(key)).toMatchObject({ state: 'settled', transaction: '0xaa' });
    const target = TARGET;
    const paymentHeader = { kind: 'payment', version: 1, text: header } as const;
    const trace = { id: 'r', sentId: 'r', client: HERE };
    const reply = await purchases.openFormer({ target, method: 'GET', paymentHeader, trace });
    expect([reply?.status, reply?.body.toString()]).toEqual([200, '{"body":1}']);
    const other = { ...paymentHeader, text: await alice.header(v1) };
    expect(await purchases.openFormer({ target, method: 'GET', paymentHeader: other })).toBeNull();
  });

  it('I9: leaves a doubt a doubt until it can be proved, and closes what is dead and unused', async () => {
    let evidence: ChainVerdict = { state: 'unknown' };
    const { journal, purchases, key, script } = await afterCrash(saying(async () => evidence));
    script.now = NOW_MS + (300 + DEAD_AFTER_S + 1) * 1000;
    expect(await reconcileOnce({ journal, purchases })).toMatchObject({ open: 1, resolved: 0 });
    evidence = { state: 'unused' };
    expect(await reconcileOnce({ journal, purchases })).toMatchObject({ open: 1, resolved: 1 });
    expect(await journal.find(key)).toMatchObject({ state: 'refused' });
  });

  it('I9: where nobody can ask the chain, closes what is dead once its answer is no longer kept', async () => {
    const { journal, purchases, key, script } = await afterCrash();
    const gone = { ...journal, find: async () => withoutBody(await journal.find(key)) };
    const poor = purchaseService({ ...unaskedTerms, journal: gone, clock: () => script.now });
    expect(await reconcileOnce({ journal, purchases: poor })).toMatchObject({
      open: 1,
      resolved: 0,
    });
    script.now = NOW_MS + (300 + DEAD_AFTER_S + 1) * 1000;
    expect(await reconcileOnce({ journal, purchases })).toMatchObject({ open: 1, resolved: 0 });
    expect(await reconcileOnce({ journal, purchases: poor })).toMatchObject({
      open: 1,
      resolved: 1,
    });
    expect(await journal.find(key)).toMatchObject({ state: 'refused' });
  });

  it('I3: a payment that is sent again while it is looked into shares what is found', async () => {
    const { journal, purchases, header, calls } = await afterCrash(
      saying(() => tick(5).then(() => paidIn('0xaa'))),
    );
    const pass = reconcileOnce({ journal, purchases });
    await tick(1);
    const reply = await buy(purchases, { header, deliver: unasked });
    expect([reply.status, (await pass).open, calls.length]).toEqual([200, 1, 0]);
  });

  it('I19: settles an old payment under the terms it met, whatever price and payee are now', async () => {
    for (const [terms, version] of [
      [v1, 1],
      [v2, 2],
    ] as const) {
      const journal = freshJournal();
      let now = NOW_MS;
      const clock = () => now;
      const local = localFacilitator({ clock });
      const deliver = async () => ({ body: Buffer.from('{}'), contentType: 'application/json' });
      const header = await alice.header(terms);
      const order = { version, deliver, target: '/gauge', header } as const;
      const lost = purchaseService({
        journal,
        challenger: shop,
        clock,
        facilitator: { ...local, settle: none },
      });
      expect((await buy(lost, order)).status).toBe(503);
      const dearer = challenger({
        baseUrl: 'https://new.example',
        payTo: `0x${'cd'.repeat(20)}`,
        network,
        serviceName: 'New',
      });
      const purchases = purchaseService({ journal, challenger: dearer, clock, facilitator: local });
      now += UNKNOWN_RETRY_S * 1000;
      const again = await buy(purchases, order);
      expect([again.status, again.body.toString()]).toEqual([200, '{}']);
      journal.close();
    }
  });

  it('I4: one that hangs does not hold up the others', async () => {
    const book = openBook(50);
    book.answer = (place) => (place === 1 ? new Promise<boolean>(() => {}) : true);
    void new Reconciler(book).pass();
    await tick(5);
    expect(book.asked).toHaveLength(50);
    expect(RECONCILE_PARALLEL).toBeGreaterThan(1);
  });
});

/** So many open payments, a clock that stands until it is moved, and whom was asked about. */
function openBook(count: number) {
  const open = new Set(Array.from({ length: count }, (_, at) => at + 1));
  const book = {
    open,
    asked: [] as number[],
    now: NOW_MS,
    answer: (_place: number): boolean | Promise<boolean> => false,
    clock: () => book.now,
    journal: {
      unresolved: async (after: number, limit: number) =>
        [...open]
          .filter((place) => place > after)
          .slice(0, limit)
          .map((place) => ({ place, key: `key ${place}` })),
    },
    purchases: {
      look: async (key: string) => {
        const place = Number(key.slice(4));
        book.asked.push(place);
        const isKnown = await book.answer(place);
        if (isKnown) open.delete(place);
        return isKnown;
      },
    },
  };
  return book;
}

/** How often each was asked about. */
function times(asked: readonly number[]): number[] {
  const counts = new Map<number, number>();
  for (const place of asked) counts.set(place, (counts.get(place) ?? 0) + 1);
  return [...counts.values()];
}

describe('pass() after pass()', () => {
  it('gives every open payment its turn, however many before it stay in doubt', async () => {
    const count = 2 * RECONCILE_ASKS_MAX + 500;
    const book = openBook(count);
    const reconciler = new Reconciler(book);
    for (let pass = 0; pass < 3; pass++) {
      const { asked } = await reconciler.pass();
      expect(asked).toBeLessThanOrEqual(RECONCILE_ASKS_MAX);
    }
    expect(times(book.asked)).toEqual(Array(count).fill(1));
  });

  it('gives each the same number of turns beyond what one pass can see', async () => {
    const count = RECONCILE_ROWS_MAX + 2000;
    const book = openBook(count);
    const reconciler = new Reconciler(book);
    for (let pass = 0; pass < (2 * count) / RECONCILE_ASKS_MAX; pass++) {
      await reconciler.pass();
      book.now += RECONCILE_REST_MS[1];
    }
    expect(new Set(times(book.asked))).toEqual(new Set([2]));
    expect(new Set(book.asked).size).toBe(count);
  });

  it('reaches the newest one although a thousand before it are never decided', async () => {
    const newest = RECONCILE_ASKS_MAX + 1;
    const book = openBook(newest);
    book.answer = (place) => place === newest;
    const reconciler = new Reconciler(book);
    for (let pass = 0; pass < 2; pass++) await reconciler.pass();
    expect(book.open.has(newest)).toBe(false);
    expect(book.open.size).toBe(newest - 1);
  });

  it('asks a silent node twice as late each time, up to a longest rest, and at once again after a start', async () => {
    const book = openBook(1);
    const reconciler = new Reconciler(book);
    const at: number[] = [];
    for (let second = 0; second <= 3600; second += RECONCILE_INTERVAL_MS / 1000) {
      book.now = NOW_MS + second * 1000;
      const { asked } = await reconciler.pass();
      if (asked === 1) at.push(second);
    }
    expect(at.slice(0, 7)).toEqual([0, 30, 90, 180, 360, 690, 1290]);
    const gaps = at.slice(5).map((time, index) => time - (at[index + 4] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(
      (RECONCILE_REST_MS[1] + RECONCILE_INTERVAL_MS) / 1000,
    );
    expect((await new Reconciler(book).pass()).asked).toBe(1);
  });

  /** Whom it asks about within one rest, with time enough to ask about each of them again. */
  async function askedWithinRest(count: number): Promise<readonly number[]> {
    const book = openBook(count);
    const reconciler = new Reconciler(book);
    const passes = Math.ceil(count / RECONCILE_ASKS_MAX) + 3;
    for (let pass = 0; pass < passes; pass++) await reconciler.pass();
    return book.asked;
  }

  it('I43: remembers the rests of as many payments as it may', async () => {
    const asked = await askedWithinRest(RECONCILE_RESTS_MAX);
    expect(times(asked)).toEqual(Array(RECONCILE_RESTS_MAX).fill(1));
  });

  it('I43: forgets the oldest with one payment more, which only means to ask earlier', async () => {
    const asked = await askedWithinRest(RECONCILE_RESTS_MAX + 1);
    expect(new Set(asked).size).toBe(RECONCILE_RESTS_MAX + 1);
    expect(asked.length).toBeGreaterThan(RECONCILE_RESTS_MAX + 1);
  });

  it('asks again about one that was decided and is open once more, and rests no longer when the clock is set back', async () => {
    const book = openBook(2);
    const reconciler = new Reconciler(book);
    book.answer = (place) => place === 1;
    await reconciler.pass();
    book.open.add(1);
    book.answer = () => false;
    await reconciler.pass();
    expect(book.asked).toEqual([1, 2, 1]);
    book.now -= 365 * 86_400_000;
    expect((await reconciler.pass()).asked).toBe(2);
  });

  it('begins nothing more once its time is over, and the next pass goes on there', async () => {
    const book = openBook(100);
    book.answer = () => {
      book.now += RECONCILE_PASS_MS / 40;
      return false;
    };
    const reconciler = new Reconciler(book);
    const first = await reconciler.pass();
    expect(first.asked).toBeGreaterThanOrEqual(40);
    expect(first.asked).toBeLessThan(40 + RECONCILE_PARALLEL);
    book.answer = () => false;
    await reconciler.pass();
    expect(book.asked.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  });

  it('goes on behind a payment that cannot be looked at, and tells of it', async () => {
    const book = openBook(30);
    book.answer = (place) => {
      if (place <= 2 * RECONCILE_PARALLEL) throw new Error('damaged');
      return true;
    };
    const { open, asked, resolved, errors } = await new Reconciler(book).pass();
    expect([open, asked, resolved]).toEqual([30, 30, 30 - 2 * RECONCILE_PARALLEL]);
    expect(errors).toHaveLength(2 * RECONCILE_PARALLEL);
  });

  it('I9: closes dead payments that the chain shows as unused, and none that it does not show', async () => {
    const { journal, purchases, key, script } = await afterCrash(
      saying(async ({ authorization }) => ({
        state: /[02468ace]$/.test(authorization.nonce) ? 'unused' : 'unknown',
      })),
    );
    const template = await journal.find(key);
    if (template?.body == null) throw new Error('no open payment');
    const nonceOf = (text: string, nonce: string) => text.replace(/0x[0-9a-f]{64}(?=\||$)/, nonce);
    for (let at = 0; at < 100; at++) {
      const nonce = `0x${at.toString(16).padStart(64, '0')}`;
      const signed = nonceOf(template.signed, nonce);
      await journal.claim({
        ...template,
        body: template.body,
        key: nonceOf(template.key, nonce),
        signed,
      });
    }
    await journal.conclude({ key, state: 'refused' });
    const reconciler = new Reconciler({ journal, purchases, clock: () => script.now });
    expect(await reconciler.pass()).toMatchObject({ asked: 100, resolved: 0, errors: [] });
    script.now = NOW_MS + (300 + DEAD_AFTER_S + 1) * 1000;
    expect(await reconciler.pass()).toMatchObject({ asked: 100, resolved: 50, errors: [] });
    const left = await journal.unresolved(0, 100);
    expect(left.filter((payment) => /[02468ace]$/.test(payment.key))).toEqual([]);
    expect(left).toHaveLength(50);
  });
});

describe('an answer that was settled without its buyer', () => {
  it('I61: waits for its buyer until it is delivered, by the header or by a sale that ended in doubt', async () => {
    const { journal, purchases, key, header } = await afterCrash(
      saying(async () => paidIn('0xaa')),
    );
    await reconcileOnce({ journal, purchases });
    expect(await journal.find(key)).toMatchObject({ state: 'settled', isWaiting: true });
    for (let at = 0; at < 2; at++) {
      expect((await buy(purchases, { header, deliver: unasked })).status).toBe(200);
      expect(await journal.find(key)).not.toHaveProperty('isWaiting');
    }
  });

  it('I61: does not wait where it was delivered with its settlement', async () => {
    const purchases = bench();
    const header = await alice.header(v1);
    expect((await purchases.pay({ header })).status).toBe(200);
    expect(await purchases.journal().find(keyOf(header))).not.toHaveProperty('isWaiting');
  });

  it('I61: is owed where its bytes are gone when the doubt ends', async () => {
    const { journal, key, script } = await afterCrash();
    const gone = { ...journal, find: async () => withoutBody(await journal.find(key)) };
    const evidence = saying(async () => paidIn('0xaa'));
    const late = purchaseService({
      ...unaskedTerms,
      evidence,
      journal: gone,
      clock: () => script.now,
    });
    expect(await late.look(key)).toBe(true);
    expect(await journal.find(key)).toMatchObject({ state: 'settled', isWaiting: true });
  });
});

describe('a settled payment', () => {
  /** One that is settled, and what its watch finds. */
  async function watchedSale(found: WatchedTransfer) {
    let verdict: ChainVerdict = paidIn('0xab');
    const evidence = { ...saying(async () => verdict), watch: async () => found };
    const purchases = bench({ evidence, verifyFirst: false });
    purchases.script.settle = async () => ({
      verdict: 'settled',
      transaction: '0xab',
      block: 101n,
    });
    const header = await alice.header(v1);
    expect((await purchases.pay({ header })).status).toBe(200);
    const say = (next: ChainVerdict): void => {
      verdict = next;
    };
    const row = () => purchases.journal().find(keyOf(header));
    return { purchases, header, row, say, key: keyOf(header) };
  }

  it('I61: whose transfer vanished is a doubt again; the same payment settles it, once', async () => {
    const { purchases, header, row, say, key } = await watchedSale({ state: 'gone' });
    say({ state: 'unused' });
    expect(await purchases.service().watch(key)).toBe('gone');
    expect(await row()).toMatchObject({ state: 'unknown', detail: 'reorganised: 0xab' });
    expect(
      await reconcileOnce({ journal: purchases.journal(), purchases: purchases.service() }),
    ).toMatchObject({ open: 1, resolved: 0 });
    expect(purchases.calls.settle).toHaveLength(1);
    purchases.script.settle = async () => ({
      verdict: 'settled',
      transaction: '0xac',
      block: 105n,
    });
    const again = await purchases.pay({ header });
    expect([again.status, json(again)]).toEqual([200, { body: 1 }]);
    expect(purchases.calls.settle).toHaveLength(2);
    expect(await row()).toMatchObject({ state: 'settled', transaction: '0xac' });
  });

  it('I61: whose transfer vanished for good is closed once it is dead, and named', async () => {
    const { purchases, row, say, key } = await watchedSale({ state: 'gone' });
    say({ state: 'unused' });
    await purchases.service().watch(key);
    purchases.script.now += (310 + DEAD_AFTER_S) * 1000;
    expect(await purchases.service().look(key)).toBe(true);
    expect(await row()).toMatchObject({ state: 'refused', detail: 'authorization_expired' });
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I61: is looked at once more when it should be final, is named when it vanished, and then left alone', async () => {
    for (const [found, state] of [
      [{ state: 'final' }, 'settled'],
      [{ state: 'gone' }, 'unknown'],
    ] as const) {
      const { purchases, row, say } = await watchedSale(found);
      say({ state: 'unused' });
      const logged: Readonly<Record<string, unknown>>[] = [];
      const clock = () => purchases.script.now;
      const journal = purchases.journal();
      const log = (entry: Readonly<Record<string, unknown>>) => void logged.push(entry);
      const by = { journal, purchases: purchases.service(), clock, log, intervalMs: 1 };
      const early = reconcileInBackground({ ...by, finalAfterMs: 60_000 });
      await tick(30);
      early.close();
      expect(await row()).toMatchObject({ state: 'settled' });
      purchases.script.now += 60_001;
      const due = reconcileInBackground({ ...by, finalAfterMs: 60_000 });
      await expect.poll(() => journal.unfinal(0, 10, clock())).toEqual([]);
      await tick(30);
      due.close();
      expect(await row()).toMatchObject({ state });
      const named = logged.filter(({ event }) => event === 'payment_reorganised');
      expect(named).toEqual(
        state === 'settled' ? [] : [{ event: 'payment_reorganised', network: 'base' }],
      );
    }
  });
});

describe('reconcileInBackground()', () => {
  it('comes again after a pass that failed, tells so, and ends when closed', async () => {
    const logged: Readonly<Record<string, unknown>>[] = [];
    let passes = 0;
    const journal = {
      unresolved: async () => {
        passes += 1;
        if (passes === 1) throw new Error('disk');
        return [{ place: passes, key: `key ${passes}` }];
      },
      unfinal: async () => [],
    };
    const purchases = { look: async () => true, watch: async () => 'final' as const };
    const background = reconcileInBackground({
      journal,
      purchases,
      clock: () => NOW_MS,
      log: (entry) => logged.push(entry),
      intervalMs: 1,
    });
    while (passes < 3) await tick(1);
    background.close();
    const before = passes;
    await tick(20);
    expect(passes).toBeLessThanOrEqual(before + 2);
    expect(logged[0]).toEqual({ event: 'reconcile_failed', times: 1, error: 'disk' });
    expect(logged[1]).toEqual({ event: 'payments_reconciled', open: 1, asked: 1, resolved: 1 });
  });
});

/** A gatekeeper whose clock jumps, and a facilitator whose `Date` is the only time that something outside tells. */
const DAY_MS = 86_400_000;
const JUMP_TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const testnet = NETWORKS['base-sepolia'];

const time = { outside: TINY_NOW, monotonic: 0 };
const calls: string[] = [];
const server = createServer(async (request, response) => {
  calls.push(String(request.url));
  const date = new Date(time.outside).toUTCString();
  const { paymentPayload } = request.method === 'POST' ? ((await jsonOf(request)) as Asked) : NONE;
  const { authorization } = paymentPayload.payload;
  const isDue = Number(authorization.validAfter) * 1000 <= time.outside;
  const transaction = isDue ? authorization.nonce : '';
  const errorReason = isDue ? undefined : 'invalid_exact_evm_payload_authorization_valid_after';
  const verdict = { success: isDue, isValid: isDue, transaction, errorReason };
  response.writeHead(200, { date }).end(JSON.stringify({ ...verdict, kinds: [] }));
});
server.on('request', (_, response) => {
  response.sendDate = false;
});
interface Asked {
  readonly paymentPayload: {
    readonly payload: {
      readonly authorization: { readonly validAfter: string; readonly nonce: string };
    };
  };
}
const NONE = { paymentPayload: { payload: { authorization: { validAfter: '0', nonce: '' } } } };

let gate: TinyGate;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const facilitatorUrls = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  gate = await tinyGate({
    config: { facilitatorUrls, payTo: `0x${'ab'.repeat(20)}` },
    monotonic: () => time.monotonic,
  });
});
afterAll(async () => {
  await gate.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  calls.length = 0;
});

/** Signs for the time of the gatekeeper, or for another one. */
async function sign(nowMs = gate.now): Promise<string> {
  const response = await fetch(gate.url + JUMP_TARGET);
  const { accepts } = (await response.json()) as { accepts: readonly [RequirementsV1] };
  return payer(testnet).header(accepts[0], windowAt(nowMs));
}
async function send(header: string) {
  const named = { 'payment-identifier': hash('sha256', header), 'x-payment': header };
  const response = await fetch(gate.url + JUMP_TARGET, { headers: named });
  return { status: response.status, text: await response.text() };
}
const state = async (): Promise<unknown> => (await fetch(`${gate.url}/healthz`)).json();
const countRow = z.object({ n: z.number() });
function rows(): readonly number[] {
  const db = readJournalFile(join(gate.stateDir, JOURNAL_NAME));
  try {
    const count = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get([]);
    return ['payment', 'body'].map((table) => countRow.parse(count(table)).n);
  } finally {
    db.close();
  }
}

describe('a clock that jumps 40 days ahead', () => {
  it('I61: closes sales, keeps every paid answer, and sells again once it is right', async () => {
    const bought = await sign();
    const sold = await send(bought);
    expect(sold.status).toBe(200);
    const before = rows();
    gate.now += 40 * DAY_MS;
    // Signed for the time of the wrong clock, and for the right one.
    for (const header of [await sign(), await sign(time.outside)]) {
      const refused = await send(header);
      expect(refused).toMatchObject({ status: 503 });
      expect(refused.text).toContain("The server's clock is wrong");
    }
    expect(calls.filter((url) => url === '/settle')).toHaveLength(1);
    expect(rows()).toEqual(before);
    expect(await state()).toMatchObject({ serves: { ok: true }, sells: { ok: false } });
    expect(await send(bought)).toEqual(sold);
    gate.now -= 40 * DAY_MS;
    expect((await send(await sign())).status).toBe(200);
    expect(await send(bought)).toEqual(sold);
    expect(await state()).toMatchObject({ serves: { ok: true }, sells: { ok: true } });
  });

  it('I61: is believed where the time outside went on as well, as after a machine that slept', async () => {
    gate.now += 40 * DAY_MS;
    time.outside += 40 * DAY_MS;
    expect((await send(await sign())).status).toBe(200);
    expect(calls).toContain('/verify');
  });
});

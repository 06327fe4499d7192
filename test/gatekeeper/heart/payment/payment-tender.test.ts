import { createHash, sign } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { issueReceipt } from '../../../../compiler/cli/issue-receipt.ts';
import { encodeBase64Url } from '../../../../compiler/format/did-key.ts';
import { defined } from '../../../../compiler/format/errors.ts';
import { atomicAmount } from '../../../../compiler/products/shapes/price.ts';
import type { Endpoint } from '../../../../compiler/products/shapes/product.ts';
import {
  parseReceipt,
  type Receipt,
  receiptAmount,
  unsignedReceipt,
} from '../../../../compiler/products/shapes/receipt.ts';
import { issuerDid, signingKey } from '../../../../compiler/system/sealer.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import type { Challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import { paymentReader } from '../../../../gatekeeper/heart/payment/payment-tender.ts';
import { isReceiptKey } from '../../../../gatekeeper/heart/payment/receipt-tender.ts';
import { purchaseService } from '../../../../gatekeeper/heart/purchase/purchase-service.ts';
import type { FacilitatorRequest } from '../../../../gatekeeper/settle/facilitator.ts';
import type { JournalEntry } from '../../../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { TenderHeader } from '../../../../gatekeeper/wire/header-facts.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { TIDES } from '../../../tide-shop.ts';
import { NOW_MS, NOW_S, payer } from '../../payer.ts';
import {
  alice,
  TARGET as BENCH_TARGET,
  bench,
  freshJournal,
  gauge,
  network,
  PAY_TO,
  shop,
  v1,
} from '../../payment-bench.ts';
import { type TinyGate, tinyGate } from '../../tiny-gate.ts';
import { TINY_NOW } from '../../tiny-release.ts';
import { emptyJournal } from '../../tiny-service.ts';

const TERMS_CACHE_MAX = 4096;
const FROM = `0x${'11'.repeat(20)}`;
const NONCE = `0x${'22'.repeat(32)}`;
const KEY = `base|${network.asset}|${FROM}|${NONCE}`.toLowerCase();

/** The row of a payment for the reading of one entity. */
function entryOf(entity: string): JournalEntry {
  const [value, end] = ['10000', NOW_S + 300];
  return {
    key: KEY,
    resource: `GET /gauge?entity=${entity}&signal_id=airquality.aqi`,
    version: 1,
    signed: `${FROM}|${PAY_TO}|${value}|0|${end}|${NONCE}|0x00`,
    contentType: 'application/json',
    value,
    validBefore: end,
    state: 'unknown',
    body: null,
    transaction: null,
    settledMs: null,
    identifier: null,
    client: null,
    detail: null,
  };
}

/** A reader over some terms, and what its facilitator was asked to settle. */
function readerOf(challenger: Challenger) {
  const settled: FacilitatorRequest[] = [];
  const none = { verdict: 'none', detail: '' } as const;
  const facilitator = {
    verify: async () => none,
    supported: async () => none,
    settle: async (request: FacilitatorRequest) => {
      settled.push(request);
      return none;
    },
  };
  const by = { facilitator, journal: emptyJournal(), clock: () => NOW_MS, report: () => {} };
  return { ...paymentReader({ challenger, ...by }), settled };
}

describe('recall()', () => {
  /** The requests whose terms were written out. */
  let written: string[];
  let reader: ReturnType<typeof readerOf>;
  beforeEach(() => {
    written = [];
    const terms: Challenger['terms'] = (_, target) => {
      written.push(target);
      return [v1];
    };
    reader = readerOf({ ...shop, terms });
  });
  const recall = (entity: string) => reader.recall(entryOf(entity));

  it('takes a payment of our network, and no other', () => {
    expect(recall('us-denver')).toMatchObject({ key: KEY, payer: FROM });
    const foreign = { ...entryOf('us-denver'), key: KEY.replace('base', 'other') };
    expect(reader.recall(foreign)).toBeNull();
  });

  it('settles a recalled v2 payment with the listing that its challenge had, also at an older price', async () => {
    const { recall: recallV2, settled } = readerOf({ ...shop, catalog: () => BUILTIN });
    const target = '/gauge?entity=us-denver&signal_id=airquality.aqi';
    const listing = shop.listing(gauge, target);
    const entry = { ...entryOf('us-denver'), version: 2 } as const;
    const cheap = { ...entry, signed: entry.signed.replace('|10000|', '|1|') };
    for (const one of [entry, cheap]) {
      await recallV2(one)?.settlement.resume(one);
      expect(settled.at(-1)?.paymentPayload).toMatchObject({ ...listing });
    }
    await recall('us-denver')?.settlement.resume(entryOf('us-denver'));
    expect(reader.settled[0]?.paymentPayload).not.toHaveProperty('resource');
  });

  it('I43: keeps the terms of as many requests as it may', () => {
    for (let at = 0; at < TERMS_CACHE_MAX; at += 1) recall(`e${at}`);
    expect(written).toHaveLength(TERMS_CACHE_MAX);
    recall('e0');
    expect(written).toHaveLength(TERMS_CACHE_MAX);
  });

  it('I43: forgets the oldest with one request more', () => {
    for (let at = 0; at <= TERMS_CACHE_MAX; at += 1) recall(`e${at}`);
    recall('e1');
    expect(written).toHaveLength(TERMS_CACHE_MAX + 1);
    recall('e0');
    expect(written).toHaveLength(TERMS_CACHE_MAX + 2);
  });
});

describe('receipt tender', async () => {
  const PURCHASES_PER_PAYER_MAX = 2000;
  const CLOCK_BACK_MS_MAX = 5000;
  const SEED = new Uint8Array(32).fill(9);
  const KEY = signingKey(SEED);
  const PROCESSOR = issuerDid(KEY);
  const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
  const QUERY = '?entity=us-denver&signal_id=airquality.aqi';
  const OTHER = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
  let gate: TinyGate;
  let plain: TinyGate;
  beforeAll(async () => {
    gate = await tinyGate({ config: { receiptKey: PROCESSOR } });
    plain = await tinyGate();
  });
  afterAll(async () => {
    await gate.close();
    await plain.close();
  });

  const unasked = (): never => {
    throw new Error('nobody needs to be asked about a receipt');
  };

  let issued = 0;
  const random = (bytes: number): Uint8Array => {
    issued += 1;
    return createHash('sha256').update(String(issued)).digest().subarray(0, bytes);
  };
  const issue = (target = TARGET, more: object = {}) =>
    issueReceipt({ target, catalog: BUILTIN, seed: SEED, now: TINY_NOW, random, ...more });
  const buy = (receipt: string, target = TARGET, by = gate) =>
    fetch(by.url + target, { headers: { 'X-RECEIPT': receipt } });
  const refusalOf = async (reply: Response) => {
    expect(reply.status).toBe(402);
    return JSON.parse(await reply.text()).error as string;
  };

  /** A receipt whose payload was changed and signed by the processor itself. */
  function signedWith(change: Partial<Receipt>): string {
    const { receipt } = defined(parseReceipt(issue()), 'a receipt');
    return issueText({ ...receipt, ...change });
  }
  function issueText(receipt: Receipt): string {
    const { text, bytes } = unsignedReceipt(receipt);
    return `${text}.${sign(null, bytes, KEY).toString('base64url')}`;
  }

  describe('receiptAmount()', () => {
    it('I2: is taken where the same URL was asked for its price before', async () => {
      const target = '/gauge/ruler?entity=us-denver&signal_id=airquality.aqi';
      for (let time = 0; time < 2; time += 1)
        expect((await fetch(gate.url + target)).status).toBe(402);
      expect((await buy(issue(target), target)).status).toBe(200);
    });

    it('adds two per cent to every price, in whole millionths rounded up', () => {
      expect(receiptAmount('0.005')).toBe('5100');
      expect(receiptAmount('9.90')).toBe('10098000');
      expect(receiptAmount('0.000001')).toBe('2');
      for (const { priceUsd } of BUILTIN.operations as readonly Endpoint[]) {
        if (priceUsd === null) continue;
        const [price, total] = [BigInt(atomicAmount(priceUsd)), BigInt(receiptAmount(priceUsd))];
        expect(total * 100n >= price * 102n && (total - 1n) * 100n < price * 102n).toBe(true);
      }
    });
  });

  describe('receiptReader()', () => {
    it('I1: delivers once for one receipt, and the same bytes whenever it is sent again', async () => {
      const receipt = issue();
      const first = await buy(receipt);
      expect(first.status).toBe(200);
      expect(first.headers.get('cache-control')).toBe('private, no-store');
      const words = Buffer.from(first.headers.get('x-receipt-response') ?? '', 'base64').toString();
      expect(JSON.parse(words)).toEqual({
        success: true,
        receipt: expect.stringMatching(/^.{22}$/),
      });
      const text = await first.text();
      gate.now += 3_600_000;
      const again = await buy(receipt);
      expect([again.status, await again.text()]).toEqual([200, text]);
      gate.now -= 3_600_000;
    });

    it('I3: binds a receipt to its request, and does not spend it elsewhere', async () => {
      const receipt = issue();
      expect(await refusalOf(await buy(receipt, OTHER))).toContain('other_request');
      expect((await buy(receipt)).status).toBe(200);
      expect(await refusalOf(await buy(receipt, OTHER))).toContain('other_request');
    });

    it('I1: shares one delivery between copies that arrive together', async () => {
      const receipt = issue();
      const replies = await Promise.all(Array.from({ length: 20 }, () => buy(receipt)));
      const bodies = new Set(await Promise.all(replies.map((reply) => reply.text())));
      expect([...new Set(replies.map(({ status }) => status))]).toEqual([200]);
      expect(bodies.size).toBe(1);
    });

    it.each([
      ['too low an amount', () => signedWith({ amount: '10199' }), 'amount_too_low'],
      ['an end that has come', () => signedWith({ expires: TINY_NOW / 1000 }), 'receipt_expired'],
      ['another key', () => issue(TARGET, { seed: new Uint8Array(32).fill(8) }), 'invalid_receipt'],
      ['a changed payload', () => issue().replace(/\.(.)/, '.f'), 'invalid_receipt'],
      ['a cut signature', () => issue().slice(0, -1), 'invalid_receipt'],
      ['two receipts', () => `${issue()}, ${issue()}`, 'invalid_receipt'],
      ['padding', () => `${issue()}==`, 'invalid_receipt'],
      ['another version', () => issue().replace('spr1', 'spr2'), 'invalid_receipt'],
      ['nonsense', () => 'e30=', 'invalid_receipt'],
    ])('refuses %s', async (_name, make, reason) => {
      const reply = await buy(make());
      expect(await refusalOf(reply)).toContain(reason);
    });

    it('refuses a second receipt of the same id, and accepts a higher amount', async () => {
      const parsed = parseReceipt(issue());
      if (parsed === null) throw new Error('receipt');
      expect((await buy(issueText({ ...parsed.receipt, amount: '99999' }))).status).toBe(200);
      const twin = await buy(issueText({ ...parsed.receipt, amount: '88888' }));
      expect(await refusalOf(twin)).toContain('payment_already_used');
    });

    it('I10: spends nothing where there is no answer', async () => {
      const nowhere = '/gauge?entity=nowhere&signal_id=airquality.aqi';
      const reply = await buy(issue(nowhere), nowhere);
      expect(reply.status).toBe(422);
      expect(JSON.parse(await reply.text())).toMatchObject({ no_charge: true });
    });

    it('I10: tells each of many copies that there is no answer', async () => {
      const nowhere = '/gauge?entity=nowhere&signal_id=airquality.aqi';
      const receipt = issue(nowhere);
      const replies = await Promise.all(Array.from({ length: 20 }, () => buy(receipt, nowhere)));
      expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(422));
    });

    it('I33: spends nothing while the clock stands behind the journal, and delivers what was bought', async () => {
      const [bought, fresh] = [issue(), issue()];
      expect((await buy(bought)).status).toBe(200);
      gate.now -= CLOCK_BACK_MS_MAX + 1;
      const reply = await buy(fresh);
      expect([reply.status, await reply.text()]).toEqual([
        503,
        expect.stringContaining("Not charged. The server's clock is wrong"),
      ]);
      expect((await buy(bought)).status).toBe(200);
      gate.now += CLOCK_BACK_MS_MAX + 1;
      expect((await buy(fresh)).status).toBe(200);
    });

    it('takes one way of paying at a time', async () => {
      const challenge = JSON.parse(await (await fetch(gate.url + TARGET)).text());
      const payment = await payer(NETWORKS['base-sepolia']).header(challenge.accepts[0]);
      const headers = { 'X-RECEIPT': issue(), 'X-PAYMENT': payment };
      const reply = await fetch(gate.url + TARGET, { headers });
      expect(await refusalOf(reply)).toContain('send only one of');
    });

    it('is off where no processor is named', async () => {
      expect(await refusalOf(await buy(issue(), TARGET, plain))).toContain(
        'does not accept receipts',
      );
      const channels = JSON.parse(await (await fetch(`${plain.url}/gauge/channels`)).text());
      expect(channels.fiat).toMatchObject({ configured: false, available: false });
      const open = JSON.parse(await (await fetch(`${gate.url}/gauge/channels`)).text());
      expect(open.fiat).toMatchObject({ configured: true, fee_percent_about: 2 });
    });

    it('I9: settles what a crash left open, since the processor had the money already', async () => {
      const path = join(mkdtempSync(join(tmpdir(), 'signalpress-receipts-')), 'payments.db');
      const journal = sqliteJournal({ path, clock: () => TINY_NOW });
      const key = 'receipt|abc';
      const bought = { key, resource: `GET ${TARGET}`, signed: 'text', contentType: 'text/plain' };
      const terms = {
        version: 1,
        value: '10200',
        validBefore: 1,
        body: Buffer.from('body'),
      } as const;
      await journal.claim({ ...bought, ...terms });
      expect(await journal.unresolved(0, 10)).toMatchObject([{ key }]);
      const asked = { settle: unasked, verify: unasked, supported: unasked };
      const by = { journal, challenger: shop, clock: () => TINY_NOW, facilitator: asked };
      expect(isReceiptKey(key) && (await purchaseService(by).look(key))).toBe(true);
      expect(await journal.unresolved(0, 10)).toEqual([]);
      expect((await journal.find(key))?.state).toBe('settled');
      journal.close();
    });
  });

  describe('I46: a rate limit and what a receipt bought', () => {
    it('never turns away who fetches again with it, and counts every other receipt', async () => {
      const limited = await tinyGate({ config: { receiptKey: PROCESSOR, rateLimit: 2 } });
      const receipt = issue();
      const statuses = async (value: string, target = TARGET): Promise<number[]> => {
        const tries = Array.from({ length: 12 }, () => buy(value, target, limited));
        return (await Promise.all(tries)).map(({ status }) => status);
      };
      expect((await buy(receipt, TARGET, limited)).status).toBe(200);
      expect(await statuses(receipt)).toEqual(Array(12).fill(200));
      const parsed = parseReceipt(receipt);
      if (parsed === null) throw new Error('receipt');
      const twin = issueText({ ...parsed.receipt, amount: '99999' });
      const forged = issueReceipt({
        target: TARGET,
        catalog: BUILTIN,
        seed: SEED.map(() => 1),
        now: TINY_NOW,
        random,
      });
      for (const [value, target] of [
        [twin, TARGET],
        [forged, TARGET],
        [receipt, OTHER],
        [receipt, '/gauge/sample'],
        [issue(OTHER), TARGET],
      ] as const) {
        const refused = (await statuses(value, target)).filter((status) => status === 429);
        expect(refused.length).toBeGreaterThan(5);
      }
      expect(await statuses(receipt)).toEqual(Array(12).fill(200));
      await limited.close();
    });
  });

  describe('receipts in flight', () => {
    it('I43: shares the bound of purchases in flight', async () => {
      const inner = freshJournal();
      const claim = (): Promise<never> => new Promise(() => {});
      const facilitator = { settle: unasked, verify: unasked, supported: unasked };
      const by = { challenger: shop, clock: () => TINY_NOW, facilitator, processor: PROCESSOR };
      const purchases = purchaseService({ ...by, journal: { ...inner, claim } });
      const [endpoint, method] = [builtinOperation('/gauge'), 'GET'];
      const sell = async (header: string) => {
        const paymentHeader = { kind: 'receipt', text: header } as const;
        const opened = await purchases.open({ endpoint, target: TARGET, method, paymentHeader });
        if (!('sell' in opened)) throw new Error('known');
        return opened.sell({ body: Buffer.from('{}'), contentType: 'application/json' });
      };
      const { receipt } = defined(parseReceipt(issue()), 'a receipt');
      for (let at = 0; at < PURCHASES_PER_PAYER_MAX; at++) {
        void sell(issueText({ ...receipt, id: encodeBase64Url(random(16)) }));
        // Connections of other tests that ended meanwhile are let go.
        if (at % 100 === 0) await new Promise((done) => setImmediate(done));
      }
      const reply = await sell(issue());
      expect([reply.status, String(reply.body)]).toEqual([
        503,
        expect.stringContaining('Too many payments at once'),
      ]);
      inner.close();
    });
  });

  describe('issueReceipt()', () => {
    it('sells what the catalogue of the release offers, and nothing else', () => {
      const target = '/gauge/tide-region?entity=PIER-ONE';
      expect(issue(target, { catalog: TIDES })).toMatch(/^\S+\.\S+$/);
      expect(() => issue(target)).toThrow(/not a paid path/);
      expect(() => issue(TARGET, { catalog: TIDES })).toThrow(/not legal/);
    });

    it.each([
      ['/gauge?signal_id=airquality.aqi&entity=us-denver', TARGET],
      ['/gauge?issuer=us-denver&signal_id=airquality.aqi&proof=1', TARGET],
      ['/gauge?entity=us%2Ddenver&signal_id=airquality.aqi&dim=gauge', TARGET],
      ['/gauge?dim=ruler&signal_id=airquality.aqi&entity=us-denver', `/gauge/ruler${QUERY}`],
      [`/gauge/history-series${QUERY}&days=400`, `/gauge/history-series${QUERY}`],
      [
        '/gauge?entity=aapl&signal_id=filing.insider',
        '/gauge?entity=AAPL&signal_id=filing.insider',
      ],
      [`https://api.example.com${TARGET}`, TARGET],
    ])('binds a receipt for %s to the one spelling of it', (spelling, target) => {
      expect(parseReceipt(issue(spelling))?.receipt.resource).toBe(`GET ${target}`);
    });

    it('asks the price of the row that answers', () => {
      const amountOf = (target: string) => parseReceipt(issue(target))?.receipt.amount;
      expect(amountOf(`${TARGET}&dim=ruler`)).toBe(amountOf(`/gauge/ruler${QUERY}`));
      expect(amountOf(`${TARGET}&dim=ruler`)).not.toBe(amountOf(TARGET));
    });

    it('issues what can be spent in the spelling that it was issued for', async () => {
      const target = '/gauge?signal_id=airquality.aqi&entity=us-denver&dim=gauge';
      const receipt = issue(target);
      expect((await buy(receipt, target)).status).toBe(200);
      expect(await refusalOf(await buy(receipt, OTHER))).toContain('other_request');
    });

    it('refuses what buys nothing, and says what is wrong', () => {
      expect(() => issue('/gauge')).toThrow('it would buy nothing without "signal_id", "entity"');
      expect(() => issue(`${TARGET}&dim=rule`)).toThrow('the value of "dim" is not legal');
      expect(() => issue(`${TARGET}&utm_source=x`)).toThrow('no parameter is called "utm_source"');
      expect(() => issue(`${TARGET}&entity=a`)).toThrow('"entity" is repeated; send it once');
    });

    it('refuses what is not sold', () => {
      for (const target of ['/gauge/coverage', '/nowhere', '']) {
        expect(() => issue(target)).toThrow('not a paid path');
      }
    });
  });

  const PAYMENT = await alice.header(v1);
  const BENCH_PROCESSOR = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

  /** How often the header of what is offered is looked at, from the entry of a request to its answer. */
  async function readsOf(kind: TenderHeader['kind'], header: string): Promise<number> {
    let reads = 0;
    const paymentHeader = {
      kind,
      version: 1 as const,
      get text() {
        reads += 1;
        return header;
      },
    };
    const purchases = bench({ processor: BENCH_PROCESSOR }).service();
    purchases.boughtBy(paymentHeader, null);
    const opened = await purchases.open({
      endpoint: gauge,
      target: BENCH_TARGET,
      method: 'GET',
      paymentHeader,
    });
    expect(opened).toHaveProperty('sell');
    return reads;
  }

  describe('boughtBy() and open()', () => {
    it.each([
      ['payment', PAYMENT],
      ['payment', 'no payment'],
      ['receipt', 'no receipt'],
    ] as const)('read the header of a %s once between them', async (kind, header) => {
      expect(await readsOf(kind, header)).toBe(1);
    });
  });
});

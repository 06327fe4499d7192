import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { parseJson } from '../../../../compiler/format/strict-json.ts';
import { parseTlogProof } from '../../../../compiler/format/tlog-proof.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { Doubts, InFlight } from '../../../../gatekeeper/heart/purchase/purchase.ts';
import type { PurchaseOutcome } from '../../../../gatekeeper/heart/purchase/purchase-reply.ts';
import {
  isRepeat,
  purchaseService,
} from '../../../../gatekeeper/heart/purchase/purchase-service.ts';
import type { SettleOutcome } from '../../../../gatekeeper/settle/facilitator.ts';
import { DEAD_AFTER_S, type Journal } from '../../../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../../../gatekeeper/start.ts';
import { headerFacts } from '../../../../gatekeeper/wire/header-facts.ts';
import { sampleGate, servedShop } from '../../../gate.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { headerOf, NOW_MS, payer } from '../../payer.ts';
import {
  alice,
  bench,
  buy,
  expectRefused,
  freshJournal,
  HERE,
  header,
  json,
  PAY_TO,
  settled,
  shop,
  TARGET,
  tick,
  v1,
  v2,
} from '../../payment-bench.ts';
import { BUYER_ADDRESS } from '../../tiny-gate.ts';

const WAITING_BYTES_MAX = 256 * 1024 * 1024;
const PURCHASES_PER_PAYER_MAX = 2000;
const PURCHASES_IN_FLIGHT_MAX = 10_000;

function deferred() {
  let resolve: (outcome: PurchaseOutcome) => void = () => {};
  const promise = new Promise<PurchaseOutcome>((done) => {
    resolve = done;
  });
  return { resolve, promise };
}

describe('InFlight', () => {
  it('I46: keeps places for others when one payer fills its own', async () => {
    const inFlight = new InFlight();
    const hang = () => new Promise<never>(() => {});
    for (let at = 0; at < PURCHASES_PER_PAYER_MAX; at++) {
      expect(inFlight.isFull('0xa')).toBe(false);
      void inFlight.start(
        { key: `${at}`, payer: '0xa', resource: '', signed: '', shown: null },
        hang,
      );
    }
    expect([inFlight.isFull('0xa'), inFlight.isFull('0xb')]).toEqual([true, false]);
  });

  it('I46: is full for everybody at its own bound, and free again when one payment ends', async () => {
    const inFlight = new InFlight();
    const ends: ((outcome: never) => void)[] = [];
    const hang = () => new Promise<never>((resolve) => ends.push(resolve));
    for (let at = 0; at < PURCHASES_IN_FLIGHT_MAX; at++) {
      expect(inFlight.isFull(`0x${at}`)).toBe(false);
      const binding = { key: `${at}`, payer: `0x${at}`, resource: '', signed: '', shown: null };
      void inFlight.start(binding, hang);
    }
    expect(inFlight.isFull('0xnew')).toBe(true);
    ends[0]?.({ kind: 'unknown' } as never);
    await inFlight.get('0')?.outcome;
    expect(inFlight.isFull('0xnew')).toBe(false);
  });

  it('gives places back, also after a failure', async () => {
    const inFlight = new InFlight();
    const binding = { key: 'k', payer: '0xa', resource: '', signed: '', shown: null };
    const fails = inFlight.start(binding, () => Promise.reject(new Error('boom')));
    expect(inFlight.get('k')?.binding).toBe(binding);
    await expect(fails).rejects.toThrow('boom');
    expect(inFlight.get('k')).toBeUndefined();
  });

  it('keeps a later purchase of a key when an earlier one ends', async () => {
    const inFlight = new InFlight();
    const earlier = { key: 'k', payer: '0xa', resource: 'GET /b', signed: 's', shown: null };
    const later = { ...earlier, resource: 'GET /a' };
    const { resolve, promise } = deferred();
    const first = inFlight.start(earlier, () => promise);
    void inFlight.start(later, () => new Promise<never>(() => {}));
    resolve({ kind: 'unknown', waitMs: 1 });
    await first;
    expect(inFlight.get('k')?.binding).toBe(later);
  });

  it('holds bytes up to its bound, and again what was given back', () => {
    const inFlight = new InFlight();
    const half = WAITING_BYTES_MAX / 2;
    expect(inFlight.hold(half)).toBe(true);
    expect(inFlight.hold(half + 1)).toBe(false);
    expect(inFlight.hold(half)).toBe(true);
    expect(inFlight.hold(1)).toBe(false);
    inFlight.release(half);
    inFlight.release(half);
    expect(inFlight.hold(WAITING_BYTES_MAX)).toBe(true);
  });
});

const DOUBT_REST_MS = 5000;

const DOUBTS_MAX = 20_000;

const one = { key: 'k', payer: '0xa', resource: 'GET /gauge', signed: 's' };

describe('Doubts', () => {
  it('makes the same payment wait for its rest and no longer', () => {
    const doubts = new Doubts();
    expect(doubts.waitMs(one, NOW_MS)).toBe(0);
    doubts.note(one, NOW_MS);
    expect(doubts.waitMs(one, NOW_MS + 1)).toBe(DOUBT_REST_MS - 1);
    expect(doubts.waitMs(one, NOW_MS + DOUBT_REST_MS)).toBe(0);
  });

  it('says nothing to another request or signature under the key', () => {
    const doubts = new Doubts();
    doubts.note(one, NOW_MS);
    expect(doubts.waitMs({ ...one, resource: 'GET /other' }, NOW_MS)).toBe(0);
    expect(doubts.waitMs({ ...one, signed: 't' }, NOW_MS)).toBe(0);
    expect(doubts.waitMs(one, NOW_MS)).toBe(DOUBT_REST_MS);
  });

  it('I33: waits no longer because the clock was set back', () => {
    const doubts = new Doubts();
    doubts.note(one, NOW_MS);
    expect(doubts.waitMs(one, NOW_MS - 86_400_000)).toBe(0);
  });

  it('I43: remembers as many as it may, and forgets the oldest with one more', () => {
    const doubts = new Doubts();
    for (let at = 0; at < DOUBTS_MAX; at++) doubts.note({ ...one, key: `${at}` }, NOW_MS);
    expect(doubts.waitMs({ ...one, key: '0' }, NOW_MS)).toBeGreaterThan(0);
    doubts.note({ ...one, key: 'new' }, NOW_MS);
    expect(doubts.waitMs({ ...one, key: '0' }, NOW_MS)).toBe(0);
    expect(doubts.waitMs({ ...one, key: '1' }, NOW_MS)).toBeGreaterThan(0);
  });
});

describe('a settlement in doubt', () => {
  it('I54: is asked about once per Retry-After, however often it is sent', async () => {
    const purchases = bench({ verifyFirst: false });
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await alice.header(v1);
    for (let rest = 0; rest < 4; rest++) {
      for (let at = 0; at < 400; at++) {
        const reply = await purchases.pay({ header: value });
        expect(reply.status).toBe(503);
        expect(header(reply, 'retry-after')).toMatch(/^[1-5]$/);
        expect(json(reply).error).toContain('Send the same X-PAYMENT again');
      }
      expect(purchases.calls.settle).toHaveLength(rest + 1);
      purchases.wait();
    }
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value })).status).toBe(200);
    expect((await purchases.pay({ header: value })).status).toBe(200);
    expect(purchases.calls.settle).toHaveLength(5);
  });

  it('I5: opens nothing else while it is in doubt', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await alice.header(v1);
    expect((await purchases.pay({ header: value })).status).toBe(503);
    expectRefused(await purchases.pay({ header: value, target: '/gauge' }), /payment_already_used/);
  });

  it('I10: is none where nobody was reached, so the row is closed and the same payment sells again', async () => {
    const purchases = bench({ verifyFirst: false });
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'refused', unsent: true });
    const value = await alice.header(v1);
    const reply = await purchases.pay({ header: value });
    expect([reply.status, json(reply).error]).toEqual([503, expect.stringMatching(/^Not charged/)]);
    expect(await purchases.journal().unresolved(0, 10)).toEqual([]);
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value })).status).toBe(200);
  });

  it('I51: is none where our own account could not send it: 402, the row closed, and the same payment sells later', async () => {
    const purchases = bench({ verifyFirst: false });
    const declined = { unsent: true, declined: true } as const;
    purchases.script.settle = async () => ({
      verdict: 'none',
      detail: 'insufficient funds',
      ...declined,
    });
    const value = await alice.header(v1);
    expectRefused(
      await purchases.pay({ header: value }),
      /^settlement_not_sent: .*insufficient funds/,
    );
    expect(await purchases.journal().unresolved(0, 10)).toEqual([]);
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value })).status).toBe(200);
  });

  it('I9: stays a doubt where a repeat reaches nobody, for the first call may have been the one', async () => {
    const purchases = bench({ verifyFirst: false });
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await alice.header(v1);
    await purchases.pay({ header: value });
    purchases.wait();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'refused', unsent: true });
    const reply = await purchases.pay({ header: value });
    expect(json(reply).error).toContain('not known yet');
    purchases.script.now = NOW_MS + (DEAD_AFTER_S + 400) * 1000;
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'expired' });
    expectRefused(await purchases.pay({ header: value }), /authorization_expired/);
  });
});

/** Purchases that take one payment, whose facilitator says what it is told to. */
async function oneBuyer(journal: Journal = freshJournal()) {
  const script: { settle: () => Promise<SettleOutcome> } = { settle: settled };
  const purchases = purchaseService({
    journal,
    challenger: shop,
    clock: () => NOW_MS,
    facilitator: {
      verify: async () => ({ verdict: 'valid' }),
      settle: () => script.settle(),
      supported: async () => ({ verdict: 'none', detail: '' }),
    },
  });
  const signed = await alice.sign(PAY_TO, '10000');
  const header = headerOf(v1, signed);
  const deliver = async () => ({ body: Buffer.from('{}'), contentType: 'application/json' });
  const asks = (
    change: { method?: string; target?: string; client?: string } = {},
    ...headers: string[]
  ) => {
    const facts = headerFacts(headers.length > 0 ? headers : ['X-PAYMENT', header]);
    const { client = HERE, ...other } = change;
    const arrival = { address: HERE, method: 'GET', target: TARGET, facts, ...other };
    return isRepeat(arrival, client, purchases, BUILTIN);
  };
  return {
    script,
    signed,
    header,
    asks,
    pay: (target = TARGET) => buy(purchases, { target, header, deliver }),
  };
}

describe('isRepeat()', () => {
  it('I46: isRepeat() is true of what was paid, in any spelling, and of nothing before it was paid', async () => {
    const { asks, pay, signed } = await oneBuyer();
    expect(asks()).toBe(false);
    expect((await pay()).status).toBe(200);
    expect(asks()).toBe(true);
    const other = '/gauge?signal_id=airquality.aqi&entity=us-denver&days=&unknown=1';
    expect(asks({ target: other })).toBe(true);
    expect(asks({}, 'PAYMENT-SIGNATURE', headerOf(v2, signed))).toBe(true);
  });

  it('I46: isRepeat() is false of another request, another method, no payment and two of them', async () => {
    const { asks, pay, header } = await oneBuyer();
    await pay();
    for (const target of [
      '/gauge/sample',
      '/gauge',
      '/gauge?entity=x&signal_id=y',
      '/no',
      '*',
      '',
    ]) {
      expect([target, asks({ target })]).toEqual([target, false]);
    }
    for (const method of ['HEAD', 'POST', 'OPTIONS']) expect(asks({ method })).toBe(false);
    expect(asks({}, 'Host', 'gate')).toBe(false);
    expect(asks({}, 'X-RECEIPT', header)).toBe(false);
    expect(asks({}, 'X-PAYMENT', header, 'X-PAYMENT', header)).toBe(false);
    expect(asks({}, 'X-PAYMENT', header, 'PAYMENT-SIGNATURE', header)).toBe(false);
  });

  it('I46: isRepeat() is false of a known nonce under another signature or other terms', async () => {
    const { asks, pay, signed } = await oneBuyer();
    await pay();
    const { authorization, signature } = signed;
    const garbage = { authorization, signature: `0x${'11'.repeat(64)}1b` } as const;
    const dearer = { authorization: { ...authorization, value: '10001' }, signature };
    for (const forged of [garbage, dearer]) {
      expect(asks({}, 'X-PAYMENT', headerOf(v1, forged))).toBe(false);
    }
  });

  it('I46: isRepeat() is true while a payment is in flight or in doubt, and false of a refused one', async () => {
    const { asks, pay, script } = await oneBuyer();
    const landing: ((outcome: SettleOutcome) => void)[] = [];
    script.settle = () => new Promise((resolve) => landing.push(resolve));
    const paying = pay();
    while (landing.length === 0) await tick(1);
    expect(asks()).toBe(true);
    landing[0]?.({ verdict: 'none', detail: 'timeout' });
    expect((await paying).status).toBe(503);
    expect(asks()).toBe(true);
    const poor = await oneBuyer();
    poor.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    expect((await poor.pay()).status).toBe(402);
    expect(poor.asks()).toBe(false);
  });

  it('I46: isRepeat() is true of what was paid while the same payment is sent for another request', async () => {
    const inner = freshJournal();
    const { asks, pay } = await oneBuyer({
      ...inner,
      find: (key) => tick(5).then(() => inner.find(key)),
    });
    expect((await pay()).status).toBe(200);
    const other = '/gauge?entity=us-boise&signal_id=airquality.aqi';
    const elsewhere = pay(other);
    await tick(1);
    expect(asks()).toBe(true);
    expect(asks({ target: other })).toBe(false);
    expect((await elsewhere).status).toBe(402);
  });

  it('isRepeat() is false where the journal cannot be read', async () => {
    const inner = freshJournal();
    let isBroken = false;
    const bindingOf: Journal['bindingOf'] = (key) => {
      if (isBroken) throw new Error('disk');
      return inner.bindingOf(key);
    };
    const { asks, pay } = await oneBuyer({ ...inner, bindingOf });
    expect((await pay()).status).toBe(200);
    expect(asks()).toBe(true);
    isBroken = true;
    expect(asks()).toBe(false);
    // It may be paid already, so nobody is told that it is not.
    expect((await pay()).status).toBe(503);
  });
});

const SIGNAL = 'hydrology.river-level';
const [STEADY, MOVING] = ['08167000', '08158000'] as const;
const target = (entity: string) => `/gauge?entity=${entity}&signal_id=${SIGNAL}`;
const batch = (hour: string, entities: readonly string[]) =>
  ndjson(
    entities.map((entity) =>
      reading(
        entity,
        { stage_ft: Number(hour) },
        { observed_at: `2026-11-20T${hour}:00:00Z`, collected_at: `2026-11-20T${hour}:20:00Z` },
      ),
    ),
  );

let gate: Gatekeeper;
let [snapshots, data, did] = ['', '', ''];
beforeAll(async () => {
  const files = { [`2026-11-20/${SIGNAL}.ndjson`]: batch('09', [STEADY, MOVING]) };
  ({ snapshots, data, gate, issuer: did } = await servedShop(files, { tokens: false }));
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

async function signed(path: string): Promise<string> {
  const { accepts } = (await (await fetch(gate.url + path)).json()) as {
    accepts: readonly [RequirementsV1];
  };
  return payer(NETWORKS['base-sepolia']).header(accepts[0]);
}

async function send(path: string, payment: string) {
  const response = await fetch(gate.url + path, {
    headers: { ...BUYER_ADDRESS, 'x-payment': payment },
  });
  return { status: response.status, text: await response.text() };
}

const buyProven = async (path: string) => send(path, await signed(path));

function sizeIn(text: string): number {
  const body = parseJson(text);
  const report = verifyBody(body, { trust: [did], now: NOW_MS, proof: 'demanded' });
  expect(report.verdict).toBe('verified');
  const { _proof } = body as { readonly _proof: string };
  return parseTlogProof(_proof).signed.size;
}

describe('a purchase with its proof', () => {
  it('is delivered again with the very bytes after the log grew; a new one is proven in the log of now', async () => {
    const payment = await signed(target(STEADY));
    const first = await send(target(STEADY), payment);
    expect(first.status).toBe(200);
    writeSnapshots({ [`2026-11-20T12Z/${SIGNAL}.ndjson`]: batch('12', [MOVING]) }, snapshots);
    await compileFolder(snapshots, { data, asOf: '2026-11-20T12:30:00Z' });
    await gate.checkRelease();
    expect(await send(target(STEADY), payment)).toEqual(first);
    expect(sizeIn((await buyProven(target(STEADY))).text)).toBeGreaterThan(sizeIn(first.text));
    expect(sizeIn((await buyProven(target(MOVING))).text)).toBeGreaterThan(sizeIn(first.text));
  });

  it('is bound to proof=0 where that was asked: a payment without it buys no other form', async () => {
    const without = `${target(STEADY)}&proof=0`;
    const payment = await signed(without);
    const sold = await send(without, payment);
    expect(JSON.parse(sold.text)).not.toHaveProperty('_proof');
    expect(await send(without, payment)).toEqual(sold);
    expect((await send(target(STEADY), payment)).status).toBe(402);
  });

  it('is refused without a charge where the log cannot be read; the same payment buys it once that can', async () => {
    const tiles = join(data, 'log/tile/0');
    const files = readdirSync(tiles, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name));
    const whole = files.map((file) => readFileSync(file));
    await gate.close();
    // What a start reads of the log is kept.
    for (const file of files) writeFileSync(file, 'damaged');
    gate = await sampleGate(data, { tokens: false });
    const payment = await signed(target(STEADY));
    const refused = await send(target(STEADY), payment);
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining('Not charged') });
    expect((await buyProven(`${target(STEADY)}&proof=0`)).status).toBe(200);
    for (const [at, file] of files.entries()) writeFileSync(file, whole[at] ?? '');
    // That the log was broken is remembered for a few seconds.
    const sold = await vi.waitFor(
      async () => {
        const answer = await send(target(STEADY), payment);
        expect(answer.status).toBe(200);
        return answer.text;
      },
      { timeout: 60_000, interval: 250 },
    );
    expect(sizeIn(sold)).toBeGreaterThan(0);
  });
});

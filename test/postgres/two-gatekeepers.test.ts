import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepingSettlements } from '../../gatekeeper/heart/journal/open-journal.ts';
import { postgresJournal } from '../../gatekeeper/heart/journal/postgres-journal.ts';
import type { PaymentEvidence } from '../../gatekeeper/heart/payment/settlement.ts';
import { purchaseService } from '../../gatekeeper/heart/purchase/purchase-service.ts';
import { Reconciler } from '../../gatekeeper/heart/purchase/reconcile.ts';
import type { SettleOutcome } from '../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import { type Balancer, missingBalancer, startBalancer } from '../deploy/balancer.ts';
import { freePorts, type GateProcess, gateProcess } from '../deploy/gate-process.ts';
import { saying } from '../gatekeeper/chain-reader.ts';
import { headerOf, NOW_MS, payer, windowAt } from '../gatekeeper/payer.ts';
import {
  alice,
  buy,
  expectRefused,
  header,
  keyOf,
  PAY_TO,
  settled,
  shop,
  TARGET,
  TX,
  tick,
  v1,
} from '../gatekeeper/payment-bench.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { UNTOLD } from '../gatekeeper/tiny-service.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
const toClose: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of toClose) await close();
  await server.close();
});

/** One facilitator for all gatekeepers; it counts the calls under way. */
function facilitator() {
  const seen = { calls: 0, running: 0, together: 0 };
  const script: { settle: () => Promise<SettleOutcome> } = { settle: settled };
  return {
    seen,
    script,
    verify: async () => ({ verdict: 'valid' }) as const,
    supported: async () => ({ verdict: 'none', detail: '' }) as const,
    settle: async () => {
      seen.calls += 1;
      seen.running += 1;
      seen.together = Math.max(seen.together, seen.running);
      return script.settle().finally(() => {
        seen.running -= 1;
      });
    },
  };
}

type Settler = ReturnType<typeof facilitator>;

async function gatekeeper(url: string, by: Settler, evidence?: PaymentEvidence) {
  const script = { now: NOW_MS };
  const clock = (): number => script.now;
  const inner = await postgresJournal({ url, clock, lost: UNTOLD });
  const journal = keepingSettlements(inner);
  const purchases = purchaseService({
    journal,
    challenger: shop,
    clock,
    facilitator: by,
    ...(evidence === undefined ? {} : { evidence }),
  });
  let made = 0;
  const close = (): Promise<void> => inner.close();
  toClose.push(close);
  return {
    script,
    journal,
    purchases,
    close,
    made: () => made,
    pay: (value: string, target = TARGET) =>
      buy(purchases, {
        header: value,
        target,
        deliver: async () => {
          made += 1;
          return {
            body: Buffer.from(`{"made by":"${url}","number":${made}}`),
            contentType: 'application/json',
          };
        },
      }),
  };
}

async function two(evidence?: PaymentEvidence) {
  const url = await server.freshUrl();
  const by = facilitator();
  const open = () => gatekeeper(url, by, evidence);
  return { url, by, one: await open(), other: await open() };
}

/** A payment whose settlement hangs at the facilitator until it lands. */
async function hanging(gate: Awaited<ReturnType<typeof gatekeeper>>, by: Settler) {
  let land: (outcome: SettleOutcome) => void = () => {};
  by.script.settle = () =>
    new Promise((resolve) => {
      land = resolve;
    });
  const value = await paid();
  const first = gate.pay(value);
  await expect.poll(() => by.seen.calls).toBe(1);
  return { value, first, land };
}

const paid = async () => headerOf(v1, await alice.sign(PAY_TO, '10000'));
const OTHER = '/gauge?entity=us-boise&signal_id=airquality.aqi';

describe('purchaseService() of two gatekeepers over one journal', () => {
  it('I3: settles one payment once that is sent to both at once, and both deliver the same bytes', async () => {
    const { by, one, other } = await two();
    by.script.settle = () => tick(300).then(settled);
    for (let round = 0; round < 10; round++) {
      const value = await paid();
      const replies = await Promise.all([one, other, one, other].map((gate) => gate.pay(value)));
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(replies.map(({ body }) => body.toString())).size).toBe(1);
      expect(new Set(replies.map((reply) => header(reply, 'x-payment-response'))).size).toBe(1);
    }
    expect(by.seen).toMatchObject({ calls: 10, together: 1 });
  });

  it('I5: opens one resource for a payment that is sent to both for two', async () => {
    const { by, one, other } = await two();
    for (let round = 0; round < 10; round++) {
      const value = await paid();
      const replies = await Promise.all([one.pay(value), other.pay(value, OTHER)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 402]);
    }
    expect(by.seen.calls).toBe(10);
  });

  it('I2: delivers at one what the other sold, without making it again', async () => {
    const { by, one, other } = await two();
    const value = await paid();
    const first = await one.pay(value);
    expect(await other.pay(value)).toStrictEqual(first);
    expect([first.status, other.made(), by.seen.calls]).toEqual([200, 0, 1]);
    expectRefused(await other.pay(value, OTHER), /already used/);
  });

  it('I9: asks nobody again while the first one waits, and tells the buyer to come again', async () => {
    const { by, one, other } = await two();
    const { value, first, land } = await hanging(one, by);
    const second = await other.pay(value);
    expect([second.status, header(second, 'retry-after') !== undefined]).toEqual([503, true]);
    land({ verdict: 'settled', transaction: TX });
    expect((await first).status).toBe(200);
    other.script.now += 60_000;
    expect((await other.pay(value)).body).toEqual((await first).body);
    expect(by.seen.calls).toBe(1);
  });

  it('I2: goes on where a gatekeeper ended between claim and end', async () => {
    const { by, one, other } = await two();
    by.script.settle = () => new Promise(() => {});
    const value = await paid();
    void one.pay(value);
    await expect.poll(() => by.seen.calls).toBe(1);
    await one.close();
    by.script.settle = settled;
    const reply = await other.pay(value);
    expect([reply.status, by.seen.calls]).toEqual([200, 2]);
    expect(await other.journal.find(keyOf(value))).toMatchObject({ state: 'settled' });
  });

  it('I9: leaves a payment open that is refused while the call of a gatekeeper that ended still runs', async () => {
    const { by, one, other } = await two(saying(async () => ({ state: 'unused' })));
    by.script.settle = () => new Promise(() => {});
    const value = await paid();
    void one.pay(value);
    await expect.poll(() => by.seen.calls).toBe(1);
    await one.close();
    by.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    expect((await other.pay(value)).status).toBe(503);
    expect(await other.journal.find(keyOf(value))).toMatchObject({ state: 'unknown' });
    // Nobody else is asking for a new one, so its refusal counts.
    expectRefused(await other.pay(await paid()), /insufficient_funds/);
  });

  it('I9: tells nobody of a refusal once another gatekeeper has taken the payment over', async () => {
    const { by, one, other } = await two();
    const { value, first, land } = await hanging(one, by);
    await one.close();
    by.script.settle = settled;
    expect((await other.pay(value)).status).toBe(200);
    land({ verdict: 'refused', reason: 'insufficient_funds' });
    const reply = await first;
    expect([reply.status, reply.body.toString()]).toEqual([
      503,
      expect.stringMatching(/same X-PAYMENT/),
    ]);
  });

  it('I3: asks once at a time for a doubt that is sent to both', async () => {
    const { by, one, other } = await two();
    by.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await paid();
    expect((await one.pay(value)).status).toBe(503);
    by.script.settle = () => tick(300).then(settled);
    one.script.now += 60_000;
    const replies = await Promise.all([one.pay(value), other.pay(value)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(by.seen).toMatchObject({ calls: 2, together: 1 });
  });

  it('I10: takes at one what was refused at the other, for anything', async () => {
    const { by, one, other } = await two();
    by.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    const value = await paid();
    expectRefused(await one.pay(value), /insufficient_funds/);
    by.script.settle = settled;
    expect((await other.pay(value, OTHER)).status).toBe(200);
    expectRefused(await one.pay(value), /already used/);
    expect((await one.pay(value, OTHER)).status).toBe(200);
  });

  it('I51: moves no money in the background, and looks in one gatekeeper alone', async () => {
    const { by, one, other } = await two();
    by.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    expect((await one.pay(await paid())).status).toBe(503);
    const reconciler = [one, other].map(
      ({ journal, purchases, script }) =>
        new Reconciler({ journal, purchases, clock: () => script.now }),
    );
    const passes = [await reconciler[0]?.pass(), await reconciler[1]?.pass()];
    expect(passes.map((pass) => pass?.open)).toEqual([1, 0]);
    expect(by.seen.calls).toBe(1);
    await one.close();
    await expect.poll(async () => (await reconciler[1]?.pass())?.open).toBe(1);
  });

  it('I7: charges nobody while the database is away, and delivers afterwards', async () => {
    const { by, one } = await two();
    const bought = await paid();
    const before = await one.pay(bought);
    await server.kill();
    const [fresh, again] = await Promise.all([one.pay(await paid()), one.pay(bought)]);
    expect([fresh.status, again.status, by.seen.calls]).toEqual([503, 503, 1]);
    await server.start();
    one.script.now += 60_000;
    await expect.poll(async () => (await one.pay(bought)).status).toBe(200);
    expect(await one.pay(bought)).toStrictEqual(before);
  });
});

const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';
/** More than one check of a balancer. */
const NOTICED_MS = 3000;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const KINDS = (['nginx', 'haproxy'] as const).map((kind) => ({
  kind,
  missing: missingBalancer(kind),
}));

describe.each(KINDS)('$kind in front of two gatekeepers on one database', ({ kind, missing }) => {
  if (missing !== null) {
    it.skip(`(${missing})`, () => undefined);
    return;
  }
  let server: PostgresServer;
  let gates: readonly GateProcess[] = [];
  let balancer: Balancer;

  beforeAll(async () => {
    server = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), 'signalpress-balanced-'));
    const data = join(folder, 'data');
    writeTinyRelease(data);
    const env = {
      SIGNALPRESS_DATA: data,
      SIGNALPRESS_STATE: join(folder, 'state'),
      SIGNALPRESS_JOURNAL: await server.freshUrl(),
      SIGNALPRESS_TEST_PAYMENTS: '1',
      SIGNALPRESS_TRUSTED_PROXY: '127.0.0.1',
      SIGNALPRESS_RATE_LIMIT: '0',
    };
    gates = (await freePorts(2)).map((port) => gateProcess({ port, cwd: folder, env }));
    for (const gate of gates) await gate.start();
    balancer = await startBalancer({ kind, ports: gates.map(({ port }) => port) });
  });

  afterAll(async () => {
    await balancer?.close();
    for (const gate of gates) await gate.stop('SIGKILL');
    await server?.close();
  });

  const ask = (target: string, headers = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request(balancer.url + target, { headers, ca: balancer.ca }, (response) => {
        let text = '';
        response.on('data', (piece) => {
          text += piece;
        });
        const { statusCode: status = 0, headers: told } = response;
        response.on('end', () => resolve({ status, headers: told, text }));
      });
      asked.on('error', reject).end();
    });

  const payment = async (): Promise<object> => {
    const { accepts } = JSON.parse((await ask(PAID)).text) as { accepts: [RequirementsV1] };
    // Behind a proxy of this machine nobody has an address of his own, so the name of the purchase proves its buyer.
    const named = { 'payment-identifier': randomUUID() };
    return {
      ...named,
      'x-payment': await payer(NETWORKS['base-sepolia']).header(accepts[0], windowAt()),
    };
  };

  it('gives what is free, and answers who pays itself, while the database is away; sells again when it is back', async () => {
    const paid = await payment();
    expect((await ask(PAID, paid)).status).toBe(200);
    await server.stop();
    await pause(NOTICED_MS);
    for (let time = 0; time < 6; time += 1) {
      expect((await ask('/gauge/sample')).status).toBe(200);
      expect((await ask(PAID)).status).toBe(402);
    }
    // Who has paid, and who is about to.
    for (const headers of [paid, await payment()]) {
      const answer = await ask(PAID, headers);
      expect([answer.status, JSON.parse(answer.text)]).toEqual([
        503,
        expect.objectContaining({ error: expect.any(String) }),
      ]);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    const health = await ask('/healthz');
    expect([health.status, JSON.parse(health.text)]).toMatchObject([
      200,
      {
        status: 'not_ready',
        serves: { ok: true },
        sells: { ok: false, reasons: [{ reason: 'journal_lost' }] },
        publishes: { ok: true },
      },
    ]);
    await server.start();
    const again = async (): Promise<number> => (await ask(PAID, paid)).status;
    await expect.poll(again, { interval: 500 }).toBe(200);
    expect((await ask(PAID, await payment())).status).toBe(200);
  });
});

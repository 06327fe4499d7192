import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localFacilitator } from '../../../gatekeeper/facilitator/local-facilitator.ts';
import { type Facilitator, isAwaited } from '../../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import type { RequirementsV1 } from '../../../gatekeeper/money/payment.ts';
import { payer } from '../payer.ts';
import { alice, bench, expectRefused, json, keyOf, tick, v1 } from '../payment-bench.ts';
import { type TinyGate, tinyGate } from '../tiny-gate.ts';
import { TINY_NOW } from '../tiny-release.ts';

/** A request whose client may go away. */
function client() {
  const one = { isThere: true };
  const trace = { id: 'a', sentId: 'a', isAwaited: () => one.isThere };
  return Object.assign(one, { trace });
}

describe('I51: a buyer who goes away', () => {
  it('is not charged when that was before the claim, and the same payment buys afterwards', async () => {
    const purchases = bench();
    const { verify } = purchases.script;
    const buyer = client();
    purchases.script.verify = async (request) => {
      buyer.isThere = false;
      return verify(request);
    };
    const value = await alice.header(v1);
    const reply = await purchases.pay({ header: value, trace: buyer.trace });
    expect([reply.status, json(reply).error]).toEqual([503, expect.stringMatching(/^Not charged/)]);
    expect([purchases.calls.settle, await purchases.journal().find(keyOf(value))]).toEqual([
      [],
      null,
    ]);
    expect((await purchases.pay({ header: value, trace: client().trace })).status).toBe(200);
  });

  it('is not charged when that was before the settlement: the claim is let go', async () => {
    const buyer = client();
    const purchases = bench();
    const journal = purchases.journal();
    const claim = journal.claim.bind(journal);
    Object.assign(journal, {
      claim: async (...args: Parameters<typeof claim>) => {
        buyer.isThere = false;
        return claim(...args);
      },
    });
    const value = await alice.header(v1);
    expect((await purchases.pay({ header: value, trace: buyer.trace })).status).toBe(503);
    expect(purchases.calls.settle).toEqual([]);
    expect(await journal.find(keyOf(value))).toMatchObject({ state: 'refused' });
    const other = '/gauge?entity=us-boise&signal_id=airquality.aqi';
    expect((await purchases.pay({ header: value, target: other })).status).toBe(200);
  });

  it('is not charged for a doubt that it left, which stays one', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await alice.header(v1);
    await purchases.pay({ header: value });
    purchases.wait();
    const gone = client();
    gone.isThere = false;
    const reply = await purchases.pay({ header: value, trace: gone.trace });
    expect([reply.status, purchases.calls.settle.length]).toEqual([503, 1]);
    expectRefused(await purchases.pay({ header: value, target: '/gauge' }), /already_used/);
  });

  it('is charged as long as a copy of its request waits', async () => {
    const purchases = bench();
    const { verify } = purchases.script;
    purchases.script.verify = async (request) => {
      await tick(50);
      return verify(request);
    };
    const value = await alice.header(v1);
    const [first, copy] = [client(), client()];
    const replies = [first, copy].map(({ trace }) => purchases.pay({ header: value, trace }));
    first.isThere = false;
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200]);
    expect(purchases.calls.settle).toHaveLength(1);
  });
});

const PAID = '/gauge?signal_id=airquality.aqi&entity=us-chicago';
/** Longest wait of the facilitator for a buyer to be gone. */
const VERIFY_MS = 600;
const local = localFacilitator({ clock: () => TINY_NOW });
const settles: string[] = [];
/** Nonces of those who asked for the first time: only they are waited for. */
const first = new Set<string>();
const slow: Facilitator = {
  verify: async (request) => {
    const { nonce } = request.paymentPayload.payload.authorization;
    const waitMs = first.has(nonce) ? 0 : VERIFY_MS;
    first.add(nonce);
    const started = performance.now();
    while (isAwaited(request) && performance.now() - started < waitMs) await pause(10);
    return local.verify(request);
  },
  settle: (request) => {
    settles.push(request.paymentPayload.payload.authorization.nonce);
    return local.settle(request);
  },
  supported: () => local.supported(),
};
/** How a client, or the balancer between, ends its connection. */
const LEAVES = ['destroy', 'resetAndDestroy', 'end'] as const;
type Leave = (typeof LEAVES)[number];

describe('I51: a buyer whose connection ends', () => {
  let gate: TinyGate;
  beforeAll(async () => {
    gate = await tinyGate({ facilitator: slow, config: { verifyFirst: true } });
  });
  afterAll(() => gate.close());

  const refusals = (): number => gate.logged.filter(({ status }) => status === 503).length;

  const signed = async (): Promise<{ header: string; nonce: string }> => {
    const challenge = await fetch(gate.url + PAID);
    const { accepts } = (await challenge.json()) as { accepts: readonly [RequirementsV1] };
    const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
    const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
    return { header, nonce: payload.authorization.nonce };
  };

  /** Sends a purchase and ends the connection a moment later; what came back, if it reads on. */
  const leaving = (header: string, leave: Leave): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const socket = connect({ port: gate.port, host: '127.0.0.1', allowHalfOpen: true }, () => {
        socket.write(`GET ${PAID} HTTP/1.1\r\nHost: gate\r\nX-PAYMENT: ${header}\r\n\r\n`);
        setTimeout(() => socket[leave](), 100);
      });
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('end', () => socket.destroy());
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
    });

  it.each(LEAVES.slice(0, 2))(
    'by %s is not charged, and buys with the same payment when it is back',
    async (leave) => {
      const { header, nonce } = await signed();
      const before = refusals();
      await leaving(header, leave);
      await vi.waitFor(() => expect(refusals()).toBe(before + 1), 10_000);
      expect(settles).not.toContain(nonce);
      const answer = await fetch(gate.url + PAID, { headers: { 'x-payment': header } });
      expect([answer.status, settles.includes(nonce)]).toEqual([200, true]);
    },
  );

  it('on its own side alone gets what it pays for, behind interim answers', async () => {
    const { header, nonce } = await signed();
    const text = await leaving(header, 'end');
    expect(text).toMatch(/^(HTTP\/1\.1 102 Processing\r\n\r\n)+HTTP\/1\.1 200 OK\r\n/);
    expect(settles).toContain(nonce);
  });
});

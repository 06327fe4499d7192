import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import type { Endpoint } from '../../../../compiler/products/shapes/product.ts';
import { answer, notFound, refuseMethod } from '../../../../gatekeeper/heart/answers/answers.ts';
import { respond } from '../../../../gatekeeper/heart/answers/respond.ts';
import { type Service, soldTargets } from '../../../../gatekeeper/heart/answers/service.ts';
import type { PurchaseService } from '../../../../gatekeeper/heart/purchase/purchase-service.ts';
import { DamagedFileError } from '../../../../gatekeeper/heart/release/read-body.ts';
import { FOR_EVERYBODY, type Spend } from '../../../../gatekeeper/wire/cost.ts';
import { headerFacts } from '../../../../gatekeeper/wire/header-facts.ts';
import { jsonReply, type Reply } from '../../../../gatekeeper/wire/reply.ts';
import type { HttpResponse } from '../../../../gatekeeper/wire/request.ts';
import { jsonOf, question, tinyService, tinyTokens } from '../../tiny-service.ts';

const PAID = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const PAY = ['X-PAYMENT', 'AAAA'];

type AskedRequest = Parameters<PurchaseService['open']>[0];

interface Ask {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: readonly string[];
  readonly service?: Service;
  readonly spend?: Spend;
}

async function served(target: string, ask: Ask = {}): Promise<HttpResponse> {
  const facts = headerFacts(['Host', 'gate', ...(ask.headers ?? [])]);
  const readBody = async (): Promise<Buffer> => Buffer.from(ask.body ?? '{}');
  const { spend = FOR_EVERYBODY } = ask;
  const visit = { method: ask.method ?? 'GET', target, facts, spend, readBody };
  return respond(visit, ask.service ?? (await tinyService()));
}

async function status(target: string, ask: Ask = {}): Promise<number> {
  return (await served(target, ask)).reply.status;
}

/** Purchases that remember what they were asked. */
function purchasesOf(
  orders: AskedRequest[],
  open: PurchaseService['open'],
): Pick<PurchaseService, 'open' | 'openFormer' | 'transferOf'> {
  return {
    transferOf: async () => ({ reason: 'invalid_payload', error: 'unread' }),
    open(order) {
      orders.push(order);
      return open(order);
    },
    openFormer: async () => null,
  };
}

/** Sells to everybody. */
const generous: PurchaseService['open'] = async () => ({
  sell: async ({ body }) => ({ status: 200, headers: [], body }),
});
/** Knows everybody already. */
const knows =
  (reply: Reply): PurchaseService['open'] =>
  async () =>
    reply;
/** Sells to nobody. */
const refuses: PurchaseService['open'] = async () => ({
  sell: async () => jsonReply(402, { error: 'invalid_payload' }),
});

describe('respond() without a payment', () => {
  it.each<[string, number]>([
    ['/nowhere', 404],
    ['/gauge', 402],
    ['/gauge/region', 402],
    ['/gauge/japan-region', 402],
    [PAID, 402],
    [`${PAID}&dim=ruler`, 402],
    [`${PAID}&dim=strata`, 422],
    ['/gauge?signal_id=airquality.aqi', 422],
    ['/gauge?signal_id=airquality.aqi&entity=nobody', 422],
    ['/gauge?utm=1', 422],
    ['/gauge/japan-region?utm=1', 422],
    ['/gauge/sample', 200],
    ['/gauge/sample?signal_id=no.such', 422],
    ['/gauge/history-preview', 422],
    ['/gauge/coverage?summary=2', 422],
    ['/gauge/verify', 400],
    ['/gauge/watch?items=a:b', 501],
    ['/gauge/subscribe', 501],
    ['/merkle/proof', 410],
    ['/merkle/spec', 200],
    ['/gauge?a=%', 400],
    [`/${'x'.repeat(9000)}`, 414],
  ])('answers %.60s with %i', async (target, want) => {
    expect(await status(target)).toBe(want);
  });

  it('asks the price of the row in the table, at every paid path', async () => {
    const service = await tinyService();
    for (const row of BUILTIN.operations as readonly Endpoint[]) {
      if (row.priceUsd === null || row.answer === 'mint') continue;
      const { reply } = await served(row.path, { service });
      const { amount } = service.challenger.terms(row, row.path, 2)[0] as { amount: string };
      const body = JSON.parse(reply.body.toString());
      expect([row.path, reply.status, body.accepts[0].maxAmountRequired]).toEqual([
        row.path,
        402,
        amount,
      ]);
    }
  });

  it('asks for a token where a secret is set, and believes none', async () => {
    const service = await tinyService();
    const operator = { ...service.operator, tokens: tinyTokens() };
    const target = '/gauge/watch?items=a:b';
    const ask = async (headers: string[]): Promise<unknown> =>
      JSON.parse(
        (
          await served(target, { headers, service: { ...service, operator } })
        ).reply.body.toString(),
      );
    expect(await ask([])).toMatchObject({ code: 'missing_token', mint: '/gauge/subscribe' });
    expect(await ask(['Authorization', 'Bearer x'])).toMatchObject({ code: 'invalid_token' });
  });

  it('I12: lets no cache keep a refusal, and everybody keep a free answer for a minute', async () => {
    for (const target of [
      '/nowhere',
      '/gauge',
      '/gauge?a=1',
      '/gauge/verify',
      '/gauge/watch',
      '/merkle/proof',
    ]) {
      expect((await served(target)).reply.headers).toContainEqual(['cache-control', 'no-store']);
    }
    const { reply, etag } = await served('/gauge/sample');
    expect(reply.headers).toContainEqual(['cache-control', 'public, max-age=60']);
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
  });

  it.each<[string, string | undefined]>([
    ['/gauge?signal_id=airquality.aqi&entity=nobody', 'signal_id=airquality.aqi entity=nobody'],
    ['/gauge?signal_id=no.such&entity=us-denver&token=SECRET', 'signal_id=no.such'],
    ['/gauge/search?q=price%20of%20ivory', 'q=price of ivory'],
    [`/gauge/search?q=${'x'.repeat(150)}`, `q=${'x'.repeat(98)}`],
    // Nothing is named, nothing is missing, or a token may be in it.
    ['/gauge?signal_id=airquality.aqi', undefined],
    ['/gauge/sample', undefined],
    [PAID, undefined],
    ['/gauge/manifest-sweep?page=zero&token=SECRET', undefined],
    ['/nowhere', undefined],
  ])('tells the log what %.70s was about', async (target, wanted) => {
    expect((await served(target)).reply.wanted).toBe(wanted);
  });

  it('changes the tag of a free answer with the second that it is of', async () => {
    const tags = new Set<string | null>();
    for (const ms of [0, 999, 1000, 1999, 2000, 108_000_000]) {
      const now = Date.parse('2026-11-21T12:00:00Z') + ms;
      tags.add((await served('/gauge/sample', { service: await tinyService({}, now) })).etag);
    }
    expect(tags.size).toBe(4);
  });
});

describe('respond() with a payment', () => {
  it('hands the purchases the canonical target, the version and a complete body', async () => {
    const orders: AskedRequest[] = [];
    const service = { ...(await tinyService()), purchases: purchasesOf(orders, generous) };
    const target = '/gauge?proof=1&signal_id=airquality.aqi&issuer=us-denver&dim=gauge';
    const v1 = await served(target, { headers: PAY, service });
    const v2 = await served(target, { headers: ['Payment-Signature', 'BBBB'], service });
    expect([v1.reply.status, v2.reply.status]).toEqual([200, 200]);
    expect(orders).toMatchObject([
      {
        target: '/gauge?entity=us-denver&signal_id=airquality.aqi',
        method: 'GET',
        paymentHeader: { kind: 'payment', version: 1, text: 'AAAA' },
      },
      {
        target: '/gauge?entity=us-denver&signal_id=airquality.aqi',
        paymentHeader: { kind: 'payment', version: 2, text: 'BBBB' },
      },
    ]);
    expect(JSON.parse(v1.reply.body.toString())).toMatchObject({ entity: 'us-denver' });
    expect(v1).toMatchObject({ keepMs: 0, etag: null });
  });

  it.each([
    '/gauge',
    '/gauge?signal_id=airquality.aqi',
    '/gauge?signal_id=airquality.aqi&entity=nobody',
    `${PAID}&dim=x`,
    '/gauge/japan-region',
    '/resolve?entity=a&form=b&cutoff=c',
  ])('I1: answers %s with 422 and never with a body', async (target) => {
    const service = await tinyService();
    for (const open of [generous, refuses]) {
      const asked = { ...service, purchases: { ...service.purchases, open } };
      expect(await status(target, { headers: PAY, service: asked })).toBe(422);
    }
  });

  it('delivers again what was settled, whatever is stored now', async () => {
    const purchases = purchasesOf([], knows({ status: 200, headers: [], body: 'bought' }));
    const service = { ...(await tinyService()), purchases };
    const target = '/gauge?signal_id=airquality.aqi&entity=nobody';
    expect((await served(target, { headers: PAY, service })).reply.body).toBe('bought');
  });

  it('keeps a refused payment a 402 where there is something to buy', async () => {
    const purchases = purchasesOf([], refuses);
    const service = { ...(await tinyService()), purchases };
    expect(await status(PAID, { headers: PAY, service })).toBe(402);
  });

  it('refuses two payments at once', async () => {
    const orders: AskedRequest[] = [];
    const service = { ...(await tinyService()), purchases: purchasesOf(orders, generous) };
    const headers = [...PAY, 'PAYMENT-SIGNATURE', 'BBBB'];
    const { reply } = await served(PAID, { headers, service });
    expect(reply.status).toBe(402);
    expect(reply.body.toString()).toContain('send one of');
    expect(orders).toEqual([]);
  });

  it('I6: takes no payment with another method', async () => {
    const orders: AskedRequest[] = [];
    const service = { ...(await tinyService()), purchases: purchasesOf(orders, generous) };
    expect(await status(PAID, { method: 'HEAD', headers: PAY, service })).toBe(402);
    expect(await status(PAID, { method: 'POST', headers: PAY, service })).toBe(405);
    expect(await status(PAID, { method: 'OPTIONS', headers: PAY, service })).toBe(204);
    expect(orders).toEqual([]);
  });

  it('names the payer for the log', async () => {
    const paid = { status: 200, headers: [], body: 'x', payer: '0xabc' };
    const purchases = purchasesOf([], knows(paid));
    const service = { ...(await tinyService()), purchases };
    expect((await served(PAID, { headers: PAY, service })).payer).toBe('0xabc');
  });
});

describe('respond() when something throws', () => {
  const errors = [
    [new DamagedFileError('x'), 503],
    [new Error('EIO /secret'), 500],
    [new TypeError('y'), 500],
    ['text', 500],
  ] as const;
  const targets = [PAID, '/gauge/sample', '/gauge/coverage', '/gauge/catalog', '/merkle/spec'];
  const cases = errors.flatMap(([error, want]) =>
    targets.map((target) => ({ error, want, target })),
  );
  it.each(cases)(
    'I7: ends in $want without content when $error is thrown for $target',
    async (one) => {
      const whole = await tinyService();
      const body = async (): Promise<never> => Promise.reject(one.error);
      const release = Object.assign(Object.create(whole.release), {
        body,
        has: () => true,
      });
      const purchases = purchasesOf([], generous);
      for (const headers of [[], PAY]) {
        const service = { ...whole, release, purchases };
        const { reply } = await served(one.target, { headers, service });
        expect(reply.status).toBe(one.want);
        expect(JSON.parse(reply.body.toString())).toMatchObject({ retryable: true });
        expect(reply.body.toString()).not.toMatch(/leaked|secret|canary|at /);
      }
    },
  );

  it('I7: fails closed when the purchases or the challenger throws', async () => {
    const service = await tinyService();
    const thrower = (): never => {
      throw new Error('x');
    };
    const purchases = { open: thrower, openFormer: thrower, transferOf: thrower };
    const challenger = { ...service.challenger, challenge: thrower };
    for (const target of [PAID, '/nowhere', `${PAID}&dim=x`]) {
      const asked = { headers: PAY, service: { ...service, purchases } };
      expect([target, await status(target, asked)]).toEqual([target, 500]);
    }
    expect(await status(PAID, { service: { ...service, challenger } })).toBe(500);
  });
});

describe('answer()', () => {
  it('file: the stored body with its request-time fields', async () => {
    const service = await tinyService();
    const target = '/gauge?signal_id=airquality.aqi&entity=us-denver';
    expect(jsonOf(await answer(question(target), service))).toMatchObject({
      entity: 'us-denver',
      provenance: { age_hours_now: 1.3, freshness: 'fresh', served_from: expect.any(String) },
    });
  });

  it('file: a miss for what is not stored or cannot be a file name', async () => {
    const service = await tinyService();
    for (const entity of ['nobody', 'x'.repeat(300), '..%2F..%2Fetc', '%00', 'con', 'US-DENVER']) {
      const target = `/gauge?signal_id=airquality.aqi&entity=${entity}`;
      expect(await answer(question(target), service)).toEqual({ kind: 'miss' });
    }
  });

  it('file: a thin variant is another file, and a miss where there is none', async () => {
    const service = await tinyService();
    const target = '/gauge/region?loc=us-denver';
    expect((await answer(question(target), service)).kind).toBe('content');
    expect((await answer(question(`${target}&format=thin`), service)).kind).toBe('miss');
  });

  it('gone: 410', async () => {
    const service = await tinyService();
    expect(jsonOf(await answer(question('/merkle/proof'), service))).toMatchObject({ status: 410 });
  });
});

describe('notFound()', () => {
  it('names the path that is nearest, and none where none is near', () => {
    const errorAt = (path: string): string =>
      JSON.parse(String(notFound(path, BUILTIN).body)).error;
    for (const [path, near] of [
      ['/guage', '/gauge'],
      ['/gauge/filing-compny', '/gauge/filing-company'],
      ['/gauge/history_series', '/gauge/history-series'],
    ]) {
      expect(errorAt(path ?? '')).toBe(
        `No operation at "${path}"; the nearest is ${near}; the free catalog lists what is sold`,
      );
    }
    for (const path of ['/wp-login.php', `/${'x'.repeat(8000)}`])
      expect(errorAt(path)).not.toContain('nearest');
  });
});

describe('refuseMethod()', () => {
  const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

  const rows = BUILTIN.operations.filter((row) => row.answer !== 'gone');
  it.each(rows.map((row) => [row.path, row] as const))(
    'lets %s be asked with its own method and no other',
    (path, row) => {
      const shown = row.method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [row.method];
      const legal = [...shown, 'OPTIONS'];
      for (const method of methods) {
        const reply = refuseMethod(path.replace(/:[a-z_]+$/, 'sha256:00'), method, BUILTIN);
        const allow = reply?.headers.find(([name]) => name === 'allow')?.[1];
        const want = legal.includes(method) ? [undefined, undefined] : [405, shown.join(', ')];
        expect([reply?.status, allow]).toEqual(want);
      }
    },
  );

  it('answers a retired path with 410 and an unknown one with 404, whatever the method', () => {
    for (const method of methods) {
      expect(refuseMethod('/merkle/proof', method, BUILTIN)?.status).toBe(410);
      expect(refuseMethod('/nowhere', method, BUILTIN)?.status).toBe(404);
    }
  });

  it.each(['/GAUGE', '/gauge/', '//gauge', '/gauge;a', '/%67auge', '/gauge%2Fair', '/./gauge'])(
    'I6: knows no alias %s of a paid path',
    (path) => {
      expect(refuseMethod(path, 'GET', BUILTIN)?.status).toBe(404);
    },
  );
});

describe('targets of what is sold', () => {
  const CHARS_MAX = 256;
  const TARGETS_MAX = 2048;
  const long = `${PAID}${'&'.repeat(CHARS_MAX - PAID.length + 1)}`;

  it('keeps each under its raw target alone, and nothing free, wrong or long', async () => {
    const service = { ...(await tinyService()), targets: soldTargets() };
    const fitting = long.slice(0, -1);
    for (const target of [PAID, fitting, long, '/gauge/catalog', '/gauge?signal_id=airquality.aqi'])
      await served(target, { service });
    expect([...service.targets.keys()]).toEqual([PAID, fitting]);
    expect(service.targets.get(PAID)?.routed).toMatchObject({ target: expect.any(String) });
  });

  it('I43: forgets the oldest when it is full', async () => {
    const service = { ...(await tinyService()), targets: soldTargets() };
    for (let at = 0; at <= TARGETS_MAX; at += 1) await served(`${PAID}${at}`, { service });
    expect([service.targets.size, service.targets.has(`${PAID}0`)]).toEqual([TARGETS_MAX, false]);
    expect(service.targets.has(`${PAID}${TARGETS_MAX}`)).toBe(true);
  });
});

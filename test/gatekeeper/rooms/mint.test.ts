import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { subscriptionSchema, watchSchema } from '../../../compiler/contract/watch-bodies.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { payer } from '../payer.ts';
import { type TinyGate, tinyGate } from '../tiny-gate.ts';
import { SECRET } from '../tiny-tokens.ts';

const NETWORK = NETWORKS['base-sepolia'];
const ITEMS = '/gauge/watch?items=environment:us-denver';
let gate: TinyGate;
let shut: TinyGate;
beforeAll(async () => {
  gate = await tinyGate({ config: { tokenSecret: SECRET, tokenDays: 2 } });
  shut = await tinyGate();
});
afterAll(async () => {
  await gate.close();
  await shut.close();
});

/** The body of a reply, as far as a test looks into it. */
const jsonOf = async (reply: Response) => JSON.parse(await reply.text());

async function paymentOf(): Promise<string> {
  const challenge = await jsonOf(await fetch(`${gate.url}/gauge/subscribe`));
  expect(challenge.accepts[0].maxAmountRequired).toBe('9900000');
  return payer(NETWORK).header(challenge.accepts[0]);
}
const subscribe = (header: string, name?: string) => {
  const named: Record<string, string> = name === undefined ? {} : { 'Payment-Identifier': name };
  return fetch(`${gate.url}/gauge/subscribe`, { headers: { 'X-PAYMENT': header, ...named } });
};
const watch = (token: string) =>
  fetch(gate.url + ITEMS, { headers: { Authorization: `Bearer ${token}` } });

describe('mint()', () => {
  it('I45: sells a token that opens the watchlist until its end', async () => {
    const reply = await subscribe(await paymentOf());
    expect(reply.status).toBe(200);
    expect(reply.headers.get('cache-control')).toContain('no-store');
    const { token, days, expires_at } = subscriptionSchema.parse(await reply.json());
    expect(days).toBe(2);
    const opened = await watch(token);
    expect(opened.status).toBe(200);
    expect(opened.headers.get('cache-control')).toBe('private, no-store');
    expect(opened.headers.get('etag')).toBeNull();
    expect((await fetch(`${gate.url}${ITEMS}&token=${token}`)).status).toBe(200);
    expect((await fetch(gate.url + ITEMS)).status).toBe(401);
    const before = gate.now;
    gate.now = Date.parse(expires_at);
    expect(await (await watch(token)).json()).toMatchObject({ code: 'expired_token' });
    gate.now = before;
  });

  it('I45: gives one token with one end for one payment, whenever it is sent again', async () => {
    const header = await paymentOf();
    const first = await (await subscribe(header, 'pay_0123456789abcdef')).text();
    gate.now += 60_000;
    expect(await (await subscribe(header, 'pay_0123456789abcdef')).text()).toBe(first);
    expect((await subscribe(header)).status).toBe(402);
    const other = await (await subscribe(await paymentOf())).text();
    expect(other).not.toBe(first);
  });

  it('I6: hands out no token without a settlement', async () => {
    const refused = await subscribe('e30=');
    expect(refused.status).toBe(402);
    for (const path of ['/gauge/subscribe', '/gauge/subscribe?a=b']) {
      expect(await (await fetch(gate.url + path)).text()).not.toContain('sp1.');
    }
  });

  it('I45: starts without a secret and says so, at these paths only', async () => {
    const reply = await fetch(`${shut.url}/gauge/subscribe`);
    expect([reply.status, (await jsonOf(reply)).code]).toEqual([501, 'not_configured']);
    expect((await fetch(shut.url + ITEMS)).status).toBe(501);
    expect((await fetch(`${shut.url}/gauge/coverage?summary=1`)).status).toBe(200);
    const sold = '/gauge?signal_id=airquality.aqi&entity=us-denver';
    expect((await fetch(shut.url + sold)).status).toBe(402);
  });

  it('I49: writes no token into the log', async () => {
    const { token } = await jsonOf(await subscribe(await paymentOf()));
    await fetch(`${gate.url}${ITEMS}&token=${token}`);
    expect(JSON.stringify(gate.logged)).not.toContain(token.slice(-43));
  });

  it('answers a subscriber with the bodies of the schema', async () => {
    const { token } = await jsonOf(await subscribe(await paymentOf()));
    const body = watchSchema.parse(await (await watch(token)).json());
    expect(body.items[0]?.found).toBe(true);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PurchasedBody } from '../../compiler/client/client-error.ts';
import { ClientError } from '../../compiler/client/client-error.ts';
import type { Fetch, PayingFetch } from '../../compiler/client/payment-trip.ts';
import { signalpressClient } from '../../compiler/client/signalpress-client.ts';
import type { PaidPath } from '../../compiler/products/products.ts';
import { SOLD_MS, SOLD_TARGETS, type SoldShop, soldShop, VARIANT_TARGETS } from '../gate.ts';
import { removeFolders } from '../snapshot-folder.ts';

const BASE = 'https://shop.example/readings';
const TARGETS = [...SOLD_TARGETS, ...VARIANT_TARGETS];

let shop: SoldShop;
beforeAll(async () => {
  shop = await soldShop();
});
afterAll(removeFolders);

const release = { sequence: 1, as_of: '2026-01-01T00:00:00Z', valid_until: null };
const offer = { x402Version: 1, accepts: [{ maxAmountRequired: '5000' }], release };
const header = btoa(JSON.stringify({ payload: { authorization: { value: '5000' } } }));
/** Asks, then pays with a header that no service here looks at. */
const pay: PayingFetch = (inner) => async (input) => {
  await inner(input);
  return inner(input, { headers: { 'X-PAYMENT': header } });
};

type Delivered = ConstructorParameters<typeof Response>[0];

/** Buys one thing of a service that delivers another. */
function buy(target: string, body: Delivered): Promise<PurchasedBody> {
  const fetch: Fetch = async (input) =>
    (input as Request).headers.has('x-payment')
      ? new Response(body, { headers: { 'content-type': 'application/json' } })
      : Response.json(offer, { status: 402 });
  const { pathname, searchParams } = new URL(target, 'https://shop.example');
  const own = { baseUrl: BASE, issuer: shop.did, clock: () => SOLD_MS, demandsProof: false };
  const client = signalpressClient({ ...own, pay, fetch });
  return client.buy(pathname as PaidPath, Object.fromEntries(searchParams));
}
const outcome = (target: string, body: Delivered): Promise<string> =>
  buy(target, body).then(
    ({ report }) => report?.verdict ?? 'table',
    (error: unknown) => (error instanceof ClientError ? error.code : String(error)),
  );
/** The place of a target in another order, so that each meets operations of its own kind and of others. */
const other = (at: number, step: number): string => TARGETS[(at + step) % TARGETS.length] ?? '';

describe('buy() from a service that lies', () => {
  it('accepts the answer of every paid operation, in every form', async () => {
    for (const target of TARGETS) {
      const expected = target === '/gauge/subscribe' ? 'unsigned' : 'verified';
      expect([target, await outcome(target, await shop.ask(target))]).toEqual([target, expected]);
    }
  });

  it('I53: refuses for every paid operation the genuine answers of others', async () => {
    const taken: string[] = [];
    for (const [at, target] of TARGETS.entries()) {
      for (const step of [1, 64]) {
        const got = other(at, step);
        const verdict = await outcome(target, await shop.ask(got));
        if (verdict !== 'unverified') taken.push(`${got} for ${target}: ${verdict}`);
      }
    }
    expect(taken).toEqual([]);
  });

  const PAIR = 'signal_id=airquality.aqi&entity=us-denver';
  const FILED = 'entity=AAPL&form=10-K&cutoff=2026-11-18';
  it.each([
    [`/gauge?${PAIR}`, `/gauge/ruler?${PAIR}`],
    [`/gauge/ruler?${PAIR}`, `/gauge?${PAIR}`],
    [`/gauge?${PAIR}`, '/gauge/sample?signal_id=airquality.aqi'],
    [
      '/gauge?signal_id=hydrology.river-level&entity=07010000',
      '/gauge/raw?signal_id=hydrology.river-level&entity=07010000',
    ],
    ['/trust/scorecard', '/trust/graveyard'],
    ['/mcp/census', '/stable/census'],
    ['/mcp/graveyard', '/trust/graveyard'],
    [`/gauge/history-series?${PAIR}`, `/gauge/history-series?${PAIR}&days=5`],
    [`/gauge/history-series?${PAIR}`, `/gauge/history-series?${PAIR}&format=csv`],
    [`/gauge/history-series?${PAIR}&format=csv`, `/gauge/history-series?${PAIR}`],
    [`/resolve/proposer?${FILED}`, `/resolve?${FILED}`],
    [`/resolve?${FILED}`, `/resolve/proposer?${FILED}`],
    [`/resolve?${FILED}`, '/resolve?entity=AAPL&form=NT%2010-K&cutoff=2026-11-18'],
    [`/resolve?${FILED}`, '/resolve?entity=AAPL&form=10-K&cutoff=2026-11-16'],
    ['/gauge/air?loc=us-denver', '/gauge/precip?loc=us-denver'],
    ['/shadow/region-plus?loc=us-denver&topic=energy', '/gauge/region?loc=us-denver'],
    ['/pay/tier2', '/pay/tier3'],
  ])('I53: refuses for %s the answer of %s', async (target, got) => {
    expect(await outcome(target, await shop.ask(got))).toBe('unverified');
    expect(await outcome(target, await shop.ask(target))).toMatch(/^(verified|table)$/);
  });

  it.each([`/resolve?${FILED}`, `/resolve/proposer?${FILED}`, `/gauge?${PAIR}`])(
    'I53: refuses %s without its citation, which nobody signed then',
    async (target) => {
      const { _citation, ...body } = JSON.parse((await shop.ask(target)).toString('utf8'));
      expect(await outcome(target, JSON.stringify(body))).toBe('unverified');
    },
  );

  it('says what the body answers instead', async () => {
    const wrong = buy('/trust/scorecard', await shop.ask('/trust/graveyard'));
    await expect(wrong).rejects.toThrow(
      'the body answers "/trust/graveyard", not "/trust/scorecard"; keep this error',
    );
  });
});

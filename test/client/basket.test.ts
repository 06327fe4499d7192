import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientError } from '../../compiler/client/client-error.ts';
import { type ClientOptions, signalpressClient } from '../../compiler/client/signalpress-client.ts';
import type { BasketBody } from '../../compiler/products/shapes/basket.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { sampleGate } from '../gate.ts';
import { NOW_MS } from '../gatekeeper/payer.ts';
import { type CompiledSample, compiledSample } from '../shop.ts';
import { removeFolders } from '../snapshot-folder.ts';
import { payingFetch } from './python-gate.ts';

const DENVER = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const CHICAGO = '/gauge?signal_id=airquality.aqi&entity=us-chicago';
const NOWHERE = '/gauge?signal_id=airquality.aqi&entity=us-nowhere';

let sample: CompiledSample;
let gate: Gatekeeper;
beforeAll(async () => {
  sample = await compiledSample();
  gate = await sampleGate(sample.data);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

function client(options: Partial<ClientOptions> = {}) {
  const { did: issuer } = sample;
  return signalpressClient({
    ...{ baseUrl: gate.url, issuer, pay: payingFetch, wait: async () => undefined },
    clock: () => NOW_MS,
    ...options,
  });
}

/** A service that changes what it delivers. */
function lying(change: (body: BasketBody) => unknown): Pick<ClientOptions, 'fetch'> {
  return {
    fetch: async (input, init) => {
      const answer = await fetch(new Request(input, init));
      if (answer.status !== 200 || !answer.url.endsWith('/gauge/basket')) return answer;
      const body = change((await answer.json()) as BasketBody);
      return new Response(JSON.stringify(body), { status: 200, headers: answer.headers });
    },
  };
}

describe('buyBasket()', () => {
  it('buys what can be sold, verified, and redelivers the same bytes', async () => {
    const bought = await client().buyBasket([DENVER, NOWHERE, CHICAGO]);
    expect(bought.report?.verdict).toBe('verified');
    expect(bought.body).toMatchObject({ total_usd: '0.02', parts: [{}, { request: NOWHERE }, {}] });
    expect(bought.payment.body).toContain('us-nowhere');
    const again = await client().redeliver(bought.payment);
    expect([again.text, again.receipt]).toEqual([bought.text, bought.receipt]);
    expect((await client().verify(bought.text)).verdict).toBe('verified');
  });

  it('has no fact in it: that is named and not charged, for its answers are signed', async () => {
    const { body } = await client().buyBasket([DENVER, `${CHICAGO}&format=fact`]);
    expect(body).toMatchObject({
      total_usd: '0.01',
      parts: [{}, { not_sold: expect.stringContaining('format=fact') }],
    });
  });

  it('signs nothing above its cap, and nothing where nothing is sold', async () => {
    const dear = client().buyBasket([DENVER, CHICAGO], { maxUsd: '0.01' });
    await expect(dear).rejects.toMatchObject({ code: 'too_expensive' });
    await expect(client().buyBasket([NOWHERE])).rejects.toMatchObject({ code: 'not_charged' });
  });

  const lies: readonly (readonly [string, (body: BasketBody) => unknown])[] = [
    ['in another order', ({ parts, ...rest }) => ({ ...rest, parts: [...parts].reverse() })],
    [
      'without its last part',
      ({ parts, ...rest }) => ({ ...rest, parts: parts.slice(0, 1), total_usd: '0.01' }),
    ],
    [
      'that keeps an answer back which was paid for',
      ({ parts: [first], ...rest }) => {
        const parts = [first, { request: CHICAGO, not_sold: 'no data is stored' }];
        return { ...rest, parts, total_usd: '0.01' };
      },
    ],
    ['with another sum', (body) => ({ ...body, total_usd: '0.01' })],
    [
      'that is one record alone',
      ({ parts: [part] }) => (part !== undefined && 'answer' in part ? part.answer : {}),
    ],
  ];
  it.each(lies)('does not rely on a basket %s', async (_, change) => {
    const error = await client(lying(change))
      .buyBasket([DENVER, CHICAGO])
      .then(
        () => null,
        (thrown: ClientError) => thrown,
      );
    expect(error?.code).toBe('unverified');
    const honest = await client(lying((body) => body)).buyBasket([DENVER, CHICAGO]);
    expect(honest.report?.verdict).toBe('verified');
  });

  /** One answer at the price of two. */
  const hiding = ({ parts: [first], ...rest }: BasketBody) => ({
    ...rest,
    parts: [
      { ...first, price_usd: rest.total_usd },
      { request: CHICAGO, not_sold: 'no data is stored' },
    ],
  });

  it('relies on no price that was not quoted, at the purchase and when it is delivered again', async () => {
    const faulty = { code: 'unverified', message: expect.stringContaining('part 1 is not what') };
    const buying = client(lying(hiding)).buyBasket([DENVER, CHICAGO]);
    await expect(buying).rejects.toMatchObject(faulty);
    const honest = await client().buyBasket([DENVER, CHICAGO]);
    // Kept as text, as programs keep it.
    const payment = JSON.parse(JSON.stringify(honest.payment));
    await expect(client(lying(hiding)).redeliver(payment)).rejects.toMatchObject(faulty);
    expect((await client().redeliver(payment)).text).toBe(honest.text);
    const { quoted: _, ...unquoted } = payment;
    await expect(client().redeliver(unquoted)).rejects.toMatchObject(faulty);
  });

  it.each([
    ['names no parts', () => undefined],
    ['names a part without a price', () => ({ total_usd: '0.02', parts: [{ request: DENVER }] })],
  ])('signs nothing for a quote that %s', async (_, basket) => {
    let signatures = 0;
    const quoting: ClientOptions['fetch'] = async (input, init) => {
      const answer = await fetch(new Request(input, init));
      const body = { ...((await answer.json()) as object), basket: basket() };
      return new Response(JSON.stringify(body), { status: answer.status });
    };
    const onSigned = () => {
      signatures += 1;
    };
    await expect(
      client({ fetch: quoting, onSigned }).buyBasket([DENVER, CHICAGO]),
    ).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining('its 402') });
    expect(signatures).toBe(0);
  });

  it('relies on no price that the served catalogue does not have, as it was quoted or not', async () => {
    const dear = ({ basket, ...rest }: { readonly basket: BasketBody }) => {
      const [first, second] = hiding(basket).parts;
      return { ...rest, basket: { ...basket, parts: [first, second] } };
    };
    const cheating = lying(hiding).fetch;
    const quoting: ClientOptions['fetch'] = async (input, init) => {
      const answer = await cheating?.(input, init);
      if (answer?.status !== 402) return answer as Response;
      return new Response(JSON.stringify(dear(JSON.parse(await answer.text()))), { status: 402 });
    };
    const buy = (by: Partial<ClientOptions>) =>
      client({ ...by, catalog: 'served' }).buyBasket([DENVER, CHICAGO]);
    await expect(buy({ fetch: quoting })).rejects.toMatchObject({
      code: 'unverified',
      message: expect.stringContaining('part 1 is not at its price in the catalogue'),
    });
    expect((await buy({})).report?.verdict).toBe('verified');
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { judgePurchase } from '../../../../compiler/client/judge-purchase.ts';
import {
  type ClientOptions,
  signalpressClient,
} from '../../../../compiler/client/signalpress-client.ts';
import { verify } from '../../../../compiler/client/verify.ts';
import type { Gatekeeper } from '../../../../gatekeeper/start.ts';
import { payingAt } from '../../../client/python-gate.ts';
import { sampleGate } from '../../../gate.ts';
import { NOW_MS } from '../../../gatekeeper/payer.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../../snapshot-folder.ts';
import { tideFiles } from '../../../tide-shop.ts';

// A genuine body that says how old it is stays genuine for ever. Whoever buys demands that it was answered after its payment.

const HOUR_MS = 3_600_000;
const PARAMS = { signal_id: 'tides.level', entity: 'pier-one' } as const;
const TARGET = '/gauge?signal_id=tides.level&entity=pier-one';

let gate: Gatekeeper;
let issuer: string;
let now: number;
let data: string;
afterAll(removeFolders);
// No clock of a shop may go back.
beforeEach(async () => {
  now = NOW_MS;
  const made = await compileFolder(writeSnapshots(tideFiles()));
  data = made.data;
  issuer = made.release.issuer_did;
  gate = await sampleGate(data, { clock: () => now });
});
afterEach(() => gate.close());

function client(more: Partial<ClientOptions> = {}) {
  const clock = (): number => now;
  const signed: number[] = [];
  const onSigned = (): void => void signed.push(now);
  const own = { baseUrl: gate.url, issuer, catalog: 'served', clock, onSigned } as const;
  return { signed, ...signalpressClient({ ...own, pay: payingAt(clock), ...more }) };
}

/** A fetch whose answers are changed: those that are paid for, or those that ask for money. */
const changing = (status: number, change: (text: string, headers: Headers) => string) => {
  const fetched: typeof fetch = async (...request) => {
    const asked = new Request(...request);
    const isPaid = asked.headers.has('x-payment');
    const answer = await fetch(asked);
    if (answer.status !== status || isPaid !== (status === 200)) return answer;
    const headers = new Headers(answer.headers);
    headers.delete('content-length');
    return new Response(change(await answer.text(), headers), { status, headers });
  };
  return { fetch: fetched };
};

describe('I62: genuine words of before', () => {
  it.each([
    [2, 'h'],
    [48, 'h'],
    [400 * 24, 'h, 400 days'],
  ])('I62: bought %d %s later are refused, also in a basket', async (hours) => {
    const old = await client().buy('/gauge', PARAMS);
    const basket = await client().buyBasket([TARGET]);
    now += hours * HOUR_MS;
    const refusal = {
      code: 'unverified',
      message: expect.stringContaining('old words, sold again'),
    };
    const buyer = client(changing(200, () => old.text));
    const error = await buyer.buy('/gauge', PARAMS).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(refusal);
    expect(error).toMatchObject({ facts: { purchase: { text: old.text } } });
    const baskets = client(changing(200, () => basket.text));
    await expect(baskets.buyBasket([TARGET])).rejects.toMatchObject(refusal);
    // Nothing in it is false: its words are those of then, and are told as such.
    const report = verify(old.text, { issuer, now });
    expect(report.verdict).toBe('verified');
    const said = report.checks.find(({ check }) => check === 'request_time');
    expect(said?.detail).toMatch(`said stale at 2026-11-21T12:00:00Z, ${hours} h ago`);
    const { sample: _, ...body } = JSON.parse(old.text);
    const answered_at = '2026-10-01T00:00:00Z';
    const earlier = { ...body, provenance: { ...body.provenance, answered_at } };
    expect(verify(JSON.stringify(earlier), { issuer, now }).verdict).toBe('failed');
  });

  it('I62: are taken where the payment is as old, and told with their age', async () => {
    const { payment, text } = await client().buy('/gauge', PARAMS);
    expect(payment.sentAt).toBe('2026-11-21T12:00:00Z');
    now += 48 * HOUR_MS;
    const again = await client().redeliver(payment);
    expect(again.text).toBe(text);
    const said = again.report?.checks.find(({ check }) => check === 'request_time');
    expect(said?.detail).toMatch('said stale at 2026-11-21T12:00:00Z, 48 h ago');
  });

  it('have five minutes of grace', async () => {
    const { text } = await client().buy('/gauge', PARAMS);
    now += 299_000;
    expect((await client(changing(200, () => text)).buy('/gauge', PARAMS)).text).toBe(text);
    now += 2000;
    await expect(client(changing(200, () => text)).buy('/gauge', PARAMS)).rejects.toThrow(
      'old words',
    );
  });
});

/** A 402 whose release is described otherwise. */
const release = (more: object) => (text: string) => {
  const { release: own, ...body } = JSON.parse(text);
  return JSON.stringify({ ...body, release: { ...own, ...more } });
};

describe('I62: a release that is over', () => {
  const THIN = { ...PARAMS, format: 'thin' } as const;
  const refusal = { code: 'unverified', message: expect.stringContaining('was valid until') };

  /** The next release, and a gatekeeper of it alone. */
  async function publish(more: { readonly validUntil?: string } = {}): Promise<void> {
    now += 60_000;
    const asOf = new Date(now).toISOString();
    await compileFolder(writeSnapshots(tideFiles()), { data, asOf, ...more });
    await gate.close();
    gate = await sampleGate(data, { clock: () => now });
  }

  /** So much time passes between the price and the answer. */
  const later = (ms: number): Partial<ClientOptions> => ({
    fetch: async (...request) => {
      const asked = new Request(...request);
      if (asked.headers.has('x-payment')) now += ms;
      return fetch(asked);
    },
  });

  it('I62: answers nothing more that is taken', async () => {
    await publish({ validUntil: new Date(now + 70_000).toISOString() });
    expect((await client(later(9000)).buy('/gauge', PARAMS)).report?.verdict).toBe('verified');
    await expect(client(later(2000)).buy('/gauge', PARAMS)).rejects.toMatchObject(refusal);
    await publish({ validUntil: new Date(now + 70_000).toISOString() });
    expect((await client().buyBasket([TARGET])).report?.verdict).toBe('verified');
    await expect(client(later(11_000)).buyBasket([TARGET])).rejects.toMatchObject(refusal);
  });

  it('I62: has no body without an instant for a payment of later', async () => {
    const end = now + 70_000;
    await publish({ validUntil: new Date(end).toISOString() });
    const { payment, text } = await client().buy('/gauge', THIN);
    const sentAt = (ms: number) => ({ ...payment, sentAt: new Date(end + ms).toISOString() });
    expect((await client().redeliver(sentAt(300_000))).text).toBe(text);
    await expect(client().redeliver(sentAt(301_000))).rejects.toMatchObject(refusal);
  });

  it('I62: a thin body of it is not taken for one of the release that was offered', async () => {
    const before = gate.url;
    const old = await client().buy('/gauge', THIN);
    const basket = await client().buyBasket([`${TARGET}&format=thin`]);
    await publish();
    const refusal = { code: 'unverified', message: expect.stringContaining('was offered') };
    const selling = (text: string) => client(changing(200, () => text));
    await expect(selling(old.text).buy('/gauge', THIN)).rejects.toMatchObject(refusal);
    await expect(selling(basket.text).buyBasket([`${TARGET}&format=thin`])).rejects.toMatchObject(
      refusal,
    );
    const fresh = await client().buy('/gauge', THIN);
    expect(fresh.report?.release?.sequence).toBe(2);
    expect(fresh.payment.release?.sequence).toBe(2);
    // A payment for the release before gets what it bought.
    const payment = { ...old.payment, url: old.payment.url.replace(before, gate.url) };
    expect((await selling(old.text).redeliver(payment)).text).toBe(old.text);
  });
});

describe('a body of format 2', () => {
  const fixture = join(import.meta.dirname, '../../../fixtures/format-2.json');
  const texts: Readonly<Record<string, string>> = JSON.parse(readFileSync(fixture, 'utf8'));
  const known = JSON.parse(texts['expected.json'] ?? '');
  const [[name = '', { request = '', signed_by = '' } = {}] = []] = Object.entries<{
    readonly request: string;
    readonly signed_by: string;
  }>(known.bodies);
  const url = `https://readings.example${request}`;
  const paid = { network: 'base', payload: { authorization: { value: '1' } } };
  const payment = { url, header: 'x-payment', value: btoa(JSON.stringify(paid)) } as const;
  const judged = (sentAt?: string) =>
    judgePurchase(
      {
        bytes: Buffer.from(texts[name] ?? ''),
        receipt: null,
        payment: sentAt === undefined ? payment : { ...payment, sentAt },
      },
      {
        catalog: BUILTIN,
        isSoldNow: false,
        trusted: { trust: [signed_by] },
        target: request,
        now: Date.parse(known.now),
        demandsProof: true,
      },
    );

  it('I62: is never sold again, and delivered again to a payment of its time', () => {
    expect(() => judged(known.now)).toThrow('format 2');
    expect(judged().report?.verdict).toBe('verified');
  });
});

describe('before anything is signed', () => {
  it.each<[string, (text: string, headers: Headers) => string, string]>([
    [
      'a release whose end has passed',
      release({ valid_until: '2026-11-21T11:59:59Z' }),
      'was valid until 2026-11-21T11:59:59Z',
    ],
    ['a release to come', release({ as_of: '2026-11-21T12:06:00Z' }), 'to come'],
    ['no release', (text) => text.replace('"release"', '"released"'), 'does not say from which'],
    [
      'another clock',
      (text, headers) => {
        headers.set('date', new Date(now + 241_000).toUTCString());
        return text;
      },
      '4 minutes apart',
    ],
  ])('refuses %s', async (_, change, words) => {
    const buyer = client(changing(402, change));
    await expect(buyer.buy('/gauge', PARAMS)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining(words),
    });
    await expect(buyer.buyBasket([TARGET])).rejects.toThrow(words);
    expect(buyer.signed).toEqual([]);
  });

  it('buys from a release that is valid, with clocks some minutes apart', async () => {
    const change = (text: string, headers: Headers) => {
      headers.set('date', new Date(now - 239_000).toUTCString());
      return release({ valid_until: '2026-11-21T12:00:00Z' })(text);
    };
    const buyer = client(changing(402, change));
    expect((await buyer.buy('/gauge', PARAMS)).report?.verdict).toBe('verified');
    expect(buyer.signed).toHaveLength(1);
  });
});

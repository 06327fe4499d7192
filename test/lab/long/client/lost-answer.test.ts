import { verifyMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SigningAccount } from '../../../../compiler/client/buyer-proof.ts';
import type { ClientError, PendingPayment } from '../../../../compiler/client/client-error.ts';
import type { Fetch, PayingFetch } from '../../../../compiler/client/payment-trip.ts';
import {
  type ClientOptions,
  signalpressClient,
} from '../../../../compiler/client/signalpress-client.ts';
import { SERIES_DAYS_DEFAULT } from '../../../../compiler/products/series.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { Requirements } from '../../../../gatekeeper/settle/payment.ts';
import { canSign, type PythonGate, pythonGate } from '../../../client/python-gate.ts';
import { askFrom } from '../../../gatekeeper/chain-reader.ts';
import { encoded, NOW_MS, payer, payerKey } from '../../../gatekeeper/payer.ts';
import { BASE_URL } from '../../../shop.ts';

// A buyer whose answer was lost asks again hours and weeks later, from another address, after a restart of the service.

const PAIR = { signal_id: 'airquality.aqi', entity: 'us-denver' } as const;
const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
const LATER = [2 * HOUR_MS, 29 * DAY_MS];
const network = NETWORKS['base-sepolia'];
const own = privateKeyToAccount(payerKey('payer'));
const other = privateKeyToAccount(payerKey('somebody else'));

let shop: PythonGate;
beforeAll(async () => {
  shop = await pythonGate();
});
afterAll(() => shop.close());
beforeEach(() => {
  shop.nowMs = NOW_MS;
  shop.transactions.clear();
});

/** A wallet of one version, which knows of no identifier. */
const wallet =
  (version: 1 | 2): PayingFetch =>
  (inner) =>
  async (input, init) => {
    const asked = await inner(input, init);
    if (asked.status !== 402) return asked;
    const required = atob(asked.headers.get('payment-required') ?? '');
    const { accepts } = JSON.parse(version === 1 ? await asked.text() : required);
    const value = await payer(network).header(accepts[0] as Requirements);
    const name = version === 1 ? 'x-payment' : 'payment-signature';
    return inner(input, { ...init, headers: { [name]: value } });
  };

function client(options: Partial<ClientOptions> = {}) {
  return signalpressClient({
    ...{ baseUrl: BASE_URL, issuer: shop.did, fetch: here, wait: async () => undefined },
    clock: () => shop.nowMs,
    ...options,
  });
}

/** A fetch from an address of this machine, to the service behind its public address. */
function fetchFrom(localAddress: string): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const posted = request.method === 'POST' ? ` ${await request.text()}` : '';
    const headers = Object.fromEntries(request.headers);
    const asked = { headers, localAddress };
    const heard = await askFrom(shop.gate.url, pathname + search + posted, asked);
    const lines = heard.headers.map((line): [string, string] => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), line.slice(at + 2)];
    });
    return new Response(heard.body, { status: heard.status, headers: lines });
  };
}
const here = fetchFrom('127.0.0.1');
const away = fetchFrom('127.0.0.2');

/** A fetch that loses the answer to each payment. */
const losing: Fetch = async (input, init) => {
  const request = new Request(input, init);
  const answer = await here(request);
  if (/payment/.test([...request.headers.keys()].join())) throw new TypeError('fetch failed');
  return answer;
};

async function failure(work: Promise<unknown>): Promise<ClientError> {
  return work.then(
    () => expect.unreachable('it was delivered'),
    (error) => error as ClientError,
  );
}

/** A payment as an earlier client kept it: without the name of its purchase. */
function unnamed({ identifier: _, ...payment }: PendingPayment): PendingPayment {
  if (payment.header === 'x-payment') return payment;
  const { extensions: __, ...bare } = JSON.parse(atob(payment.value));
  return { ...payment, value: encoded(bare) };
}

/** Sends the payment without what names the purchase, so that the service never hears of it. */
const forgetful: Fetch = (input, init) => {
  const request = new Request(input, init);
  request.headers.delete('payment-identifier');
  const value = request.headers.get('payment-signature');
  const payment = { url: '', header: 'payment-signature', value: value ?? '' } as const;
  if (value !== null) request.headers.set('payment-signature', unnamed(payment).value);
  return losing(request);
};

type Buy = (with_: Partial<ClientOptions>) => Promise<unknown>;
const record: Buy = (options) => client(options).buy('/gauge', PAIR);
const basket: Buy = (options) =>
  client(options).buyBasket(['/gauge?signal_id=airquality.aqi&entity=us-denver']);
const token: Buy = (options) => client({ ...options, maxUsd: '20' }).buy('/gauge/subscribe');
const series: Buy = (options) =>
  client({ ...options, maxUsd: '1' }).buy('/gauge/history-series', {
    days: SERIES_DAYS_DEFAULT,
    ...PAIR,
  });
const EACH = [1, 2].flatMap((version) =>
  Object.entries({ record, basket, token, series }).map(
    ([name, buy]) => [name, version as 1 | 2, buy] as const,
  ),
);

/** What was told to be kept of a purchase whose answers were all lost. */
async function lost(buy: Buy, version: 1 | 2, fetch: Fetch = losing): Promise<PendingPayment> {
  const kept: PendingPayment[] = [];
  const onSigned = (payment: PendingPayment): void => {
    kept.push(payment);
  };
  const error = await failure(buy({ pay: wallet(version), fetch, onSigned }));
  expect([error.code, error.facts.payment, shop.transactions.size]).toEqual([
    'unsettled',
    kept[0],
    1,
  ]);
  return JSON.parse(JSON.stringify(kept[0]));
}

describe('the client after a lost answer', () => {
  it.each(EACH)(
    'I59: fetches a %s of version %i again after 2 h and 29 days, from another address, by its identifier',
    async (_, version, buy) => {
      const payment = await lost(buy, version);
      const texts: string[] = [];
      for (const ms of LATER) {
        shop.nowMs = NOW_MS + ms;
        await shop.restart();
        for (const fetch of [here, away])
          texts.push((await client({ fetch }).redeliver(payment)).text);
      }
      expect(new Set(texts).size).toBe(1);
      expect(shop.transactions.size).toBe(1);
      // Nothing but the identifier opened it.
      const stolen = await failure(client({ fetch: away }).redeliver(unnamed(payment)));
      expect([stolen.code, stolen.facts.status]).toEqual(['unsettled', 402]);
    },
  );

  it.each(EACH)(
    'I59: signs in by itself for a %s of version %i whose identifier was lost; another wallet gets nothing',
    async (_, version, buy) => {
      const payment = unnamed(await lost(buy, version));
      for (const ms of LATER) {
        shop.nowMs = NOW_MS + ms;
        await shop.restart();
        for (const account of [undefined, other]) {
          const options = { fetch: away, ...(account === undefined ? {} : { account }) };
          const error = await failure(client(options).redeliver(payment));
          expect([error.code, error.facts.payment]).toEqual(['unsettled', payment]);
          expect(error.message).toMatch(/wants to see who paid: .*; do not sign a new one$/);
        }
        for (const fetch of [here, away])
          expect((await client({ fetch, account: own }).redeliver(payment)).text).not.toBe('');
      }
      expect(shop.transactions.size).toBe(1);
    },
  );

  it('I59: signs in where the service never heard of the identifier', async () => {
    for (const version of [1, 2] as const) {
      shop.nowMs = NOW_MS;
      shop.transactions.clear();
      const payment = await lost(record, version, forgetful);
      shop.nowMs += 11 * MINUTE_MS;
      expect((await failure(client().redeliver(payment))).code).toBe('unsettled');
      const { report } = await client({ account: own }).redeliver(payment);
      expect(report?.verdict).toBe('verified');
    }
  });

  it('I59: signs in after the guesses of strangers, which a 429 answers', async () => {
    const payment = unnamed(await lost(record, 1));
    const { header, value } = payment;
    for (let times = 0; times < 12; times++)
      await askFrom(shop.gate.url, '/gauge', { headers: { [header]: value } });
    const error = await failure(client({ fetch: away }).redeliver(payment));
    expect([error.code, error.facts.status]).toEqual(['unsettled', 429]);
    const { report } = await client({ fetch: away, account: own }).redeliver(payment);
    expect(report?.verdict).toBe('verified');
  });

  it('signs another message for each try, as one may be used up by a lost answer', async () => {
    const payment = unnamed(await lost(record, 2));
    const sent: string[] = [];
    const twice: Fetch = async (input, init) => {
      const request = new Request(input, init);
      const message = request.headers.get('sign-in-with-x');
      if (message !== null) sent.push(JSON.parse(atob(message)).nonce);
      const answer = await away(request);
      if (sent.length === 1) throw new TypeError('fetch failed');
      return answer;
    };
    const { report } = await client({ fetch: twice, account: own }).redeliver(payment);
    expect([report?.verdict, sent.length, new Set(sent).size]).toEqual(['verified', 2, 2]);
  });

  it('keeps the identifier that a wallet gave its purchase', async () => {
    const id = 'pay_0123456789abcdef';
    const naming: PayingFetch = (inner, cap) =>
      wallet(2)((input, init) => {
        const headers = new Headers(init?.headers);
        const value = headers.get('payment-signature');
        if (value === null) return inner(input, init);
        const extensions = { 'payment-identifier': { info: { required: false, id } }, a: [1] };
        const named = encoded({ ...JSON.parse(atob(value)), extensions });
        return inner(input, { ...init, headers: { 'payment-signature': named } });
      }, cap);
    const { payment } = await client({ pay: naming }).buy('/gauge', PAIR);
    const { extensions } = JSON.parse(atob(payment.value));
    expect(extensions).toEqual({ 'payment-identifier': { info: { required: false, id } }, a: [1] });
  });
});

describe.skipIf(!canSign)('the client in Python after a lost answer', () => {
  const PRELUDE = `
HERE, AWAY = at("127.0.0.1"), at("127.0.0.2")
def buyer(get=HERE, wallet=KeyWallet("11" * 32), **more):
    return SignalpressClient(PUBLIC, DID, wallet=wallet, clock=lambda: NOW, wait=waits.append, get=get, **more)
def losing(url, headers, timeout, *body):
    answer = HERE(url, headers, timeout, *body)
    if "x-payment" in headers: raise TimeoutError()
    return answer
def lost(buy):
    try: buy(buyer(get=losing, max_usd="20"))
    except ClientError as error: return error.payment
def fetched(payment, *more): return buyer(*more).redeliver(payment).text
def refused(payment, **more):
    try: buyer(**more).redeliver(payment)
    except ClientError as error: return [error.code, list(error.payment)[:len(payment)] == list(payment), str(error)]
def unnamed(payment): return [*payment[:5], None, *payment[6:]]
BUYS = [lambda c: c.buy("/gauge", PAIR), lambda c: c.buy_basket(["/gauge?signal_id=airquality.aqi&entity=us-denver"]),
  lambda c: c.buy("/gauge/subscribe")]
`;
  const python = (code: string): Promise<unknown> => shop.python(PRELUDE + code);

  it('I59: fetches it again after 2 h and 29 days, from another address, by the identifier', async () => {
    const payments = (await python('show([lost(buy) for buy in BUYS])')) as readonly unknown[][];
    expect(payments.map((payment) => payment.at(5))).toEqual(
      Array(3).fill(expect.stringMatching(/^[0-9a-f]{32}$/)),
    );
    const code = `
payments = json.loads(${JSON.stringify(JSON.stringify(payments))})
texts = [[buyer(get, wallet=None).redeliver(one).text for get in (HERE, AWAY)] for one in payments]
show([[here == away, here] for here, away in texts] + [refused(unnamed(one), get=AWAY, wallet=None)[:2] for one in payments])`;
    const made: unknown[] = [];
    for (const ms of LATER) {
      shop.nowMs = NOW_MS + ms;
      await shop.restart();
      made.push(await python(code));
    }
    const [first] = made as unknown[][];
    expect(made[1]).toEqual(first);
    expect(first?.slice(3)).toEqual(Array(3).fill(['unsettled', true]));
    expect(first?.slice(0, 3)).toEqual(Array(3).fill([true, expect.stringMatching(/^\{/)]));
    expect(shop.transactions.size).toBe(3);
  });

  it('I59: signs in by itself where the identifier was lost; another wallet gets nothing', async () => {
    const payments = await python('show([unnamed(lost(buy)) for buy in BUYS])');
    for (const ms of LATER) {
      shop.nowMs = NOW_MS + ms;
      await shop.restart();
      const made = await python(`
payments = json.loads(${JSON.stringify(JSON.stringify(payments))})
show([[refused(one, get=AWAY, wallet=KeyWallet("22" * 32)), len(fetched(one, AWAY)) > 99] for one in payments])`);
      const refusal = expect.stringMatching(/wants to see who paid: .*; do not sign a new one$/);
      expect(made).toEqual(Array(3).fill([['unsettled', true, refusal], true]));
    }
    expect(shop.transactions.size).toBe(3);
  });

  it('I59: signs one message for a service that declares another one, and for its very request', async () => {
    const made = await python(`
texts = []
class Noting(KeyWallet):
    def sign_message(self, message):
        texts.append([message.version.decode(), message.header.decode(), message.body.decode()])
        return super().sign_message(message)
BODY = {"code": "sign_in_to_redeliver", "error": "sign in to https://bank.example/", "accepts": [],
  "extensions": {"sign-in-with-x": {"info": {"domain": "bank.example", "uri": "https://bank.example/", "nonce": "chosen00"}}}}
sent = []
def asking(url, headers, timeout, *body):
    sent.append(headers)
    return Answer(402, {}, json.dumps(BODY).encode())
payment = unnamed(lost(BUYS[0]))
gone = [PUBLIC + "/gauge/gone?z=1&a=b%20c*"] + payment[1:]
shown = [refused(one, get=asking, wallet=Noting("11" * 32))[:2] for one in (payment, gone)]
shown += [refused(payment, get=asking, wallet=Noting("22" * 32))[:2], refused((payment[0], "x-payment", "e30="), get=asking)[:2]]
show([shown, texts, ["sign-in-with-x" in one for one in sent], json.loads(base64.b64decode(sent[1]["sign-in-with-x"]))])`);
    const [shown, texts, sent, message] = made as [unknown, string[][], unknown, SentMessage];
    expect(shown).toEqual(Array(4).fill(['unsettled', true]));
    expect(sent).toEqual([false, true, false, true, false, false]);
    const { address } = privateKeyToAccount(`0x${'11'.repeat(32)}`);
    const uris = ['/gauge?entity=us-denver&signal_id=airquality.aqi', '/gauge/gone?a=b%20c*&z=1'];
    expect(texts).toEqual(
      uris.map((uri, at) => {
        const { length } = texts[at]?.[2] ?? '';
        return ['E', `thereum Signed Message:\n${length}`, textFor(address, uri)];
      }),
    );
    const { domain, uri, signature } = message;
    expect([domain, uri, message.address]).toEqual([
      'readings.example',
      BASE_URL + uris[0],
      address,
    ]);
    expect(await verifyMessage({ address, message: texts[0]?.[2] ?? '', signature })).toBe(true);
  });
});

interface SentMessage {
  readonly domain: string;
  readonly uri: string;
  readonly address: string;
  readonly signature: `0x${string}`;
}

/** The text that an account signs for a request of the public address, and for nothing else. */
function textFor(address: string, target: string): string {
  const exactly = `${BASE_URL}${target}`.replace(/[.?*]/g, '\\$&');
  const asks = `^readings\\.example wants you to sign in with your Ethereum account:\n${address}\n\n\n`;
  const facts = `URI: ${exactly}\nVersion: 1\nChain ID: 84532\nNonce: [0-9a-f]{32}\nIssued At: `;
  return expect.stringMatching(new RegExp(`${asks}${facts}2026-11-21T11:57:35(\\.000)?Z$`));
}

describe('a dishonest service', () => {
  /** Knows each payment, and names somebody else in all that it declares. */
  const asking: Fetch = async () => {
    const info = { domain: 'bank.example', uri: 'https://bank.example/', nonce: 'chosen00' };
    const extensions = { 'sign-in-with-x': { info, supportedChains: [{ chainId: 'eip155:1' }] } };
    const error = 'sign in to https://bank.example/';
    return Response.json(
      { x402Version: 2, error, code: 'sign_in_to_redeliver', accepts: [], extensions },
      { status: 402, headers: { 'payment-required': encoded({ x402Version: 2, extensions }) } },
    );
  };

  function noting(address = own.address): SigningAccount & { readonly texts: string[] } {
    const texts: string[] = [];
    return {
      ...{ address, texts },
      signMessage: async ({ message }) => {
        texts.push(message);
        return '0x00';
      },
    };
  }

  it('gets one message, for the very request and for nothing that it declared', async () => {
    const payment = unnamed(await lost(record, 1));
    const account = noting();
    const error = await failure(client({ fetch: asking, account }).redeliver(payment));
    expect([error.code, error.facts.payment]).toEqual(['unsettled', payment]);
    const gone = { ...payment, url: `${BASE_URL}/gauge/gone?z=1&a=b%20c*` };
    await failure(client({ fetch: asking, account }).redeliver(gone));
    expect(account.texts).toEqual([
      textFor(own.address, '/gauge?entity=us-denver&signal_id=airquality.aqi'),
      textFor(own.address, '/gauge/gone?a=b%20c*&z=1'),
    ]);
  });

  it('gets none of another account, or for a payment that names no chain', async () => {
    const payment = unnamed(await lost(record, 1));
    const bare = { ...JSON.parse(atob(payment.value)), network: 'solana' };
    const account = noting();
    const elsewhere = { ...payment, value: encoded(bare) };
    await failure(client({ fetch: asking, account }).redeliver(elsewhere));
    await failure(client({ fetch: asking, account }).redeliver({ ...payment, value: 'e30=' }));
    const stranger = noting(other.address);
    await failure(client({ fetch: asking, account: stranger }).redeliver(payment));
    expect([account.texts, stranger.texts]).toEqual([[], []]);
  });

  it('gets nothing where the account does not sign, and the payment is there to be sent again', async () => {
    const payment = unnamed(await lost(record, 1));
    const account = { ...noting(), signMessage: () => Promise.reject(new Error('no')) };
    const error = await failure(client({ fetch: asking, account }).redeliver(payment));
    expect([error.code, error.facts.payment]).toEqual(['unsettled', payment]);
    expect(error.message).toContain('the account that paid signed no message');
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { localFacilitator } from '../../gatekeeper/settle/facilitator/local-facilitator.ts';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  type SettleOutcome,
} from '../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { priceOf, type Requirements } from '../../gatekeeper/settle/payment.ts';
import { askFrom, type Heard, rebuiltHeaders } from './chain-reader.ts';
import { headerOf, payer } from './payer.ts';
import { BUYER_ADDRESS, type TinyGate, type TinyGateOptions, tinyGate } from './tiny-gate.ts';
import { TINY_BASE_URL, TINY_NOW } from './tiny-release.ts';

// A reader of the chain: it sees what is settled, and what is sent to be settled, and tries the header of each at the path
// that was bought and at others, from another address.

const ID = 'pay_0123456789abcdef0123';
const SECRET = 'a secret of at least thirty-two characters';
const PAID = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
const BASKET = '/gauge/basket {"requests":["/gauge?entity=us-chicago&signal_id=airquality.aqi"]}';
/** What was bought, something else, a dearer one, one without data, one that is free, and one that is nothing. */
const GUESSES = [
  PAID,
  '/gauge?entity=us-denver&signal_id=airquality.aqi',
  '/gauge/ruler?entity=us-chicago&signal_id=airquality.aqi',
  '/gauge/subscribe',
  '/gauge?entity=us-nowhere&signal_id=airquality.aqi',
  '/gauge/sample',
  '/nothing/here',
];
/** What the proxy of the shop says of the reader. */
const READER = { 'x-forwarded-for': '198.51.100.7' };
const network = NETWORKS['base-sepolia'];
const alice = payer(network);
const local = localFacilitator({ clock: () => TINY_NOW });

const gates: TinyGate[] = [];
afterAll(async () => {
  for (const gate of gates) await gate.close();
});

/** A shop whose settlements somebody reads. */
async function watched(config: TinyGateOptions['config'] = {}) {
  const seen: FacilitatorRequest[] = [];
  const script: { settle: (request: FacilitatorRequest) => Promise<SettleOutcome> } = {
    settle: (request) => local.settle(request),
  };
  const facilitator: Facilitator = {
    ...local,
    settle(request) {
      seen.push(request);
      return script.settle(request);
    },
  };
  const gate = await tinyGate({ facilitator, config: { tokenSecret: SECRET, ...config } });
  gates.push(gate);
  return { gate, seen, script };
}

/** Signs for a request as its buyer does. */
async function signedFor({ url }: TinyGate, target: string, version: 1 | 2 = 1) {
  const { headers, body } = await askFrom(url, target, { headers: {}, localAddress: '127.0.0.1' });
  const required = headers.find((line) => /^payment-required: /i.test(line))?.slice(18) ?? '';
  const offer = version === 1 ? body : Buffer.from(required, 'base64').toString('utf8');
  const [terms] = (JSON.parse(offer) as { accepts: readonly [Requirements] }).accepts;
  const signed = await alice.sign(terms.payTo, priceOf(terms));
  const name = version === 1 ? 'x-payment' : 'payment-signature';
  return { [name]: headerOf(terms, signed) };
}

/** What the reader of a settlement gets, for each of its headers at each path. */
async function readerTries(
  { url }: Pick<TinyGate, 'url'>,
  { paymentPayload }: FacilitatorRequest,
  targets: readonly string[] = GUESSES,
): Promise<Heard[]> {
  const { authorization, signature } = paymentPayload.payload;
  const tried: Heard[] = [];
  const rebuilt = rebuiltHeaders({ authorization, signature: signature as `0x${string}` }, network);
  for (const [name, value] of rebuilt)
    for (const target of targets)
      tried.push(await askFrom(url, target, { headers: { ...READER, [name]: value } }));
  return tried;
}

/** Every answer is the same, to the byte, and gives nothing. */
function expectNothing(tried: readonly Heard[], status = 402): void {
  expect(tried.length).toBeGreaterThan(1);
  for (const one of tried) expect(one).toEqual(tried[0]);
  expect(tried[0]?.status).toBe(status);
  if (status === 402)
    expect(tried[0]?.body).toMatch(/"code":"sign_in_to_redeliver","accepts":\[\]}$/);
  for (const { headers, body } of tried) {
    expect(headers.filter((line) => /^(x-)?payment/i.test(line))).toEqual([]);
    expect(body).not.toMatch(/paid words|sp1\./);
  }
}

/** From where buyers are, through the proxy of the shop. */
const own = ({ url }: TinyGate, target: string, headers: object) =>
  askFrom(url, target, { headers: { ...BUYER_ADDRESS, ...headers }, localAddress: '127.0.0.1' });
/** From where the reader is. */
const away = ({ url }: TinyGate, target: string, headers: object) =>
  askFrom(url, target, { headers: { ...READER, ...headers } });
/** Through a proxy that says nothing of its own. */
const through = ({ url }: TinyGate, headers: object) => askFrom(url, PAID, { headers });

describe('a reader of the chain', () => {
  it.each([1, 2] as const)(
    'I59: gets no byte of what was bought in version %i, and its right guess looks like every wrong one',
    async (version) => {
      const { gate, seen } = await watched();
      for (const targets of [GUESSES.slice(0, 5), [PAID, ...GUESSES.slice(5)]]) {
        const headers = await signedFor(gate, PAID, version);
        const first = await own(gate, PAID, headers);
        expect([first.status, first.body.includes('paid words')]).toEqual([200, true]);
        expectNothing(await readerTries(gate, seen.at(-1) as FacilitatorRequest, targets));
        // The buyer, at the same moment.
        expect((await own(gate, PAID, headers)).body).toBe(first.body);
      }
    },
  );

  it('I59: nor after ten tries, nor after a restart, while the buyer gets it by what it named', async () => {
    const { gate, seen } = await watched();
    const headers = { ...(await signedFor(gate, PAID)), 'payment-identifier': ID };
    const first = await own(gate, PAID, headers);
    const [settlement] = seen as [FacilitatorRequest];
    expectNothing(await readerTries(gate, settlement, GUESSES.slice(0, 5)));
    const late = await readerTries(gate, settlement, [PAID, GUESSES[1] ?? '', '/gauge/sample']);
    expectNothing(late, 429);
    expect(late[0]?.headers.join()).toMatch(/retry-after: 60/i);
    await gate.close();
    gates.splice(gates.indexOf(gate), 1);
    const { gate: again } = await watched({ stateDir: gate.stateDir });
    expectNothing(await readerTries(again, settlement, GUESSES.slice(0, 5)));
    for (const from of [own, away])
      expect((await from(again, PAID, headers)).body).toBe(first.body);
    again.now += 29 * 86_400_000;
    expect((await away(again, PAID, headers)).body).toBe(first.body);
    expectNothing(await readerTries(again, settlement, [PAID, GUESSES[1] ?? '']));
  });

  it('I59: nor of a token, which even its first address gets no second time by the header', async () => {
    const { gate, seen } = await watched();
    const headers = await signedFor(gate, '/gauge/subscribe');
    const named = { ...headers, 'payment-identifier': ID };
    const first = await own(gate, '/gauge/subscribe', named);
    expect([first.status, first.body.includes('sp1.')]).toEqual([200, true]);
    expectNothing(
      await readerTries(gate, seen[0] as FacilitatorRequest, ['/gauge/subscribe', PAID]),
    );
    expectNothing([await own(gate, '/gauge/subscribe', headers), await own(gate, PAID, headers)]);
    expect((await away(gate, '/gauge/subscribe', named)).body).toBe(first.body);
  });

  it('I59: nor while a settlement is pending or in doubt, when only its buyer is told how it stands', async () => {
    const { gate, seen, script } = await watched();
    const landing: ((outcome: SettleOutcome) => void)[] = [];
    script.settle = () => new Promise((resolve) => landing.push(resolve));
    const headers = await signedFor(gate, PAID);
    const buying = own(gate, PAID, headers);
    while (landing.length === 0) await new Promise(setImmediate);
    const copy = own(gate, PAID, headers);
    expectNothing(await readerTries(gate, seen[0] as FacilitatorRequest, GUESSES.slice(0, 2)));
    landing[0]?.({ verdict: 'none', detail: 'timeout' });
    expect((await Promise.all([buying, copy])).map(({ status }) => status)).toEqual([503, 503]);
    expectNothing(await readerTries(gate, seen[0] as FacilitatorRequest, GUESSES.slice(0, 2)));
    expect((await own(gate, PAID, headers)).status).toBe(503);
    script.settle = (request) => local.settle(request);
    gate.now += 5000;
    expect((await own(gate, PAID, headers)).status).toBe(200);
    expect(seen).toHaveLength(2);
  });

  it('I59: nor of a basket, nor of a purchase whose name it guesses', async () => {
    const { gate, seen } = await watched();
    const headers = await signedFor(gate, BASKET);
    const first = await own(gate, BASKET, headers);
    expect(first.status).toBe(200);
    const wrong = BASKET.replace('us-chicago', 'us-denver');
    expectNothing(await readerTries(gate, seen[0] as FacilitatorRequest, [BASKET, wrong, PAID]));
    expect((await own(gate, BASKET, headers)).body).toBe(first.body);
    const named = { ...(await signedFor(gate, PAID, 2)), 'payment-identifier': ID };
    expect((await own(gate, PAID, named)).status).toBe(200);
    const guess = { ...named, 'payment-identifier': `${ID}0` };
    expectNothing([await away(gate, PAID, guess), await away(gate, GUESSES[1] ?? '', guess)]);
  });

  it('I59: takes no part in the rate limit of whom it reads, whether it guesses right or wrong', async () => {
    const { gate, seen } = await watched({ rateLimit: 20 });
    const headers = await signedFor(gate, PAID);
    expect((await own(gate, PAID, headers)).status).toBe(200);
    const allowed = async (target: string): Promise<number> => {
      const answers = Array.from({ length: 60 }, () =>
        readerTries(gate, seen[0] as FacilitatorRequest, [target]),
      );
      const limited = (await Promise.all(answers)).flat().map(({ body }) => body);
      return limited.filter((body) => body.includes('Too many requests')).length;
    };
    const right = await allowed(PAID);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const wrong = await allowed(GUESSES[1] ?? '');
    expect(right).toBeGreaterThan(60);
    expect(wrong).toBeGreaterThan(60);
    for (let times = 0; times < 20; times++)
      expect((await own(gate, PAID, headers)).status).toBe(200);
  });

  it('I59: a header that somebody else brings first is a sale to that bearer', async () => {
    const { gate } = await watched();
    const headers = await signedFor(gate, PAID);
    const bearer = await away(gate, PAID, headers);
    expect(bearer.status).toBe(200);
    expectNothing([await own(gate, PAID, headers), await own(gate, GUESSES[1] ?? '', headers)]);
    expect((await away(gate, PAID, headers)).body).toBe(bearer.body);
  });
});

describe('a client behind a proxy', () => {
  it('I59: has no address of its own where no setting trusts the proxy, whatever it says or keeps silent', async () => {
    const { gate } = await watched({ trustedProxy: '' });
    const host = new URL(TINY_BASE_URL).host;
    for (const signs of [
      BUYER_ADDRESS,
      { forwarded: 'for=203.0.113.9' },
      { via: '1.1 proxy' },
      { 'x-real-ip': '203.0.113.9' },
      { host },
      // As nginx does where nothing is set: `Host` names this gatekeeper.
      {},
    ]) {
      const headers = await signedFor(gate, PAID);
      expect((await through(gate, { ...headers, ...signs })).status).toBe(200);
      expectNothing([
        await through(gate, { ...headers, ...signs }),
        await through(gate, headers),
        await through(gate, { ...headers, host }),
      ]);
    }
  });

  it('I59: is known by the address that a trusted proxy names, and by none where it names none', async () => {
    const { gate } = await watched();
    const headers = await signedFor(gate, PAID);
    const first = await own(gate, PAID, headers);
    expect(first.status).toBe(200);
    expect((await own(gate, PAID, headers)).body).toBe(first.body);
    for (const other of [
      { 'x-forwarded-for': '203.0.113.10' },
      { 'x-forwarded-for': '127.0.0.1' },
      {},
    ])
      expect((await through(gate, { ...headers, ...other })).status).toBe(402);
    const unnamed = await signedFor(gate, PAID);
    expect((await through(gate, unnamed)).status).toBe(200);
    expect((await through(gate, unnamed)).status).toBe(402);
  });
});

describe('what names a purchase', () => {
  it('I49: reaches neither a facilitator nor the log', async () => {
    const { gate, seen } = await watched({ logRequests: 'all' });
    for (const version of [1, 2] as const) {
      const headers = {
        ...(await signedFor(gate, PAID, version)),
        'payment-identifier': `${ID}${version}`,
      };
      expect((await own(gate, PAID, headers)).status).toBe(200);
      expect((await own(gate, PAID, headers)).status).toBe(200);
    }
    expect(seen).toHaveLength(2);
    expect(authorizationOf(seen[0] as FacilitatorRequest).from).toBe(alice.address);
    const sent = seen.map(({ trace: _, ...request }) => request);
    expect(JSON.stringify([sent, gate.logged])).not.toContain(ID);
  });
});

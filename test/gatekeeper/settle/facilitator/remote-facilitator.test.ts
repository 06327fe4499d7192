import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PaymentPayloadV2Schema, ResourceInfoSchema } from '@x402/core/schemas';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import { decodePayment } from '../../../../gatekeeper/heart/payment/payment-header.ts';
import {
  facilitatorAuth,
  remoteFacilitator,
} from '../../../../gatekeeper/settle/facilitator/remote-facilitator.ts';
import { facilitatorRequest } from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { isRefusal } from '../../../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { encoded, PAY_TO, payer, shop } from '../../payer.ts';
import { tinyOffers } from '../../tiny-service.ts';

const FACILITATOR_BODY_BYTES_MAX = 65_536;
const TX = `0x${'12'.repeat(32)}`;
const OTHER = `0x${'cd'.repeat(20)}`;
const v1 = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];
const v2 = shop.terms(builtinOperation('/gauge'), '/gauge', 2)[0];
const alice = payer(NETWORKS.base);

async function request(version: 1 | 2) {
  const terms = version === 1 ? v1 : v2;
  const payment = decodePayment(await alice.header(terms), version);
  if (isRefusal(payment)) throw new Error(payment.error);
  return facilitatorRequest(payment, terms);
}
const first = await request(1);
const second = await request(2);

/** Ways that only a time limit ends. */
const HANGING: readonly string[] = ['hung', 'hung after the head', 'dripping'];

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;
let handler: Handler = (_, response) => response.end();
let server: Server;
let seen = 0;
let url = '';
let remote: ReturnType<typeof remoteFacilitator>;
/** Waits shortly, for what never answers. */
let impatient: ReturnType<typeof remoteFacilitator>;

beforeAll(async () => {
  server = createServer((incoming, response) => {
    seen += 1;
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => handler(incoming, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  remote = within(60_000);
  impatient = within(300);
});
afterAll(async () => {
  await remote.close();
  await impatient.close();
  server.closeAllConnections();
  server.close();
});

const within = (ms: number) =>
  remoteFacilitator({ url: `${url}/x402/`, verifyTimeoutMs: ms, settleTimeoutMs: ms });

const answering =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Handler =>
  (_, response) => {
    const text = Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, headers).end(text);
  };

/** The v2 terms of a target in a shop with a release, and the listing of its challenge. */
function listed(target: string) {
  const options = { payTo: PAY_TO, network: NETWORKS.base, serviceName: 'Example' };
  const open = challenger({ baseUrl: 'https://api.example.com', ...options });
  const offers = tinyOffers(() => '/gauge?entity=us-denver&signal_id=airquality.aqi');
  open.show({ offers, catalog: BUILTIN });
  const gauge = builtinOperation('/gauge');
  return { terms: open.terms(gauge, target, 2)[0], listing: open.listing(gauge, target) };
}

/** A signed v2 payment that says these things beside what was signed. */
async function decodedV2(members: object) {
  const header = await alice.header(v2);
  const signed = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  const payment = decodePayment(encoded({ ...signed, ...members }), 2);
  if (isRefusal(payment)) throw new Error(payment.error);
  return payment;
}

/** What both calls post for a request. */
async function bodiesOf(sent: ReturnType<typeof facilitatorRequest>): Promise<unknown[]> {
  const got: unknown[] = [];
  handler = (_, response, body) => {
    got.push(JSON.parse(body));
    response.end('{"isValid":true,"success":false}');
  };
  await remote.verify(sent);
  await remote.settle(sent);
  return got;
}

describe('remoteFacilitator()', () => {
  it('remoteFacilitator() posts version, payload and requirements, and asks for plain bytes', async () => {
    let got: unknown;
    let path: string | undefined;
    let encoding: unknown;
    handler = (incoming, response, body) => {
      [path, encoding, got] = [incoming.url, incoming.headers['accept-encoding'], JSON.parse(body)];
      response.end('{"isValid":true}');
    };
    expect(await remote.verify(first)).toEqual({ verdict: 'valid' });
    const { authorization, signature } = first.paymentPayload.payload;
    expect(got).toStrictEqual({
      x402Version: 1,
      paymentPayload: {
        x402Version: 1,
        scheme: 'exact',
        network: 'base',
        payload: { signature, authorization },
      },
      paymentRequirements: v1,
    });
    expect([path, encoding]).toEqual(['/x402/verify', 'identity']);
    await remote.verify(second);
    const { payload } = second.paymentPayload;
    expect(got).toStrictEqual({
      x402Version: 2,
      paymentPayload: { x402Version: 2, accepted: v2, payload },
      paymentRequirements: v2,
    });
  });

  it('remoteFacilitator() tells what a directory made of the listing, and nothing that it did not say', async () => {
    const told: unknown[] = [];
    const noteListing = (listed: unknown) => void told.push(listed);
    const listing = remoteFacilitator({ url: `${url}/x402/`, noteListing });
    const said = async (header: string): Promise<unknown[]> => {
      told.length = 0;
      handler = answering({ success: false, kinds: [] }, 200, { 'EXTENSION-RESPONSES': header });
      await listing.supported();
      expect(told).toEqual([]);
      expect(await listing.settle(first)).toMatchObject({ verdict: 'refused' });
      return told;
    };
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
    for (const status of ['success', 'processing'])
      expect(await said(encode({ bazaar: { status } }))).toEqual([{ status }]);
    const rejectedReason = `info failed\nschema ${'x'.repeat(300)}`;
    const [rejected] = await said(encode({ bazaar: { status: 'rejected', rejectedReason } }));
    expect(rejected).toEqual({
      status: 'rejected',
      reason: expect.stringMatching(/^info failed\?schema x{181}$/),
    });
    expect(await said(encode({ bazaar: { status: 'rejected', rejectedReason: {} } }))).toEqual([
      { status: 'rejected', reason: 'unspecified' },
    ]);
    for (const none of [
      '!',
      encode(null),
      encode({ other: { status: 'success' } }),
      encode({ bazaar: { status: 'listed' } }),
      encode({ bazaar: { status: 'success' }, more: 'x'.repeat(4000) }),
    ]) {
      expect([none, await said(none)]).toEqual([none, []]);
    }
    await listing.close();
  });

  it('remoteFacilitator() posts both calls of a v2 payment with the listing of our challenge', async () => {
    const { terms, listing } = listed('/gauge?entity=us-denver&signal_id=airquality.aqi');
    const sent = facilitatorRequest(await decodedV2({ accepted: terms }), terms, listing);
    const got = await bodiesOf(sent);
    const { payload } = sent.paymentPayload;
    const paymentPayload = { x402Version: 2, accepted: terms, payload, ...listing };
    const body = { x402Version: 2, paymentPayload, paymentRequirements: terms };
    expect(got).toStrictEqual([body, body]);
    expect(() => PaymentPayloadV2Schema.parse(paymentPayload)).not.toThrow();
    expect(() => ResourceInfoSchema.parse(paymentPayload.resource)).not.toThrow();
    expect(listing?.extensions).toHaveProperty('bazaar.info.input.queryParams.entity', 'us-denver');
  });

  it('remoteFacilitator() posts each request with the listing of its own, and none where there is none', async () => {
    for (const entity of ['us-denver', 'us-fresno']) {
      const { terms, listing } = listed(`/gauge?entity=${entity}&signal_id=airquality.aqi`);
      const payment = await decodedV2({ accepted: terms });
      const [body] = await bodiesOf(facilitatorRequest(payment, terms, listing));
      expect(body).toHaveProperty('paymentPayload.resource.url', listing?.resource.url);
      const [bare] = await bodiesOf(facilitatorRequest(payment, terms));
      expect(bare).not.toHaveProperty('paymentPayload.resource');
      expect(bare).not.toHaveProperty('paymentPayload.extensions');
    }
  });

  it('remoteFacilitator() posts no word that the payer says of resource and extensions', async () => {
    const { terms, listing } = listed('/gauge');
    const resource = { url: 'https://elsewhere.example' };
    const extensions = { bazaar: { info: 'elsewhere' } };
    const payment = await decodedV2({ accepted: terms, resource, extensions });
    for (const sent of [
      facilitatorRequest(payment, terms, listing),
      facilitatorRequest(payment, terms),
    ]) {
      expect(JSON.stringify(await bodiesOf(sent))).not.toContain('elsewhere');
    }
  });

  it('remoteFacilitator() takes a boolean verdict under any status below 500', async () => {
    handler = answering({ isValid: false, invalidReason: 'insufficient_funds' }, 400);
    expect(await remote.verify(first)).toEqual({
      verdict: 'invalid',
      reason: 'insufficient_funds',
    });
    handler = answering({ success: false, errorReason: 'insufficient_funds' }, 402);
    expect(await remote.settle(first)).toEqual({
      verdict: 'refused',
      reason: 'insufficient_funds',
    });
    handler = answering({ success: false });
    expect(await remote.settle(first)).toEqual({ verdict: 'refused', reason: 'unspecified' });
    for (const [transaction, named] of [
      [TX, { namesTransaction: true }],
      ['', {}],
      [null, {}],
    ] as const) {
      handler = answering({ success: false, errorReason: 'insufficient_funds', transaction });
      const reason = 'insufficient_funds';
      expect(await remote.settle(first)).toEqual({ verdict: 'refused', reason, ...named });
    }
    handler = answering({ success: true, transaction: TX, network: 'base', payer: alice.address });
    const settled = { verdict: 'settled', transaction: TX };
    expect(await remote.settle(first)).toEqual(settled);
    handler = answering({ success: true, transaction: TX, network: 'eip155:8453' });
    expect(await remote.settle(second)).toEqual(settled);
  });

  it('I11: remoteFacilitator() takes nothing else for a verdict', async () => {
    const yes = { isValid: true, success: true, transaction: TX };
    const modes: [string, Handler][] = [
      ['500 with a verdict', answering(yes, 500)],
      ['503 without a body', answering('', 503)],
      ['504 in HTML', answering('<html>', 504)],
      ['empty 200', answering('')],
      ['204', answering('', 204)],
      ['HTML', answering('<html>ok</html>')],
      ['null', answering('null')],
      ['true', answering('true')],
      ['array', answering([yes])],
      ['no verdict', answering({ payer: alice.address })],
      ['text verdict', answering({ ...yes, isValid: 'true', success: 'true' })],
      ['number verdict', answering({ ...yes, isValid: 1, success: 1 })],
      ['null verdict', answering({ ...yes, isValid: null, success: null })],
      ['payer of a wrong type', answering({ ...yes, payer: 1 })],
      ['another payer', answering({ ...yes, payer: OTHER })],
      ['redirect', answering('', 302, { location: `${url}/elsewhere` })],
      ['redirect 307', answering(yes, 307, { location: `${url}/elsewhere` })],
      ['gzip', answering(gzipSync(JSON.stringify(yes)), 200, { 'content-encoding': 'gzip' })],
      ['cut JSON', answering('{"isValid":true,"success":tr')],
      ['too long', answering(JSON.stringify(yes).padEnd(FACILITATOR_BODY_BYTES_MAX + 1))],
      [
        'endless',
        (_, response) => {
          const timer = setInterval(() => response.write(' '.repeat(16_384)), 1);
          response.on('close', () => clearInterval(timer));
        },
      ],
      ['hung', () => {}],
      ['hung after the head', (_, response) => response.writeHead(200).flushHeaders()],
      [
        'dripping',
        (_, response) => {
          const timer = setInterval(() => response.write(' '), 50);
          response.on('close', () => clearInterval(timer));
        },
      ],
      ['reset', (incoming) => incoming.socket.destroy()],
      [
        'reset in the body',
        (incoming, response) => {
          response.writeHead(200, { 'content-length': '100' });
          response.write('{"isValid":true,');
          setTimeout(() => incoming.socket.destroy(), 5);
        },
      ],
      ['not HTTP', (incoming) => incoming.socket.end('hello\r\n\r\n')],
    ];
    for (const [name, mode] of modes) {
      handler = mode;
      const before = seen;
      const asked = HANGING.includes(name) ? impatient : remote;
      expect((await asked.verify(first)).verdict, `verify ${name}`).toBe('none');
      expect((await asked.settle(first)).verdict, `settle ${name}`).toBe('none');
      expect(seen - before, `${name}: one request each, no retry, no redirect`).toBe(2);
    }
  });

  it('I11: remoteFacilitator() believes no settlement on another network or without a transaction', async () => {
    const settled = { success: true, transaction: TX };
    for (const wrong of [
      { ...settled, network: 'base-sepolia' },
      { ...settled, network: 'nowhere' },
      { success: true },
      { ...settled, transaction: '' },
      { ...settled, transaction: 'a\r\nset-cookie: b' },
      { ...settled, transaction: 'x'.repeat(129) },
    ]) {
      handler = answering(wrong);
      expect((await remote.settle(first)).verdict).toBe('none');
    }
    handler = answering(settled);
    expect((await remote.settle(first)).verdict).toBe('settled');
  });

  it('I11: remoteFacilitator() cuts and cleans reasons', async () => {
    handler = answering({ isValid: false, invalidReason: `a\r\nb\u0007${'x'.repeat(900)}` });
    const outcome = await remote.verify(first);
    expect(outcome).toMatchObject({ verdict: 'invalid' });
    const reason = outcome.verdict === 'invalid' ? outcome.reason : '';
    expect(reason).toMatch(/^a\?\?b\?x{195}$/);
  });

  it('remoteFacilitator() takes a verdict whatever its reason is, and no other member of a wrong type', async () => {
    const reasons: [unknown, string][] = [
      ['x'.repeat(5000), 'x'.repeat(200)],
      [{ code: 1 }, 'unspecified'],
      [1, 'unspecified'],
      [['insufficient_funds'], 'unspecified'],
      [true, 'unspecified'],
      ['', 'unspecified'],
    ];
    for (const [given, reason] of reasons) {
      handler = answering({ isValid: false, invalidReason: given });
      expect(await remote.verify(first)).toEqual({ verdict: 'invalid', reason });
      handler = answering({ success: false, errorReason: given });
      expect(await remote.settle(first)).toEqual({ verdict: 'refused', reason });
    }
    for (const wrong of [{ payer: 1 }, { transaction: {} }, { network: ['base'] }]) {
      handler = answering({ success: false, errorReason: 'insufficient_funds', ...wrong });
      expect((await remote.settle(first)).verdict).toBe('none');
    }
  });

  it('I51: settle() is not sent once its buyer has left, be it while it waits for its headers', async () => {
    const buyer = { isThere: true };
    const trace = { id: 'a', sentId: 'a', isAwaited: () => buyer.isThere };
    const asked = { ...first, trace };
    const auth = async (): Promise<Record<string, string>> => {
      buyer.isThere = false;
      return {};
    };
    const leaving = remoteFacilitator({ url, auth });
    const before = seen;
    expect(await leaving.settle(asked)).toMatchObject({ unsent: true, abandoned: true });
    expect(seen).toBe(before);
    // A check moves no money.
    handler = (_, response) => response.end('{"isValid":true}');
    expect(await leaving.verify(asked)).toEqual({ verdict: 'valid' });
    await leaving.close();
  });

  it('remoteFacilitator() has no verdict when nobody listens', async () => {
    const nobody = remoteFacilitator({ url: 'http://127.0.0.1:9' });
    const none = {
      verdict: 'none',
      detail: '/settle: nothing listens there (ECONNREFUSED)',
      unsent: true,
    };
    expect(await nobody.settle(first)).toEqual(none);
    await nobody.close();
  });

  it('I4: remoteFacilitator() is not held up by hung settlements', async () => {
    const held: ServerResponse[] = [];
    handler = (incoming, response) => {
      if (incoming.url?.endsWith('settle')) held.push(response);
      else response.end('{"isValid":true}');
    };
    const hung = Array.from({ length: 40 }, () => remote.settle(first));
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), 60_000);
    expect((await remote.verify(first)).verdict).toBe('valid');
    handler = answering('');
    for (const response of held) response.end();
    await Promise.all(hung);
  });

  it('remoteFacilitator() sends headers made for each call, and no call without them', async () => {
    const asked: unknown[] = [];
    const guarded = remoteFacilitator({
      url: `${url}/x402`,
      auth: async (call) => {
        asked.push(call);
        if (asked.length > 2) throw new Error('the signer is away');
        return { authorization: `Bearer ${asked.length}` };
      },
    });
    const sent: unknown[] = [];
    handler = (incoming, response) => {
      sent.push(incoming.headers.authorization);
      response.end('{"isValid":true,"success":false}');
    };
    expect((await guarded.verify(first)).verdict).toBe('valid');
    expect((await guarded.settle(first)).verdict).toBe('refused');
    const setting = 'SIGNALPRESS_FACILITATOR_AUTH_MODULE';
    const unsent = { verdict: 'none', detail: '/settle: no auth headers', unsent: true, setting };
    expect(await guarded.settle(first)).toEqual(unsent);
    expect(sent).toEqual(['Bearer 1', 'Bearer 2']);
    expect(asked[0]).toEqual({ method: 'POST', url: `${url}/x402/verify` });
    await guarded.close();
  });

  it('remoteFacilitator() says of no call that left that it was not sent', async () => {
    const broken: Handler = (incoming) => incoming.socket.destroy();
    for (const mode of [answering('', 500), answering('no'), broken]) {
      handler = mode;
      expect(await remote.settle(first)).not.toHaveProperty('unsent');
    }
    const silenced = within(300);
    handler = (_, response) => response.end('{"success":false}');
    // The connection is there when the clock of the next call runs.
    await silenced.settle(first);
    handler = () => {};
    expect(await silenced.settle(first)).not.toHaveProperty('unsent');
    await silenced.close();
  });

  it('remoteFacilitator() reads what is supported', async () => {
    const kinds = [{ x402Version: 1, scheme: 'exact', network: 'base' }];
    handler = answering({ kinds, extra: 1 });
    expect(await remote.supported()).toEqual({ verdict: 'supported', kinds });
    handler = answering({ kinds: [] });
    expect(await remote.supported()).toEqual({ verdict: 'supported', kinds: [] });
    handler = answering({ kinds: 'all' });
    expect((await remote.supported()).verdict).toBe('none');
  });

  it('remoteFacilitator() reads every kind that it can, whatever stands beside it', async () => {
    const good = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' };
    const odd = [null, 'exact', { scheme: 'exact' }, { ...good, x402Version: '2' }, [good]];
    handler = answering({ kinds: [...odd, { ...good, extra: { asset: 'x' } }, ...odd] });
    expect(await remote.supported()).toEqual({ verdict: 'supported', kinds: [good] });
    handler = answering({ kinds: odd });
    expect(await remote.supported()).toEqual({ verdict: 'supported', kinds: [] });
  });

  it.each([
    [401, { error: 'unauthorized' }, 'no list of kinds'],
    [403, '<html>', 'not JSON'],
    [404, { message: 'not found' }, 'no list of kinds'],
    [200, 'hello', 'not JSON'],
  ])(
    'remoteFacilitator() tells the status %i of %j, which lists no kinds',
    async (status, body, lacks) => {
      handler = answering(body, status);
      const detail = `/supported: status ${status}, ${lacks}`;
      expect(await remote.supported()).toEqual({ verdict: 'none', detail, status });
    },
  );

  it('remoteFacilitator() tells the status of what is no verdict', async () => {
    handler = answering({ error: 'unauthorized' }, 401);
    const none = { verdict: 'none', status: 401 };
    const detail = (call: string, word: string) => `/${call}: status 401, no boolean "${word}"`;
    expect(await remote.verify(first)).toEqual({ ...none, detail: detail('verify', 'isValid') });
    expect(await remote.settle(first)).toEqual({ ...none, detail: detail('settle', 'success') });
    handler = answering({ isValid: false, success: false }, 401);
    expect(await remote.verify(first)).toEqual({ verdict: 'invalid', reason: 'unspecified' });
  });
});

const call = { method: 'POST', url: 'https://f.example/settle' } as const;
const folder = mkdtempSync(join(tmpdir(), 'signalpress-auth-'));
let modules = 0;

function moduleOf(text: string): string {
  modules += 1;
  const path = join(folder, `auth-${modules}.mjs`);
  writeFileSync(path, text);
  return path;
}
const made = async (text: string) => {
  const auth = await facilitatorAuth({ header: null, module: moduleOf(text) });
  return auth?.(call);
};

describe('facilitatorAuth()', () => {
  it('facilitatorAuth() sends nothing where nothing is set', async () => {
    expect(await facilitatorAuth({ header: null, module: null })).toBeUndefined();
  });

  it('facilitatorAuth() sends one fixed header', async () => {
    const auth = await facilitatorAuth({ header: 'X-Api-Key:  a b:c', module: null });
    expect(await auth?.(call)).toEqual({ 'X-Api-Key': 'a b:c' });
  });

  it('facilitatorAuth() asks a module for each call', async () => {
    const text = 'export async function authHeaders({method,url}) { return { a: method + url } }';
    expect(await made(text)).toEqual({ a: 'POSThttps://f.example/settle' });
  });

  it('facilitatorAuth() takes from a module only headers', async () => {
    for (const value of ["{ a: 'b\\r\\nc: d' }", "{ 'a b': 'c' }", '{ a: 1 }', 'null']) {
      const text = `export const authHeaders = () => (${value})`;
      await expect(made(text), value).rejects.toThrow();
    }
  });

  it('facilitatorAuth() starts with no module that does not load or exports nothing of use', async () => {
    await expect(made('syntax error')).rejects.toThrow(/does not load/);
    await expect(made('export const other = 1')).rejects.toThrow(/no function "authHeaders"/);
  });
});

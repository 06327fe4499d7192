import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNKNOWN_RETRY_S } from '../../../../gatekeeper/heart/purchase/purchase-reply.ts';
import { purchaseService } from '../../../../gatekeeper/heart/purchase/purchase-service.ts';
import { remoteFacilitator } from '../../../../gatekeeper/settle/facilitator/remote-facilitator.ts';
import type { Facilitator } from '../../../../gatekeeper/settle/facilitator.ts';
import { NOW_MS } from '../../payer.ts';
import { alice, buy, freshJournal, header, json, shop, TX, v1 } from '../../payment-bench.ts';

const FACILITATOR_BODY_BYTES_MAX = 65_536;

/** Long enough for any answer on a busy machine. */
const PATIENT_MS = 10_000;
/** For a facilitator that never ends its answer. */
const IMPATIENT_MS = 150;
const SECRET = 'bought words';

/** What one call does instead of answering well. */
type Mode = (response: ServerResponse, yes: Readonly<Record<string, unknown>>) => void;
const YES = {
  '/verify': { isValid: true, payer: alice.address },
  '/settle': { success: true, transaction: TX, network: 'base', payer: alice.address },
} as const;
const text = (body: string | Buffer, status = 200, headers: Record<string, string> = {}): Mode => {
  return (response) => response.writeHead(status, headers).end(body);
};
const changed = (change: object, status = 200): Mode => {
  return (response, yes) => response.writeHead(status).end(JSON.stringify({ ...yes, ...change }));
};
const trickle = (piece: string, ms: number): Mode => {
  return (response) => {
    const timer = setInterval(() => response.write(piece), ms);
    response.on('close', () => clearInterval(timer));
  };
};

/** Ways of both calls to be no verdict. */
const SILENT: readonly [string, Mode][] = [
  ['500 that says yes', changed({}, 500)],
  ['503 empty', text('', 503)],
  ['400 that says yes', changed({}, 400)],
  ['402 that says yes', changed({}, 402)],
  ['429 that says yes', changed({}, 429)],
  ['412 that says yes', changed({}, 412)],
  ['504 in HTML', text('<html>gateway</html>', 504)],
  ['empty', text('')],
  ['HTML', text('<html>yes</html>')],
  ['null', text('null')],
  ['a number', text('1')],
  ['a list', text('[{"isValid":true,"success":true}]')],
  ['no verdict', text('{"ok":true}')],
  ['text for a verdict', changed({ isValid: 'true', success: 'true' })],
  ['1 for a verdict', changed({ isValid: 1, success: 1 })],
  ['an object for a verdict', changed({ isValid: {}, success: {} })],
  ['another payer', changed({ payer: `0x${'9'.repeat(40)}` })],
  ['payer of a wrong type', changed({ payer: [alice.address] })],
  ['redirect', text('', 302, { location: '/elsewhere' })],
  ['redirect that keeps the method', text('', 307, { location: '/elsewhere' })],
  [
    'compressed',
    (response, yes) =>
      text(gzipSync(JSON.stringify(yes)), 200, { 'content-encoding': 'gzip' })(response, yes),
  ],
  ['cut short', text('{"isValid":true,"success":tr')],
  [
    'too long',
    (response, yes) => response.end(JSON.stringify(yes).padEnd(FACILITATOR_BODY_BYTES_MAX + 1)),
  ],
  ['endless', trickle(' '.repeat(16_384), 1)],
  ['dripping', trickle(' ', 20)],
  ['hung', () => {}],
  ['hung after its head', (response) => response.writeHead(200).flushHeaders()],
  ['reset', (response) => response.socket?.destroy()],
  ['no HTTP', (response) => response.socket?.end('hello\r\n\r\n')],
];
/** Ways of settlement alone: a success that is none, and a refusal that may hide one. */
const LIES: readonly [string, Mode][] = [
  ['another network', changed({ network: 'base-sepolia' })],
  ['a network that nobody knows', changed({ network: 'eip155:1' })],
  ['no transaction', changed({ transaction: '' })],
  ['null for a transaction', changed({ transaction: null })],
  ['a transaction that is no name', changed({ transaction: 'x\r\nset-cookie: a=b' })],
  ['a transaction too long', changed({ transaction: 'a'.repeat(200) })],
  ['a number for a transaction', changed({ transaction: 1 })],
  ['no success with a transaction', changed({ success: false, errorReason: 'insufficient_funds' })],
  ['no success and no reason', changed({ success: false, transaction: '' })],
  [
    'no success for a reason that is no text',
    changed({ success: false, errorReason: { code: 1 }, transaction: '' }),
  ],
  [
    'no success for an inner reason',
    changed({ success: false, errorReason: 'internal_error', transaction: '' }),
  ],
];

let mode: { readonly call: '/verify' | '/settle'; readonly act: Mode } | null = null;
let settles = 0;
/** Ways that only a time limit ends. */
const HANGING: readonly string[] = ['endless', 'dripping', 'hung', 'hung after its head'];
const listener: RequestListener = (request, response) => {
  request.resume().on('end', () => {
    const call = request.url as '/verify' | '/settle';
    if (call === '/settle') settles += 1;
    if (mode !== null && (mode.call === call || !(call in YES)))
      mode.act(response, YES[call] ?? {});
    else response.end(JSON.stringify(YES[call]));
  });
};
const server = createServer(listener);
type Remote = ReturnType<typeof remoteFacilitator>;
let patient: Remote;
let impatient: Remote;
let asked: Remote;
const facilitator: Facilitator = {
  verify: (request) => asked.verify(request),
  settle: (request, isFirst) => asked.settle(request, isFirst),
  supported: () => asked.supported(),
};
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const within = (ms: number): Remote =>
    remoteFacilitator({ url, verifyTimeoutMs: ms, settleTimeoutMs: ms });
  patient = within(PATIENT_MS);
  impatient = within(IMPATIENT_MS);
  asked = patient;
});
afterAll(async () => {
  await patient.close();
  await impatient.close();
  server.closeAllConnections();
  server.close();
});

function openPurchases() {
  const journal = freshJournal();
  let now = NOW_MS;
  const terms = { challenger: shop, clock: () => now, verifyFirst: true };
  const bought = purchaseService({ journal, facilitator, ...terms });
  const deliver = async () => ({ body: Buffer.from(SECRET), contentType: 'text/plain' });
  const wait = (): void => {
    now += UNKNOWN_RETRY_S * 1000;
  };
  return { journal, wait, pay: (value: string) => buy(bought, { header: value, deliver }) };
}

async function expectDoubt(
  call: '/verify' | '/settle',
  [name, act]: readonly [string, Mode],
): Promise<void> {
  const { pay, wait, journal } = openPurchases();
  const value = await alice.header(v1);
  mode = { call, act };
  settles = 0;
  asked = HANGING.includes(name) ? impatient : patient;
  const reply = await pay(value);
  expect([name, reply.status]).toEqual([name, 503]);
  expect(header(reply, 'retry-after'), name).toMatch(/^[0-9]+$/);
  expect(reply.body.toString(), name).not.toContain(SECRET);
  expect(JSON.stringify(reply.headers), name).not.toMatch(/set-cookie|payment-response/);
  expect(settles, name).toBe(call === '/verify' ? 0 : 1);
  mode = null;
  asked = patient;
  wait();
  // I2, I10: whatever it was, the same payment buys the answer afterwards.
  const again = await pay(value);
  expect([name, again.status]).toEqual([name, 200]);
  journal.close();
}

describe('a facilitator that is not to be trusted', () => {
  it(`I11: none of ${SILENT.length * 2 + LIES.length} modes makes a sale, a 402 or a wait, and each is resolved by the same payment`, async () => {
    expect(SILENT.length * 2 + LIES.length).toBeGreaterThanOrEqual(40);
    for (const one of SILENT) await expectDoubt('/verify', one);
    for (const one of [...SILENT, ...LIES]) await expectDoubt('/settle', one);
    expect(SILENT.filter(([name]) => HANGING.includes(name))).toHaveLength(HANGING.length);
  });

  it('I11: a refusal is a 402 under any status below 500, and its text stays text', async () => {
    const refusals: [string, Mode][] = [
      ['200', changed({ isValid: false, success: false, invalidReason: 'insufficient_funds' })],
      [
        '400',
        changed({ isValid: false, success: false, invalidReason: 'insufficient_funds' }, 400),
      ],
      ['412', changed({ isValid: false, success: false, invalidReason: 'a\r\nx: y\u0007' }, 412)],
      ['no reason', changed({ isValid: false, success: false })],
      ['long reason', changed({ isValid: false, invalidReason: 'x'.repeat(5000) })],
      ['a reason that is no text', changed({ isValid: false, invalidReason: { code: 1 } })],
    ];
    for (const [name, act] of refusals) {
      const { pay, journal } = openPurchases();
      const value = await alice.header(v1);
      mode = { call: '/verify', act };
      const reply = await pay(value);
      expect([name, reply.status]).toEqual([name, 402]);
      expect(json(reply).error.length, name).toBeLessThan(600);
      expect(JSON.stringify(reply.headers), name).not.toMatch(/\\r|\\n|\\u0007/);
      mode = null;
      expect([name, (await pay(value)).status]).toEqual([name, 200]);
      journal.close();
    }
  });

  it('I9: a settlement that is refused before anything was sent is a 402, and burns nothing', async () => {
    const { pay, journal } = openPurchases();
    const value = await alice.header(v1);
    const no = { success: false, errorReason: 'insufficient_funds', transaction: '' };
    mode = { call: '/settle', act: changed(no) };
    expect((await pay(value)).status).toBe(402);
    mode = null;
    expect((await pay(value)).status).toBe(200);
    journal.close();
  });
});

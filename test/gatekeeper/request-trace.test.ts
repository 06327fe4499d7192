import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/money/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/money/payment.ts';
import { payer } from './payer.ts';
import { type TinyGate, tinyGate } from './tiny-gate.ts';

const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const PAYEE = `0x${'ab'.repeat(20)}`;

/** Names of calls as the facilitator saw them, by path. */
const calls: { path: string; name: string | undefined }[] = [];
let settled = 0;
let isSettling = true;
let facilitator: Server;
let gate: TinyGate;

beforeAll(async () => {
  facilitator = createServer((request, response) => {
    const { url: path = '', headers } = request;
    if (path !== '/supported') {
      calls.push({ path, name: headers['x-request-id'] as string | undefined });
    }
    request.resume();
    // The clock of the gatekeeper stands still.
    response.sendDate = false;
    response.writeHead(isSettling ? 200 : 500, { 'content-type': 'application/json' });
    settled += 1;
    const transaction = `0x${settled}`;
    response.end(JSON.stringify({ isValid: true, success: true, transaction, kinds: [] }));
  });
  await new Promise<void>((done) => facilitator.listen(0, '127.0.0.1', done));
  const { port } = facilitator.address() as AddressInfo;
  const facilitatorUrls = [`http://127.0.0.1:${port}`];
  gate = await tinyGate({ config: { facilitatorUrls, payTo: PAYEE, verifyFirst: true } });
});
afterAll(async () => {
  await gate.close();
  facilitator.close();
});

async function bought(name?: string): Promise<Response> {
  const { accepts } = (await (await fetch(gate.url + PAID)).json()) as {
    accepts: [RequirementsV1];
  };
  const payment = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
  const named = name === undefined ? {} : { 'x-request-id': name };
  calls.length = 0;
  return fetch(gate.url + PAID, { headers: { 'x-payment': payment, ...named } });
}

describe('the name of a request', () => {
  it('goes to the facilitator as we made it', async () => {
    const answer = await bought();
    expect(answer.status).toBe(200);
    const name = answer.headers.get('x-request-id');
    expect(name).not.toBeNull();
    expect(calls).toEqual([
      { path: '/verify', name },
      { path: '/settle', name },
    ]);
  });

  it('goes there never as a client made it: two payments would look like one', async () => {
    const names = [];
    for (let asked = 0; asked < 2; asked += 1) {
      const answer = await bought('theirs');
      expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, 'theirs']);
      expect(new Set(calls.map(({ name }) => name)).size).toBe(1);
      names.push(calls[0]?.name);
    }
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^theirs\.[0-9a-f]{8}-[0-9a-z]+$/);
  });

  it('stands in every line about it, also in that of a silent facilitator', async () => {
    isSettling = false;
    gate.now += 60_000;
    expect((await bought('in-vain')).status).toBe(503);
    isSettling = true;
    const lines = gate.logged.filter(({ id }) => id === 'in-vain');
    expect(lines).toMatchObject([
      { event: 'no_verdict', call: 'verify' },
      { path: '/gauge', status: 503 },
    ]);
  });
});

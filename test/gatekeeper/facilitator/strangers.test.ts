import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FacilitatorRequest } from '../../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import type { RequirementsV1 } from '../../../gatekeeper/money/payment.ts';
import { payer } from '../payer.ts';
import { tinyGate } from '../tiny-gate.ts';

const network = NETWORKS['base-sepolia'];
const PAID = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
const PRICE = 10_000n;
const ODD = String(PRICE + 1n);
const [STRANGERS, BUYERS] = [8, 6];

/** What a facilitator does when a payment is odd, and with every call when it is dead. */
type Fault = (response: ServerResponse) => unknown;
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['400 without a verdict', (response) => response.writeHead(400).end('{"error":"odd value"}')],
  ['500', (response) => response.writeHead(500).end('{"error":"odd value"}')],
  ['a reset', (response) => response.socket?.destroy()],
];

/** It has money on the accounts of buyers alone, as on a real chain. */
const facilitator = { fault: (() => {}) as Fault, isDead: false, settles: 0, url: '' };
let server: Server;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    // The clock of the gatekeeper stands still.
    response.sendDate = false;
    if (request.url === '/supported') return response.end('{"kinds":[]}');
    const { paymentPayload } = (await json(request)) as FacilitatorRequest;
    const { from, value, nonce } = paymentPayload.payload.authorization;
    if (request.url === '/settle') facilitator.settles += 1;
    if (facilitator.isDead || value === ODD) return facilitator.fault(response);
    const isFunded = buyers.some(({ address }) => address === from);
    const settled = { success: isFunded, transaction: isFunded ? nonce : '' };
    const reason = { invalidReason: 'insufficient_funds', errorReason: 'insufficient_funds' };
    return response.end(JSON.stringify({ isValid: isFunded, ...settled, ...reason }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  facilitator.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const accounts = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => payer(network, `${name} ${at}`));
const strangers = accounts('stranger', STRANGERS);
const buyers = accounts('buyer', BUYERS);

/** One purchase after the other, each by another account; their statuses. */
async function statuses(
  url: string,
  by: readonly ReturnType<typeof payer>[],
  over: { readonly value?: string } = {},
): Promise<readonly number[]> {
  const { accepts } = (await (await fetch(url + PAID)).json()) as { accepts: [RequirementsV1] };
  const got: number[] = [];
  for (const account of by) {
    const header = await account.header(accepts[0], over);
    got.push((await fetch(url + PAID, { headers: { 'x-payment': header } })).status);
  }
  return got;
}

describe.each([true, false])('with strangers at the door, verify first: %s', (verifyFirst) => {
  const open = () =>
    tinyGate({ config: { facilitatorUrls: [facilitator.url], testPayments: false, verifyFirst } });

  it.each(FAULTS)(
    'I4: fresh keys whose odd payments bring %s close the shop to nobody',
    async (_, fault) => {
      const gate = await open();
      Object.assign(facilitator, { fault, isDead: false });
      const odd = await statuses(gate.url, strangers, { value: ODD });
      expect(odd).toEqual(strangers.map(() => 503));
      expect(await statuses(gate.url, buyers)).toEqual(buyers.map(() => 200));
      await gate.close();
    },
  );

  it.each(FAULTS.slice(1))(
    'I4: a facilitator that is dead with %s is left alone, and asked again when it is well',
    async (_, fault) => {
      const gate = await open();
      Object.assign(facilitator, { fault, isDead: true, settles: 0 });
      const all = [...strangers, ...buyers];
      expect(await statuses(gate.url, all)).toEqual(all.map(() => 503));
      expect(facilitator.settles).toBeLessThan(STRANGERS);
      facilitator.isDead = false;
      expect((await statuses(gate.url, buyers))[0]).toBe(503);
      gate.now += 60_000;
      expect(await statuses(gate.url, buyers)).toEqual(buyers.map(() => 200));
      await gate.close();
    },
  );
});

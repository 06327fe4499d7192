import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JOURNAL_NAME, readJournalFile } from '../../../gatekeeper/journal/journal-file.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import type { RequirementsV1 } from '../../../gatekeeper/money/payment.ts';
import { payer } from '../payer.ts';
import { type TinyGate, tinyGate } from '../tiny-gate.ts';
import { TINY_NOW } from '../tiny-release.ts';

/** A gatekeeper whose clock jumps, and a facilitator whose `Date` is the only time that something outside tells. */
const DAY_MS = 86_400_000;
const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const network = NETWORKS['base-sepolia'];

const time = { outside: TINY_NOW, monotonic: 0 };
const calls: string[] = [];
const server = createServer(async (request, response) => {
  calls.push(String(request.url));
  const date = new Date(time.outside).toUTCString();
  const { paymentPayload } = request.method === 'POST' ? ((await json(request)) as Asked) : NONE;
  const { authorization } = paymentPayload.payload;
  const isDue = Number(authorization.validAfter) * 1000 <= time.outside;
  const transaction = isDue ? authorization.nonce : '';
  const errorReason = isDue ? undefined : 'invalid_exact_evm_payload_authorization_valid_after';
  const verdict = { success: isDue, isValid: isDue, transaction, errorReason };
  response.writeHead(200, { date }).end(JSON.stringify({ ...verdict, kinds: [] }));
});
server.on('request', (_, response) => {
  response.sendDate = false;
});
interface Asked {
  readonly paymentPayload: {
    readonly payload: {
      readonly authorization: { readonly validAfter: string; readonly nonce: string };
    };
  };
}
const NONE = { paymentPayload: { payload: { authorization: { validAfter: '0', nonce: '' } } } };

let gate: TinyGate;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const facilitatorUrls = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  gate = await tinyGate({
    config: { facilitatorUrls, payTo: `0x${'ab'.repeat(20)}` },
    monotonic: () => time.monotonic,
  });
});
afterAll(async () => {
  await gate.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  calls.length = 0;
});

/** Signs for the time of the gatekeeper, or for another one. */
async function sign(nowMs = gate.now): Promise<string> {
  const response = await fetch(gate.url + TARGET);
  const { accepts } = (await response.json()) as { accepts: readonly [RequirementsV1] };
  const now = Math.floor(nowMs / 1000);
  const window = { validAfter: String(now - 600), validBefore: String(now + 300) };
  return payer(network).header(accepts[0], window);
}
async function send(header: string) {
  const named = { 'payment-identifier': hash('sha256', header), 'x-payment': header };
  const response = await fetch(gate.url + TARGET, { headers: named });
  return { status: response.status, text: await response.text() };
}
const state = async (): Promise<unknown> => (await fetch(`${gate.url}/healthz`)).json();
const countRow = z.object({ n: z.number() });
function rows(): readonly number[] {
  const db = readJournalFile(join(gate.stateDir, JOURNAL_NAME));
  try {
    const count = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get([]);
    return ['payment', 'body'].map((table) => countRow.parse(count(table)).n);
  } finally {
    db.close();
  }
}

describe('a clock that jumps 40 days ahead', () => {
  it('I61: closes sales, keeps every paid answer, and sells again once it is right', async () => {
    const bought = await sign();
    const sold = await send(bought);
    expect(sold.status).toBe(200);
    const before = rows();
    gate.now += 40 * DAY_MS;
    // Signed for the time of the wrong clock, and for the right one.
    for (const header of [await sign(), await sign(time.outside)]) {
      const refused = await send(header);
      expect(refused).toMatchObject({ status: 503 });
      expect(refused.text).toContain("The server's clock is wrong");
    }
    expect(calls.filter((url) => url === '/settle')).toHaveLength(1);
    expect(rows()).toEqual(before);
    expect(await state()).toMatchObject({ serves: { ok: true }, sells: { ok: false } });
    expect(await send(bought)).toEqual(sold);
    gate.now -= 40 * DAY_MS;
    expect((await send(await sign())).status).toBe(200);
    expect(await send(bought)).toEqual(sold);
    expect(await state()).toMatchObject({ serves: { ok: true }, sells: { ok: true } });
  });

  it('I61: is believed where the time outside went on as well, as after a machine that slept', async () => {
    gate.now += 40 * DAY_MS;
    time.outside += 40 * DAY_MS;
    expect((await send(await sign())).status).toBe(200);
    expect(calls).toContain('/verify');
  });
});

import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import { type Balancer, missingBalancer, startBalancer } from '../deploy/balancer.ts';
import { freePorts, type GateProcess, gateProcess } from '../deploy/gate-process.ts';
import { payer, windowAt } from '../gatekeeper/payer.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';
/** More than one check of a balancer. */
const NOTICED_MS = 3000;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const KINDS = (['nginx', 'haproxy'] as const).map((kind) => ({
  kind,
  missing: missingBalancer(kind),
}));

describe.each(KINDS)('$kind in front of two gatekeepers on one database', ({ kind, missing }) => {
  if (missing !== null) {
    it.skip(`(${missing})`, () => undefined);
    return;
  }
  let server: PostgresServer;
  let gates: readonly GateProcess[] = [];
  let balancer: Balancer;

  beforeAll(async () => {
    server = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), 'signalpress-balanced-'));
    const data = join(folder, 'data');
    writeTinyRelease(data);
    const env = {
      SIGNALPRESS_DATA: data,
      SIGNALPRESS_STATE: join(folder, 'state'),
      SIGNALPRESS_JOURNAL: await server.freshUrl(),
      SIGNALPRESS_TEST_PAYMENTS: '1',
      SIGNALPRESS_TRUSTED_PROXY: '127.0.0.1',
      SIGNALPRESS_RATE_LIMIT: '0',
    };
    gates = (await freePorts(2)).map((port) => gateProcess({ port, cwd: folder, env }));
    for (const gate of gates) await gate.start();
    balancer = await startBalancer({ kind, ports: gates.map(({ port }) => port) });
  });

  afterAll(async () => {
    await balancer?.close();
    for (const gate of gates) await gate.stop('SIGKILL');
    await server?.close();
  });

  const ask = (target: string, headers = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request(balancer.url + target, { headers, ca: balancer.ca }, (response) => {
        let text = '';
        response.on('data', (piece) => {
          text += piece;
        });
        const { statusCode: status = 0, headers: told } = response;
        response.on('end', () => resolve({ status, headers: told, text }));
      });
      asked.on('error', reject).end();
    });

  const payment = async (): Promise<object> => {
    const { accepts } = JSON.parse((await ask(PAID)).text) as { accepts: [RequirementsV1] };
    // Behind a proxy of this machine nobody has an address of his own, so the name of the purchase proves its buyer.
    const named = { 'payment-identifier': randomUUID() };
    return {
      ...named,
      'x-payment': await payer(NETWORKS['base-sepolia']).header(accepts[0], windowAt()),
    };
  };

  it('gives what is free, and answers who pays itself, while the database is away; sells again when it is back', async () => {
    const paid = await payment();
    expect((await ask(PAID, paid)).status).toBe(200);
    await server.stop();
    await pause(NOTICED_MS);
    for (let time = 0; time < 6; time += 1) {
      expect((await ask('/gauge/sample')).status).toBe(200);
      expect((await ask(PAID)).status).toBe(402);
    }
    // Who has paid, and who is about to.
    for (const headers of [paid, await payment()]) {
      const answer = await ask(PAID, headers);
      expect([answer.status, JSON.parse(answer.text)]).toEqual([
        503,
        expect.objectContaining({ error: expect.any(String) }),
      ]);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    const health = await ask('/healthz');
    expect([health.status, JSON.parse(health.text)]).toMatchObject([
      200,
      {
        status: 'not_ready',
        serves: { ok: true },
        sells: { ok: false, reasons: [{ reason: 'journal_lost' }] },
        publishes: { ok: true },
      },
    ]);
    await server.start();
    const again = async (): Promise<number> => (await ask(PAID, paid)).status;
    await expect.poll(again, { interval: 500 }).toBe(200);
    expect((await ask(PAID, await payment())).status).toBe(200);
  });
});

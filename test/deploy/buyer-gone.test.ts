import { mkdtempSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import { payer, windowAt } from '../gatekeeper/payer.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { type Balancer, missingBalancer, startBalancer } from './balancer.ts';
import { freePorts, type GateProcess, gateProcess } from './gate-process.ts';

const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const PAYEE = `0x${'ab'.repeat(20)}`;
const TX = `0x${'12'.repeat(32)}`;
const network = NETWORKS['base-sepolia'];
/** Time for a balancer and a gatekeeper to see that a connection ended. */
const SEEN_MS = 1500;

/** A facilitator that answers `/verify` when it is told to. */
class Facilitator {
  readonly #server: Server;
  #held: ServerResponse[] = [];
  settles = 0;

  constructor() {
    this.#server = createServer((asked, response) => {
      asked.resume().on('end', () => {
        if (asked.url === '/verify') this.#held.push(response);
        else response.end(JSON.stringify(this.#answer(asked.url)));
      });
    });
  }

  #answer(path = ''): object {
    const kinds = [{ x402Version: 1, scheme: 'exact', network: network.name }];
    if (path === '/supported') return { kinds };
    this.settles += 1;
    return { success: true, transaction: TX, network: network.name };
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get held(): number {
    return this.#held.length;
  }

  letGo(): void {
    for (const response of this.#held.splice(0)) response.end('{"isValid":true}');
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const KINDS = (['nginx', 'haproxy'] as const).map((kind) => ({
  kind,
  missing: missingBalancer(kind),
}));

describe.each(KINDS)('I51: a buyer behind $kind', ({ kind, missing }) => {
  if (missing !== null) {
    // A balancer is a package of the system: where it cannot be had, the name of the test says which one is missing.
    it.skip(`(${missing})`, () => undefined);
    return;
  }
  const facilitator = new Facilitator();
  let gates: readonly GateProcess[] = [];
  let balancer: Balancer;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalpress-gone-'));
    const data = join(folder, 'data');
    writeTinyRelease(data);
    const env = {
      SIGNALPRESS_DATA: data,
      SIGNALPRESS_STATE: join(folder, 'state'),
      SIGNALPRESS_PAY_TO: PAYEE,
      SIGNALPRESS_NETWORK: network.name,
      SIGNALPRESS_FACILITATOR_URL: await facilitator.start(),
      SIGNALPRESS_VERIFY: 'always',
      SIGNALPRESS_TRUSTED_PROXY: '127.0.0.1',
      SIGNALPRESS_RATE_LIMIT: '0',
    };
    const ports = await freePorts(2);
    gates = ports.map((port) => gateProcess({ port, cwd: folder, env }));
    for (const gate of gates) await gate.start();
    balancer = await startBalancer({ kind, ports });
  });

  afterAll(async () => {
    await balancer?.close();
    for (const gate of gates) await gate.stop('SIGKILL');
    facilitator.close();
  });

  /** Sends a request; its answer, and what ends it. */
  const ask = (headers = {}) => {
    const sent = request(balancer.url + PAID, { headers, ca: balancer.ca, agent: false });
    const answer = new Promise<{ status: number; body: string }>((resolve) => {
      sent.on('error', () => resolve({ status: 0, body: '' }));
      sent.on('response', async (response) => {
        let body = '';
        for await (const piece of response) body += piece;
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    sent.end();
    return { answer, leave: () => sent.destroy() };
  };

  it('is not charged once it has left, and is charged once it waits', async () => {
    const { accepts } = JSON.parse((await ask().answer).body) as { accepts: [RequirementsV1] };
    const payment = { 'x-payment': await payer(network).header(accepts[0], windowAt()) };
    const leaving = ask(payment);
    await expect.poll(() => facilitator.held).toBe(1);
    leaving.leave();
    await pause(SEEN_MS);
    facilitator.letGo();
    await pause(SEEN_MS);
    expect(facilitator.settles).toBe(0);
    const staying = ask(payment);
    await expect.poll(() => facilitator.held).toBe(1);
    await pause(SEEN_MS);
    facilitator.letGo();
    expect([(await staying.answer).status, facilitator.settles]).toEqual([200, 1]);
  });
});

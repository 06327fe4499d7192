import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { issueReceipt } from '../../compiler/cli/issue-receipt.ts';
import { issuerDid, signingKey } from '../../compiler/system/sealer.ts';
import { ledgerCommand } from '../../gatekeeper/heart/journal/ledger-command.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import { rpcStub } from './chain-reader.ts';
import { payer } from './payer.ts';
import { rawHttp, rawRequest, type Stub, stub } from './raw-http.ts';
import { BUYER_ADDRESS, type TinyGate, tinyGate } from './tiny-gate.ts';
import { TINY_NOW } from './tiny-release.ts';

const REST_MS_MAX = 30_000;

const network = NETWORKS['base-sepolia'];
const hex = (name: string): string => createHash('sha256').update(name).digest('hex');
const PAYEE = `0x${'ab'.repeat(20)}`;
const TOKEN_SECRET = `token-canary-${hex('token secret')}`;
const AUTH = `bearer-canary-${hex('auth')}`;
const RELAYER_KEY = hex('relayer key');
const NODE_PATH = `/node-canary-${hex('node')}`;
const stateDir = mkdtempSync(join(tmpdir(), 'signalpress-state-'));
const SEED = new Uint8Array(32).fill(9);
const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';

/** Everything that nobody but its owner may read again. */
const secrets = new Set([TOKEN_SECRET, AUTH, RELAYER_KEY, NODE_PATH]);
/** Everything that was answered or logged. */
const seen: string[] = [];

/** How often a secret stands in what was seen, in the spellings that programs give it. */
function hits(text: string): string[] {
  const found = [...secrets].filter((secret) => {
    const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
    const spellings = [secret, base64, base64.replaceAll('+', '-').replaceAll('/', '_')];
    return spellings.some((spelling) => text.toLowerCase().includes(spelling.toLowerCase()));
  });
  return found.map((secret) => `${secret.slice(0, 24)}… in ${text.slice(0, 120)}`);
}

async function ask(url: string, init: RequestInit = {}): Promise<{ status: number; body: string }> {
  const answer = await fetch(url, init);
  const body = await answer.text();
  for (const value of answer.headers.values()) {
    seen.push(value, Buffer.from(value, 'base64').toString('utf8'));
  }
  seen.push(body);
  return { status: answer.status, body };
}

/** A new payment whose header and signature are secrets from now on. */
async function freshPayment(gate: TinyGate, target = PAID, value?: string): Promise<string> {
  const { accepts } = JSON.parse((await ask(gate.url + target)).body);
  const terms = { ...accepts[0] } as RequirementsV1;
  const header = await payer(network).header(terms, value === undefined ? {} : { value });
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
  secrets.add(header).add(payload.signature.slice(2));
  return header;
}

type Mode = (
  sent: string,
  headers: IncomingMessage['headers'],
) => { status: number; body: unknown };
const paid = (sent: string): object => {
  const { authorization } = JSON.parse(sent).paymentPayload.payload;
  return {
    isValid: true,
    success: true,
    payer: authorization.from,
    transaction: authorization.nonce,
    network: network.name,
  };
};
const echo = (sent: string, headers: IncomingMessage['headers']): string =>
  `you sent ${sent} with ${headers.authorization}`;

/** What a facilitator may answer, most of it with everything that it was sent. */
const MODES: Readonly<Record<string, Mode>> = {
  'settles it': (sent) => ({ status: 200, body: paid(sent) }),
  'settles it and repeats it': (sent, headers) => ({
    status: 200,
    body: { ...paid(sent), echo: echo(sent, headers) },
  }),
  'names all of it as the transaction': (sent, headers) => ({
    status: 200,
    body: { ...paid(sent), transaction: echo(sent, headers) },
  }),
  'refuses with all of it as reason': (sent, headers) => ({
    status: 200,
    body: {
      isValid: false,
      success: false,
      invalidReason: echo(sent, headers),
      errorReason: echo(sent, headers),
    },
  }),
  'fails with all of it': (sent, headers) => ({
    status: 500,
    body: { error: echo(sent, headers) },
  }),
  'answers no JSON': (sent, headers) => ({ status: 200, body: echo(sent, headers) }),
};

let mode: Mode = (sent) => ({ status: 200, body: paid(sent) });
let facilitator: Stub;
let gate: TinyGate;
const kinds = [1, 2].map((x402Version) => ({
  x402Version,
  scheme: 'exact',
  network: network.name,
}));
beforeAll(async () => {
  facilitator = await stub(async (request, response) => {
    // The clock of the gatekeeper stands still.
    response.sendDate = false;
    let sent = '';
    for await (const chunk of request) sent += chunk;
    const { status, body } =
      request.url === '/supported' ? { status: 200, body: { kinds } } : mode(sent, request.headers);
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const config = {
    stateDir,
    facilitatorUrls: [facilitator.url],
    facilitatorAuth: `Authorization: Bearer ${AUTH}`,
    payTo: PAYEE,
    tokenSecret: TOKEN_SECRET,
    receiptKey: issuerDid(signingKey(SEED)),
  };
  gate = await tinyGate({ config });
});
afterAll(async () => {
  await gate.close();
  await facilitator.close();
});

const buy = async (header: string, target = PAID, at = gate) =>
  (await ask(at.url + target, { headers: { ...BUYER_ADDRESS, 'X-PAYMENT': header } })).status;

describe('I49: nothing that is logged or answered holds a secret', () => {
  it.each(Object.entries(MODES))('when the facilitator %s', async (_, answer) => {
    mode = answer;
    const header = await freshPayment(gate);
    const status = await buy(header);
    expect([200, 402, 503]).toContain(status);
    expect(await buy(header)).toBe(status);
    expect([...seen, ...gate.logged.map((entry) => JSON.stringify(entry))].flatMap(hits)).toEqual(
      [],
    );
  });

  it('when payments are refused here, spelt wrongly or sent where they do not belong', async () => {
    gate.now += REST_MS_MAX;
    mode = (sent) => ({ status: 200, body: paid(sent) });
    const header = await freshPayment(gate);
    const cheap = await freshPayment(gate, PAID, '1');
    const spoilt = `${cheap.slice(0, -8)}!!!!${cheap.slice(-4)}`;
    secrets.add(spoilt);
    expect([await buy(cheap), await buy(spoilt)]).toEqual([402, 402]);
    expect(await buy(header)).toBe(200);
    expect(await buy(header, '/gauge?entity=us-chicago&signal_id=airquality.aqi')).toBe(402);
    expect(await buy(header, '/gauge?entity=nobody&signal_id=airquality.aqi')).toBe(422);
    for (const target of [PAID, '/nowhere', '/gauge/sample', '/mcp', '/healthz']) {
      const headers = { 'X-PAYMENT': header, 'PAYMENT-SIGNATURE': header, Authorization: header };
      await ask(gate.url + target, { headers });
      await ask(gate.url + target, { headers, method: 'POST', body: header });
    }
    const doubled = rawRequest(PAID, [`X-PAYMENT: ${header}`, `X-PAYMENT: ${header}`, 'Host: b']);
    seen.push((await rawHttp(gate.port, doubled)).text);
    expect([...seen, ...gate.logged.map((entry) => JSON.stringify(entry))].flatMap(hits)).toEqual(
      [],
    );
  });

  it('when a token is bought and used, and a receipt spent', async () => {
    mode = (sent) => ({ status: 200, body: paid(sent) });
    const header = await freshPayment(gate, '/gauge/subscribe');
    const minted = await fetch(`${gate.url}/gauge/subscribe`, { headers: { 'X-PAYMENT': header } });
    expect(minted.status).toBe(200);
    const { token } = (await minted.json()) as { token: string };
    const receipt = issueReceipt({
      target: PAID,
      catalog: BUILTIN,
      seed: SEED,
      now: TINY_NOW,
      random: (bytes) => new Uint8Array(bytes).fill(3),
    });
    secrets.add(token).add(receipt);
    const watch = '/gauge/watch?items=environment:us-denver';
    for (const value of [`Bearer ${token}`, `Bearer ${token}x`, token]) {
      await ask(gate.url + watch, { headers: { Authorization: value } });
    }
    await ask(`${gate.url}${watch}&token=${encodeURIComponent(token)}`);
    for (const value of [receipt, `${receipt}x`, `${receipt}, ${receipt}`]) {
      await ask(gate.url + PAID, { headers: { 'X-RECEIPT': value } });
    }
    await ask(`${gate.url}/gauge/channels`);
    const logged = gate.logged.map((entry) => JSON.stringify(entry));
    expect(logged.some((line) => line.includes('/gauge/watch'))).toBe(true);
    expect([...seen, ...logged].flatMap(hits)).toEqual([]);
  });

  it('when a relayer settles over a node that repeats what it is sent and who it is', async () => {
    const node = await rpcStub((method, params) => {
      if (method === 'eth_chainId') return `0x${network.chainId.toString(16)}`;
      if (method === 'eth_getCode') return '0x60';
      throw new Error(`${node.url}${NODE_PATH} refused ${JSON.stringify(params)}`);
    });
    const rpcUrl = node.url + NODE_PATH;
    const own = await tinyGate({ config: { relayerKey: RELAYER_KEY, rpcUrl, payTo: PAYEE } });
    seen.push((await own.facilitatorWarning) ?? '');
    expect(await buy(await freshPayment(own), PAID, own)).toBe(503);
    node.raw = { status: 500, body: rpcUrl };
    expect(await buy(await freshPayment(own), PAID, own)).toBe(503);
    await node.close();
    expect(await buy(await freshPayment(own), PAID, own)).toBe(503);
    await own.close();
    expect([...seen, ...own.logged.map((entry) => JSON.stringify(entry))].flatMap(hits)).toEqual(
      [],
    );
  });

  it('when the ledger is listed', async () => {
    const written: string[] = [];
    const write = (text: string): void => {
      written.push(text);
    };
    const place = { stateDir, journal: 'sqlite' };
    for (const form of ['list', 'export --format ndjson', 'revenue --by payer']) {
      const command = ledgerCommand({ place, write, note: write, clock: () => TINY_NOW });
      await command.exitOverride().parseAsync(form.split(' '), { from: 'user' });
    }
    expect(written.join('')).toContain('/gauge/subscribe');
    expect(written.flatMap(hits)).toEqual([]);
  });

  it('and would be found if it did', () => {
    const [secret = ''] = secrets;
    expect(hits(`before ${secret} behind`)).toHaveLength(1);
    expect(hits(Buffer.from(secret).toString('base64url'))).toHaveLength(1);
    expect(seen.length).toBeGreaterThan(100);
  });
});

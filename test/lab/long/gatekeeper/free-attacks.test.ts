import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readJournalFile } from '../../../../gatekeeper/heart/journal/journal-file.ts';
import { FREE_BYTES_MAX } from '../../../../gatekeeper/rooms/json-content.ts';
import type { FacilitatorRequest } from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import { type Gatekeeper, startGatekeeper } from '../../../../gatekeeper/start.ts';
import { sampleGate } from '../../../gate.ts';
import { askFrom } from '../../../gatekeeper/chain-reader.ts';
import { headerOf, NOW_MS, payer } from '../../../gatekeeper/payer.ts';
import { type Stub, stub } from '../../../gatekeeper/raw-http.ts';
import { type TinyGate, tinyConfig, tinyGate } from '../../../gatekeeper/tiny-gate.ts';
import { ledgerRows } from '../../../gatekeeper/tiny-service.ts';
import { compiledSample } from '../../../shop.ts';
import { removeFolders } from '../../../snapshot-folder.ts';

const NETWORK = NETWORKS['base-sepolia'];
const UNITS_A_SECOND = 20;
/** Between two purchases: six units each, so that a buyer stays below the limit. */
const PAUSE_MS = 400;
const PAIR = 'signal_id=airquality.aqi&entity=us-denver';

/** Without a limit, so that the bounds of a single request are seen. */
let open: Gatekeeper;
/** Behind a proxy on this machine that names its clients; the default limit allows more than a loaded machine may send. */
let limited: Gatekeeper;

beforeAll(async () => {
  const { data } = await compiledSample();
  open = await sampleGate(data);
  const config = { ...tinyConfig(data), rateLimit: UNITS_A_SECOND, trustedProxy: '127.0.0.1' };
  limited = await startGatekeeper(config, { clock: () => NOW_MS, log: () => undefined });
});
afterAll(async () => {
  await Promise.all([open.close(), limited.close()]);
  removeFolders();
});

const call = (given: object): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'find_signal', arguments: given },
});
const batchOf = (given: object): string => JSON.stringify(Array(20).fill(call(given)));

interface ToolReply {
  readonly result: {
    readonly isError: boolean;
    readonly content: readonly [{ readonly text: string }];
    readonly structuredContent?: { readonly signals: readonly unknown[] };
  };
}

async function tools(body: string, at = open, client = '9.9.9.9'): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': client };
  return fetch(`${at.url}/mcp`, { method: 'POST', headers, body });
}

describe('I54: a batch of tool calls', () => {
  it('answers at most a megabyte, and says of each call beyond it what to send instead', async () => {
    const text = await (await tools(batchOf({ full: true }))).text();
    expect(text.length).toBeLessThanOrEqual(FREE_BYTES_MAX);
    const reported = JSON.parse(text) as ToolReply[];
    expect(reported).toHaveLength(20);
    const refused = reported.filter(({ result }) => result.isError);
    expect(refused.length).toBeGreaterThan(0);
    for (const { result } of refused) {
      expect(result.content[0].text).toMatch(
        /^Cannot answer "find_signal": \d+ bytes, .* narrow it with industry, signal_id, entity, send it alone/,
      );
      expect(result.structuredContent).toBeUndefined();
    }
    expect(reported.filter(({ result }) => !result.isError).length).toBeGreaterThan(0);
  });

  it('gives whole answers to who asks for as much as fits', async () => {
    const reported = (await (
      await tools(batchOf({ industry: 'aviation', full: true }))
    ).json()) as ToolReply[];
    for (const { result } of reported) {
      expect(result.isError).toBe(false);
      expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    }
  });

  it('counts each of its messages: a few of them use up what a client may', async () => {
    const statuses: number[] = [];
    for (let at = 0; at < 8; at += 1) {
      const answer = await tools(batchOf({ full: true }), limited, '5.5.5.5');
      statuses.push(answer.status);
      if (answer.status === 429) {
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(await answer.json()).toMatchObject({ retry_after_s: expect.any(Number) });
      } else await answer.arrayBuffer();
    }
    expect(statuses[0]).toBe(200);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(3);
    const other = await tools(JSON.stringify(call({ industry: 'aviation' })), limited, '5.5.5.6');
    expect(other.status).toBe(200);
  });
});

describe('I54: many bodies at once', () => {
  const CLIENTS = 1000;
  const RATE = 500;
  /** Sixteen units each. */
  const BODY = JSON.stringify({ a: 'x'.repeat(32 * 1024) });
  const HEAD = [
    'POST /verify HTTP/1.1',
    'Host: gate',
    'X-Forwarded-For: 4.4.4.4',
    'Connection: close',
    `Content-Length: ${BODY.length}`,
  ].join('\r\n');

  /** A connection whose head was sent; its body follows when it is asked for. */
  function opened(port: number): Promise<() => Promise<string | undefined>> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`${HEAD}\r\n\r\n`));
      const chunks: Buffer[] = [];
      const answered = new Promise<string | undefined>((done) => {
        socket.on('close', () =>
          done(/^HTTP\/1\.1 (\d{3}) /.exec(String(Buffer.concat(chunks)))?.[1]),
        );
      });
      socket.on('error', reject).on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('ready', () => {
        resolve(() => {
          socket.write(BODY);
          return answered;
        });
      });
    });
  }

  it('of one client are judged as far as it can pay, and another client is answered', async () => {
    const gate = await tinyGate({ config: { rateLimit: RATE, trustedProxy: '127.0.0.1' } });
    try {
      const sends = await Promise.all(Array.from({ length: CLIENTS }, () => opened(gate.port)));
      // All of them are let in before the first body arrives.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const answers = sends.map((send) => send());
      const polite = await fetch(`${gate.url}/verify`, {
        method: 'POST',
        headers: { 'x-forwarded-for': '4.4.4.5' },
        body: '{"a":1}',
      });
      const statuses = await Promise.all(answers);
      expect(polite.status).toBe(200);
      const judged = statuses.filter((status) => status === '200').length;
      expect(judged).toBeGreaterThan(0);
      expect(judged).toBeLessThan(CLIENTS / 2);
      expect(statuses.filter((status) => status === '429')).toHaveLength(CLIENTS - judged);
    } finally {
      await gate.close();
    }
  });
});

describe('I43: answers that nobody reads', () => {
  const request = (body: string): string =>
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  /** Sends everything at once, reads after a while, and says what came. */
  function readLate(bytes: string, waitMs: number): Promise<string> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const socket = connect(Number(new URL(open.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
      socket.write(bytes);
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.pause();
      setTimeout(() => socket.resume(), waitMs);
      setTimeout(() => socket.destroy(), waitMs + 2000);
    });
  }

  it('end with a refusal on their connection, long before all of them are made', async () => {
    const many = 60;
    const text = await readLate(request(batchOf({ full: true })).repeat(many), 1500);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((found) => found[1]);
    expect(statuses.filter((status) => status === '200').length).toBeGreaterThan(3);
    expect(statuses.filter((status) => status === '200').length).toBeLessThan(many / 2);
    // What is still unread when the connection ends may be lost with it, also the words of the refusal.
    if (statuses.includes('503')) expect(text).toContain('Earlier answers are unread');
    expect(text.length).toBeLessThan((many / 2) * FREE_BYTES_MAX);
  });

  it('are sent one after the other to who reads them', async () => {
    for (let at = 0; at < 12; at += 1) {
      const answer = await tools(batchOf({ full: true }));
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
  });
});

describe('I46: a flood of 422', () => {
  const ask = (target: string, headers: Record<string, string>): Promise<Response> =>
    fetch(limited.url + target, { headers });

  it('is refused, and a buyer beside it is served all the time', async () => {
    const flood = Array.from({ length: 400 }, (_, at) => at);
    const statuses: number[] = [];
    let running = true;
    const buying = buyer(() => running);
    for (let at = 0; at < flood.length; at += 50) {
      const some = flood.slice(at, at + 50).map(async (n) => {
        const target = `/gauge?signal_id=airquality.aqi&entity=nobody-${n}-${'x'.repeat(50)}`;
        const { status } = await ask(target, { 'x-forwarded-for': '6.6.6.6' });
        statuses.push(status);
      });
      await Promise.all(some);
    }
    running = false;
    expect(statuses.filter((status) => status === 422).length).toBeGreaterThanOrEqual(30);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(50);
    const bought = await buying;
    expect(bought.length).toBeGreaterThan(0);
    expect(new Set(bought)).toEqual(new Set([200]));
  });

  /** Buys one record after the other, each after its 402; the statuses of what was paid for. */
  async function buyer(goesOn: () => boolean): Promise<number[]> {
    const wallet = payer(NETWORK);
    const from = { 'x-forwarded-for': '7.7.7.7' };
    const statuses: number[] = [];
    while (goesOn() || statuses.length < 3) {
      const offer = await ask(`/gauge?${PAIR}`, from);
      expect(offer.status).toBe(402);
      const { accepts } = (await offer.json()) as { accepts: readonly [RequirementsV1] };
      const header = await wallet.header(accepts[0]);
      statuses.push((await ask(`/gauge?${PAIR}`, { ...from, 'x-payment': header })).status);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    return statuses;
  }
});

describe('a facilitator with a limit, and strangers at the door', () => {
  const network = NETWORKS['base-sepolia'];
  const PAID = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
  const [BUYER, STRANGER, NEWCOMER] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
  /** Strangers a second, for so long; calls that the facilitator takes a second. */
  const [RATE, SECONDS, LIMIT] = [20, 4, 10];
  /** What one address may cause at once and a second: of strangers, and in the name of one account with code. */
  const [SHARE, SHARE_S] = [20, 1];
  const [PAIR, PAIR_S] = [5, 1];

  const alice = payer(network, 'alice');
  const newcomer = payer(network, 'newcomer');
  const WALLET = `0x${'5c'.repeat(20)}`;
  /** What the code of the wallet takes; it takes nothing else. */
  const ITS_SIGNATURE = `0x${'5c'.repeat(80)}` as const;

  /** A facilitator that takes few calls a second and knows who has money. */
  const facilitator = { url: '', left: LIMIT, calls: new Map<string, number>(), limited: 0 };

  /** Who pays; everybody else, and whoever signs for the wallet and is not, is a stranger. */
  function payerIn({ paymentPayload }: FacilitatorRequest): string {
    const { signature, authorization } = paymentPayload.payload;
    const { from } = authorization;
    if (from === WALLET) return signature === ITS_SIGNATURE ? from : 'stranger';
    return [alice.address, newcomer.address].includes(from as `0x${string}`) ? from : 'stranger';
  }

  /** Its answer; null for one call too many. */
  function answerTo(path: string, asked: FacilitatorRequest): object | null {
    const who = payerIn(asked);
    const call = `${who} ${path}`;
    facilitator.calls.set(call, (facilitator.calls.get(call) ?? 0) + 1);
    facilitator.left -= 1;
    if (facilitator.left < 0) facilitator.limited += 1;
    if (facilitator.left < 0) return null;
    const { from, nonce } = asked.paymentPayload.payload.authorization;
    const isValid = who !== 'stranger';
    const reason = from === WALLET ? 'invalid_exact_evm_signature' : 'insufficient_funds';
    const verdict = { isValid, success: isValid, transaction: isValid ? nonce : '' };
    return { ...verdict, invalidReason: reason, errorReason: reason };
  }

  let server: Stub;
  beforeAll(async () => {
    server = await stub(async (request, response) => {
      // The gatekeeper has a clock of its own here, which that of this machine would contradict.
      response.sendDate = false;
      if (request.url === '/supported') return response.end('{"kinds":[]}');
      const answer = answerTo(request.url ?? '', (await json(request)) as FacilitatorRequest);
      if (answer !== null) return response.end(JSON.stringify(answer));
      return response.writeHead(429, { 'retry-after': '1' }).end('{"error":"slow down"}');
    });
    facilitator.url = server.url;
    setInterval(() => {
      facilitator.left = LIMIT;
    }, 1000).unref();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    Object.assign(facilitator, { left: LIMIT, calls: new Map(), limited: 0 });
  });

  async function open(): Promise<{ gate: TinyGate; terms: RequirementsV1 }> {
    const config = { facilitatorUrls: [facilitator.url], testPayments: false };
    const started = performance.now();
    const clock = (): number => NOW_MS + Math.floor(performance.now() - started);
    const gate = await tinyGate({ config, clock });
    const { accepts } = (await (await fetch(gate.url + PAID)).json()) as {
      accepts: [RequirementsV1];
    };
    return { gate, terms: accepts[0] };
  }

  const pay = (gate: TinyGate, header: string, localAddress: string) => {
    // As the proxy of the shop names it.
    const forwarded = { 'x-forwarded-for': localAddress.replace('127', '203') };
    return askFrom(gate.url, PAID, {
      headers: { ...forwarded, 'x-payment': header },
      localAddress,
    });
  };

  /** Like a client that comes again when it is told to. */
  async function buys(gate: TinyGate, header: string, from: string): Promise<number> {
    for (let tries = 0; tries < 8; tries++) {
      const { status, headers } = await pay(gate, header, from);
      if (status !== 503) return status;
      const [, wait = '1'] = /^retry-after: (\d+)$/im.exec(headers.join('\n')) ?? [];
      await pause(1000 * Number(wait));
    }
    return 503;
  }

  /** Sends them at their rate and counts what each status came to. */
  async function attack(gate: TinyGate, all: readonly string[]): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    await Promise.all(
      all.map(async (header, at) => {
        await pause((1000 * at) / RATE);
        const { status } = await pay(gate, header, STRANGER);
        counts[status] = (counts[status] ?? 0) + 1;
      }),
    );
    return counts;
  }

  async function rowsOf(gate: TinyGate): Promise<readonly string[]> {
    const db = readJournalFile(join(gate.stateDir, 'payments.db'));
    const rows = (await ledgerRows(db)).map(({ payer: by }) => String(by));
    db.close();
    return rows;
  }

  /** A purchase each half second. */
  async function buysOften(gate: TinyGate, all: readonly string[]): Promise<readonly number[]> {
    return Promise.all(
      all.map(async (header, at) => {
        await pause(500 * at);
        return (await pay(gate, header, BUYER)).status;
      }),
    );
  }

  const times = <T>(count: number, make: (at: number) => Promise<T>): Promise<readonly T[]> =>
    Promise.all(Array.from({ length: count }, (_, at) => make(at)));

  it('I60: keys that nobody gave money to keep nobody from buying, and cause few calls and no row', async () => {
    const { gate, terms } = await open();
    expect((await pay(gate, await alice.header(terms), BUYER)).status).toBe(200);
    const keys = await times(RATE * SECONDS, (at) => payer(network, `key ${at}`).header(terms));
    const own = await times(2 * SECONDS, () => alice.header(terms));
    const first = await newcomer.header(terms);
    const [counts, bought, joined] = await Promise.all([
      attack(gate, keys),
      buysOften(gate, own),
      pause(500).then(() => buys(gate, first, NEWCOMER)),
    ]);
    expect(bought).toEqual(own.map(() => 200));
    expect(joined).toBe(200);
    const { calls } = facilitator;
    const caused = calls.get('stranger /verify') ?? 0;
    expect(caused).toBeLessThanOrEqual(SHARE + SHARE_S * (SECONDS + 1));
    expect(calls.get('stranger /settle')).toBeUndefined();
    expect([...(await rowsOf(gate))].sort()).toEqual(
      [...own.map(() => alice.address), alice.address, newcomer.address]
        .map((address) => address.toLowerCase())
        .sort(),
    );
    expect((counts[402] ?? 0) + (counts[503] ?? 0)).toBe(keys.length);
    await gate.close();
  });

  it('I60: payments made up in the name of a smart wallet never keep it from buying', async () => {
    const { gate, terms } = await open();
    const madeUp = async (at: number, isOwn = false): Promise<string> => {
      const { authorization } = await payer(network, `key ${at}`).sign(terms.payTo, '10000');
      const signature = isOwn ? ITS_SIGNATURE : (`0x${'77'.repeat(80)}` as const);
      return headerOf(terms, { authorization: { ...authorization, from: WALLET }, signature });
    };
    expect(await buys(gate, await madeUp(-1, true), BUYER)).toBe(200);
    const forged = await times(RATE * SECONDS, (at) => madeUp(at));
    const own = await times(2 * SECONDS, (at) => madeUp(1000 + at, true));
    const [counts, bought] = await Promise.all([attack(gate, forged), buysOften(gate, own)]);
    expect(bought).toEqual(own.map(() => 200));
    const caused = facilitator.calls.get('stranger /verify') ?? 0;
    expect(caused).toBeLessThanOrEqual(PAIR + PAIR_S * (SECONDS + 1));
    expect(await rowsOf(gate)).toHaveLength(own.length + 1);
    expect((counts[402] ?? 0) + (counts[503] ?? 0)).toBe(forged.length);
    await gate.close();
  });

  it('I60: a crowd of known buyers waits its turn in place of hearing that nobody knows what became of its money', async () => {
    const { gate, terms } = await open();
    expect((await pay(gate, await alice.header(terms), BUYER)).status).toBe(200);
    const own = await times(2 * LIMIT, () => alice.header(terms));
    const bought = await Promise.all(own.map((header) => pay(gate, header, BUYER)));
    expect(bought.map(({ status }) => status)).toEqual(own.map(() => 200));
    expect(facilitator.limited).toBeGreaterThan(0);
    expect(gate.logged.filter(({ event }) => event === 'no_verdict')).toEqual([]);
    await gate.close();
  });
});

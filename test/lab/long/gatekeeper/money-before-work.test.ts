import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readJournalFile } from '../../../../gatekeeper/heart/journal/journal-file.ts';
import type { FacilitatorRequest } from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import { askFrom } from '../../../gatekeeper/chain-reader.ts';
import { ledgerRows } from '../../../gatekeeper/ledger-rows.ts';
import { headerOf, NOW_MS, payer } from '../../../gatekeeper/payer.ts';
import { type Stub, stub } from '../../../gatekeeper/stub-server.ts';
import { type TinyGate, tinyGate } from '../../../gatekeeper/tiny-gate.ts';

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
  return askFrom(gate.url, PAID, { headers: { ...forwarded, 'x-payment': header }, localAddress });
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

describe('a facilitator with a limit, and strangers at the door', () => {
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

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Facilitator, SettleOutcome } from '../../../../gatekeeper/settle/facilitator.ts';
import { sampleGate, servedShop } from '../../../gate.ts';
import { askFrom } from '../../../gatekeeper/chain-reader.ts';
import { message } from '../../../gatekeeper/payment-bench.ts';
import { BUYER_ADDRESS } from '../../../gatekeeper/tiny-gate.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../../snapshot-folder.ts';
import {
  askPrice,
  LEVEL,
  pay,
  TIDE_PRICES,
  type TideTerms,
  tideFiles,
  WAVES,
} from '../../../tide-shop.ts';

// Whoever paid for what a release took away since gets it, or is told what became of the money.

afterAll(removeFolders);

/** The address that shops of snapshots are compiled for. */
const BASE_URL = 'https://example.org';
const RULER = '/gauge/ruler?entity=pier-one&signal_id=tides.level';
const SETTLED: SettleOutcome = { verdict: 'settled', transaction: `0x${'5e'.repeat(32)}` };
const DOUBT: SettleOutcome = { verdict: 'none', detail: 'no answer in time' };

/** Settles as it is told. */
function scripted(outcome: SettleOutcome) {
  const calls: string[] = [];
  const facilitator: Facilitator = {
    verify: async () => ({ verdict: 'valid' }),
    settle: async ({ paymentRequirements }) => {
      calls.push(JSON.stringify(paymentRequirements));
      return outcome;
    },
    supported: async () => ({ verdict: 'none', detail: '' }),
  };
  return { facilitator, calls };
}

/** A payment for a target of the full shop; then a gatekeeper of a shop that offers less goes on from its journal. */
async function soldBefore(target: string, outcome: SettleOutcome, less: TideTerms) {
  const state = mkdtempSync(join(tmpdir(), 'signalpress-state-'));
  const plain = { tokens: false, settings: { state } };
  const settings = { ...plain, ...scripted(outcome) };
  const { snapshots, data, gate: first } = await servedShop(tideFiles(), settings);
  const terms = await askPrice(first.url + target);
  const paid = await pay(first.url + target, terms);
  await first.close();
  writeSnapshots(tideFiles(less), snapshots);
  await compileFolder(snapshots, { data, acceptCatalogChanges: true });
  const { facilitator, calls } = scripted(SETTLED);
  const gate = await sampleGate(data, { ...plain, facilitator });
  const headers = { ...BUYER_ADDRESS, 'x-payment': paid.header };
  const repeat = (asked = target) => fetch(gate.url + asked, { headers });
  return { gate, terms, paid, repeat, calls };
}

const { '/gauge/ruler': _ruler, ...withoutRuler } = TIDE_PRICES;
const noRuler: TideTerms = { catalog: { prices: withoutRuler } };

describe('a payment for an operation that left the catalogue', () => {
  it('in doubt: is settled for its buyer, who gets the bytes that were bought', async () => {
    const { gate, paid, repeat, calls, terms } = await soldBefore(RULER, DOUBT, noRuler);
    expect(paid.status).toBe(503);
    expect((await fetch(gate.url + RULER)).status).toBe(404);
    const answer = await repeat();
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ dim: 'ruler', entity: 'pier-one' });
    expect(answer.headers.get('x-payment-response')).not.toBeNull();
    // Asked for by the terms that the buyer signed.
    expect(JSON.parse(calls[0] ?? '')).toMatchObject({
      maxAmountRequired: terms.maxAmountRequired,
      payTo: terms.payTo,
    });
    expect((await repeat()).status).toBe(200);
    expect(calls).toHaveLength(1);
    await gate.close();
  });

  it('settled: is delivered again, under the alias that it was bought by too', async () => {
    const alias = '/gauge?dim=ruler&entity=pier-one&signal_id=tides.level';
    const { gate, paid, repeat, calls } = await soldBefore(alias, SETTLED, noRuler);
    expect(paid.status).toBe(200);
    for (const target of [alias, RULER, RULER.replace('entity', 'issuer')]) {
      const again = await repeat(target);
      expect([target, again.status, await again.text()]).toEqual([target, 200, paid.text]);
    }
    expect(calls).toEqual([]);
    await gate.close();
  });

  it('sells nothing: neither to a new payment nor for another request', async () => {
    const { gate, repeat, terms, calls } = await soldBefore(RULER, SETTLED, noRuler);
    expect((await pay(gate.url + RULER, terms)).status).toBe(404);
    for (const [target, status] of [
      ['/gauge/ruler?entity=quay-two&signal_id=tides.level', 404],
      ['/gauge/ruler', 404],
      ['/elsewhere?entity=pier-one&signal_id=tides.level', 404],
      [LEVEL, 402],
    ] as const) {
      expect([target, (await repeat(target)).status]).toEqual([target, status]);
    }
    const forged = { 'x-payment': Buffer.from('{"x402Version":1}').toString('base64') };
    expect((await fetch(gate.url + RULER, { headers: forged })).status).toBe(404);
    expect(calls).toEqual([]);
    await gate.close();
  });

  it('I59: is for its buyer alone: from elsewhere every request gets one refusal, and a message opens it', async () => {
    const { gate, paid, repeat } = await soldBefore(RULER, SETTLED, noRuler);
    const headers = { 'x-payment': paid.header };
    const guesses = [
      RULER,
      '/gauge/ruler?entity=quay-two&signal_id=tides.level',
      '/elsewhere',
      LEVEL,
    ];
    const heard = await Promise.all(guesses.map((one) => askFrom(gate.url, one, { headers })));
    for (const one of heard) expect(one).toEqual(heard[0]);
    expect(heard[0]?.status).toBe(402);
    expect(heard[0]?.body).toContain('"code":"sign_in_to_redeliver"');
    const base = { domain: new URL(BASE_URL).host, chainId: 'eip155:84532' };
    const wrong = await message({ ...base, uri: BASE_URL + LEVEL });
    const guess = { ...headers, 'sign-in-with-x': wrong };
    expect(await askFrom(gate.url, RULER, { headers: guess })).toEqual(heard[0]);
    const signIn = await message({ ...base, uri: BASE_URL + RULER });
    const proven = { ...headers, 'sign-in-with-x': signIn };
    expect(await askFrom(gate.url, RULER, { headers: proven })).toMatchObject({
      status: 200,
      body: paid.text,
    });
    expect(await askFrom(gate.url, RULER, { headers: proven })).toEqual(heard[0]);
    expect((await repeat()).status).toBe(200);
    await gate.close();
  });

  it('refused: nobody was charged, and it is as unknown as any other path', async () => {
    const refusal: SettleOutcome = { verdict: 'refused', reason: 'insufficient_funds' };
    const { gate, paid, repeat } = await soldBefore(RULER, refusal, noRuler);
    expect([paid.status, (await repeat()).status]).toEqual([402, 404]);
    await gate.close();
  });
});

describe('a payment for a signal that is free now', () => {
  it('in doubt: is settled and delivered as it was bought; without the payment it is free', async () => {
    const free: TideTerms = { waves: { free: ['latest'] } };
    const { gate, paid, repeat, calls } = await soldBefore(WAVES, DOUBT, free);
    expect(paid.status).toBe(503);
    const answer = await repeat();
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([
      200,
      'private, no-store',
    ]);
    expect(answer.headers.get('x-payment-response')).not.toBeNull();
    expect(calls).toHaveLength(1);
    const given = await fetch(gate.url + WAVES);
    expect([given.status, given.headers.get('x-payment-response')]).toEqual([200, null]);
    await gate.close();
  });
});

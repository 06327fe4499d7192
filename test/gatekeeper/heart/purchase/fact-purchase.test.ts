import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../../../compiler/format/strict-json.ts';
import { factOf } from '../../../../compiler/products/shapes/fact.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { respond } from '../../../../gatekeeper/heart/answers/respond.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../../../gatekeeper/start.ts';
import { headerFacts } from '../../../../gatekeeper/wire/header-facts.ts';
import { sampleGate, servedShop } from '../../../gate.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { NOW_MS, payer } from '../../payer.ts';
import { BUYER_ADDRESS } from '../../tiny-gate.ts';
import { compiledService } from '../../tiny-service.ts';

// What is bought with format=fact is the signed record. The fact is how it is shown: made of the very bytes in the journal.

const SIGNAL = 'hydrology.river-level';
const RECORD = `/gauge?entity=08167000&signal_id=${SIGNAL}`;
const FACT = `${RECORD}&format=fact`;
const STRANGER = { 'x-forwarded-for': '198.51.100.7' };
const HEADER_ALONE_MS = 600_000;

const batch = (hour: string) =>
  ndjson(
    ['08167000', '08158000'].map((entity) =>
      reading(
        entity,
        { stage_ft: Number(hour) },
        { observed_at: `2026-11-20T${hour}:00:00Z`, collected_at: `2026-11-20T${hour}:20:00Z` },
      ),
    ),
  );

let gate: Gatekeeper;
let now = NOW_MS;
let [snapshots, data, did] = ['', '', ''];
const state = mkdtempSync(join(tmpdir(), 'signalpress-state-'));
const by = { tokens: false, settings: { state }, clock: () => now };
beforeAll(async () => {
  const files = { [`2026-11-20/${SIGNAL}.ndjson`]: batch('09') };
  ({ snapshots, data, gate, issuer: did } = await servedShop(files, by));
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

async function ask(target: string, headers: Record<string, string> = {}) {
  const response = await fetch(gate.url + target, { headers: { ...BUYER_ADDRESS, ...headers } });
  return { status: response.status, text: await response.text() };
}

async function signed(target: string): Promise<string> {
  const { accepts } = JSON.parse((await ask(target)).text) as {
    accepts: readonly [RequirementsV1];
  };
  return payer(NETWORKS['base-sepolia']).header(accepts[0]);
}

/** Buys a fact under a name, and returns what shows its buyer. */
async function boughtFact(identifier: string) {
  const payment = { 'x-payment': await signed(FACT), 'payment-identifier': identifier };
  const { status, text } = await ask(FACT, payment);
  expect(status).toBe(200);
  return { payment, text };
}

/** What the whole says in short, once it is judged. */
function factIn(whole: string): string {
  const body = parseJson(whole);
  const trust = { trust: [did], now, proof: 'demanded' } as const;
  expect(verifyBody(body, trust).verdict).toBe('verified');
  return JSON.stringify(factOf(body, '0.01'));
}

describe('a fact', () => {
  it('I53: says nothing that the signed whole does not say, which its payment gets free', async () => {
    const { payment, text } = await boughtFact('a-name-of-sixteen-chars-1');
    const whole = await ask(RECORD, payment);
    expect(whole.status).toBe(200);
    expect(text).toBe(factIn(whole.text));
    expect(JSON.parse(text)).toMatchObject({ value: 9, unit: 'ft', price_usd: '0.01' });
    // Nobody signed it, so no judge takes it for a reading.
    expect(verifyBody(parseJson(text), { trust: [did], now }).verdict).not.toBe('verified');
    expect(await ask(RECORD, payment)).toEqual(whole);
    expect(await ask(FACT, payment)).toEqual({ status: 200, text });
  });

  it('of a record that was bought whole costs nothing more', async () => {
    const payment = { 'x-payment': await signed(RECORD) };
    const whole = await ask(RECORD, payment);
    expect((await ask(FACT, payment)).text).toBe(factIn(whole.text));
  });

  it('is asked for by the very challenge of its record', async () => {
    const terms = async (target: string) => JSON.parse((await ask(target)).text);
    expect(await terms(FACT)).toEqual(await terms(RECORD));
  });

  it.each([
    ['the short form', `${RECORD}&format=thin`],
    ['the record without its proof', `${RECORD}&proof=0`],
    ['another record', RECORD.replace('08167000', '08158000')],
    ['the fact of another record', FACT.replace('08167000', '08158000')],
  ])('I5: buys nothing of %s', async (_, other) => {
    const { payment } = await boughtFact(`a-name-of-sixteen-chars-${other.length}`);
    const refused = await ask(other, payment);
    expect(refused.status).toBe(402);
    for (const sold of ['"_citation"', '"subject"']) expect(refused.text).not.toContain(sold);
  });

  it('with proof=0 is that of the record without its proof', async () => {
    const payment = { 'x-payment': await signed(`${FACT}&proof=0`) };
    const { text } = await ask(`${FACT}&proof=0`, payment);
    const whole = await ask(`${RECORD}&proof=0`, payment);
    expect(JSON.parse(whole.text)).not.toHaveProperty('_proof');
    expect(text).toBe(JSON.stringify(factOf(JSON.parse(whole.text), '0.01')));
    expect((await ask(RECORD, payment)).status).toBe(402);
  });

  it('I59: is told to its buyer alone, and a stranger learns nothing of which form was bought', async () => {
    const { payment } = await boughtFact('a-name-of-sixteen-chars-2');
    const header = { 'x-payment': payment['x-payment'], ...STRANGER };
    const answers = [await ask(FACT, header), await ask(RECORD, header)];
    expect(answers[0]).toMatchObject({
      status: 402,
      text: expect.stringContaining('sign_in_to_redeliver'),
    });
    expect(answers[1]).toEqual(answers[0]);
    const other = await ask(`${RECORD}&format=thin`, header);
    expect(other).toEqual(answers[0]);
    now += HEADER_ALONE_MS + 1000;
    expect((await ask(RECORD, { 'x-payment': payment['x-payment'] })).status).toBe(402);
    expect((await ask(RECORD, payment)).status).toBe(200);
    now = NOW_MS;
  });

  it('I2: stays the one that was sold after a restart and another release, and so does its whole', async () => {
    const { payment, text } = await boughtFact('a-name-of-sixteen-chars-3');
    writeSnapshots({ [`2026-11-20T12Z/${SIGNAL}.ndjson`]: batch('12') }, snapshots);
    await compileFolder(snapshots, { data, asOf: '2026-11-20T12:30:00Z' });
    await gate.close();
    gate = await sampleGate(data, by);
    expect(await ask(FACT, payment)).toEqual({ status: 200, text });
    const whole = await ask(RECORD, payment);
    expect(text).toBe(factIn(whole.text));
    expect(JSON.parse((await boughtFact('a-name-of-sixteen-chars-4')).text).value).toBe(12);
  });

  it.each([
    ['/gauge/region?loc=us-denver', 'a bundle'],
    [`/gauge/calibrated?entity=08167000&signal_id=${SIGNAL}`, 'figures without a class'],
    [`${RECORD}&dim=ruler`, 'another product of the record'],
    [`${RECORD}&dim=calibrated`, 'another product of the record that has a short form'],
  ])('I1: is not sold of %s: %s', async (target) => {
    const refused = await ask(`${target}&format=fact`, { 'x-payment': await signed(RECORD) });
    expect(refused.status).toBe(422);
    expect(JSON.parse(refused.text)).toMatchObject({ no_charge: true, miss: 'illegal_value' });
  });
});

describe('I2: a sold body that gives no fact', () => {
  it.each(['no JSON', '{"nature":"of before"}', '{"_citation":1,"provenance":2}', '[]'])(
    'is sent whole, whatever it is: %s',
    async (text) => {
      const service = await compiledService(data, NOW_MS);
      const paid = { status: 200, headers: [], body: Buffer.from(text) };
      const purchases = { ...service.purchases, open: async () => paid };
      const request = {
        method: 'GET',
        target: FACT,
        facts: headerFacts(['x-payment', 'e30=']),
        readBody: async () => Buffer.alloc(0),
        spend: () => undefined,
        trace: undefined,
      };
      const { reply } = await respond(request, { ...service, purchases });
      expect(reply.body.toString()).toBe(text);
    },
  );
});

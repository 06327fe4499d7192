import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signedReceiptOf } from '../../compiler/client/buyer-proof.ts';
import type { PayingFetch } from '../../compiler/client/payment-trip.ts';
import { type ClientOptions, signalpressClient } from '../../compiler/client/signalpress-client.ts';
import { isoTime } from '../../compiler/format/iso-time.ts';
import { readKeyHistory } from '../../compiler/format/key-history.ts';
import { listReceiptKey } from '../../compiler/publish/keys/key-command.ts';
import { issuerDid, signingKey } from '../../compiler/system/sealer.ts';
import { isSignedBy } from '../../compiler/verify/verify-citation.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV2 } from '../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { startGate } from '../gate.ts';
import { NOW_MS, payer, SIGNER_DID, SIGNER_SEED } from '../gatekeeper/payer.ts';
import { compileFolder, makeFolder, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { LEVEL, tideFiles, WAVES } from '../tide-shop.ts';
import { payingFetch } from './python-gate.ts';

// A shop whose keys.json lists a receipt key, compiled and served, and a buyer with the list.

const SEED = new Uint8Array(32).fill(71);
const PARAMS = { signal_id: 'tides.level', entity: 'pier-one' } as const;
const issuer = issuerDid(signingKey(SEED));
let gate: Gatekeeper;
let plain: Gatekeeper;
let keys: object;
let data: string;

function opened(isOn: boolean): Promise<Gatekeeper> {
  const env = isOn ? { SIGNALPRESS_OFFER_RECEIPT_KEY: SIGNER_SEED } : {};
  return startGate({ data, test_payments: '1' }, { env, clock: () => NOW_MS });
}

beforeAll(async () => {
  data = makeFolder();
  const times = { since: '2026-11-01T00:00:00Z', until: null, now: isoTime(NOW_MS - 86_400_000) };
  keys = listReceiptKey({ data, seed: SEED, did: SIGNER_DID, ...times });
  await compileFolder(writeSnapshots(tideFiles()), { data, seed: SEED });
  gate = await opened(true);
  plain = await opened(false);
});
afterAll(async () => {
  await gate.close();
  await plain.close();
  removeFolders();
});

/** A wallet of version 2. */
const payingV2: PayingFetch = (inner) => async (input, init) => {
  const asked = await inner(input, init);
  if (asked.status !== 402) return asked;
  const text = Buffer.from(asked.headers.get('payment-required') ?? '', 'base64').toString();
  const { accepts } = JSON.parse(text) as { accepts: [RequirementsV2] };
  const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
  return inner(input, { ...init, headers: { 'PAYMENT-SIGNATURE': header } });
};

const client = (of: Gatekeeper, more: Partial<ClientOptions> = {}) =>
  signalpressClient({
    baseUrl: of.url,
    issuer,
    keys,
    pay: payingV2,
    catalog: 'served',
    wait: async () => undefined,
    clock: () => NOW_MS,
    ...more,
  });

describe('a client of a service that signs receipts', () => {
  it('judges the receipt of its purchase, and the command judges it too', async () => {
    const { text, signedReceipt, payment } = await client(gate).buy('/gauge', PARAMS);
    const failed = signedReceipt?.checks.filter(({ status }) => status !== 'pass');
    expect([signedReceipt?.verdict, failed]).toEqual(['verified', []]);
    expect(signedReceipt?.signer).toBe(SIGNER_DID);
    const again = await client(gate).redeliver(payment);
    expect([again.text, again.signedReceipt?.jws]).toEqual([text, signedReceipt?.jws]);
    const outcome = await runVerify(signedReceipt?.jws ?? '', { issuer: [issuer], keys: data });
    expect([outcome.exitCode, outcome.text]).toEqual([0, expect.stringContaining('simulated')]);
    expect((await runVerify(data, { issuer: [issuer] })).exitCode).toBe(0);
  });

  it('calls none verified without the list', async () => {
    const { signedReceipt } = await signalpressClient({
      ...{ baseUrl: gate.url, issuer, pay: payingV2, catalog: 'served', clock: () => NOW_MS },
    }).buy('/gauge', PARAMS);
    expect(signedReceipt?.verdict).toBe('unlisted');
  });

  it('has none where the service signs none, and in version 1', async () => {
    expect((await client(plain).buy('/gauge', PARAMS)).signedReceipt).toBeNull();
    const one = await client(gate, { pay: payingFetch }).buy('/gauge', PARAMS);
    expect(one.signedReceipt).toBeNull();
  });

  it('judges that of a basket, which names what was posted', async () => {
    const requests = [LEVEL, WAVES];
    const { signedReceipt, payment } = await client(gate).buyBasket(requests);
    expect(signedReceipt?.verdict).toBe('verified');
    expect(signedReceipt?.receipt?.resourceUrl).toMatch(/\/gauge\/basket\?digest=[0-9a-f]{64}$/);
    const header = Buffer.from(JSON.stringify({ format: 'jws', signature: signedReceipt?.jws }));
    const bytes = Buffer.from((await client(gate).redeliver(payment)).text);
    const judged = (body: string) => {
      const targets = { asked: '/gauge/basket', canonical: '/gauge/basket' };
      const trust = { trust: [issuer], keys: readKeyHistory(keys, isSignedBy) };
      const sale = { header: header.toString('base64'), bytes, payment: { ...payment, body } };
      return signedReceiptOf({ ...sale, targets }, trust)?.verdict;
    };
    expect(judged(JSON.stringify({ requests }))).toBe('verified');
    expect(judged(JSON.stringify({ requests: requests.toReversed() }))).toBe('failed');
  });

  it('a receipt of somebody else is named as failed, and the body is there', async () => {
    const other = await client(gate).buy('/gauge', PARAMS);
    const swapped: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const value = response.headers.get('payment-response');
      if (value === null) return response;
      const settled = JSON.parse(Buffer.from(value, 'base64').toString());
      settled.extensions['offer-receipt'].info.receipt.signature = `${other.signedReceipt?.jws}`;
      const headers = new Headers(response.headers);
      headers.set('payment-response', Buffer.from(JSON.stringify(settled)).toString('base64'));
      return new Response(await response.arrayBuffer(), { status: response.status, headers });
    };
    const bought = await client(gate, { fetch: swapped }).buy('/gauge', {
      ...PARAMS,
      signal_id: 'tides.waves',
    });
    expect(bought.report?.verdict).toBe('verified');
    expect(bought.signedReceipt?.verdict).toBe('failed');
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePaymentRequired } from '@x402/core/schemas';
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import axios from 'axios';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PaymentRequirementsSchema } from 'x402/types';
import { withPaymentInterceptor } from 'x402-axios';
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';
import { readJournalFile } from '../../gatekeeper/heart/journal/journal-file.ts';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { furtherTokens, NETWORKS, type Network } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { startGate } from '../gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { ledgerRows } from '../gatekeeper/tiny-service.ts';
import { PAYEE } from './shop.ts';

/** Tokens beside USDC before the published clients: the schemas of each, and a purchase with either token. */
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const entry = (network: Network['name'], decimals: number): string =>
  `${network}:0x${'e1'.repeat(20)}:Euro Test:1:${decimals}`;
const EURO = entry('base-sepolia', 6);
const [euro] = furtherTokens(EURO) as unknown as readonly [Network];
const usdc = NETWORKS['base-sepolia'];
const folder = mkdtempSync(join(tmpdir(), 'signalpress-interop-tokens-'));

let gate: Gatekeeper;
beforeAll(async () => {
  writeTinyRelease(join(folder, 'data'));
  const own = { data: join(folder, 'data'), state: join(folder, 'state') };
  const network = 'base-sepolia,sei-testnet';
  gate = await startGate({ test_payments: '1', network, tokens: EURO, ...own });
});
afterAll(async () => {
  await gate?.close();
  rmSync(folder, { recursive: true });
});

/** What the last purchase was paid with. */
async function lastAsset(): Promise<string | undefined> {
  const db = readJournalFile(join(folder, 'state', 'payments.db'));
  const rows = await ledgerRows(db, { time: 'created_at', state: 'settled' });
  db.close();
  return rows.at(-1)?.asset;
}

/** The challenge of a network with these further tokens, in both versions. */
function challenged(network: Network, furtherNetworks: readonly Network[]) {
  const terms = { baseUrl: 'https://api.example.com', payTo: PAYEE, serviceName: 'Example' };
  const shop = challenger({ ...terms, network, furtherNetworks });
  const { body, headers } = shop.challenge(builtinOperation('/gauge'), RECORD);
  const header = new Map(headers).get('payment-required') ?? '';
  return {
    v1: JSON.parse(body.toString('utf8')),
    v2: JSON.parse(Buffer.from(header, 'base64').toString('utf8')),
  };
}

const COMBINATIONS = Object.values(NETWORKS).flatMap((network) =>
  [6, 8, 18].map((decimals) => [network.name, decimals] as const),
);

describe('a challenge with tokens beside USDC', () => {
  it.each(COMBINATIONS)('is one to all published schemas: %s, %i decimals', (name, decimals) => {
    const { v1, v2 } = challenged(NETWORKS[name], furtherTokens(entry(name, decimals)));
    expect(v1.accepts).toHaveLength(2);
    for (const one of v1.accepts) PaymentRequirementsSchema.parse(one);
    expect(parsePaymentRequired(v2)).toMatchObject({ success: true });
    expect(v2.accepts).toHaveLength(2);
    expect(v2.accepts[1].extra).toEqual({ name: 'Euro Test', version: '1' });
  });

  it('would be dropped by clients of version 1 for an amount that is no integer', () => {
    const { v1 } = challenged(usdc, [euro]);
    const broken = { ...v1.accepts[1], maxAmountRequired: '9200.5' };
    expect(PaymentRequirementsSchema.safeParse(broken).success).toBe(false);
  });

  it('clients of version 1 pay in USDC of themselves', async () => {
    const signer = await createSigner(usdc.name, generatePrivateKey());
    const response = await wrapFetchWithPayment(fetch, signer)(gate.url + RECORD);
    expect([response.status, await lastAsset()]).toEqual([200, usdc.asset.toLowerCase()]);
  });

  it('x402-fetch and x402-axios that choose the other token pay with it', async () => {
    const signer = await createSigner(usdc.name, generatePrivateKey());
    const chosen = (accepts: readonly { readonly asset: string }[]) =>
      accepts.find(({ asset }) => asset === euro.asset) as never;
    const response = await wrapFetchWithPayment(fetch, signer, 100_000n, chosen)(gate.url + RECORD);
    expect([response.status, await lastAsset()]).toEqual([200, euro.asset.toLowerCase()]);
    const receipt = decodeXPaymentResponse(response.headers.get('x-payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, network: usdc.name });
    const client = withPaymentInterceptor(axios.create(), signer as never, chosen);
    expect((await client.get(gate.url + RECORD)).status).toBe(200);
    expect(await lastAsset()).toBe(euro.asset.toLowerCase());
  });

  it('@x402/fetch pays with the other token where it may, and refuses it otherwise', async () => {
    const client = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()));
    const schemes = [{ network: usdc.caip2 as `${string}:${string}`, client }];
    const paymentRequirementsSelector = (_: number, accepts: readonly { asset: string }[]) =>
      accepts.find(({ asset }) => asset === euro.asset) as never;
    const options = { schemes, paymentRequirementsSelector };
    const spendControls = { allowedAssets: true } as const;
    const pay = wrapFetchWithPaymentFromConfig(fetch, { ...options, spendControls });
    const response = await pay(gate.url + RECORD);
    expect([response.status, await lastAsset()]).toEqual([200, euro.asset.toLowerCase()]);
    const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, network: usdc.caip2 });
    const limited = wrapFetchWithPaymentFromConfig(fetch, options);
    await expect(limited(gate.url + RECORD)).rejects.toThrow();
    const usual = wrapFetchWithPaymentFromConfig(fetch, { schemes });
    expect((await usual(gate.url + RECORD)).status).toBe(200);
    expect(await lastAsset()).toBe(usdc.asset.toLowerCase());
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePaymentRequired } from '@x402/core/schemas';
import { DEFAULT_ASSETS, ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import axios from 'axios';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvmNetworkToChainId, evm, NetworkSchema, PaymentRequirementsSchema } from 'x402/types';
import { withPaymentInterceptor } from 'x402-axios';
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { NETWORKS, type Network } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { startGate } from '../gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { PAYEE } from './shop.ts';

/** Every network of the table before the published clients, alone and all of one kind in one challenge. */
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const ALL = Object.values(NETWORKS);
const TESTNETS = ALL.filter(({ isTestnet }) => isTestnet);
const folder = mkdtempSync(join(tmpdir(), 'signalpress-interop-networks-'));

let gate: Gatekeeper;
beforeAll(async () => {
  writeTinyRelease(join(folder, 'data'));
  const network = TESTNETS.map(({ name }) => name).join(',');
  const own = { data: join(folder, 'data'), state: join(folder, 'state') };
  gate = await startGate({ test_payments: '1', network, ...own });
});
afterAll(async () => {
  await gate?.close();
  rmSync(folder, { recursive: true });
});

/** The challenge of these networks, in both versions. */
function challenged([network, ...furtherNetworks]: readonly Network[]) {
  if (network === undefined) throw new Error('no network');
  const terms = { baseUrl: 'https://api.example.com', payTo: PAYEE, serviceName: 'Example' };
  const shop = challenger({ ...terms, network, furtherNetworks });
  const { body, headers } = shop.challenge(builtinOperation('/gauge'), RECORD);
  const header = new Map(headers).get('payment-required') ?? '';
  return {
    v1: JSON.parse(body.toString('utf8')),
    v2: JSON.parse(Buffer.from(header, 'base64').toString('utf8')),
  };
}

/** Every set of networks that an operator may offer together. */
const COMBINATIONS = [true, false].flatMap((isTestnet) => {
  const kind = ALL.filter((network) => network.isTestnet === isTestnet);
  const sets = Array.from({ length: 2 ** kind.length - 1 }, (_, at) =>
    kind.filter((_network, bit) => ((at + 1) >> bit) % 2 === 1),
  );
  return sets.map((networks) => [networks.map(({ name }) => name).join(', '), networks] as const);
});

describe('the table of networks', () => {
  it.each(ALL)('$name is that of x402 1.2', ({ name, chainId, asset, extra }) => {
    expect(NetworkSchema.safeParse(name).success).toBe(true);
    expect(EvmNetworkToChainId.get(name)).toBe(chainId);
    const published = evm.config[String(chainId)];
    expect(published?.usdcAddress.toLowerCase()).toBe(asset.toLowerCase());
    expect(published?.usdcName).toBe(extra.name);
  });

  it('a network that x402 1.2 does not know would cost the whole challenge', () => {
    const { v1 } = challenged([NETWORKS.base]);
    const [entry] = v1.accepts;
    expect(PaymentRequirementsSchema.safeParse(entry).success).toBe(true);
    for (const network of ['arbitrum', 'eip155:8453']) {
      expect(PaymentRequirementsSchema.safeParse({ ...entry, network }).success).toBe(false);
    }
  });
});

describe('a challenge of several networks', () => {
  it.each(COMBINATIONS)('is one to all published schemas: %s', (_, networks) => {
    const { v1, v2 } = challenged(networks);
    expect(v1.accepts).toHaveLength(networks.length);
    for (const entry of v1.accepts) PaymentRequirementsSchema.parse(entry);
    expect(parsePaymentRequired(v2)).toMatchObject({ success: true });
    expect(v2.accepts).toHaveLength(networks.length);
  });

  it.each(TESTNETS)('x402-fetch with a wallet on $name pays there', async ({ name }) => {
    // Its signer takes any chain that it knows; the network of the wallet decides.
    const signer = await createSigner(name, generatePrivateKey());
    const response = await wrapFetchWithPayment(fetch, signer)(gate.url + RECORD);
    expect(response.status).toBe(200);
    const receipt = decodeXPaymentResponse(response.headers.get('x-payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, network: name });
  });

  it.each(TESTNETS)('x402-axios with a wallet on $name pays there', async ({ name }) => {
    const signer = await createSigner(name, generatePrivateKey());
    const client = withPaymentInterceptor(axios.create(), signer as never);
    const response = await client.get(gate.url + RECORD);
    expect(response.status).toBe(200);
    const receipt = decodeXPaymentResponse(String(response.headers['x-payment-response']));
    expect(receipt).toMatchObject({ success: true, network: name });
  });

  it.each(TESTNETS)('@x402/fetch that takes $name alone pays there', async ({ caip2 }) => {
    const client = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()));
    const network = caip2 as `${string}:${string}`;
    const schemes = [{ network, client }];
    // Of itself it spends only what its own table holds, whatever else is offered.
    const isUsual = caip2 in DEFAULT_ASSETS;
    const usual = wrapFetchWithPaymentFromConfig(fetch, { schemes });
    if (!isUsual) await expect(usual(gate.url + RECORD)).rejects.toThrow(/spendControls/);
    const allowing = { schemes, spendControls: { allowedAssets: true } } as const;
    const pay = isUsual ? usual : wrapFetchWithPaymentFromConfig(fetch, allowing);
    const response = await pay(gate.url + RECORD);
    expect(response.status).toBe(200);
    const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, network: caip2 });
  });

  it('@x402/fetch that takes any chain, and a wallet without one, pay on the first', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const schemes = [{ network: 'eip155:*' as const, client: new ExactEvmScheme(account) }];
    const v2 = await wrapFetchWithPaymentFromConfig(fetch, { schemes })(gate.url + RECORD);
    const second = decodePaymentResponseHeader(v2.headers.get('payment-response') ?? '');
    expect([v2.status, second.network]).toEqual([200, TESTNETS[0]?.caip2]);
    const v1 = await wrapFetchWithPayment(fetch, account as never)(gate.url + RECORD);
    const first = decodeXPaymentResponse(v1.headers.get('x-payment-response') ?? '');
    expect([v1.status, first.network]).toEqual([200, TESTNETS[0]?.name]);
  });
});

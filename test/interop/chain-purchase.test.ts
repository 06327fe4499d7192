import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWalletClient, http, publicActions } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settle, verify } from 'x402/facilitator';
import { SettleRequestSchema, SupportedPaymentKindsResponseSchema } from 'x402/types';
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { buyer, send } from '../chain/buyer.ts';
import { type Chain, startChain } from '../chain/chain.ts';
import { deployed, prefixed, signedBy, undeployed, withDeployment } from '../chain/wallets.ts';
import { startGate } from '../gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { PAYEE } from './shop.ts';

/** A facilitator over HTTP on the functions of x402 1.2, which settles on our own chain. */
interface ChainFacilitator {
  readonly url: string;
  close(): Promise<void>;
}

async function chainFacilitator(chain: Chain): Promise<ChainFacilitator> {
  const { key } = await chain.relayer();
  const signer = createWalletClient({
    chain: baseSepolia,
    transport: http(chain.url),
    account: privateKeyToAccount(key),
    pollingInterval: 20,
  }).extend(publicActions);
  const server = createServer(async (request, response) => {
    const answer = await answerOf(request, signer as never);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answerOf(
  request: IncomingMessage,
  signer: Parameters<typeof settle>[0],
): Promise<object> {
  if (request.url === '/supported') {
    const kinds = [{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' }];
    return SupportedPaymentKindsResponseSchema.parse({ kinds });
  }
  let text = '';
  for await (const chunk of request) text += chunk;
  const { paymentPayload, paymentRequirements } = SettleRequestSchema.parse(JSON.parse(text));
  return request.url === '/verify'
    ? verify(signer as Parameters<typeof verify>[0], paymentPayload, paymentRequirements)
    : settle(signer, paymentPayload, paymentRequirements);
}

/** Client and facilitator of x402 1.2 on both sides of the gatekeeper, and money that moves on a chain. */
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const FUNDS = 1_000_000n;
const key = generatePrivateKey();
const { address } = privateKeyToAccount(key);
const folder = mkdtempSync(join(tmpdir(), 'signalpress-interop-chain-'));

let chain: Chain;
let facilitator: ChainFacilitator;
let gate: Gatekeeper;
beforeAll(async () => {
  chain = await startChain({ network: NETWORKS['base-sepolia'] });
  await chain.mint(address, FUNDS);
  facilitator = await chainFacilitator(chain);
  writeTinyRelease(join(folder, 'data'));
  gate = await startGate({
    data: join(folder, 'data'),
    state: join(folder, 'state'),
    pay_to: PAYEE,
    facilitator_url: facilitator.url,
    rpc_url: chain.url,
  });
});
afterAll(async () => {
  await gate?.close();
  await facilitator?.close();
  await chain?.close();
  rmSync(folder, { recursive: true });
});

describe('x402 1.2 on a chain', () => {
  it('the facilitator lists our network in version 1, the only one that it speaks', async () => {
    expect(await gate.facilitatorWarning).toMatch(/^Payments of x402 version 2 are translated/);
  });

  it('I2: its client buys, its facilitator settles, and the balances show the price', async () => {
    const paying = wrapFetchWithPayment(fetch, await createSigner('base-sepolia', key));
    const response = await paying(gate.url + RECORD);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ entity: 'us-denver' });
    const receipt = decodeXPaymentResponse(response.headers.get('x-payment-response') ?? '');
    const hash = receipt.transaction as `0x${string}`;
    expect((await chain.client.getTransactionReceipt({ hash })).status).toBe('success');
    const paid = FUNDS - (await chain.balanceOf(address));
    expect(paid).toBeGreaterThan(0n);
    expect(await chain.balanceOf(PAYEE)).toBe(paid);
  });

  it('I2: it settles a payment of version 2 as well, because that is translated for it', async () => {
    const alice = buyer(NETWORKS['base-sepolia'], 'alice');
    await chain.mint(alice.address, FUNDS);
    const purchase = await alice.sign(gate.url, RECORD, { version: 2 });
    const answer = await send(gate.url, purchase);
    expect(answer).toMatchObject({ status: 200, receipt: { network: 'eip155:84532' } });
    expect(FUNDS - (await chain.balanceOf(alice.address))).toBe(purchase.price);
  });

  it('I2: its facilitator knows contracts that sign, and refuses those that did not', async () => {
    const owner = privateKeyToAccount(generatePrivateKey());
    const wallet = await deployed(chain, 'Wallet', owner.address);
    await chain.mint(wallet, FUNDS);
    const request = { base: gate.url, target: RECORD };
    const paid = await signedBy(chain, { from: wallet, signs: prefixed(owner) }, request);
    expect(await send(gate.url, paid)).toMatchObject({ status: 200, receipt: { payer: wallet } });
    expect(await chain.balanceOf(wallet)).toBe(FUNDS - paid.price);
    const stranger = privateKeyToAccount(generatePrivateKey());
    const wrong = await signedBy(chain, { from: wallet, signs: prefixed(stranger) }, request);
    expect(await send(gate.url, wrong)).toMatchObject({ status: 402, receipt: null });
    expect(await chain.balanceOf(wallet)).toBe(FUNDS - paid.price);
  });

  it('I14: a wallet that is not deployed is told so, and pays once it is', async () => {
    const owner = privateKeyToAccount(generatePrivateKey());
    const factory = await deployed(chain, 'Factory');
    const { address: wallet, create } = await undeployed(chain, factory, owner.address);
    await chain.mint(wallet, FUNDS);
    const signs = withDeployment(prefixed(owner), factory, create);
    const request = { base: gate.url, target: RECORD };
    const purchase = await signedBy(chain, { from: wallet, signs }, request);
    const early = await send(gate.url, purchase);
    expect(early).toMatchObject({ status: 402, receipt: null });
    expect(early?.body).toContain('not deployed yet');
    expect(await chain.balanceOf(wallet)).toBe(FUNDS);
    const account = await chain.relayer();
    await chain.client.sendTransaction({ account, to: factory, data: create });
    expect(await send(gate.url, purchase)).toMatchObject({ status: 200 });
    expect(await chain.balanceOf(wallet)).toBe(FUNDS - purchase.price);
  });

  it('I14: its client without money is refused, and nothing moves', async () => {
    const before = await chain.balanceOf(PAYEE);
    const poor = await createSigner('base-sepolia', generatePrivateKey());
    const response = await wrapFetchWithPayment(fetch, poor)(gate.url + RECORD);
    expect(response.status).toBe(402);
    expect(JSON.stringify(await response.json())).toContain('insufficient_funds');
    expect(await chain.balanceOf(PAYEE)).toBe(before);
  });
});

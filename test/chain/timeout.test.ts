import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNKNOWN_RETRY_S } from '../../gatekeeper/heart/purchase/purchase-reply.ts';
import { chainEvidence } from '../../gatekeeper/settle/chain/chain-evidence.ts';
import { chainNode } from '../../gatekeeper/settle/chain/chain-node.ts';
import { provenFacilitator } from '../../gatekeeper/settle/facilitator/proven-facilitator.ts';
import { remoteFacilitator } from '../../gatekeeper/settle/facilitator/remote-facilitator.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { startGate } from '../gate.ts';
import { BEHIND_PROXY } from '../gatekeeper/tiny-gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { buyer, send } from './buyer.ts';
import { type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { PAYEE } from './stall.ts';

/** A facilitator that settles and is not heard of before the gatekeeper's patience ends. */
const network = NETWORKS['base-sepolia'];
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const PATIENCE_MS = 300;
const alice = buyer(network, 'alice');
const folder = mkdtempSync(join(tmpdir(), 'signalpress-timeout-'));
let aheadMs = 0;
const clock = (): number => Date.now() + aheadMs;

let chain: Chain;
let facilitator: ChainFacilitator;
let gate: Gatekeeper;
beforeAll(async () => {
  chain = await startChain({ network });
  await chain.mint(alice.address, 1_000_000n);
  facilitator = await chainFacilitator(chain);
  writeTinyRelease(join(folder, 'data'));
  const own = {
    // The facilitator is given, not set.
    test_payments: '1',
    trusted_proxy: BEHIND_PROXY.trustedProxy,
    data: join(folder, 'data'),
    state: join(folder, 'state'),
    pay_to: PAYEE,
  };
  const node = chainNode({ url: chain.url, network });
  const evidence = chainEvidence({ node, confirmations: 1, clock, report: () => {} });
  const remote = remoteFacilitator({ url: facilitator.url, settleTimeoutMs: PATIENCE_MS });
  const proven = provenFacilitator({ facilitator: remote, evidence, waitMs: 6000 });
  gate = await startGate(own, { clock, facilitator: proven });
});
afterAll(async () => {
  await gate?.close();
  await facilitator?.close();
  await chain?.close();
  rmSync(folder, { recursive: true });
});

describe('a settlement that nobody hears of in time', () => {
  it('I9: is a doubt, answered 503 with the advice to send the same payment, and then delivered', async () => {
    facilitator.fault = (name) => (name === 'settle' ? 'done-then-silent' : null);
    const purchase = await alice.sign(gate.url, RECORD);
    const doubt = await send(gate.url, purchase);
    expect(doubt).toMatchObject({ status: 503, receipt: null });
    expect(doubt?.body).toContain('Send the same X-PAYMENT again');
    expect(await chain.isUsed(purchase.payment)).toBe(true);
    facilitator.fault = () => null;
    expect(await send(gate.url, purchase)).toMatchObject({ status: 503, receipt: null });
    aheadMs = UNKNOWN_RETRY_S * 1000;
    const answer = await send(gate.url, purchase);
    expect(answer).toMatchObject({ status: 200, receipt: { success: true } });
    expect(await chain.balanceOf(PAYEE)).toBe(purchase.price);
    expect(await send(gate.url, purchase)).toEqual(answer);
    expect(await chain.balanceOf(PAYEE)).toBe(purchase.price);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { buyer, send } from './buyer.ts';
import { type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { openStall, PAYEE, type StallOptions } from './stall.ts';

/** A chain at the pace of the real one, and a seller who wants six blocks on top of each other. */
const network = NETWORKS['base-sepolia'];
const DEPTH = 6;
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const alice = buyer(network, 'alice');

let chain: Chain;
let facilitator: ChainFacilitator;
let key: `0x${string}`;
beforeAll(async () => {
  chain = await startChain({ network });
  await chain.mint(alice.address, 1_000_000n);
  ({ key } = await chain.relayer());
  facilitator = await chainFacilitator(chain);
  await chain.client.setAutomine(false);
  await chain.client.setIntervalMining({ interval: network.blockMs / 1000 });
});
afterAll(async () => {
  await facilitator?.close();
  await chain?.close();
});

/** Buys once and says how deep the transfer was when the answer came. */
async function depthBought(settler: Pick<StallOptions, 'facilitatorUrl' | 'env'>): Promise<number> {
  const depth = { SIGNALPRESS_CONFIRMATIONS: String(DEPTH) };
  const stall = await openStall({ chain, ...settler, env: { ...settler.env, ...depth } });
  try {
    const before = await chain.balanceOf(PAYEE);
    const purchase = await alice.sign(stall.url, RECORD);
    const answer = await send(stall.url, purchase);
    expect([answer?.status, answer?.body]).toEqual([200, expect.any(String)]);
    expect((await chain.balanceOf(PAYEE)) - before).toBe(purchase.price);
    const hash = String(answer?.receipt?.transaction) as `0x${string}`;
    const { blockNumber } = await chain.client.getTransactionReceipt({ hash });
    return Number((await chain.client.getBlockNumber()) - blockNumber) + 1;
  } finally {
    await stall.close();
  }
}

describe('SIGNALPRESS_CONFIRMATIONS=6', () => {
  it('I9: is a sale with the first request, through a facilitator', async () => {
    expect(await depthBought({ facilitatorUrl: facilitator.url })).toBeGreaterThanOrEqual(DEPTH);
  });

  it('I9: is a sale with the first request, by a relayer', async () => {
    const env = { SIGNALPRESS_RELAYER_KEY: key };
    expect(await depthBought({ env })).toBeGreaterThanOrEqual(DEPTH);
  });
});

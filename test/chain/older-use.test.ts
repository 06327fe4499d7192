import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { type Answer, buyer, type Purchase, send } from './buyer.ts';
import { type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { openStall, type Stall } from './stall.ts';

/**
 * Whoever reads the chain can rebuild the header of a settlement, and bring it, while it is valid, to a shop that does not
 * know it: another one of the same payee, or one that lost its journal.
 */
const network = NETWORKS['base-sepolia'];
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const alice = buyer(network, 'alice');

let chain: Chain;
let facilitator: ChainFacilitator;
let key: `0x${string}`;
const stalls: Stall[] = [];
beforeAll(async () => {
  chain = await startChain({ network });
  await chain.mint(alice.address, 1_000_000_000n);
  facilitator = await chainFacilitator(chain);
  ({ key } = await chain.relayer());
});
afterAll(async () => {
  for (const stall of stalls) await stall.close();
  await facilitator?.close();
  await chain?.close();
});

/** A shop with a journal of its own, and the payee that all have. */
async function shop(by: 'facilitator' | 'relayer'): Promise<Stall> {
  const settler =
    by === 'facilitator'
      ? { facilitatorUrl: facilitator.url }
      : { env: { SIGNALPRESS_RELAYER_KEY: key } };
  const stall = await openStall({ chain, ...settler });
  stalls.push(stall);
  return stall;
}

/** Until it is no outage. */
async function insist(stall: Stall, purchase: Purchase): Promise<Answer> {
  for (let attempt = 0; attempt < 60; attempt++) {
    const answer = await send(stall.url, purchase);
    if (answer !== null && answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('no end of this purchase');
}

describe.each(['facilitator', 'relayer'] as const)('a header that paid before (%s)', (by) => {
  it('I61: buys nothing at another shop of the same payee, in the very block of its settlement or later', async () => {
    const [first, second] = [await shop(by), await shop(by)];
    for (const version of [1, 2] as const) {
      const purchase = await alice.sign(first.url, RECORD, { version });
      const sold = await insist(first, purchase);
      expect(sold.status).toBe(200);
      for (const blocks of [0, 3]) {
        if (blocks > 0) await chain.client.mine({ blocks });
        const answer = await insist(second, purchase);
        expect(answer).toMatchObject({ status: 402, receipt: null });
        expect(answer.body).toContain('authorization_already_used');
        expect(answer.body).not.toContain(sold.body);
      }
    }
    // Of a payer who never paid there, not even a row is written.
    expect(await second.journal()).toEqual([]);
    // The shop that sold still delivers, and the other one still sells.
    expect((await insist(second, await alice.sign(second.url, RECORD))).status).toBe(200);
  });

  it('I61: buys nothing from a shop that lost its journal', async () => {
    const stall = await shop(by);
    const purchase = await alice.sign(stall.url, RECORD);
    expect((await insist(stall, purchase)).status).toBe(200);
    const emptied = await shop(by);
    const answer = await insist(emptied, purchase);
    expect(answer).toMatchObject({ status: 402, receipt: null });
    expect(answer.body).toContain('authorization_already_used');
  });
});

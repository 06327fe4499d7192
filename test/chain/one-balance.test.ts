import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { buyer, send } from './buyer.ts';
import { type Chain, startChain } from './chain.ts';
import { openStall, type Stall } from './stall.ts';

const network = NETWORKS['base-sepolia'];
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const ATTEMPTS = 12;

let chain: Chain;
let stall: Stall;
let relayer: `0x${string}`;
beforeAll(async () => {
  chain = await startChain({ network });
  const { address, key } = await chain.relayer();
  relayer = address;
  stall = await openStall({
    chain,
    env: { SIGNALPRESS_RELAYER_KEY: key, SIGNALPRESS_MAX_FEE_GWEI: '50' },
  });
});
afterAll(async () => {
  await stall?.close();
  await chain?.close();
});

const transactions = (): Promise<number> =>
  chain.client.getTransactionCount({ address: relayer, blockTag: 'pending' });

describe('an account with money for one payment, at a relayer', () => {
  it.each([
    ['that never paid here', 0],
    ['that paid here before', 1],
  ])('I60: %s causes one transaction, however many payments it signs', async (name, before) => {
    const payer = buyer(network, name);
    const { price } = await payer.sign(stall.url, RECORD);
    await chain.mint(payer.address, price * BigInt(before + 1));
    for (let at = 0; at < before; at++) {
      const known = await payer.sign(stall.url, RECORD);
      expect(await send(stall.url, known)).toMatchObject({ status: 200 });
    }
    const [sent, rows] = [await transactions(), (await stall.journal()).length];
    const all = await Promise.all(
      Array.from({ length: ATTEMPTS }, () => payer.sign(stall.url, RECORD)),
    );
    const answers = await Promise.all(all.map((one) => send(stall.url, one)));
    const statuses = answers.map((answer) => answer?.status).sort();
    expect(statuses).toEqual([200, ...new Array(ATTEMPTS - 1).fill(402)]);
    expect((await transactions()) - sent).toBe(1);
    expect((await stall.journal()).length - rows, 'the others are written down nowhere').toBe(1);
    expect(await chain.balanceOf(payer.address)).toBe(0n);
  });
});

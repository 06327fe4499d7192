import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatKeyHistory, KEYS_PATH } from '../../../compiler/format/key-history.ts';
import { parseSignedReceipt } from '../../../compiler/products/shapes/receipt.ts';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import { type Answer, buyer, send } from '../../chain/buyer.ts';
import { accountOf, type Chain, startChain } from '../../chain/chain.ts';
import {
  type ChainFacilitator,
  chainFacilitator,
  type Fault,
} from '../../chain/chain-facilitator.ts';
import { openStall, type Stall } from '../../chain/stall.ts';
import { listingKeys, SIGNER_SEED } from '../../gatekeeper/payer.ts';
import { tinyFiles } from '../../gatekeeper/tiny-release.ts';
import { paidAuthorizations } from './audit.ts';
import { choose, draw, pause } from './client.ts';

// Buyers who lose every answer that they can lose: each asks under its payment identifier until it is served, and signs
// anew each time, while the gatekeeper is killed and the facilitator has faults.

const SEED = 23;
const BUYERS = 16;
const PARALLEL = 6;
const PAYERS = 3;
const LIFE_MS_MAX = 900;
const BUYER_MS_MAX = 240_000;
const RECORD = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const FAULTS: readonly (readonly [Fault, number])[] = [
  [null, 60],
  ['slow', 10],
  ['down', 8],
  ['reset', 6],
  ['done-then-500', 8],
  ['done-then-reset', 8],
];

let chain: Chain;
let facilitator: ChainFacilitator;
let stall: Stall;
const faults = new Set<string>();

beforeAll(async () => {
  chain = await startChain({ network: NETWORKS['base-sepolia'] });
  for (let at = 0; at < PAYERS; at++) await chain.mint(accountOf(nameOf(at)).address, 10_000_000n);
  facilitator = await chainFacilitator(chain);
  let calls = 0;
  facilitator.fault = (name) => {
    if (name === 'supported') return null;
    calls += 1;
    const fault = choose(draw(SEED, `call ${calls}`), FAULTS);
    if (fault !== null) faults.add(fault);
    return fault;
  };
  const keys = Buffer.from(formatKeyHistory(listingKeys()));
  stall = await openStall({
    chain,
    facilitatorUrl: facilitator.url,
    files: new Map([...tinyFiles(), [KEYS_PATH, keys]]),
    env: { SIGNALPRESS_OFFER_RECEIPT_KEY: SIGNER_SEED },
  });
});
afterAll(async () => {
  await stall?.close();
  await facilitator?.close();
  await chain?.close();
});

const nameOf = (at: number): string => `named payer ${at % PAYERS}`;

/** One new signature of a buyer under its identifier; null where no answer came. */
async function attempt(at: number): Promise<Answer | null> {
  try {
    const purchase = await buyer(chain.network, nameOf(at)).sign(stall.url, RECORD, { version: 2 });
    const payment = JSON.parse(Buffer.from(purchase.header, 'base64').toString());
    const info = { required: false, id: `campaign-order-${String(at).padStart(4, '0')}` };
    const text = JSON.stringify({ ...payment, extensions: { 'payment-identifier': { info } } });
    return await send(stall.url, { ...purchase, header: Buffer.from(text).toString('base64') });
  } catch {
    // The gatekeeper is down and tells no price.
    return null;
  }
}

interface Bought {
  readonly answers: readonly Answer[];
  readonly attempts: number;
}

/** Asks until it was served twice: the second answer is to what was served once already. */
async function buyTwice(at: number): Promise<Bought> {
  const answers: Answer[] = [];
  const endMs = performance.now() + BUYER_MS_MAX;
  let attempts = 0;
  while (answers.length < 2 && performance.now() < endMs) {
    attempts += 1;
    const answer = await attempt(at);
    if (answer?.status === 200) answers.push(answer);
    else await pause(200);
  }
  return { answers, attempts };
}

async function buyAll(): Promise<readonly Bought[]> {
  const bought: Bought[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < BUYERS; at = next++) bought[at] = await buyTwice(at);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return bought;
}

function receiptOf({ receipt }: Answer) {
  const extensions = receipt?.extensions as
    | Record<string, { info: { receipt: { signature: string } } }>
    | undefined;
  return extensions?.['offer-receipt']?.info.receipt.signature ?? '';
}

describe('purchases with payment identifiers under kill -9', () => {
  it('I2, I3, I10: each identifier is charged once and served again, with one receipt', async () => {
    let [kills, startMs, isDone] = [0, 0, false];
    const killing = (async () => {
      while (!isDone) {
        // A busy machine must be able to sell within a life too: it lasts as a start does, and each may be longer.
        const longest = Math.max(LIFE_MS_MAX, 2 * startMs) * (1 + kills / 10);
        await pause(draw(SEED, `kill ${kills}`) * longest);
        await stall.kill();
        kills += 1;
        const killedMs = performance.now();
        await stall.start();
        startMs = performance.now() - killedMs;
      }
    })();
    const bought = await buyAll().finally(() => {
      isDone = true;
    });
    await killing;
    const again = await Promise.all(bought.map((_, at) => attempt(at)));
    const paid = await paidAuthorizations(chain);
    const settled = (await stall.journal()).filter(({ state }) => state === 'settled');
    expect(bought.filter(({ answers }) => answers.length < 2)).toEqual([]);
    expect([paid.transfers, paid.transactions.size, settled.length]).toEqual([
      BUYERS,
      BUYERS,
      BUYERS,
    ]);
    const transactions = new Set(paid.transactions.values());
    for (const [at, { answers }] of bought.entries()) {
      const last = again[at];
      const all = last?.status === 200 ? [...answers, last] : answers;
      expect(new Set(all.map(({ body }) => body)).size).toBe(1);
      const receipts = new Set(all.map(receiptOf));
      expect([at, receipts.size]).toEqual([at, 1]);
      const receipt = parseSignedReceipt([...receipts][0] ?? '');
      if (typeof receipt === 'string') throw new Error(receipt);
      expect(transactions.delete(receipt.payload.transaction)).toBe(true);
    }
    // Whoever names nothing pays for each signature: two charges would be seen.
    facilitator.fault = () => null;
    // A gatekeeper that starts has no facilitator to skip. What it cannot prove yet is sent again, not signed anew.
    await stall.kill();
    await stall.start();
    for (const _ of 'ab') {
      const purchase = await buyer(chain.network, nameOf(0)).sign(stall.url, RECORD, {
        version: 2,
      });
      await expect
        .poll(async () => (await send(stall.url, purchase))?.status, { interval: 500 })
        .toBe(200);
    }
    expect((await paidAuthorizations(chain)).transfers).toBe(BUYERS + 2);
    // Without these the campaign has shown nothing.
    expect(kills).toBeGreaterThan(2);
    expect(bought.reduce((sum, { attempts }) => sum + attempts, 0)).toBeGreaterThan(2 * BUYERS);
    expect(faults.size).toBeGreaterThan(2);
  }, 900_000);
});

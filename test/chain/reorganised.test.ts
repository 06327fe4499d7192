import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOURNAL_NAME, readJournalFile } from '../../gatekeeper/heart/journal/journal-file.ts';
import type { LedgerRow } from '../../gatekeeper/heart/journal/ledger.ts';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { openPaymentServices } from '../../gatekeeper/heart/payment/open-payment-services.ts';
import { purchaseService } from '../../gatekeeper/heart/purchase/purchase-service.ts';
import { reconcileInBackground } from '../../gatekeeper/heart/purchase/reconcile.ts';
import { loadConfig } from '../../gatekeeper/settings/load-config.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { ServiceState } from '../../gatekeeper/wire/service-state.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { headerOf, payer, windowAt } from '../gatekeeper/payer.ts';
import { buy, json, receipt } from '../gatekeeper/payment-bench.ts';
import { ledgerRows } from '../gatekeeper/tiny-service.ts';
import { type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { PAYEE } from './stall.ts';

/** Transfers that a reorganisation takes away after they paid, on a chain whose transfers are final after two blocks. */
const network = NETWORKS['avalanche-fuji'];
const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const gauge = builtinOperation('/gauge');
const alice = payer(network, 'alice');
const folder = mkdtempSync(join(tmpdir(), 'signalpress-reorganised-'));
const baseUrl = 'https://api.example.com';
const shop = challenger({ baseUrl, payTo: PAYEE, network, serviceName: 'Example' });
const terms = shop.terms(gauge, TARGET, 1)[0];

let chain: Chain;
let facilitator: ChainFacilitator;
beforeAll(async () => {
  chain = await startChain({ network });
  await chain.mint(alice.address, 1_000_000_000n);
  facilitator = await chainFacilitator(chain);
});
afterAll(async () => {
  await facilitator?.close();
  await chain?.close();
  rmSync(folder, { recursive: true });
});

/** A seller over a journal of its own, whose background looks all the time. */
async function seller(name: string) {
  const state = join(folder, name);
  const options = { pay_to: PAYEE, network: network.name, state, rpc_url: chain.url };
  const config = loadConfig({
    options: { ...options, facilitator_url: facilitator.url },
    env: {},
    fileText: null,
  });
  const logged: Readonly<Record<string, unknown>>[] = [];
  const told = {
    clock: () => Date.now(),
    log: (entry: (typeof logged)[number]) => void logged.push(entry),
  };
  const by = { ...told, state: new ServiceState(told) };
  const payments = await openPaymentServices(config, by);
  const purchases = purchaseService({ ...payments, challenger: shop, clock: by.clock });
  const watch = () =>
    reconcileInBackground({ ...by, ...payments, purchases, finalAfterMs: 0, intervalMs: 50 });
  let made = 0;
  const deliver = async () => {
    made += 1;
    return { body: Buffer.from(`{"body":${made}}`), contentType: 'application/json' };
  };
  return {
    logged,
    watch,
    pay: (header: string) => buy(purchases, { header, target: TARGET, deliver }),
    async row(): Promise<LedgerRow> {
      const db = readJournalFile(join(state, JOURNAL_NAME));
      try {
        const [row] = await ledgerRows(db);
        if (row === undefined) throw new Error('no row');
        return row;
      } finally {
        db.close();
      }
    },
    close: () => payments.close(),
  };
}

async function signed() {
  const price = 'maxAmountRequired' in terms ? terms.maxAmountRequired : '';
  const payment = await alice.sign(PAYEE, price, windowAt());
  return { payment, header: headerOf(terms, payment), price: BigInt(price) };
}

/** Runs something, then makes the chain forget it and go on with empty blocks. */
async function forgotten(work: () => Promise<void>): Promise<void> {
  const id = await chain.client.snapshot();
  await work();
  await chain.client.revert({ id });
  await chain.client.mine({ blocks: 5 });
}

describe('a reorganisation after the sale', () => {
  it('I61: opens the row again, and the same payment settles it, once', async () => {
    const one = await seller('repeated');
    const { header, payment, price } = await signed();
    const before = await chain.balanceOf(PAYEE);
    let sold = '';
    await forgotten(async () => {
      const reply = await one.pay(header);
      expect(reply.status).toBe(200);
      sold = reply.body.toString();
    });
    expect(await chain.balanceOf(PAYEE)).toBe(before);
    expect((await one.row()).state).toBe('settled');
    const background = one.watch();
    await expect.poll(async () => (await one.row()).state).toBe('unknown');
    expect(await one.row()).toMatchObject({ detail: expect.stringMatching(/^reorganised: 0x/) });
    expect((await one.row()).reorganised_at).not.toBe('');
    // The row is readable before its write is on the disk, and the log waits for that.
    const named = { event: 'payment_reorganised', network: network.name };
    await expect.poll(() => one.logged).toContainEqual(named);
    expect(await chain.isUsed(payment), 'the background moves nothing').toBe(false);
    // A repeat that comes while the background looks shares what it finds.
    await expect
      .poll(async () => (await one.pay(header)).body.toString(), { interval: 500 })
      .toBe(sold);
    expect((await chain.balanceOf(PAYEE)) - before).toBe(price);
    await chain.client.mine({ blocks: 2 });
    await expect.poll(async () => (await one.row()).final_at, { interval: 500 }).not.toBe('');
    expect(await one.row()).toMatchObject({ state: 'settled', detail: '' });
    background.close();
    await one.close();
  });

  it('I61: changes nothing where the transfer is mined again, also in the block of the claim', async () => {
    const one = await seller('mined-again');
    const { header, payment, price } = await signed();
    const before = await chain.balanceOf(PAYEE);
    const id = await chain.client.snapshot();
    // The claim is made in a block that is not on the chain later.
    await chain.client.mine({ blocks: 3 });
    expect((await one.pay(header)).status).toBe(200);
    await chain.client.revert({ id });
    await chain.submit(payment);
    await chain.client.mine({ blocks: 9 });
    const background = one.watch();
    await expect.poll(async () => (await one.row()).final_at, { interval: 500 }).not.toBe('');
    expect(await one.row()).toMatchObject({ state: 'settled', reorganised_at: '' });
    expect((await chain.balanceOf(PAYEE)) - before).toBe(price);
    const again = await one.pay(header);
    expect([again.status, json(again)]).toEqual([200, { body: 1 }]);
    expect(receipt(again).transaction).toBe((await one.row()).transaction);
    background.close();
    await one.close();
  });
});

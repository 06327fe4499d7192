import { afterAll, describe, expect, it } from 'vitest';
import { sampleGate } from './sample-gate.ts';
import { AS_OF, compileFolder, removeFolders, writeSnapshots } from './snapshot-folder.ts';
import { askPrice, LEVEL, pay, TIDE_PRICES, tideFiles } from './tide-shop.ts';

// What a publisher can say about prices, and what every part of the shop makes of it.

afterAll(removeFolders);

describe('a price that changes with a release', () => {
  it('is asked for and taken from then on, for requests that were asked before too', async () => {
    const root = writeSnapshots(tideFiles());
    const { data } = await compileFolder(root, { asOf: AS_OF });
    const gate = await sampleGate(data, { tokens: false, receipts: false, pollMs: 20 });
    const url = gate.url + LEVEL;
    const before = await askPrice(url);
    expect(before.maxAmountRequired).toBe('20000');
    expect((await pay(url, before)).status).toBe(200);

    const cheaper = { catalog: { prices: { ...TIDE_PRICES, '/gauge': '0.005' } } };
    writeSnapshots(tideFiles(cheaper), root);
    await compileFolder(root, { asOf: AS_OF, data });
    await expect.poll(async () => (await askPrice(url)).maxAmountRequired).toBe('5000');
    expect((await pay(url, await askPrice(url))).status).toBe(200);
    // One unit less than the price of the new release.
    expect((await pay(url, before, '4999')).status).toBe(402);
    await gate.close();
  });
});

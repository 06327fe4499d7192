import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { basketOf } from '../../../compiler/contract/basket.ts';
import type { Facilitator, SettleOutcome } from '../../../gatekeeper/money/facilitator.ts';
import { sampleGate, servedShop } from '../../sample-gate.ts';
import { AS_OF, compileFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';
import { LEVEL, TIDE_PRICES, type TideTerms, tideFiles, WAVES } from '../../tide-shop.ts';
import { postBasket, type Quote, quotedBasket, signedFor } from './basket-quote.ts';

afterAll(removeFolders);

describe('a release between quote and purchase', () => {
  interface Switch {
    /** Whether the basket is paid for before the release. */
    readonly isBought?: boolean;
    /** How the first settlement ends. */
    readonly first?: SettleOutcome;
    /** Requests that are sent with the payment afterwards. */
    readonly asked?: readonly string[];
  }
  const SETTLED: SettleOutcome = { verdict: 'settled', transaction: `0x${'5e'.repeat(32)}` };

  /** A shop of an own catalogue that is quoted, and then compiled anew. */
  async function switched(
    before: TideTerms,
    after: TideTerms,
    { isBought = false, first: outcome = SETTLED, asked = [LEVEL, WAVES] }: Switch = {},
  ) {
    const calls: string[] = [];
    const facilitator: Facilitator = {
      verify: async () => ({ verdict: 'valid' }),
      settle: async ({ paymentRequirements }) => {
        calls.push(JSON.stringify(paymentRequirements));
        return calls.length === 1 ? outcome : SETTLED;
      },
      supported: async () => ({ verdict: 'none', detail: '' }),
    };
    const state = mkdtempSync(join(tmpdir(), 'signalpress-state-'));
    const settings = { tokens: false, receipts: false, state, facilitator };
    const root = writeSnapshots(tideFiles(before));
    const { data } = await compileFolder(root, { asOf: AS_OF });
    const first = await sampleGate(data, settings);
    const [terms] = (await quotedBasket(first, [LEVEL, WAVES])).accepts;
    const headers = await signedFor(terms);
    const sold = isBought ? await (await postBasket(first, [LEVEL, WAVES], headers)).text() : null;
    await first.close();
    writeSnapshots(tideFiles(after), root);
    await compileFolder(root, { asOf: AS_OF, data, acceptCatalogChanges: true });
    const later = await sampleGate(data, settings);
    const answer = await postBasket(later, asked, headers);
    const text = await answer.text();
    await later.close();
    return { status: answer.status, text, sold, calls };
  }
  const dearer = { catalog: { prices: { ...TIDE_PRICES, '/gauge': '0.03' } } };
  const cheaper = { catalog: { prices: { ...TIDE_PRICES, '/gauge': '0.01' } } };
  const freed: TideTerms = { waves: { free: ['latest'] } };

  it.each([
    ['costs more', dearer, '60000'],
    ['costs less', cheaper, '20000'],
    ['gives a part away', freed, '20000'],
  ])('that %s: nothing is charged, and the quote is fresh', async (_, after, sum) => {
    const { status, text, calls } = await switched({}, after);
    const body = JSON.parse(text) as Quote;
    expect([status, body.error]).toEqual([402, expect.stringMatching(/^basket_changed/)]);
    expect([body.accepts[0].maxAmountRequired, calls]).toEqual([sum, []]);
  });

  it.each<[string, TideTerms, number]>([
    ['other requests at the same sum: nothing is charged', { level: { free: ['latest'] } }, 402],
    ['the same requests: sold at the quoted sum', { waves: { free: ['latest'] } }, 200],
  ])('that the same service opens, of %s', async (_, before, status) => {
    const after: TideTerms = { waves: { free: ['latest'] } };
    const settings = { tokens: false, receipts: false, pollMs: 20 };
    const shop = await servedShop(tideFiles(before), settings);
    const [terms] = (await quotedBasket(shop.gate, [LEVEL, WAVES])).accepts;
    writeSnapshots(tideFiles(after), shop.snapshots);
    const { release } = await compileFolder(shop.snapshots, {
      data: shop.data,
      acceptCatalogChanges: true,
    });
    await expect
      .poll(async () => (await fetch(`${shop.gate.url}/.well-known/release.json`)).json(), {
        timeout: 10_000,
      })
      .toMatchObject({ sequence: release.sequence });
    const answer = await postBasket(shop.gate, [LEVEL, WAVES], await signedFor(terms));
    const body = (await answer.json()) as Quote;
    await shop.gate.close();
    expect(terms.maxAmountRequired).toBe('20000');
    expect(answer.status).toBe(status);
    if (status === 402) expect(body.error).toMatch(/^basket_changed/);
  });

  it('that changes nothing of it: is sold at the quoted sum', async () => {
    const { status, calls } = await switched({}, {});
    expect([status, calls.length]).toEqual([200, 1]);
    expect(JSON.parse(calls[0] ?? '')).toMatchObject({ maxAmountRequired: '40000' });
  });

  it('that gives a part away after the purchase: the same bytes again, no second charge', async () => {
    const { status, text, sold, calls } = await switched({}, freed, { isBought: true });
    expect([status, text, calls.length]).toEqual([200, sold, 1]);
  });

  describe('that sells no baskets any more', () => {
    const without: TideTerms = { catalog: { leftOut: ['/gauge/basket'] } };

    it('what was bought before: the same bytes again, no second charge', async () => {
      const { status, text, sold, calls } = await switched({}, without, { isBought: true });
      expect([status, text, calls.length]).toEqual([200, sold, 1]);
    });

    it('what is in doubt: settled for its buyer, by the terms that were signed', async () => {
      const first: SettleOutcome = { verdict: 'none', detail: 'no answer in time' };
      const terms = { isBought: true, first };
      const { status, text, sold, calls } = await switched({}, without, terms);
      expect(sold).toContain('is not known yet');
      expect([status, basketOf(JSON.parse(text))?.total_usd]).toEqual([200, '0.04']);
      expect(JSON.parse(calls[1] ?? '')).toMatchObject({
        maxAmountRequired: '40000',
        outputSchema: { input: { method: 'POST' } },
      });
    });

    it('nothing is sold, and no payment delivers another basket', async () => {
      const asked = [WAVES, LEVEL];
      for (const terms of [{}, { asked }, { isBought: true, asked }, { asked: [] }]) {
        const { status, calls } = await switched({}, without, terms);
        expect([status, calls.length]).toEqual([404, 'isBought' in terms ? 1 : 0]);
      }
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import { type Chain, startChain } from '../../chain/chain.ts';
import { PAYEE, type Row } from '../../chain/stall.ts';
import { payer, type SignedPayment } from '../../gatekeeper/payer.ts';
import { audit } from './audit.ts';
import type { Story } from './client.ts';
import { type CampaignOptions, closingReport, isClean, runCampaign } from './run-campaign.ts';

type Settler = CampaignOptions['settler'];

const SEED = 7;

describe('the payment campaign', () => {
  it.each([
    ['facilitators', 40],
    ['relayer', 25],
  ] as [Settler, number][])(
    'I2, I3, I9, I11, I51, I60: settled by %s, %i purchases under faults cost once and are delivered',
    async (settler, purchases) => {
      const options = { seed: SEED, purchases, settler, journal: 'sqlite' } as const;
      const report = await runCampaign({ ...options, progress: () => {} });
      expect(isClean(report), closingReport(options, report)).toBe(true);
      expect(report.delivered + report.refused).toBe(purchases);
      expect(report.delivered).toBeGreaterThan(purchases / 2);
      expect(report.kills).toBeGreaterThan(0);
      expect(report.strangers.sent).toBeGreaterThan(10);
      expect([report.strangers.delivered, report.strangers.rows]).toEqual([0, 0]);
      expect(Object.keys(report.faults).length).toBeGreaterThan(2);
    },
    900_000,
  );
});

describe('audit()', () => {
  const network = NETWORKS['base-sepolia'];
  const alice = payer(network, 'alice');
  const VALUE = '5000';
  let chain: Chain;
  let paid: SignedPayment;
  let unpaid: SignedPayment;
  let tx: string;
  beforeAll(async () => {
    chain = await startChain({ network });
    await chain.mint(alice.address, 1_000_000n);
    const window = { validAfter: '0', validBefore: '99999999999' };
    [paid, unpaid] = [
      await alice.sign(PAYEE, VALUE, window),
      await alice.sign(PAYEE, VALUE, window),
    ];
    tx = await chain.submit(paid);
  });
  afterAll(() => chain?.close());

  const answer = (transaction: string, body = 'data') => ({
    status: 200,
    body,
    receipt: { transaction },
  });
  const story = (payment: SignedPayment, over: Partial<Story> = {}): Story => ({
    index: 0,
    manner: 'plain',
    purchase: { target: '/', version: 1, header: '', payment, price: BigInt(VALUE) },
    delivered: [],
    refusals: 0,
    outages: 0,
    openedAnother: false,
    finished: true,
    left: null,
    heard: {},
    ...over,
  });
  const leaving = (payment: SignedPayment, isPaid: boolean): Partial<Story> => ({
    left: { purchase: story(payment).purchase, isPaid, leftMs: 0, boughtAgainMs: 2000 },
  });
  const row = (
    { authorization: { from, nonce } }: SignedPayment,
    over: Partial<Row> = {},
  ): Row => ({
    key: `base-sepolia|${network.asset}|${from}|${nonce}`.toLowerCase(),
    state: 'settled',
    value: VALUE,
    tx,
    detail: null,
    ...over,
  });

  it('audit() finds nothing where the chain, the clients and the journal agree', async () => {
    const stories = [story(paid, { delivered: [answer(tx), answer(tx)] }), story(unpaid)];
    const figures = await audit(chain, stories, [row(paid), row(unpaid, { state: 'refused' })]);
    expect(figures).toEqual({
      delivered: 1,
      refused: 1,
      transfers: 1,
      left: 0,
      unfinished: 0,
      chargedWithoutData: 0,
      dataWithoutCharge: 0,
      chargedTwice: 0,
      lateCharges: 0,
      secondResources: 0,
      differentBodies: 0,
      wrongReceipts: 0,
      journalDifferences: 0,
      journalOpen: 0,
      balanceDifference: 0n,
    });
  });

  it('audit() forgives what was charged while its buyer was there, and what nobody came back for', async () => {
    for (const [left, journal] of [
      [leaving(paid, true), [row(paid)]],
      [leaving(unpaid, false), [row(paid), row(unpaid, { state: 'unknown' })]],
    ] as const) {
      const figures = await audit(chain, [story(unpaid, left)], journal);
      expect(figures).toMatchObject({ left: 1, lateCharges: 0, journalOpen: 0 });
    }
  });

  it('I61: audit() forgives what was used before its claim, of those alone who were forestalled', async () => {
    const older = row(paid, { state: 'refused', tx: null, detail: 'authorization_already_used' });
    const forestalled = await audit(chain, [story(paid, { manner: 'front-run' })], [older]);
    expect(forestalled).toMatchObject({
      chargedWithoutData: 0,
      journalDifferences: 0,
      balanceDifference: 0n,
    });
    expect(await audit(chain, [story(paid)], [older])).toMatchObject({ chargedWithoutData: 1 });
  });

  it('audit() finds everything that could be wrong', async () => {
    const wrong: [string, Story[], Row[]][] = [
      ['chargedWithoutData', [story(paid)], [row(paid)]],
      ['dataWithoutCharge', [story(unpaid, { delivered: [answer(tx)] })], [row(paid)]],
      ['secondResources', [story(paid, { openedAnother: true })], [row(paid)]],
      ['differentBodies', [story(paid, { delivered: [answer(tx), answer(tx, 'x')] })], [row(paid)]],
      ['wrongReceipts', [story(paid, { delivered: [answer('0x')] })], [row(paid)]],
      ['unfinished', [story(paid, { finished: false })], [row(paid)]],
      ['journalDifferences', [], []],
      ['journalDifferences', [], [row(paid, { tx: '0x' })]],
      ['journalDifferences', [], [row(paid), row(unpaid)]],
      ['journalOpen', [], [row(paid), row(unpaid, { state: 'unknown' })]],
      ['journalOpen', [], [row(paid, { state: 'unknown' })]],
      ['lateCharges', [story(unpaid, leaving(paid, false))], [row(paid)]],
      ['balanceDifference', [], [row(paid, { value: '4999' })]],
    ];
    for (const [figure, stories, journal] of wrong) {
      const figures = await audit(chain, stories, journal);
      expect(BigInt(Object.entries(figures).find(([name]) => name === figure)?.[1]), figure).toBe(
        1n,
      );
    }
  });
});

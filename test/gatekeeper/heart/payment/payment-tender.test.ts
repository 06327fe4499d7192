import { beforeEach, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import type { Challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import { paymentReader } from '../../../../gatekeeper/heart/payment/payment-tender.ts';
import type { FacilitatorRequest } from '../../../../gatekeeper/settle/facilitator.ts';
import type { JournalEntry } from '../../../../gatekeeper/settle/journal.ts';
import { emptyJournal } from '../../empty-journal.ts';
import { NOW_MS, NOW_S } from '../../payer.ts';
import { gauge, network, PAY_TO, shop, v1 } from '../../payment-bench.ts';

const TERMS_CACHE_MAX = 4096;
const FROM = `0x${'11'.repeat(20)}`;
const NONCE = `0x${'22'.repeat(32)}`;
const KEY = `base|${network.asset}|${FROM}|${NONCE}`.toLowerCase();

/** The row of a payment for the reading of one entity. */
function entryOf(entity: string): JournalEntry {
  const [value, end] = ['10000', NOW_S + 300];
  return {
    key: KEY,
    resource: `GET /gauge?entity=${entity}&signal_id=airquality.aqi`,
    version: 1,
    signed: `${FROM}|${PAY_TO}|${value}|0|${end}|${NONCE}|0x00`,
    contentType: 'application/json',
    value,
    validBefore: end,
    state: 'unknown',
    body: null,
    transaction: null,
    settledMs: null,
    identifier: null,
    client: null,
    detail: null,
  };
}

/** A reader over some terms, and what its facilitator was asked to settle. */
function readerOf(challenger: Challenger) {
  const settled: FacilitatorRequest[] = [];
  const none = { verdict: 'none', detail: '' } as const;
  const facilitator = {
    verify: async () => none,
    supported: async () => none,
    settle: async (request: FacilitatorRequest) => {
      settled.push(request);
      return none;
    },
  };
  const by = { facilitator, journal: emptyJournal(), clock: () => NOW_MS, report: () => {} };
  return { ...paymentReader({ challenger, ...by }), settled };
}

describe('recall()', () => {
  /** The requests whose terms were written out. */
  let written: string[];
  let reader: ReturnType<typeof readerOf>;
  beforeEach(() => {
    written = [];
    const terms: Challenger['terms'] = (_, target) => {
      written.push(target);
      return [v1];
    };
    reader = readerOf({ ...shop, terms });
  });
  const recall = (entity: string) => reader.recall(entryOf(entity));

  it('takes a payment of our network, and no other', () => {
    expect(recall('us-denver')).toMatchObject({ key: KEY, payer: FROM });
    const foreign = { ...entryOf('us-denver'), key: KEY.replace('base', 'other') };
    expect(reader.recall(foreign)).toBeNull();
  });

  it('settles a recalled v2 payment with the listing that its challenge had, also at an older price', async () => {
    const { recall: recallV2, settled } = readerOf({ ...shop, catalog: () => BUILTIN });
    const target = '/gauge?entity=us-denver&signal_id=airquality.aqi';
    const listing = shop.listing(gauge, target);
    const entry = { ...entryOf('us-denver'), version: 2 } as const;
    const cheap = { ...entry, signed: entry.signed.replace('|10000|', '|1|') };
    for (const one of [entry, cheap]) {
      await recallV2(one)?.settlement.resume(one);
      expect(settled.at(-1)?.paymentPayload).toMatchObject({ ...listing });
    }
    await recall('us-denver')?.settlement.resume(entryOf('us-denver'));
    expect(reader.settled[0]?.paymentPayload).not.toHaveProperty('resource');
  });

  it('I43: keeps the terms of as many requests as it may', () => {
    for (let at = 0; at < TERMS_CACHE_MAX; at += 1) recall(`e${at}`);
    expect(written).toHaveLength(TERMS_CACHE_MAX);
    recall('e0');
    expect(written).toHaveLength(TERMS_CACHE_MAX);
  });

  it('I43: forgets the oldest with one request more', () => {
    for (let at = 0; at <= TERMS_CACHE_MAX; at += 1) recall(`e${at}`);
    recall('e1');
    expect(written).toHaveLength(TERMS_CACHE_MAX + 1);
    recall('e0');
    expect(written).toHaveLength(TERMS_CACHE_MAX + 2);
  });
});

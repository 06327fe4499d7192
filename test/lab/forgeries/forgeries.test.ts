import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeFolders } from '../../snapshot-folder.ts';
import { seeded } from '../campaign.ts';
import { otherSpellings } from './body-forgeries.ts';
import { runForgeries } from './forgeries.ts';
import { readingForgeries, settlementForgeries } from './plan.ts';
import {
  isTrueReading,
  isTrueSettlement,
  type ReadingShop,
  readingShop,
  SETTLEMENT_NOW,
  type SettlementShop,
  settlementShop,
} from './shops.ts';

const SEED = 24;
/** Of all genuine bodies one in so many is forged. */
const EVERY = 16;
const FORGERIES = 130;

let filings: SettlementShop;
let readings: ReadingShop;
beforeAll(async () => {
  const shop = await settlementShop();
  filings = { ...shop, answers: shop.answers.filter((_, at) => at % EVERY === 0) };
  const all = await readingShop();
  const some = [...all.moments].filter((_, at) => at % EVERY === 0);
  readings = { ...all, moments: new Map(some) };
});
afterAll(removeFolders);

const never = async (): Promise<boolean> => false;

describe('I53: the forgery campaign, its short form', () => {
  it('finds no judge that believes a lie about filings, and no two that disagree', async () => {
    const trusted = { did: filings.did, service: filings.service, now: SETTLEMENT_NOW };
    const forgeries = settlementForgeries(filings, FORGERIES, seeded(SEED));
    const result = await runForgeries(forgeries, trusted, isTrueSettlement(filings));
    expect([result.passed, result.disputed]).toEqual([[], []]);
    expect(Object.keys(result.judged).length).toBeGreaterThan(5);
    expect(result.verdicts.failed).toBeGreaterThan(70);
  });

  it('finds none about any other body', async () => {
    const forgeries = readingForgeries(readings.moments, FORGERIES, seeded(SEED));
    const isTrue = isTrueReading(readings.ask, readings.now);
    const result = await runForgeries(forgeries, readings, isTrue);
    expect([result.passed, result.disputed]).toEqual([[], []]);
    expect(Object.keys(result.judged)).toHaveLength(6);
    expect(result.verdicts.failed).toBeGreaterThan(50);
  });

  it('tells what was believed, where nothing that is handed out is true', async () => {
    const trusted = { did: filings.did, service: filings.service, now: SETTLEMENT_NOW };
    const spelled = filings.answers.flatMap((one) => [...otherSpellings(one)].slice(0, 3));
    const { passed } = await runForgeries(spelled, trusted, never);
    expect(passed).toHaveLength(spelled.length);
  });

  it('tells where one judge trusts somebody else', async () => {
    const stranger = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
    const genuine = [...readings.moments.values()].flatMap(([one]) =>
      one === undefined ? [] : [...otherSpellings(one)].slice(0, 1),
    );
    const { disputed } = await runForgeries(genuine, { ...readings, did: stranger }, never);
    expect(disputed.length).toBeGreaterThan(0);
  });
});

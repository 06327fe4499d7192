import { describe, expect, it } from 'vitest';
import {
  keepingSettlements,
  watchingWrites,
} from '../../../../gatekeeper/heart/journal/open-journal.ts';
import type { Claim, Conclusion } from '../../../../gatekeeper/settle/journal.ts';
import { NOW_MS, NOW_S } from '../../payer.ts';
import { freshJournal, TX } from '../../payment-bench.ts';

const KEPT_SETTLEMENTS_MAX = 10_000;

const claimOf = (key: string): Claim => ({
  key,
  resource: 'GET /gauge',
  version: 1,
  signed: 's',
  body: Buffer.from(key),
  contentType: 'text/plain',
  value: '1',
  validBefore: NOW_S + 300,
});

/** A journal whose disk can be full, with what really stands in it. */
function onDisk() {
  const disk = { isFull: false, tried: 0 };
  const inner = freshJournal();
  const conclude = async (conclusion: Conclusion): Promise<void> => {
    disk.tried += 1;
    if (disk.isFull) throw new Error('disk is full');
    await inner.conclude(conclusion);
  };
  return { disk, inner, journal: keepingSettlements({ ...inner, conclude }) };
}
const SETTLED = { state: 'settled', transaction: TX, settledMs: 1234 } as const;
const settledAs = (key: string): Conclusion => ({ key, ...SETTLED });

describe('keepingSettlements()', () => {
  it('I2: a settlement that could not be written is known, delivered and written later', async () => {
    const { disk, inner, journal } = onDisk();
    await journal.claim(claimOf('a'));
    disk.isFull = true;
    await expect(journal.conclude(settledAs('a'))).rejects.toThrow('full');
    expect(await inner.find('a')).toMatchObject({ state: 'settling' });
    expect(await journal.find('a')).toMatchObject(SETTLED);
    expect(await journal.unresolved(0, 10)).toEqual([]);
    disk.isFull = false;
    expect(await journal.find('a')).toMatchObject(SETTLED);
    expect(await inner.find('a')).toMatchObject(SETTLED);
    inner.close();
  });

  it('I2: writes what it kept with the next look for open payments, and only once', async () => {
    const { disk, inner, journal } = onDisk();
    disk.isFull = true;
    for (const key of ['a', 'b', 'open']) await journal.claim(claimOf(key));
    for (const key of ['a', 'b'])
      await expect(journal.conclude(settledAs(key))).rejects.toThrow('full');
    disk.isFull = false;
    expect((await journal.unresolved(0, 10)).map(({ key }) => key)).toEqual(['open']);
    for (const key of ['a', 'b']) expect(await inner.find(key)).toMatchObject({ state: 'settled' });
    const { tried } = disk;
    await journal.unresolved(0, 10);
    await journal.find('a');
    expect(disk.tried).toBe(tried);
    inner.close();
  });

  it('keeps no refusal and no doubt: the next answer may be another one', async () => {
    const { disk, inner, journal } = onDisk();
    await journal.claim(claimOf('a'));
    disk.isFull = true;
    for (const state of ['refused', 'unknown'] as const)
      await expect(journal.conclude({ key: 'a', state })).rejects.toThrow('full');
    expect(await journal.find('a')).toMatchObject({ state: 'settling' });
    expect((await journal.unresolved(0, 10)).map(({ key }) => key)).toEqual(['a']);
    inner.close();
  });

  it('gives way to what somebody else wrote meanwhile, and forgets a key that is not there', async () => {
    const { disk, inner, journal } = onDisk();
    await journal.claim(claimOf('a'));
    disk.isFull = true;
    for (const key of ['a', 'absent'])
      await expect(journal.conclude(settledAs(key))).rejects.toThrow('full');
    disk.isFull = false;
    await inner.conclude({ key: 'a', state: 'settled', transaction: '0xother' });
    expect(await journal.find('a')).toMatchObject({ transaction: '0xother' });
    expect(await journal.find('absent')).toBeNull();
    const { tried } = disk;
    await journal.unresolved(0, 10);
    expect(disk.tried).toBe(tried);
    inner.close();
  });

  it('keeps a bounded number, and asks a full disk once for all of them', async () => {
    const { disk, inner, journal } = onDisk();
    disk.isFull = true;
    await journal.claim(claimOf('last'));
    for (let at = 0; at < KEPT_SETTLEMENTS_MAX; at++) {
      await journal.conclude(settledAs(`${at}`)).catch(() => {});
    }
    await journal.conclude(settledAs('last')).catch(() => {});
    expect(await journal.find('last')).toMatchObject({ state: 'settling' });
    inner.close();
  });
});

const WRITE_FAILURE_MS = 30_000;

const CLAIM: Claim = {
  key: 'a',
  resource: 'GET /',
  version: 1,
  signed: 's',
  body: Buffer.from('x'),
  contentType: 't',
  value: '1',
  validBefore: 1,
};

describe('watchingWrites()', () => {
  it('tells that a claim failed until one succeeds, or for a while', async () => {
    const by = { isFull: false, isLost: false, now: NOW_MS };
    const inner = freshJournal();
    const claim = (one: Claim): Promise<boolean> =>
      by.isFull ? Promise.reject(new Error('full')) : inner.claim(one);
    const clock = () => by.now;
    const { journal, failure } = watchingWrites(
      { ...inner, claim },
      { clock, isLost: () => by.isLost },
    );
    expect(await journal.claim(CLAIM)).toBe(true);
    expect(failure()).toBeNull();
    by.isFull = true;
    await expect(journal.claim(CLAIM)).rejects.toThrow('full');
    expect(failure()).toBe('full');
    by.isFull = false;
    // Taken by the first claim, which is an answer and no failure.
    expect(await journal.claim(CLAIM)).toBe(false);
    expect(failure()).toBeNull();
    by.isFull = true;
    await expect(journal.claim(CLAIM)).rejects.toThrow('full');
    by.now += WRITE_FAILURE_MS - 1;
    expect(failure()).toBe('full');
    by.now += 1;
    expect(failure()).toBeNull();
    inner.close();
  });
});

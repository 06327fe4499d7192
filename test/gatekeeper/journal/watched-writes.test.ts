import { describe, expect, it } from 'vitest';
import { watchingWrites } from '../../../gatekeeper/journal/open-journal.ts';
import type { Claim } from '../../../gatekeeper/money/journal.ts';
import { NOW_MS } from '../payer.ts';
import { freshJournal } from '../payment-bench.ts';

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

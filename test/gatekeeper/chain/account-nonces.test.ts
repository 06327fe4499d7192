import { describe, expect, it } from 'vitest';
import { accountNonces } from '../../../gatekeeper/chain/relayer.ts';

function nonces(max = 16) {
  const chain = { next: 7, asked: 0 };
  const onChain = async (): Promise<number> => {
    chain.asked += 1;
    return chain.next;
  };
  return { chain, ...accountNonces({ max, onChain }) };
}

describe('accountNonces()', () => {
  it('accountNonces() hands out each nonce once, from where the chain stands', async () => {
    const { take, chain } = nonces();
    expect(await Promise.all([take(), take(), take()])).toEqual([7, 8, 9]);
    expect(chain.asked).toBe(1);
  });

  it('accountNonces() asks the chain again when nothing is on its way', async () => {
    const { take, done, chain } = nonces();
    await take();
    done(7);
    chain.next = 20;
    expect(await take()).toBe(20);
  });

  it('accountNonces() hands out what came back before anything new', async () => {
    const { take, giveBack } = nonces();
    await Promise.all([take(), take(), take()]);
    giveBack(7);
    expect([await take(), await take()]).toEqual([7, 10]);
    giveBack(10);
    expect(await take()).toBe(10);
  });

  it('accountNonces() lists the gaps that later transactions wait for, once', async () => {
    const { take, giveBack, takeGaps } = nonces();
    await Promise.all([take(), take(), take(), take()]);
    giveBack(7);
    giveBack(8);
    expect(takeGaps({ used: 8, below: 10 })).toEqual([8]);
    expect(takeGaps({ used: 8, below: 10 })).toEqual([]);
    giveBack(10);
    expect(takeGaps({ used: 8, below: 9 })).toEqual([]);
  });

  it('accountNonces() goes on behind a nonce that somebody else used', async () => {
    const { take, skip, chain } = nonces();
    await Promise.all([take(), take()]);
    skip(7);
    expect(await take()).toBe(9);
    chain.next = 30;
    skip(9);
    expect(await take()).toBe(30);
  });

  it('accountNonces() lets only so many out, and survives a chain that does not answer', async () => {
    const { take, done } = nonces(2);
    const first = [await take(), await take()];
    let third = -1;
    const waiting = take().then((nonce) => {
      third = nonce;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([...first, third]).toEqual([7, 8, -1]);
    done(7);
    await waiting;
    expect(third).toBe(9);

    let down = true;
    const onChain = async (): Promise<number> => {
      if (down) throw new Error('down');
      return 3;
    };
    const shaky = accountNonces({ max: 2, onChain });
    await expect(shaky.take()).rejects.toThrow('down');
    down = false;
    expect(await shaky.take()).toBe(3);
  });
});

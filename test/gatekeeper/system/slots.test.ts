import { describe, expect, it } from 'vitest';
import { Slots, SlotsFullError } from '../../../gatekeeper/system/slots.ts';

describe('Slots', () => {
  it('runs so many at once, the others in their order, and refuses a crowd', async () => {
    const slots = new Slots(2, 3);
    const [ends, order]: [(() => void)[], number[]] = [[], []];
    let running = 0;
    let most = 0;
    const work = (at: number) => () => {
      running += 1;
      most = Math.max(most, running);
      order.push(at);
      return new Promise<void>((done) => ends.push(done)).finally(() => {
        running -= 1;
      });
    };
    const all = [0, 1, 2, 3, 4].map((at) => slots.run(work(at)));
    await expect(slots.run(work(5))).rejects.toThrow(SlotsFullError);
    for (let at = 0; at < 5; at += 1) {
      await new Promise((done) => setTimeout(done, 1));
      ends[at]?.();
    }
    await Promise.all(all);
    expect([most, order]).toEqual([2, [0, 1, 2, 3, 4]]);
  });

  it('gives the slot of work that failed to the next', async () => {
    const slots = new Slots(1, 10);
    const failing = slots.run(() => Promise.reject(new Error('x')));
    const next = slots.run(() => Promise.resolve(7));
    await expect(failing).rejects.toThrow('x');
    expect(await next).toBe(7);
    expect(await slots.run(() => Promise.resolve(8))).toBe(8);
  });
});

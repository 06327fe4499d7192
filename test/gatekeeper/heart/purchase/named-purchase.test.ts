import { describe, expect, it } from 'vitest';
import { SmartAccounts } from '../../../../gatekeeper/heart/payment/payer-admission.ts';
import { authorizationOf } from '../../../../gatekeeper/settle/facilitator.ts';
import { encoded, NOW_MS, payer, paymentObject } from '../../payer.ts';
import {
  alice,
  type Bench,
  bench,
  expectRefused,
  json,
  network,
  PAY_TO,
  receipt,
  v2,
} from '../../payment-bench.ts';

const ID = 'pay_0123456789abcdef';
const PRICE = '10000';
const OTHER = '/gauge?entity=us-boise&signal_id=airquality.aqi';

/** A header of version 2 with a new signature and this extension. */
async function extended(extension: unknown, { by = alice, value = PRICE } = {}) {
  const signed = paymentObject(v2, await by.sign(PAY_TO, value));
  return encoded({ ...signed, extensions: { 'payment-identifier': extension } });
}

const named = (id = ID, how: Parameters<typeof extended>[1] = {}) =>
  extended({ info: { required: false, id } }, how);
const pay = (purchases: Bench, header: string, target?: string) =>
  purchases.pay({ header, version: 2, ...(target === undefined ? {} : { target }) });

describe('a payment identifier', () => {
  it('I2: a new signature under the same identifier gets the same answer and moves no money', async () => {
    const purchases = bench();
    const first = await pay(purchases, await named());
    const again = await pay(purchases, await named());
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body).toEqual(first.body);
    const name = 'payment-response';
    expect(receipt(again, name)).toEqual(receipt(first, name));
    expect(purchases.calls).toMatchObject({ deliver: 1 });
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I2: it does so after a restart', async () => {
    const purchases = bench();
    const first = await pay(purchases, await named());
    purchases.restart();
    expect((await pay(purchases, await named())).body).toEqual(first.body);
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I3: two signatures at the same time are charged once', async () => {
    const purchases = bench();
    const headers = await Promise.all(Array.from({ length: 8 }, () => named()));
    const replies = await Promise.all(headers.map((header) => pay(purchases, header)));
    expect(purchases.calls.settle).toHaveLength(1);
    const sold = replies.filter(({ status }) => status === 200);
    expect(sold.length).toBeGreaterThan(0);
    const doubts = replies.filter(({ status }) => status !== 200);
    expect(doubts.every(({ status }) => status === 503)).toBe(true);
    purchases.wait();
    for (const header of headers) {
      expect((await pay(purchases, header)).body).toEqual(sold[0]?.body);
    }
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I6: refuses another request or other money under a used identifier by name, and takes a new one', async () => {
    const purchases = bench();
    await pay(purchases, await named());
    expectRefused(await pay(purchases, await named(), OTHER), /^payment_identifier_used: /);
    const more = await named(ID, { value: '20000' });
    expectRefused(await pay(purchases, more), /^payment_identifier_used: /);
    expect(purchases.calls.settle).toHaveLength(1);
    expect((await pay(purchases, await named('a-new-name-of-mine'), OTHER)).status).toBe(200);
    expect(purchases.calls.settle).toHaveLength(2);
  });

  it('I6: is the own name of an account: another payer buys under the same one', async () => {
    const purchases = bench();
    await pay(purchases, await named());
    const bob = payer(network, 'bob');
    const reply = await pay(purchases, await named(ID, { by: bob }));
    expect(receipt(reply, 'payment-response')).toMatchObject({ payer: bob.address });
    expect(purchases.calls.settle).toHaveLength(2);
  });

  it('I1: whoever knows the name and the address of a payer gets nothing without his signature', async () => {
    const purchases = bench();
    await pay(purchases, await named());
    const { authorization } = await alice.sign(PAY_TO, PRICE);
    const mallory = await payer(network, 'mallory').sign(PAY_TO, PRICE);
    const forged = paymentObject(v2, { authorization, signature: mallory.signature });
    const extensions = { 'payment-identifier': { info: { required: false, id: ID } } };
    const reply = await pay(purchases, encoded({ ...forged, extensions }));
    expectRefused(reply, /invalid_exact_evm_payload_signature/);
  });

  it('I1: nor where accounts with code may pay: the account is asked first', async () => {
    const accounts = new SmartAccounts(() => NOW_MS);
    const purchases = bench({ accounts });
    const first = await pay(purchases, await named());
    const { authorization } = await alice.sign(PAY_TO, PRICE);
    const signature = `0x${'ee'.repeat(65)}` as const;
    const extensions = { 'payment-identifier': { info: { required: false, id: ID } } };
    const forged = encoded({ ...paymentObject(v2, { authorization, signature }), extensions });
    purchases.script.verify = async () => ({ verdict: 'invalid', reason: 'invalid_payload' });
    expectRefused(await pay(purchases, forged), /invalid_payload/);
    purchases.script.verify = async () => ({ verdict: 'none', detail: 'timeout' });
    const later = { authorization: (await alice.sign(PAY_TO, PRICE)).authorization, signature };
    const unheard = await pay(purchases, encoded({ ...paymentObject(v2, later), extensions }));
    expect(unheard.status).toBe(503);
    purchases.script.verify = async () => ({ verdict: 'valid' });
    const own = { authorization: (await alice.sign(PAY_TO, PRICE)).authorization, signature };
    const asked = await pay(purchases, encoded({ ...paymentObject(v2, own), extensions }));
    expect(asked.body).toEqual(first.body);
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I1: a signature that bought something else already opens nothing under a name', async () => {
    const purchases = bench();
    await pay(purchases, await named());
    const signed = paymentObject(v2, await alice.sign(PAY_TO, PRICE));
    await pay(purchases, encoded(signed), OTHER);
    const extensions = { 'payment-identifier': { info: { required: false, id: ID } } };
    const reply = await pay(purchases, encoded({ ...signed, extensions }));
    expectRefused(reply, /payment_already_used/);
  });

  it('I10: a doubt about the first payment is asked about, and the second is not sent', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    expect((await pay(purchases, await named())).status).toBe(503);
    expect((await pay(purchases, await named())).status).toBe(503);
    expect(purchases.calls.settle).toHaveLength(1);
    purchases.wait();
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: '0x1' });
    expect((await pay(purchases, await named())).status).toBe(200);
    const nonces = purchases.calls.settle.map((request) => authorizationOf(request).nonce);
    expect([nonces.length, new Set(nonces).size]).toEqual([2, 1]);
  });

  it('I2: after a crash in the middle of the first settlement, a new signature brings that one to its end', async () => {
    const purchases = bench();
    purchases.script.settle = () => new Promise(() => {});
    void pay(purchases, await named());
    await expect.poll(() => purchases.calls.settle.length).toBe(1);
    purchases.restart();
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: '0x1' });
    const replies = [await pay(purchases, await named()), await pay(purchases, await named())];
    expect(replies.map(({ status, body }) => [status, body.toString()])).toEqual([
      [200, '{"body":1}'],
      [200, '{"body":1}'],
    ]);
    const nonces = purchases.calls.settle.map((request) => authorizationOf(request).nonce);
    expect([nonces.length, new Set(nonces).size]).toEqual([2, 1]);
  });

  it('I10: where the first payment was refused for good, the second one buys', async () => {
    const purchases = bench();
    const funds = 'insufficient_funds';
    purchases.script.settle = async () => ({ verdict: 'refused', reason: funds, isProven: true });
    expectRefused(await pay(purchases, await named()), /insufficient_funds/);
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: '0x2' });
    expect((await pay(purchases, await named())).status).toBe(200);
    expect(purchases.calls.settle).toHaveLength(2);
  });

  it('refuses a malformed one by name and asks nobody; one without an id is an offer only', async () => {
    const purchases = bench();
    for (const extension of [
      { info: { required: false, id: 'short' } },
      { info: { required: false, id: `${ID} ` } },
      { info: { required: false, id: 'x'.repeat(129) } },
      { info: { required: false, id: 7 } },
      { info: { id: ID } },
      { id: ID },
      'pay_0123456789abcdef',
    ]) {
      const reply = await pay(purchases, await extended(extension));
      expectRefused(reply, /^invalid_payment_identifier: .* nothing was charged/);
      expect(json(reply).accepts).toHaveLength(1);
    }
    expect(purchases.calls.settle).toEqual([]);
    const plain = await extended({ info: { required: false } });
    expect((await pay(purchases, plain)).status).toBe(200);
  });
});

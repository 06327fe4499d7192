import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { decodePayment } from '../../../../gatekeeper/heart/payment/payment-header.ts';
import {
  packJobs,
  recoverJobs,
  signaturePool,
  unpackSigners,
} from '../../../../gatekeeper/heart/payment/signature-pool.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { isRefusal, type Payment } from '../../../../gatekeeper/settle/payment.ts';
import { signedBy } from '../../../../gatekeeper/settle/signature.ts';
import { headerOf } from '../../payer.ts';
import { alice, bench, expectRefused, PAY_TO, v1 } from '../../payment-bench.ts';

const BLOCK_JOBS_MAX = 64;

const { base } = NETWORKS;

class Port extends EventEmitter {
  readonly blocks: number[] = [];
  isHeld = false;

  postMessage(block: Uint8Array): void {
    this.blocks.push(block.length);
    const copy = structuredClone(block);
    if (!this.isHeld) setImmediate(() => this.emit('message', recoverJobs(copy)));
  }
}

async function payment(): Promise<Payment> {
  const decoded = decodePayment(await alice.header(v1), 1);
  if (isRefusal(decoded)) throw new Error(decoded.error);
  return decoded;
}

describe('signaturePool()', () => {
  it('finds in blocks what signedBy() finds alone', async () => {
    const port = new Port();
    const pool = signaturePool(port);
    const payments = await Promise.all(Array.from({ length: 20 }, payment));
    const forged = { ...(await payment()), signature: `0x${'11'.repeat(64)}1b` };
    const nobody = { ...(await payment()), signature: `0x${'00'.repeat(65)}` };
    await Promise.all([...payments, forged, nobody].map((one) => pool.judge(one, base)));
    expect(port.blocks).toHaveLength(1);
    for (const { authorization, signature } of payments) {
      expect(signedBy(base, authorization, signature).payer).toBe(alice.address.toLowerCase());
    }
    const { authorization, signature } = forged;
    expect(signedBy(base, authorization, signature).payer).not.toBe(alice.address.toLowerCase());
    expect(signedBy(base, nobody.authorization, nobody.signature).payer).toBeNull();
  });

  it('sends one block at a time', async () => {
    const port = new Port();
    const pool = signaturePool(port);
    const first = pool.judge(await payment(), base);
    await new Promise((resolve) => setImmediate(resolve));
    const others = [pool.judge(await payment(), base), pool.judge(await payment(), base)];
    await Promise.all([first, ...others]);
    expect(port.blocks.reduce((sum, bytes) => sum + bytes, 0)).toBe(3 * 97);
  });

  it('fills no block beyond its size, and leaves nobody behind', async () => {
    const port = new Port();
    const pool = signaturePool(port);
    const one = await payment();
    const copies = Array.from({ length: 2 * BLOCK_JOBS_MAX + 1 }, () => structuredClone(one));
    await Promise.all(copies.map((copy) => pool.judge(copy, base)));
    expect(port.blocks).toEqual([97 * BLOCK_JOBS_MAX, 97 * BLOCK_JOBS_MAX, 97]);
  });

  it('lets nobody wait for a thread that died', async () => {
    const port = new Port();
    port.isHeld = true;
    const pool = signaturePool(port);
    const waiting = pool.judge(await payment(), base);
    await new Promise((resolve) => setImmediate(resolve));
    const next = pool.judge(await payment(), base);
    port.emit('error', new Error('gone'));
    await Promise.all([waiting, next, pool.judge(await payment(), base)]);
    const one = await payment();
    expect(signedBy(base, one.authorization, one.signature).payer).toBe(
      alice.address.toLowerCase(),
    );
  });
});

describe('pay() with signatures judged elsewhere', () => {
  it('I3: binds a payment once for 50 copies, and refuses a forged one', async () => {
    const purchases = bench({ signatures: signaturePool(new Port()) });
    const signed = await alice.sign(PAY_TO, '10000');
    const forged = { ...signed, signature: `0x${'11'.repeat(64)}1b` as const };
    expectRefused(await purchases.pay({ header: headerOf(v1, forged) }), /payload_signature/);
    const header = headerOf(v1, signed);
    const elsewhere = purchases.pay({ header, target: '/gauge' });
    const copies = await Promise.all(Array.from({ length: 50 }, () => purchases.pay({ header })));
    const statuses = [await elsewhere, ...copies].map(({ status }) => status);
    expect(statuses[0] === 200 ? statuses.slice(1) : [402, ...statuses.slice(1)]).not.toContain(
      503,
    );
    expect(purchases.calls.settle).toHaveLength(1);
  });
});

describe('recoverJobs()', () => {
  it('keeps the order, and knows no signer for bytes that are none', () => {
    const digest = new Uint8Array(32).fill(7);
    const jobs = Array.from({ length: 3 }, () => ({ digest, signature: `0x${'ff'.repeat(65)}` }));
    expect(unpackSigners(recoverJobs(packJobs(jobs)))).toEqual([null, null, null]);
    expect(unpackSigners(recoverJobs(packJobs([])))).toEqual([]);
  });
});

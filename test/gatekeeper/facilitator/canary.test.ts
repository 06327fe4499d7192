import { createHash } from 'node:crypto';
import { recoverTypedDataAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { canary } from '../../../gatekeeper/facilitator/facilitator-pool.ts';
import { localFacilitator } from '../../../gatekeeper/facilitator/local-facilitator.ts';
import { authorizationOf } from '../../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { NOW_MS, typedTransfer } from '../payer.ts';
import { paymentRequest } from '../payment-request.ts';

let drawn = 0;
const random = (bytes: number): Uint8Array => {
  drawn += 1;
  return createHash('sha256').update(`random ${drawn}`).digest().subarray(0, bytes);
};
const clock = (): number => NOW_MS;

describe('canary()', () => {
  it('I4: keeps nothing of a stranger: payer, value, window, nonce and signature are our own', async () => {
    const like = { ...(await paymentRequest()), trace: { id: 'a', sentId: 'a' } };
    const made = canary({ clock, random })(like);
    expect(made.trace).toBeUndefined();
    const [theirs, ours] = [authorizationOf(like), authorizationOf(made)];
    expect(ours.from).not.toBe(theirs.from);
    expect(ours.nonce).not.toBe(theirs.nonce);
    const signatures = [made, like].map(({ paymentPayload }) => paymentPayload.payload.signature);
    expect(signatures[0]).not.toBe(signatures[1]);
    expect(made.paymentRequirements).toBe(like.paymentRequirements);
    expect(ours.to).toBe(like.paymentRequirements.payTo);
    expect(Object.keys(made.paymentPayload)).toEqual(Object.keys(like.paymentPayload));
  });

  it('is signed as the token wants it, so a facilitator can judge it', async () => {
    const made = canary({ clock, random })(await paymentRequest());
    const signature = made.paymentPayload.payload.signature as `0x${string}`;
    const typed = typedTransfer(NETWORKS.base, authorizationOf(made));
    expect(await recoverTypedDataAddress({ ...typed, signature })).toBe(authorizationOf(made).from);
    expect(await localFacilitator({ clock }).verify(made)).toMatchObject({ verdict: 'valid' });
  });

  it('has one payer, and a nonce of its own each time', async () => {
    const like = await paymentRequest();
    const make = canary({ clock, random });
    const [first, second] = [authorizationOf(make(like)), authorizationOf(make(like))];
    expect(first.from).toBe(second.from);
    expect(first.nonce).not.toBe(second.nonce);
    expect(authorizationOf(canary({ clock, random })(like)).from).not.toBe(first.from);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { payer } from '../gatekeeper/payer.ts';
import { accountOf, type Chain, startChain } from './chain.ts';

const network = NETWORKS['base-sepolia'];
const PAYEE = `0x${'ab'.repeat(20)}`;
const HALF = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const ORDER = 2n * HALF + 1n;
const alice = payer(network, 'alice');

let chain: Chain;
beforeAll(async () => {
  chain = await startChain({ network });
  await chain.mint(alice.address, 100n);
});
afterAll(() => chain.close());

const now = (): number => Math.floor(Date.now() / 1000);
const signed = (value: string, over = {}) =>
  alice.sign(PAYEE, value, { validAfter: '0', validBefore: String(now() + 300), ...over });

/** The token that every other chain test stands on keeps the rules of EIP-3009 as USDC has them. */
describe('Token', () => {
  it('Token moves exactly the signed value, once', async () => {
    const payment = await signed('30');
    expect(await chain.isUsed(payment)).toBe(false);
    await chain.submit(payment);
    expect(await chain.isUsed(payment)).toBe(true);
    await expect(chain.submit(payment)).rejects.toThrow(/used or canceled/);
    expect([await chain.balanceOf(alice.address), await chain.balanceOf(PAYEE)]).toEqual([
      70n,
      30n,
    ]);
  });

  it('Token takes nothing early, late, beyond the balance, cancelled or altered', async () => {
    const early = await signed('1', { validAfter: String(now() + 100) });
    await expect(chain.submit(early)).rejects.toThrow(/not yet valid/);
    const late = await signed('1', { validBefore: String(now() - 1) });
    await expect(chain.submit(late)).rejects.toThrow(/expired/);
    await expect(chain.submit(await signed('71'))).rejects.toThrow(/exceeds balance/);
    const cancelled = await signed('1');
    await chain.cancel(cancelled, accountOf('alice'));
    await expect(chain.submit(cancelled)).rejects.toThrow(/used or canceled/);
    const { authorization, signature } = await signed('1');
    const altered = { authorization: { ...authorization, value: '2' }, signature };
    await expect(chain.submit(altered)).rejects.toThrow(/invalid signature/);
    expect(await chain.balanceOf(PAYEE)).toBe(30n);
  });

  it('Token takes no signature of the other half of the curve', async () => {
    const { authorization, signature } = await signed('1');
    const s = ORDER - BigInt(`0x${signature.slice(66, 130)}`);
    const v = signature.endsWith('1b') ? '1c' : '1b';
    const twin = `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}` as const;
    await expect(chain.submit({ authorization, signature: twin as `0x${string}` })).rejects.toThrow(
      /'s' value/,
    );
    await chain.submit({ authorization, signature });
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hex, parseAbi } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { startGate } from '../gate.ts';
import { BEHIND_PROXY } from '../gatekeeper/tiny-gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { type Purchase, send } from './buyer.ts';
import { accountOf, type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { openStall, PAYEE, type Stall } from './stall.ts';
import {
  delegates,
  deployed,
  prefixed,
  type Signs,
  signedBy,
  undeployed,
  withDeployment,
  withMulticall,
} from './wallets.ts';

/**
 * Accounts with code buy from a gatekeeper, through the published facilitator and through its own relayer. Their contracts
 * stand on a chain of our own, and what was paid is read off that chain.
 */
const network = NETWORKS['base-sepolia'];
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const FUNDS = 1_000_000n;
const owner = accountOf('owner');
const stranger = accountOf('stranger');
const anything: Signs = async () => `0x${'77'.repeat(80)}`;
const folder = mkdtempSync(join(tmpdir(), 'signalpress-wallets-'));

let chain: Chain;
let factory: Hex;
let trap: Hex;
let facilitator: ChainFacilitator;
const shops: Partial<Record<Shop, Gatekeeper>> = {};
type Shop = 'facilitator' | 'relayer';
/** How far the clocks of the gatekeepers are ahead. */
let skewMs = 0;

beforeAll(async () => {
  chain = await startChain({ network });
  await withMulticall(chain);
  factory = await deployed(chain, 'Factory');
  trap = await deployed(chain, 'Trap');
  facilitator = await chainFacilitator(chain, [factory]);
  writeTinyRelease(join(folder, 'data'));
  const { key } = await chain.relayer();
  shops.facilitator = await opened('facilitator', { facilitator_url: facilitator.url });
  shops.relayer = await opened('relayer', { max_fee_gwei: '50' }, { SIGNALPRESS_RELAYER_KEY: key });
});
afterAll(async () => {
  for (const shop of Object.values(shops)) await shop.close();
  await facilitator?.close();
  await chain?.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  facilitator.fault = () => null;
});

async function opened(
  name: string,
  options: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Gatekeeper> {
  const own = { data: join(folder, 'data'), state: join(folder, name), pay_to: PAYEE };
  const all = { ...own, trusted_proxy: BEHIND_PROXY.trustedProxy, rpc_url: chain.url, ...options };
  return startGate(all, { env, clock: () => Date.now() + skewMs });
}

const base = (shop: Shop): string => shops[shop]?.url ?? '';

/** Signs at a shop, from an account that has money. */
async function signed(shop: Shop, from: string, signs: Signs): Promise<Purchase> {
  await chain.mint(from, FUNDS);
  return signedBy(chain, { from, signs }, { base: base(shop), target: RECORD });
}

/** What the payee got while something was done. */
async function gained(work: () => Promise<unknown>): Promise<bigint> {
  const before = await chain.balanceOf(PAYEE);
  await work();
  return (await chain.balanceOf(PAYEE)) - before;
}

async function refusedFor(shop: Shop, purchase: Purchase, words: RegExp): Promise<void> {
  const paid = await gained(async () => {
    const answer = await send(base(shop), purchase);
    expect(answer).toMatchObject({ status: 402, receipt: null });
    expect(JSON.parse(answer?.body ?? '').error).toMatch(words);
  });
  expect(paid).toBe(0n);
}

/** Buys once, is given the same again, and is charged once. */
async function sells(shop: Shop, purchase: Purchase): Promise<void> {
  const paid = await gained(async () => {
    const answer = await send(base(shop), purchase);
    expect(answer?.body).toContain('us-denver');
    const payer = purchase.payment.authorization.from;
    expect(answer).toMatchObject({ status: 200, receipt: { success: true, payer } });
    expect(await send(base(shop), purchase)).toEqual(answer);
  });
  expect(paid).toBe(purchase.price);
}

const SHOPS = ['facilitator', 'relayer'] as const;

describe.each(SHOPS)('an account with code pays through the %s', (shop) => {
  it.each([1, 2] as const)('EIP-1271: its owner signs, version %i', async (version) => {
    const wallet = await deployed(chain, 'Wallet', owner.address);
    await chain.mint(wallet, FUNDS);
    const request = { base: base(shop), target: RECORD, version };
    await sells(shop, await signedBy(chain, { from: wallet, signs: prefixed(owner) }, request));
  });

  it('EIP-1271: somebody else signs, or the owner something else: nothing is settled', async () => {
    const wallet = await deployed(chain, 'Wallet', owner.address);
    const settles = facilitator.calls.settle;
    await refusedFor(shop, await signed(shop, wallet, prefixed(stranger)), /signature|smart/);
    const other: Signs = () => prefixed(owner)(`0x${'12'.repeat(32)}`);
    await refusedFor(shop, await signed(shop, wallet, other), /signature|smart/);
    expect(facilitator.calls.settle).toBe(settles);
  });

  it('EIP-7702: an account that runs code pays by its key and by its code', async () => {
    const account = accountOf(`delegating ${shop}`);
    await delegates(chain, account, await deployed(chain, 'Delegate'));
    await sells(shop, await signed(shop, account.address, prefixed(account)));
    const byKey: Signs = (hash) => account.sign?.({ hash }) ?? Promise.reject(new Error('no key'));
    await sells(shop, await signed(shop, account.address, byKey));
    await refusedFor(
      shop,
      await signed(shop, account.address, prefixed(stranger)),
      /signature|smart/,
    );
  });

  it('ERC-6492: a wallet that is deployed pays with the wrapped signature too', async () => {
    const wallet = await undeployed(chain, factory, accountOf(`wrapped ${shop}`).address);
    await chain.client.sendTransaction({
      account: await chain.relayer(),
      to: factory,
      data: wallet.create,
    });
    const signs = withDeployment(prefixed(accountOf(`wrapped ${shop}`)), factory, wallet.create);
    await sells(shop, await signed(shop, wallet.address, signs));
  });

  it('EIP-1271: a wallet that takes anything pays with its own money, and not without', async () => {
    const wallet = await deployed(chain, 'Generous');
    const purchase = await signed(shop, wallet, anything);
    await sells(shop, purchase);
    const poor = await deployed(chain, 'Generous');
    const request = { base: base(shop), target: RECORD };
    const unpaid = await signedBy(chain, { from: poor, signs: anything }, request);
    await refusedFor(shop, unpaid, /insufficient/);
  });

  it('I5: a wallet that takes anything gets nothing for a second signature of one authorization', async () => {
    const wallet = await deployed(chain, 'Generous');
    const first = await signed(shop, wallet, anything);
    await sells(shop, first);
    const other: Signs = async () => `0x${'78'.repeat(80)}`;
    const over = first.payment.authorization;
    const request = { base: base(shop), target: RECORD, over };
    const again = await signedBy(chain, { from: wallet, signs: other }, request);
    await refusedFor(shop, again, /payment_already_used/);
  });

  it('EIP-1271: a wallet that uses up all gas is refused, and soon', async () => {
    const wallet = await deployed(chain, 'Burner');
    const started = performance.now();
    await refusedFor(shop, await signed(shop, wallet, anything), /\w/);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('ERC-6492: what its signature calls is never called here', async () => {
    const { address, create } = await undeployed(chain, factory, accountOf(`trap ${shop}`).address);
    const signs = withDeployment(prefixed(accountOf(`trap ${shop}`)), trap, create);
    await refusedFor(shop, await signed(shop, address, signs), /6492|undeployed/);
    const calls = parseAbi(['function calls() view returns (uint256)']);
    const read = { address: trap, abi: calls, functionName: 'calls' } as const;
    expect(await chain.client.readContract(read)).toBe(0n);
  });
});

describe('an account that is not deployed yet', () => {
  it('ERC-6492: pays through a facilitator that deploys it', async () => {
    const mine = accountOf('future');
    const { address, create } = await undeployed(chain, factory, mine.address);
    const signs = withDeployment(prefixed(mine), factory, create);
    await sells('facilitator', await signed('facilitator', address, signs));
    expect(await chain.client.getCode({ address })).toBeDefined();
  });

  it('ERC-6492: is told by the relayer to deploy itself, and pays afterwards with the same payment', async () => {
    const mine = accountOf('later');
    const { address, create } = await undeployed(chain, factory, mine.address);
    const signs = withDeployment(prefixed(mine), factory, create);
    const purchase = await signed('relayer', address, signs);
    await refusedFor('relayer', purchase, /undeployed_smart_wallet: .* not deployed yet/);
    const account = await chain.relayer();
    await chain.client.sendTransaction({ account, to: factory, data: create });
    await new Promise((resolve) => setTimeout(resolve, 10_500));
    await sells('relayer', purchase);
  });
});

describe('an account with code at a facilitator that knows none', () => {
  it('is told to pay from a plain account, and nothing is settled', async () => {
    facilitator.fault = () => 'keys-only';
    const settles = facilitator.calls.settle;
    const wallet = await deployed(chain, 'Wallet', owner.address);
    const purchase = await signed('facilitator', wallet, prefixed(owner));
    await refusedFor('facilitator', purchase, /payer must be a plain externally-owned account/);
    expect(facilitator.calls.settle).toBe(settles);
  });
});

describe('a signature of an account with code', () => {
  it('I43: has at most 2048 bytes, and a header of 100 KB goes no further than the socket', async () => {
    const wallet = await deployed(chain, 'Generous');
    const verifies = facilitator.calls.verify;
    const most = await signed('facilitator', wallet, async () => `0x${'77'.repeat(2048)}`);
    await sells('facilitator', most);
    const more = await signed('facilitator', wallet, async () => `0x${'77'.repeat(2049)}`);
    await refusedFor('facilitator', more, /longer than 2048 bytes/);
    const far = await signed('facilitator', wallet, async () => `0x${'77'.repeat(100_000)}`);
    expect(await send(base('facilitator'), far)).toMatchObject({ status: 431, receipt: null });
    expect(facilitator.calls.verify - verifies).toBe(1);
  });
});

describe('an account whose code changes its mind', () => {
  const FICKLE = parseAbi(['function refuse(bool on)']);

  it('between the check and the settlement is refused, and pays when it takes its signature again', async () => {
    const wallet = await deployed(chain, 'Fickle');
    const account = await chain.relayer();
    const call = { address: wallet, abi: FICKLE, functionName: 'refuse', account } as const;
    const purchase = await signed('facilitator', wallet, anything);
    facilitator.fault = (name) => (name === 'settle' ? 'slow' : null);
    const settles = facilitator.calls.settle;
    const answer = send(base('facilitator'), purchase);
    while (facilitator.calls.settle === settles) await new Promise((r) => setTimeout(r, 5));
    await chain.client.writeContract({ ...call, args: [true] });
    expect(await answer).toMatchObject({ status: 402, receipt: null });
    await chain.client.writeContract({ ...call, args: [false] });
    await sells('facilitator', purchase);
  });

  it.each(SHOPS)(
    'on chain alone leaves a doubt at the %s, and one transaction is all that it costs a relayer',
    async (shop) => {
      const wallet = await deployed(chain, 'Hostile');
      const [first, second] = [
        await signed(shop, wallet, anything),
        await signed(shop, wallet, anything),
      ];
      const [settles, verifies] = [facilitator.calls.settle, facilitator.calls.verify];
      const before = await chain.client.getBlockNumber({ cacheTime: 0 });
      expect(await send(base(shop), first)).toMatchObject({ status: 503, receipt: null });
      expect(
        await chain.client.getBlockNumber({ cacheTime: 0 }),
        'one transaction was spent on it',
      ).toBe(before + 1n);
      await refusedFor(shop, second, /smart_account_did_not_settle/);
      expect(facilitator.calls.verify - verifies).toBe(shop === 'facilitator' ? 1 : 0);
      expect(facilitator.calls.settle - settles).toBe(shop === 'facilitator' ? 1 : 0);
      await new Promise((resolve) => setTimeout(resolve, 5100));
      expect(await send(base(shop), first)).toMatchObject({ status: 503, receipt: null });
      if (shop === 'relayer')
        expect(await chain.client.getBlockNumber({ cacheTime: 0 })).toBe(before + 1n);
      doubtful.push([shop, first]);
    },
  );

  it('ends as every doubt does, once its authorization is dead', async () => {
    expect(doubtful).toHaveLength(2);
    skewMs = 1_000_000;
    try {
      await chain.client.increaseTime({ seconds: 1000 });
      await chain.client.mine({ blocks: 1 });
      for (const [shop, purchase] of doubtful) {
        await refusedFor(shop, purchase, /authorization_expired/);
      }
    } finally {
      skewMs = 0;
    }
  });
  const doubtful: [Shop, Purchase][] = [];
});

describe('an account with code and a gatekeeper that is killed', () => {
  let own: Chain;
  let settler: ChainFacilitator;
  let stall: Stall;
  beforeAll(async () => {
    own = await startChain({ network });
    settler = await chainFacilitator(own);
    stall = await openStall({ chain: own, facilitatorUrl: settler.url });
  });
  afterAll(async () => {
    await stall?.close();
    await settler?.close();
    await own?.close();
  });

  it.each(['verify', 'settle'] as const)(
    'I2: during /%s is charged once and served once',
    async (name) => {
      const wallet = await deployed(own, 'Wallet', owner.address);
      await own.mint(wallet, FUNDS);
      const request = { base: stall.url, target: RECORD };
      const purchase = await signedBy(own, { from: wallet, signs: prefixed(owner) }, request);
      settler.fault = (called) => (called === name ? 'done-then-silent' : null);
      const calls = settler.calls[name];
      const lost = send(stall.url, purchase);
      while (settler.calls[name] === calls) await new Promise((resolve) => setTimeout(resolve, 5));
      if (name === 'settle') {
        while (!(await own.isUsed(purchase.payment))) await new Promise((r) => setTimeout(r, 10));
      }
      await stall.kill();
      expect(await lost).toBeNull();
      settler.fault = () => null;
      await stall.start();
      const answer = await send(stall.url, purchase);
      expect(answer).toMatchObject({ status: 200, receipt: { success: true } });
      expect(await send(stall.url, purchase)).toEqual(answer);
      expect(await own.balanceOf(wallet)).toBe(FUNDS - purchase.price);
    },
  );
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { priceOf, type X402Version } from '../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { startGate } from '../gate.ts';
import { headerOf, payer, windowAt } from '../gatekeeper/payer.ts';
import { BEHIND_PROXY } from '../gatekeeper/tiny-gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { type Purchase, send, termsOn } from './buyer.ts';
import { type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { PAYEE } from './stall.ts';

/** Two chains, one challenge: a buyer pays on either, and each payment moves money on its own chain alone. */
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const NAMES = ['base-sepolia', 'polygon-amoy'] as const;
const FUNDS = 1_000_000n;
const folder = mkdtempSync(join(tmpdir(), 'signalpress-networks-'));
type Name = (typeof NAMES)[number];

const chains = {} as Record<Name, Chain>;
const facilitators = {} as Record<Name, ChainFacilitator>;
const shops: Partial<Record<Shop, Gatekeeper>> = {};
type Shop = 'facilitators' | 'relayer';
const logged: Readonly<Record<string, unknown>>[] = [];

beforeAll(async () => {
  for (const name of NAMES) {
    chains[name] = await startChain({ network: NETWORKS[name] });
    facilitators[name] = await chainFacilitator(chains[name]);
  }
  writeTinyRelease(join(folder, 'data'));
  const facilitator_url = NAMES.map((name) => facilitators[name].url).join(',');
  shops.facilitators = await opened('facilitators', { facilitator_url });
  const { key } = await chains['base-sepolia'].relayer();
  await chains['polygon-amoy'].fund(key);
  const max_fee_gwei = NAMES.map((name) => `${name}=50`).join(',');
  shops.relayer = await opened('relayer', { max_fee_gwei }, { SIGNALPRESS_RELAYER_KEY: key });
});
afterAll(async () => {
  for (const shop of Object.values(shops)) await shop.close();
  for (const one of Object.values(facilitators)) await one.close();
  for (const one of Object.values(chains)) await one.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  for (const name of NAMES) facilitators[name].fault = () => null;
});

async function opened(
  name: string,
  options: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Gatekeeper> {
  const own = { data: join(folder, 'data'), state: join(folder, name), pay_to: PAYEE };
  const rpc_url = NAMES.map((one) => `${one}=${chains[one].url}`).join(',');
  const [network, trusted_proxy] = [NAMES.join(','), BEHIND_PROXY.trustedProxy];
  const all = { ...own, trusted_proxy, network, rpc_url, ...options };
  return startGate(all, { env, log: (entry) => void logged.push(entry) });
}

const url = (shop: Shop): string => shops[shop]?.url ?? '';

interface Bought {
  readonly shop: Shop;
  /** Whose terms the header repeats. */
  readonly named: Name;
  /** Whose token the payer signs for. */
  readonly signed?: Name;
  readonly version?: X402Version;
}

async function signedFor({ shop, named, signed = named, version = 1 }: Bought): Promise<Purchase> {
  const all = await termsOn(url(shop) + RECORD, version);
  const { name, caip2 } = NETWORKS[named];
  const terms = all.find(({ network }) => network === (version === 1 ? name : caip2));
  if (terms === undefined) throw new Error(`Cannot buy on ${named}: not offered`);
  const account = payer(NETWORKS[signed], `payer of ${named} ${signed}`);
  await chains[signed].mint(account.address, FUNDS);
  const payment = await account.sign(terms.payTo, priceOf(terms), windowAt());
  const price = BigInt(payment.authorization.value);
  return { target: RECORD, version, header: headerOf(terms, payment), payment, price };
}

/** What the payee got on each chain while something was done. */
async function gained(work: () => Promise<unknown>): Promise<readonly bigint[]> {
  const balances = () => Promise.all(NAMES.map((name) => chains[name].balanceOf(PAYEE)));
  const before = await balances();
  await work();
  return (await balances()).map((balance, at) => balance - (before[at] ?? 0n));
}

const SHOPS = ['facilitators', 'relayer'] as const;
const CASES = SHOPS.flatMap((shop) =>
  NAMES.flatMap((named) => ([1, 2] as const).map((version) => ({ shop, named, version }))),
);

describe('two networks in one challenge', () => {
  it.each(CASES)('I2: are bought over either: $shop, $named, version $version', async (bought) => {
    const purchase = await signedFor(bought);
    const { name, caip2 } = NETWORKS[bought.named];
    const paid = await gained(async () => {
      const answer = await send(url(bought.shop), purchase);
      const network = bought.version === 1 ? name : caip2;
      expect(answer).toMatchObject({ status: 200, receipt: { success: true, network } });
      const hash = String(answer?.receipt?.transaction) as `0x${string}`;
      const receipt = await chains[bought.named].client.getTransactionReceipt({ hash });
      expect(receipt.status).toBe('success');
      expect(await send(url(bought.shop), purchase)).toEqual(answer);
    });
    expect(paid).toEqual(NAMES.map((one) => (one === bought.named ? purchase.price : 0n)));
  });

  it.each(SHOPS.flatMap((shop) => NAMES.map((named) => ({ shop, named }))))(
    'move nothing on either for a payment that is signed for the other: $shop, $named',
    async (bought) => {
      const [signed] = NAMES.filter((name) => name !== bought.named);
      if (signed === undefined) throw new Error('no other network');
      const purchase = await signedFor({ ...bought, signed });
      const paid = await gained(async () => {
        const answer = await send(url(bought.shop), purchase);
        expect(answer).toMatchObject({ status: 402, receipt: null });
      });
      expect(paid).toEqual([0n, 0n]);
    },
  );

  it('I9: a settlement whose answer is lost is found on the chain that it is for', async () => {
    facilitators['polygon-amoy'].fault = (name) => (name === 'settle' ? 'done-then-500' : null);
    const purchase = await signedFor({ shop: 'facilitators', named: 'polygon-amoy' });
    const paid = await gained(async () => {
      expect(await send(url('facilitators'), purchase)).toMatchObject({ status: 200 });
    });
    expect(paid).toEqual([0n, purchase.price]);
    expect(facilitators['base-sepolia'].settlements.has(purchase.payment.authorization.nonce)).toBe(
      false,
    );
  });

  it('a facilitator is asked about the networks that it lists, and named for those that it does not', async () => {
    const warning = await shops.facilitators?.facilitatorWarning;
    for (const [at, name] of ['polygon-amoy', 'base-sepolia'].entries()) {
      expect(warning).toMatch(new RegExp(`Cannot settle on "${name}": .* \\(${at + 1} of 2\\)`));
    }
    expect(await shops.relayer?.facilitatorWarning).toBeNull();
  });

  it('a node of another chain keeps it from starting, and is named', async () => {
    const [one, other] = NAMES.map((name) => chains[name].url);
    const rpc_url = `base-sepolia=${one},polygon-amoy=${one}`;
    const facilitator_url = NAMES.map((name) => facilitators[name].url).join(',');
    await expect(opened('wrong', { facilitator_url, rpc_url })).rejects.toThrow(
      /it serves chain 84532, but "polygon-amoy" is chain 80002/,
    );
    expect(other).not.toBe(one);
  });
});

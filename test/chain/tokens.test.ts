import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJournalFile } from '../../gatekeeper/heart/journal/journal-file.ts';
import type { Examined } from '../../gatekeeper/operate/doctor/check.ts';
import { chainCheck } from '../../gatekeeper/operate/doctor/remote-checks.ts';
import { loadConfig } from '../../gatekeeper/settings/load-config.ts';
import { tokenNode } from '../../gatekeeper/settle/chain/chain-node.ts';
import { furtherTokens, NETWORKS, type Network } from '../../gatekeeper/settle/networks.ts';
import { priceOf, type X402Version } from '../../gatekeeper/settle/payment.ts';
import { type Gatekeeper, startGatekeeper } from '../../gatekeeper/start.ts';
import { headerOf, payer, windowAt } from '../gatekeeper/payer.ts';
import { BEHIND_PROXY } from '../gatekeeper/tiny-gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { ledgerRows } from '../gatekeeper/tiny-service.ts';
import { type Purchase, send, termsOn } from './buyer.ts';
import { accountOf, type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { PAYEE } from './stall.ts';

/** Two tokens on one chain, one challenge: a buyer pays with either, and each payment moves its own token alone. */
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const usdc = NETWORKS['base-sepolia'];
const EURO = `base-sepolia:0x${'e1'.repeat(20)}:Euro Test:1:18`;
const [euro] = furtherTokens(EURO) as unknown as readonly [Network];
const TOKENS = { usdc, euro } as const;
type Name = keyof typeof TOKENS;
const NAMES = ['usdc', 'euro'] as const;
/** 0.01 USD. */
const PRICES = { usdc: 10_000n, euro: 10_000_000_000_000_000n } as const;
const folder = mkdtempSync(join(tmpdir(), 'signalpress-tokens-'));

let chain: Chain;
let facilitator: ChainFacilitator;
const moneyOf = {} as Record<Name, Pick<Chain, 'mint' | 'balanceOf'>>;
type Shop = 'facilitator' | 'relayer';
const shops: Partial<Record<Shop, Gatekeeper>> = {};

beforeAll(async () => {
  chain = await startChain({ network: usdc });
  moneyOf.usdc = chain;
  moneyOf.euro = await chain.deploy(euro, 18);
  facilitator = await chainFacilitator(chain);
  writeTinyRelease(join(folder, 'data'));
  shops.facilitator = await opened('facilitator', { facilitator_url: facilitator.url });
  const { key } = await chain.relayer();
  shops.relayer = await opened('relayer', { max_fee_gwei: '50' }, { SIGNALPRESS_RELAYER_KEY: key });
});
afterAll(async () => {
  for (const shop of Object.values(shops)) await shop.close();
  await facilitator?.close();
  await chain?.close();
  rmSync(folder, { recursive: true });
});

const configOf = (
  name: string,
  options: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
) => {
  const own = { port: '0', data: join(folder, 'data'), state: join(folder, name), pay_to: PAYEE };
  const all = {
    ...own,
    trusted_proxy: BEHIND_PROXY.trustedProxy,
    network: usdc.name,
    tokens: EURO,
    rpc_url: chain.url,
    ...options,
  };
  return loadConfig({ options: all, env, fileText: null });
};

async function opened(...of: Parameters<typeof configOf>): Promise<Gatekeeper> {
  return startGatekeeper(configOf(...of), { clock: () => Date.now(), log: () => {} });
}

const url = (shop: Shop): string => shops[shop]?.url ?? '';

interface Bought {
  readonly shop: Shop;
  /** Whose terms the header repeats. */
  readonly named: Name;
  /** Which token the payer signs for. */
  readonly signed?: Name;
  readonly version?: X402Version;
  /** What is signed, in place of the price. */
  readonly value?: bigint;
}

async function signedFor(bought: Bought): Promise<Purchase> {
  const { shop, named, signed = named, version = 1, value } = bought;
  const all = await termsOn(url(shop) + RECORD, version);
  const terms = all.find(({ asset }) => asset === TOKENS[named].asset);
  if (terms === undefined) throw new Error(`Cannot buy with ${named}: not offered`);
  const account = payer(TOKENS[signed], `payer of ${named} ${signed}`);
  await moneyOf[signed].mint(account.address, 100n * PRICES[signed]);
  const amount = value === undefined ? priceOf(terms) : `${value}`;
  const payment = await account.sign(terms.payTo, amount, windowAt());
  const price = BigInt(payment.authorization.value);
  return { target: RECORD, version, header: headerOf(terms, payment), payment, price };
}

/** What the payee got of each token while something was done. */
async function gained(work: () => Promise<unknown>): Promise<Record<Name, bigint>> {
  const balance = (name: Name) => moneyOf[name].balanceOf(PAYEE);
  const before = { usdc: await balance('usdc'), euro: await balance('euro') };
  await work();
  return {
    usdc: (await balance('usdc')) - before.usdc,
    euro: (await balance('euro')) - before.euro,
  };
}

const SHOPS = ['facilitator', 'relayer'] as const;
const CASES = SHOPS.flatMap((shop) =>
  NAMES.flatMap((named) => ([1, 2] as const).map((version) => ({ shop, named, version }))),
);

describe('two tokens in one challenge', () => {
  it.each(CASES)('I2: are bought with either: $shop, $named, version $version', async (bought) => {
    const purchase = await signedFor(bought);
    expect(purchase.price).toBe(PRICES[bought.named]);
    const paid = await gained(async () => {
      const answer = await send(url(bought.shop), purchase);
      expect(answer).toMatchObject({ status: 200, receipt: { success: true } });
      const hash = String(answer?.receipt?.transaction) as `0x${string}`;
      const receipt = await chain.client.getTransactionReceipt({ hash });
      expect(receipt.logs.map(({ address }) => address)).toContain(
        TOKENS[bought.named].asset.toLowerCase(),
      );
      expect(await send(url(bought.shop), purchase)).toEqual(answer);
    });
    expect(paid).toEqual({ usdc: 0n, euro: 0n, [bought.named]: PRICES[bought.named] });
  });

  it.each(CASES)(
    'move nothing for less than the price: $shop, $named, version $version',
    async (bought) => {
      const purchase = await signedFor({ ...bought, value: PRICES[bought.named] - 1n });
      const paid = await gained(async () => {
        expect(await send(url(bought.shop), purchase)).toMatchObject({
          status: 402,
          receipt: null,
        });
      });
      expect(paid).toEqual({ usdc: 0n, euro: 0n });
    },
  );

  it.each(CASES)(
    'move nothing with the domain of the other token: $shop, $named, version $version',
    async (bought) => {
      const [signed] = NAMES.filter((name) => name !== bought.named);
      if (signed === undefined) throw new Error('no other token');
      // The right amount for the terms that the header repeats, of the wrong token.
      const purchase = await signedFor({ ...bought, signed });
      const paid = await gained(async () => {
        expect(await send(url(bought.shop), purchase)).toMatchObject({
          status: 402,
          receipt: null,
        });
      });
      expect(paid).toEqual({ usdc: 0n, euro: 0n });
    },
  );

  it.each(SHOPS)('I9: many at once in both through one %s are each settled once', async (shop) => {
    const names = [...NAMES, ...NAMES, ...NAMES];
    const purchases: Purchase[] = [];
    for (const named of names) purchases.push(await signedFor({ shop, named }));
    const paid = await gained(async () => {
      const answers = await Promise.all(purchases.map((one) => send(url(shop), one)));
      expect(answers.map((one) => one?.status)).toEqual(names.map(() => 200));
    });
    expect(paid).toEqual({ usdc: 3n * PRICES.usdc, euro: 3n * PRICES.euro });
  });

  it('are in the ledger with their own amounts and the same USD', async () => {
    for (const shop of SHOPS) {
      const db = readJournalFile(join(folder, shop, 'payments.db'));
      const rows = await ledgerRows(db, { time: 'created_at', state: 'settled' });
      db.close();
      expect(new Set(rows.map(({ asset, value, usd }) => `${asset} ${value} ${usd}`))).toEqual(
        new Set(NAMES.map((one) => `${TOKENS[one].asset.toLowerCase()} ${PRICES[one]} 0.01`)),
      );
    }
  });
});

describe('a token that is not as it is written', () => {
  const examined = (tokens: string) => {
    const config = configOf('doctor', { tokens, facilitator_url: facilitator.url });
    const node: Examined['node'] = async ({ network }) => tokenNode({ url: chain.url, network });
    return chainCheck({ config, node, clock: () => Date.now() } as unknown as Examined);
  };

  it('is found by the doctor: its domain and its decimals', async () => {
    const states = async (tokens: string) => (await examined(tokens)).map(({ state }) => state);
    expect(await states(EURO)).toEqual(['ok', 'ok', 'ok']);
    for (const wrong of [EURO.replace('Euro Test', 'Euro'), EURO.replace(':1:', ':2:')]) {
      const findings = await examined(wrong);
      expect(findings[2]).toMatchObject({
        state: 'failed',
        detail: expect.stringContaining('"Euro Test", version "1", 18 decimals, but buyers sign'),
        remedy: expect.stringContaining('SIGNALPRESS_TOKENS'),
      });
    }
  });

  it('keeps the gatekeeper from starting with other decimals: every price would be wrong', async () => {
    const tokens = EURO.replace(':18', ':6');
    const wrong = /it has 18 decimals, but SIGNALPRESS_TOKENS says 6; correct its entry/;
    expect((await examined(tokens)).at(-1)).toMatchObject({
      state: 'failed',
      detail: expect.stringMatching(wrong),
    });
    const started = opened('wrong', { tokens, facilitator_url: facilitator.url });
    await expect(started).rejects.toThrow(wrong);
  });

  it('keeps the gatekeeper from starting where no contract stands', async () => {
    const tokens = EURO.replace('e1'.repeat(20), 'e9'.repeat(20));
    await expect(opened('none', { tokens, facilitator_url: facilitator.url })).rejects.toThrow(
      /no contract at "0x[eE]9/,
    );
  });
});

/** The token that every other chain test stands on keeps the rules of EIP-3009 as USDC has them. */
describe('Token', () => {
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

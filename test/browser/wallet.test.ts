import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { type Hex, hashTypedData } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { accountOf, type Chain, startChain } from '../chain/chain.ts';
import { type ChainFacilitator, chainFacilitator } from '../chain/chain-facilitator.ts';
import { PAYEE } from '../chain/stall.ts';
import { deployed, prefixed, withMulticall } from '../chain/wallets.ts';
import { axeFaults, openChromium, openSession, type PageSession } from './page-session.ts';
import { type Shop, sampleShop } from './shops.ts';

/** A person buys with a wallet in a real browser: first in a shop that pretends, then for money of a chain of our own. */

const TARGET = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const PRICE = 10_000n;

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(async () => {
  await browser?.close();
});

const state = (page: Page) => page.locator('#pay .pay-state');
const button = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(name) });

/** Waits for the answer on the page, and returns the file that a person saves. */
async function saved(page: Page): Promise<string> {
  await page.locator('.purchase .verdict.verified').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Save file' }).click(),
  ]);
  return readFileSync(await download.path(), 'utf8');
}

async function issuerOf({ url }: Shop): Promise<string> {
  const head = (await (await fetch(`${url}/.well-known/release.json`)).json()) as {
    issuer_did: string;
  };
  return head.issuer_did;
}

describe('in a shop that pretends payments', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await sampleShop();
  });
  afterAll(() => shop?.close());

  const session = async (): Promise<PageSession> => {
    const made = await openSession(browser, shop.url);
    onTestFinished(() => made.close());
    return made;
  };

  it('a purchase takes one click, and what it brought is genuine anywhere', async () => {
    const { page, open, expectClean } = await session();
    await open(TARGET);
    expect(await page.locator('.test-shop').isVisible()).toBe(true);
    await button(page, 'with a pretend wallet').click();
    const text = await saved(page);
    const issuer = await issuerOf(shop);
    const keys = await (await fetch(`${shop.url}/.well-known/keys.json`)).json();
    expect(verify(text, { issuer, keys, expect: `GET ${TARGET}` }).verdict).toBe('verified');
    expect(verify(text.replace(/"nature"/, '"natura"'), { issuer, keys }).verdict).toBe('failed');
    expect(await axeFaults(page)).toEqual([]);
    await expectClean();
  });

  it('what was bought stays in this browser: listed, opened and checked again', async () => {
    const { page, open, expectClean } = await session();
    await open('/site/#/bought');
    await page.getByText('Nothing was bought here').waitFor();
    await open(TARGET);
    await button(page, 'with a pretend wallet').click();
    await page.locator('.purchase .verdict.verified').waitFor();
    await open('/site/#/bought');
    await button(page, '^Open$').click();
    await page.locator('.purchase .verdict.verified').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await open(TARGET);
    await page.getByText('You bought this answer').waitFor();
    await expectClean();
  });

  it('a page that asks a price alone sells nothing', async () => {
    const { page, open } = await session();
    await open('/gauge');
    expect(await page.locator('#pay').isVisible()).toBe(false);
  });

  it('leads a phone to this page', async () => {
    const { page, open } = await session();
    await open(TARGET);
    await page.getByText('Pay with a wallet on your phone').click();
    // It is drawn when the browser tells that the part was opened, which is later than the click.
    await page.locator('.qr').waitFor();
  });
});

describe('for money', () => {
  const network = NETWORKS['base-sepolia'];
  const account = accountOf('a person');
  const START = 1_000_000n;
  let chain: Chain;
  let facilitator: ChainFacilitator;
  let shop: Shop;
  beforeAll(async () => {
    chain = await startChain({ network });
    await chain.mint(account.address, START);
    facilitator = await chainFacilitator(chain);
    shop = await sampleShop({
      pay_to: PAYEE,
      network: network.name,
      rpc_url: chain.url,
      facilitator_url: facilitator.url,
    });
  });
  afterAll(async () => {
    await shop?.close();
    await facilitator?.close();
    await chain?.close();
  });
  beforeEach(() => {
    facilitator.fault = () => null;
  });

  type Payer = Pick<ReturnType<typeof accountOf>, 'address' | 'signTypedData' | 'signMessage'>;

  /** What a wallet in the page answers; `chainId` is where it stands. */
  interface TestWallet {
    chainId: number;
    /** Chains that it knows. */
    readonly knows: readonly number[];
    /** Thrown in place of a signature. */
    readonly refusal?: { readonly code: number; readonly message: string };
    readonly by?: Payer;
    /** It never answers a wish to sign. */
    readonly isSilent?: boolean;
    /** How often it was asked to sign a transfer. */
    signed: number;
  }
  const wallet = (over: Partial<TestWallet> = {}): TestWallet => ({
    chainId: network.chainId,
    knows: [network.chainId],
    signed: 0,
    ...over,
  });

  async function answerOf(own: TestWallet, method: string, params: readonly unknown[]) {
    const { by = account } = own;
    switch (method) {
      case 'eth_requestAccounts':
        return by.address;
      case 'eth_chainId':
        return `0x${own.chainId.toString(16)}`;
      case 'wallet_switchEthereumChain': {
        const wanted = Number((params[0] as { chainId: string }).chainId);
        if (!own.knows.includes(wanted)) throw { code: 4902, message: 'Unrecognized chain ID' };
        own.chainId = wanted;
        return null;
      }
      case 'eth_call':
        return `0x${(await chain.balanceOf(by.address)).toString(16).padStart(64, '0')}`;
      case 'eth_signTypedData_v4':
        if (own.refusal !== undefined) throw own.refusal;
        own.signed += 1;
        if (own.isSilent === true) return new Promise(() => undefined);
        return by.signTypedData(JSON.parse(String(params[1])));
      case 'personal_sign':
        return by.signMessage({ message: { raw: params[0] as `0x${string}` } });
      default:
        throw { code: 4200, message: `no ${method}` };
    }
  }

  /** A page with a wallet that announces itself, as extensions do. */
  async function withWallet(own: TestWallet | null): Promise<PageSession> {
    const made = await openSession(browser, shop.url);
    onTestFinished(() => made.close());
    if (own === null) return made;
    await made.page.exposeFunction('askWallet', async (method: string, params: unknown[]) =>
      answerOf(own, method, params).then(
        (answer) => ({ answer: method === 'eth_requestAccounts' ? [answer] : answer }),
        (fault: unknown) => ({ fault }),
      ),
    );
    await made.page.addInitScript(() => {
      const { askWallet } = window as unknown as {
        askWallet: (
          method: string,
          params: unknown[],
        ) => Promise<{ answer?: unknown; fault?: unknown }>;
      };
      const provider = {
        async request({ method, params = [] }: { method: string; params?: unknown[] }) {
          const { answer, fault } = await askWallet(method, params);
          if (fault !== undefined) throw fault;
          return answer;
        },
      };
      const info = {
        uuid: crypto.randomUUID(),
        name: 'Test <b>wallet</b>',
        rdns: 'test.wallet',
        icon: 'data:,',
      };
      const announce = (): void =>
        void dispatchEvent(
          new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }),
        );
      addEventListener('eip6963:requestProvider', announce);
      announce();
    });
    return made;
  }

  async function paidFor(work: () => Promise<unknown>): Promise<bigint> {
    const before = await chain.balanceOf(account.address);
    await work();
    return before - (await chain.balanceOf(account.address));
  }

  it('I2, I3: bought with one signature, charged once, verified', async () => {
    const own = wallet();
    const { page, open, expectClean } = await withWallet(own);
    await open(TARGET);
    expect(await page.locator('.test-shop').isVisible()).toBe(false);
    const paid = await paidFor(async () => {
      await button(page, 'with Test <b>wallet').click();
      const text = await saved(page);
      expect(verify(text, { issuer: await issuerOf(shop) }).verdict).toBe('verified');
    });
    expect([paid, own.signed]).toEqual([PRICE, 1]);
    await expectClean();
  });

  it('a wallet on another network is asked to change, and pays there', async () => {
    const own = wallet({ chainId: 1 });
    const { page, open } = await withWallet(own);
    await open(TARGET);
    const paid = await paidFor(async () => {
      await button(page, 'with Test').click();
      await page.locator('.purchase .verdict.verified').waitFor();
    });
    expect([paid, own.chainId]).toEqual([PRICE, network.chainId]);
  });

  it('a lost answer comes by itself when the page is opened again, and nothing is signed or charged twice', async () => {
    const own = wallet();
    const { page, open } = await withWallet(own);
    await open(TARGET);
    const paid = await paidFor(async () => {
      // The answer of whatever carries a payment is lost.
      const lost = page.waitForRequest((request) => request.headers()['x-payment'] !== undefined);
      await page.route('**/gauge?*', async (route) => {
        if (route.request().headers()['x-payment'] === undefined) return route.continue();
        await route.fetch();
        await route.abort().catch(() => undefined);
      });
      await button(page, 'with Test').click();
      await lost;
      await expect.poll(() => chain.balanceOf(PAYEE)).toBeGreaterThan(0n);
      await page.unroute('**/gauge?*');
      await page.reload();
      await page.locator('.purchase .verdict.verified').waitFor();
    });
    expect([paid, own.signed]).toEqual([PRICE, 1]);
  });

  it('whoever presses again after a lost answer fetches it, and signs nothing', async () => {
    const own = wallet();
    const { page, open } = await withWallet(own);
    await open(TARGET);
    const paid = await paidFor(async () => {
      await page.route('**/gauge?*', async (route) => {
        if (route.request().headers()['x-payment'] === undefined) return route.continue();
        await route.fetch();
        await route.abort().catch(() => undefined);
      });
      await button(page, 'with Test').click();
      await button(page, 'Fetch it again').waitFor({ timeout: 120_000 });
      await page.unroute('**/gauge?*');
      await button(page, 'with Test').click();
      await page.locator('.purchase .verdict.verified').waitFor();
    });
    expect([paid, own.signed]).toEqual([PRICE, 1]);
  });

  it('an account with code pays, as its contract checks the signature', async () => {
    await withMulticall(chain);
    const owner = accountOf('an owner');
    const address = await deployed(chain, 'Wallet', owner.address);
    await chain.mint(address, START);
    const signTypedData = async (typed: Parameters<typeof hashTypedData>[0]): Promise<Hex> =>
      prefixed(owner)(hashTypedData(typed));
    const by = { ...owner, address, signTypedData } as Payer;
    const { page, open } = await withWallet(wallet({ by }));
    await open(TARGET);
    await button(page, 'with Test').click();
    await page.locator('.purchase .verdict.verified').waitFor();
    expect(await chain.balanceOf(address)).toBe(START - PRICE);
  });

  it('a wallet that never answers is given up after three minutes, and nothing is paid', async () => {
    const own = wallet({ isSilent: true });
    const { page, open } = await withWallet(own);
    await page.clock.install();
    await open(TARGET);
    const paid = await paidFor(async () => {
      await button(page, 'with Test').click();
      await expect.poll(() => own.signed).toBe(1);
      await page.clock.fastForward(179_000);
      expect(await state(page).innerText()).toContain('Waiting for your wallet');
      await page.clock.fastForward(2000);
      await state(page)
        .getByText(/did not answer in three minutes/)
        .waitFor();
    });
    expect(paid).toBe(0n);
  });

  it.each([
    ['no wallet', null, /No wallet was found/],
    ['a refusal', wallet({ refusal: { code: 4001, message: 'no' } }), /You refused in your wallet/],
    [
      'a network that it does not know',
      wallet({ chainId: 1, knows: [1] }),
      /does not know the network base-sepolia/,
    ],
    [
      'too little money',
      wallet({ by: accountOf('a poor person') }),
      /Too little money: this account holds 0.00/,
    ],
    [
      'a wallet that fails',
      wallet({ refusal: { code: -32603, message: 'broken' } }),
      /Your wallet failed: broken/,
    ],
  ] as const)('%s is said in words, and nothing is paid', async (_, own, words) => {
    const { page, open, expectClean } = await withWallet(own);
    await open(TARGET);
    const paid = await paidFor(async () => {
      if (own !== null) await button(page, 'with Test').click();
      await page.locator('#pay').getByText(words).waitFor();
    });
    expect([paid, await page.locator('.purchase').count()]).toEqual([0n, 0]);
    await open('/site/#/bought');
    await page.getByText('Nothing was bought here').waitFor();
    await expectClean();
  });

  it('a shop that asks more than the page says gets no signature', async () => {
    const own = wallet();
    const { page, open } = await withWallet(own);
    await open(TARGET);
    await page.route('**/gauge?*', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replaceAll('"10000"', '"20000"');
      await route.fulfill({ response: answer, body });
    });
    await button(page, 'with Test').click();
    await state(page)
      .getByText(/maxUsd is 0.01/)
      .waitFor();
    expect(own.signed).toBe(0);
  });
});

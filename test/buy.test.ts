import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { catalogText, wholeFile } from '../compiler/catalog/whole-catalog.ts';
import { accountOf, networksNamed } from '../compiler/cli/buy-command.ts';
import { wallet } from '../compiler/client/account-wallet.ts';
import { signalpressClient } from '../compiler/client/signalpress-client.ts';
import { NETWORKS } from '../gatekeeper/settle/networks.ts';
import { makeFolder, removeFolders, SEED } from './snapshot-folder.ts';
import { TIDE_FILE } from './tide-catalog.ts';

// The command itself buys in init.test.ts, from a shop that runs.

const ISSUER = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';

afterAll(removeFolders);

describe('wallet()', () => {
  const BASE = 'eip155:8453';
  const entry = (more: object = {}) => ({
    scheme: 'exact',
    network: BASE,
    amount: '20000',
    asset: NETWORKS.base.asset,
    payTo: `0x${'1'.repeat(40)}`,
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
    ...more,
  });
  /** A shop that asks for money, and notes what is paid. */
  function shopAsking(...accepts: readonly object[]) {
    const paid: string[] = [];
    const asked = btoa(JSON.stringify({ x402Version: 2, resource: { url: 'x' }, accepts }));
    const shop = (async (...request: Parameters<typeof fetch>) => {
      const payment = new Request(...request).headers.get('payment-signature');
      if (payment !== null) paid.push(payment);
      const release = { sequence: 1, as_of: '2026-01-01T00:00:00Z', valid_until: null };
      const body = { accepts: [{ maxAmountRequired: '20000' }], release };
      return payment === null
        ? Response.json(body, { status: 402, headers: { 'payment-required': asked } })
        : Response.json({}, { status: 422 });
    }) as typeof fetch;
    return { paid, shop };
  }
  const walletOn = (names?: readonly string[]) =>
    wallet({
      account: accountOf(undefined),
      now: () => Date.UTC(2026, 10, 20),
      networks: networksNamed(names),
    });
  const pay = walletOn();
  const URL = 'https://shop.example/gauge';

  it('signs the transfer of the amount to the payee', async () => {
    const { paid, shop } = shopAsking(entry({ scheme: 'upto' }), entry());
    expect((await pay(shop, 100_000n)(URL)).status).toBe(422);
    const { accepted, payload } = JSON.parse(atob(paid[0] ?? ''));
    expect([accepted, payload.authorization.value]).toEqual([entry(), '20000']);
    expect(payload.authorization.to).toBe(entry().payTo);
  });

  it('pays on a network that was named, wherever it stands, and on no other', async () => {
    const onPolygon = entry({
      network: NETWORKS.polygon.caip2,
      asset: NETWORKS.polygon.asset,
    });
    for (const name of ['polygon', 'eip155:137']) {
      const { paid, shop } = shopAsking(entry(), onPolygon);
      await walletOn([name])(shop, 100_000n)(URL);
      expect(JSON.parse(atob(paid[0] ?? '')).accepted).toEqual(onPolygon);
    }
    const { paid, shop } = shopAsking(entry(), onPolygon);
    await expect(walletOn(['sei'])(shop, 100_000n)(URL)).rejects.toThrow(
      'takes no USDC on sei, but on base, polygon',
    );
    expect(paid).toEqual([]);
    expect(() => networksNamed(['base', 'mainnet'])).toThrow('Cannot pay on "mainnet"');
  });

  it('signs nothing in another token, on another network, or for a shop that asks for none', async () => {
    for (const more of [
      { asset: `0x${'2'.repeat(40)}` },
      { network: 'eip155:1' },
      { amount: 'x' },
    ]) {
      const { paid, shop } = shopAsking(entry(more));
      await expect(pay(shop, 100_000n)(URL)).rejects.toThrow('takes no USDC');
      expect(paid).toEqual([]);
    }
    const silent = (async () => new Response('{}', { status: 402 })) as typeof fetch;
    await expect(pay(silent, 1n)(URL)).rejects.toThrow('asks for no payment of x402 version 2');
  });

  it('sends no more than the cap, also where a shop asks for more in version 2 than in version 1', async () => {
    const { paid, shop } = shopAsking(entry({ amount: '900000000' }));
    const options = { baseUrl: 'https://shop.example', issuer: ISSUER, fetch: shop, pay };
    const client = signalpressClient({
      ...options,
      catalog: Buffer.from(catalogText(wholeFile([TIDE_FILE]))),
    });
    const record = { signal_id: 'tides.level', entity: 'PIER-ONE' };
    await expect(client.buy('/gauge', record)).rejects.toThrow('maxUsd is 0.10');
    expect(paid).toEqual([]);
  });

  it.each(Object.values(NETWORKS))('pays on $name', async ({ caip2, asset, extra }) => {
    const { paid, shop } = shopAsking(entry({ network: caip2, asset, extra }));
    await pay(shop, 100_000n)(URL);
    const { accepted } = JSON.parse(atob(paid[0] ?? ''));
    expect([accepted.network, accepted.asset]).toEqual([caip2, asset]);
  });

  it('signs nothing in the token of another network', async () => {
    const { paid, shop } = shopAsking(entry({ asset: NETWORKS.polygon.asset }));
    await expect(pay(shop, 100_000n)(URL)).rejects.toThrow('takes no USDC');
    expect(paid).toEqual([]);
  });
});

describe('accountOf()', () => {
  it('reads a key, and repeats nothing of a file that is none', () => {
    const file = join(makeFolder(), 'wallet.key');
    writeFileSync(file, `0x${Buffer.from(SEED).toString('hex')}\n`);
    expect(accountOf(file).address).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(accountOf(undefined).address).not.toBe(accountOf(undefined).address);
    writeFileSync(file, 'secret but too short');
    expect(() => accountOf(file)).toThrow(/not a key of 64 hex digits; name another file$/);
    expect(() => accountOf(file)).not.toThrow(/secret/);
  });
});

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { catalogText, wholeFile } from '../compiler/catalog/whole-catalog.ts';
import { accountOf, defineBuy, networksNamed } from '../compiler/cli/buy-command.ts';
import { newShop } from '../compiler/cli/init-command.ts';
import { wallet } from '../compiler/client/account-wallet.ts';
import { signalpressClient } from '../compiler/client/signalpress-client.ts';
import { verifyText } from '../compiler/client/verify.ts';
import type { CommandSettings } from '../compiler/system/command-settings.ts';
import { NETWORKS } from '../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { sampleGate } from './gate.ts';
import { NOW_MS } from './gatekeeper/payer.ts';
import { compileFolder, makeFolder, removeFolders, SEED } from './snapshot-folder.ts';
import { TIDE_FILE } from './tide-shop.ts';

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

describe('buy command', () => {
  // A shop whose address has a path, behind a door that takes the path away.

  const RECORD = 'gauge?signal_id=tides.level&entity=station-one';
  let gate: Gatekeeper;
  /** Payments that arrived, and whether their file was there by then. */
  let paid: { readonly payment: string; readonly kept: boolean }[] = [];
  /** What the shop changes in what it sold. */
  let change = (text: string): string => text;
  let nowMs: number;
  let file: string;
  let issuer: string;
  const door = createServer(async (request, response) => {
    const { url = '' } = request;
    if (!url.startsWith('/shop/')) return void response.writeHead(404).end('{}');
    const payment = request.headers['payment-signature'];
    if (payment !== undefined) paid.push({ payment: String(payment), kept: existsSync(file) });
    const headers = payment === undefined ? {} : { 'payment-signature': String(payment) };
    const answer = await fetch(gate.url + url.slice('/shop'.length), { headers });
    const asked = answer.headers.get('payment-required');
    const date = String(answer.headers.get('date'));
    response.writeHead(
      answer.status,
      asked === null ? { date } : { date, 'payment-required': asked },
    );
    const text = await answer.text();
    response.end(payment === undefined ? text : change(text));
  });
  let shop: string;

  beforeAll(async () => {
    nowMs = NOW_MS;
    const folder = join(makeFolder(), 'shop');
    newShop({ folder, line: 'tides', extended: null, nowMs: NOW_MS });
    const asOf = new Date(NOW_MS).toISOString();
    const options = { asOf, baseUrl: 'https://example.org/shop' };
    const { data, release } = await compileFolder(join(folder, 'snapshots'), options);
    issuer = release.issuer_did;
    gate = await sampleGate(data, { clock: () => nowMs });
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    shop = `http://127.0.0.1:${(door.address() as AddressInfo).port}/shop`;
  });
  beforeEach(() => {
    nowMs = NOW_MS;
    change = (text) => text;
    paid = [];
    file = join(makeFolder(), 'record.payment');
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(async () => {
    door.close();
    await gate.close();
    removeFolders();
  });

  /** What the command prints; rejects with its error. */
  async function printed(...args: readonly string[]): Promise<string> {
    const command = new Command();
    let text = '';
    const print = (line: string): void => {
      text += line;
    };
    defineBuy(command, { now: () => nowMs, print } as unknown as CommandSettings);
    await command.parseAsync([...args, '--issuer', issuer], { from: 'user' });
    return text;
  }
  const verdict = (text: string) => verifyText(text, { trust: [issuer], now: NOW_MS }, {}).verdict;

  describe('an address with a path', () => {
    it.each([[RECORD], ['gauge/tides-region?loc=station-one']])('sells %s', async (target) => {
      const text = await printed(`${shop}/${target}`, '--max-usd', '1');
      expect(text).toContain('"station-one"');
      expect(verdict(text)).toBe('verified');
    });

    it('names what is no operation, and buys nothing', async () => {
      await expect(printed(`${shop}/gague?entity=x`)).rejects.toThrow(
        'does not end with an operation such as /gauge',
      );
    });

    it('is one that the typed client knows', async () => {
      const pay = wallet({
        account: accountOf(undefined),
        now: () => NOW_MS,
        networks: networksNamed(undefined),
      });
      const options = {
        baseUrl: `${shop}/`,
        issuer,
        pay,
        clock: () => NOW_MS,
        catalog: 'served',
      } as const;
      const client = signalpressClient(options);
      const sold = await client.buy('/gauge', { signal_id: 'tides.level', entity: 'station-one' });
      expect(sold.report?.verdict).toBe('verified');
      const again = await client.redeliver(sold.payment);
      expect(again.text).toBe(sold.text);
    });
  });

  describe('--payment', () => {
    const url = (): string => `${shop}/${RECORD}`;

    it('keeps a payment before it is sent, and sends it again when the command runs again', async () => {
      change = (text) => text.replace('"band":"flood"', '"band":"high"');
      await expect(printed(url(), '--payment', file)).rejects.toThrow(
        `"${file}" keeps the payment: run this again to send the same one; to sign a new one`,
      );
      change = (text) => text;
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const text = await printed(url(), '--payment', file);
      expect(verdict(text)).toBe('verified');
      const turned = `${shop}/gauge?entity=station-one&signal_id=tides.level`;
      expect(await printed(turned, '--payment', file)).toBe(text);
      const { value } = JSON.parse(readFileSync(file, 'utf8'));
      const same = { payment: value, kept: true };
      expect(paid).toEqual([same, same, same]);
    });

    it('I59: fetches a lost answer again after 29 days, with the name of the purchase in the file', async () => {
      change = () => '';
      await expect(printed(url(), '--payment', file)).rejects.toThrow('keeps the payment');
      change = (text) => text;
      nowMs += 29 * 86_400_000;
      expect(verdict(await printed(url(), '--payment', file))).toBe('verified');
      const { value, ...kept } = JSON.parse(readFileSync(file, 'utf8'));
      const { 'payment-identifier': extension } = JSON.parse(atob(value)).extensions;
      expect(extension.info).toEqual({
        required: false,
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      writeFileSync(file, JSON.stringify({ ...kept, value, identifier: 'of one character,' }));
      await expect(printed(url(), '--payment', file)).rejects.toThrow('it holds no payment');
    });

    it('I59: reads a file of an earlier version, and signs in with the wallet that paid', async () => {
      const [own, other] = [1, 2].map((digit) => {
        const key = join(makeFolder(), 'wallet.key');
        writeFileSync(key, String(digit).repeat(64));
        return key;
      });
      // The public address of the shop, which a message has to name.
      const send = globalThis.fetch;
      vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
        const { url, headers } = new Request(input, init);
        return send(url.replace('https://example.org/shop', gate.url), { headers });
      });
      const publicUrl = `https://example.org/shop/${RECORD}`;
      const text = await printed(publicUrl, '--payment', file, '--wallet', own ?? '');
      const { value, ...kept } = JSON.parse(readFileSync(file, 'utf8'));
      const { extensions: _, ...bare } = JSON.parse(atob(value));
      writeFileSync(file, JSON.stringify({ ...kept, value: btoa(JSON.stringify(bare)) }));
      nowMs += 2 * 3_600_000;
      for (const flags of [[], ['--wallet', other ?? '']])
        await expect(printed(publicUrl, '--payment', file, ...flags)).rejects.toThrow(
          /wants to see who paid: .*run this again with the --wallet that paid to send the same one/,
        );
      expect(await printed(publicUrl, '--payment', file, '--wallet', own ?? '')).toBe(text);
    });

    it('I62: takes nothing whose proof was cut out, but what was asked for without', async () => {
      const text = await printed(url(), '--payment', file);
      expect(await printed(url(), '--payment', file)).toBe(text);
      change = (sold) => sold.replace(/"_proof":"[^"]*",/, '');
      for (const args of [['--payment', file], []]) {
        await expect(printed(url(), ...args)).rejects.toThrow('no proof that it is in the log');
      }
      const taken = await printed(`${url()}&proof=0`);
      expect(taken).not.toContain('"_proof"');
    });

    it('signs another one without it', async () => {
      await printed(url());
      await printed(url());
      expect(new Set(paid.map(({ payment }) => payment)).size).toBe(2);
    });

    it('sends nothing that it could not keep, or that is for something else', async () => {
      await expect(printed(url(), '--payment', join(file, 'none'))).rejects.toThrow('ENOENT');
      expect(paid).toEqual([]);
      for (const text of [
        '',
        '{}',
        '{"url": 1}',
        `{"url":"${url()}","header":"host","value":"x"}`,
      ]) {
        writeFileSync(file, text);
        await expect(printed(url(), '--payment', file)).rejects.toThrow('it holds no payment');
        expect(readFileSync(file, 'utf8')).toBe(text);
      }
      const payment = { url: url(), header: 'payment-signature', value: 'eA==' };
      writeFileSync(file, JSON.stringify(payment));
      const other = `${shop}/gauge?signal_id=tides.level&entity=station-two`;
      await expect(printed(other, '--payment', file)).rejects.toThrow('it is for "http:');
      const away = url().replace('127.0.0.1', 'localhost');
      await expect(printed(away, '--payment', file)).rejects.toThrow('it is for "http:');
      expect(paid).toEqual([]);
    });
  });
});

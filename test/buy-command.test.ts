import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineBuy } from '../compiler/buy/buy-command.ts';
import { accountOf, wallet } from '../compiler/buy/wallet.ts';
import { signalpressClient } from '../compiler/client/signalpress-client.ts';
import { verifyText } from '../compiler/client/verify.ts';
import type { CommandSettings } from '../compiler/commands/command-settings.ts';
import { newShop } from '../compiler/init/new-shop.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { NOW_MS } from './gatekeeper/payer.ts';
import { sampleGate } from './sample-gate.ts';
import { compileFolder, makeFolder, removeFolders } from './snapshot-folder.ts';

// A shop whose address has a path, behind a door that takes the path away.

const RECORD = 'gauge?signal_id=tides.level&entity=station-one';
let gate: Gatekeeper;
let issuer: string;
const door = createServer(async (request, response) => {
  const { url = '' } = request;
  if (!url.startsWith('/shop/')) return void response.writeHead(404).end('{}');
  const payment = request.headers['payment-signature'];
  const headers = payment === undefined ? {} : { 'payment-signature': String(payment) };
  const answer = await fetch(gate.url + url.slice('/shop'.length), { headers });
  const asked = answer.headers.get('payment-required');
  response.writeHead(answer.status, asked === null ? {} : { 'payment-required': asked });
  response.end(await answer.text());
});
let shop: string;

beforeAll(async () => {
  const folder = join(makeFolder(), 'shop');
  newShop({ folder, line: 'tides', extended: null, nowMs: NOW_MS });
  const asOf = new Date(NOW_MS).toISOString();
  const options = { asOf, baseUrl: 'https://example.org/shop' };
  const { data, release } = await compileFolder(join(folder, 'snapshots'), options);
  issuer = release.issuer_did;
  gate = await sampleGate(data);
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  shop = `http://127.0.0.1:${(door.address() as AddressInfo).port}/shop`;
});
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
  defineBuy(command, { now: () => NOW_MS, print } as unknown as CommandSettings);
  await command.parseAsync([...args, '--issuer', issuer], { from: 'user' });
  return text;
}
const verdict = (text: string) => verifyText(text, { trust: [issuer], now: NOW_MS }).verdict;

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
    const pay = wallet(accountOf(undefined), () => NOW_MS);
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

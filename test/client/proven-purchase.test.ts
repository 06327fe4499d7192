import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineBuy } from '../../compiler/cli/buy-command.ts';
import { buyFact } from '../../compiler/client/fact.ts';
import { type ClientOptions, signalpressClient } from '../../compiler/client/signalpress-client.ts';
import { revokeKey, rotateKey } from '../../compiler/publish/keys/key-command.ts';
import type { CommandSettings } from '../../compiler/system/command-settings.ts';
import { issuerDid, signingKey } from '../../compiler/system/sealer.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { sampleGate } from '../gate.ts';
import { NOW_MS } from '../gatekeeper/payer.ts';
import { BUYER_ADDRESS } from '../gatekeeper/tiny-gate.ts';
import { trustText } from '../seeded-keys.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { tideFiles } from '../tide-shop.ts';
import { payingFetch } from './python-gate.ts';

const SIGNAL = 'hydrology.river-level';
const PARAMS = { signal_id: SIGNAL, entity: '08167000' } as const;
const TARGET = `/gauge?entity=08167000&signal_id=${SIGNAL}`;
const OTHER = TARGET.replace('08167000', '08158000');

let gate: Gatekeeper;
let issuer: string;
beforeAll(async () => {
  const times = { observed_at: '2026-11-20T09:00:00Z', collected_at: '2026-11-20T09:20:00Z' };
  const lines = ndjson(['08167000', '08158000'].map((at) => reading(at, { stage_ft: 4 }, times)));
  const { data } = await compileFolder(writeSnapshots({ [`2026-11-20/${SIGNAL}.ndjson`]: lines }));
  issuer = readJson(join(data, 'current'), 'release.json').issuer_did;
  gate = await sampleGate(data);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const client = (more: Partial<ClientOptions> = {}) =>
  signalpressClient({
    baseUrl: gate.url,
    issuer,
    pay: payingFetch,
    wait: async () => undefined,
    clock: () => NOW_MS,
    ...more,
  });

/** A service that changes what it sells on its way. */
const lying = (change: (text: string) => string): Partial<ClientOptions> => ({
  fetch: async (request) => {
    const answer = await fetch(request);
    const { status, headers } = answer;
    const text = await answer.text();
    const own = new Headers([...headers].filter(([name]) => name !== 'content-length'));
    return new Response(status === 200 ? change(text) : text, { status, headers: own });
  },
});
const stripped = (text: string): string => text.replaceAll(/"_proof":"[^"]*",/g, '');

describe('buyFact()', () => {
  it('makes the fact of the signed record that it bought and verified, and names what was paid', async () => {
    const bought = await buyFact(client(), PARAMS);
    const { purchase, ...shown } = bought;
    expect(shown).toMatchObject({
      fact: { value: 4, unit: 'ft', class: null, price_usd: '0.01' },
      paidUsd: '0.01',
      verdict: 'verified',
    });
    expect(purchase.report?.verdict).toBe('verified');
    const header = { ...BUYER_ADDRESS, [purchase.payment.header]: purchase.payment.value };
    const named = { ...header, 'payment-identifier': purchase.payment.identifier ?? '' };
    const served = await fetch(`${gate.url}${TARGET}&format=fact`, { headers: named });
    expect(await served.json()).toEqual(bought.fact);
    expect((await client().redeliver(purchase.payment)).text).toBe(purchase.text);
  });

  it('I62: makes none of a record that was altered, whose proof was cut out, or that costs more than the cap', async () => {
    const altered = (text: string): string => text.replace('"stage_ft":4', '"stage_ft":5');
    const refused = { code: 'unverified' };
    await expect(buyFact(client(lying(altered)), PARAMS)).rejects.toMatchObject(refused);
    await expect(buyFact(client(lying(stripped)), PARAMS)).rejects.toMatchObject(refused);
    const dear = { code: 'too_expensive' };
    await expect(buyFact(client(), PARAMS, { maxUsd: '0.004' })).rejects.toMatchObject(dear);
  });

  it('is named by buy(), which signs nothing for a fact: nobody could judge it', async () => {
    const signed: unknown[] = [];
    const buying = client({ onSigned: (payment) => void signed.push(payment) });
    await expect(buying.buy('/gauge', { ...PARAMS, format: 'fact' })).rejects.toThrow('buyFact()');
    expect(signed).toEqual([]);
  });
});

describe('a purchase', () => {
  it('brings a proof that the client checks, be it alone or in a basket', async () => {
    const bought = await client().buy('/gauge', PARAMS);
    expect(bought.report?.checks).toContainEqual(
      expect.objectContaining({ check: 'logged', status: 'pass' }),
    );
    const basket = await client().buyBasket([TARGET]);
    expect(basket.report?.checks).toContainEqual(
      expect.objectContaining({ check: 'logged', where: 'parts[0].answer._proof', status: 'pass' }),
    );
  });

  it('I62: whose proof was cut out is refused, but by who says that he takes it', async () => {
    const demanding = client(lying(stripped));
    const refusal = { code: 'unverified', message: expect.stringContaining('no proof') };
    await expect(demanding.buy('/gauge', PARAMS)).rejects.toMatchObject(refusal);
    await expect(demanding.buyBasket([TARGET])).rejects.toMatchObject(refusal);
    const taking = client({ ...lying(stripped), demandsProof: false });
    expect((await taking.buy('/gauge', PARAMS)).report?.verdict).toBe('verified');
  });

  it('with a false proof is refused by everybody', async () => {
    const forged = (text: string): string => text.replace(/"_proof":"c2sp[^"]*index \d+/, '$&0');
    await expect(client(lying(forged)).buy('/gauge', PARAMS)).rejects.toMatchObject({
      code: 'unverified',
      message: expect.stringContaining('proof of inclusion'),
    });
  });

  it('has none where the request leaves it out, whoever demands it', async () => {
    const demanding = client();
    const { text } = await demanding.buy('/gauge', { ...PARAMS, proof: '0' });
    expect(text).not.toContain('_proof');
    const basket = await demanding.buyBasket([`${TARGET}&proof=0`]);
    expect(basket.text).not.toContain('_proof');
    const mixed = [`${TARGET}&proof=0`, OTHER];
    expect((await demanding.buyBasket(mixed)).text.match(/"_proof":/g)).toHaveLength(1);
    const stripping = client(lying(stripped));
    await expect(stripping.buyBasket(mixed)).rejects.toMatchObject({
      code: 'unverified',
      message: expect.stringContaining('no proof'),
    });
    expect((await demanding.buy('/gauge/subscribe', {}, { maxUsd: '100' })).body).toHaveProperty(
      'token',
    );
  });
});

describe('issuer rotation', () => {
  // A buyer who knows the first key of an issuer, and a shop that signs with the second one.

  const [FIRST, SECOND, OTHER] = [61, 62, 63].map((byte) => new Uint8Array(32).fill(byte));
  const PARAMS = { signal_id: 'tides.level', entity: 'pier-one' } as const;
  const TIMES = { from: '2026-11-20T18:00:00Z', now: '2026-11-20T13:00:00Z', overlapDays: 1 };

  let gate: Gatekeeper;
  let issuer: string;
  let keys: object;
  let revoked: object;
  let foreign: object;
  let signed = 0;

  beforeAll(async () => {
    const snapshots = writeSnapshots(tideFiles());
    const seeds = { old: needed(FIRST), next: needed(SECOND) };
    issuer = issuerDid(signingKey(seeds.old));
    const { data } = await compileFolder(snapshots, { seed: seeds.old });
    keys = rotateKey({ data, ...seeds, ...TIMES });
    await compileFolder(snapshots, {
      data,
      seed: seeds.next,
      asOf: new Date(NOW_MS).toISOString(),
    });
    gate = await sampleGate(data);
    const did = issuerDid(signingKey(seeds.next));
    const of = { seed: seeds.next, did, from: '2026-11-21T00:00:00Z', now: '2026-11-21T11:00:00Z' };
    revoked = revokeKey({ data, ...of });
    const others = await compileFolder(snapshots, { seed: needed(OTHER) });
    foreign = rotateKey({ ...others, old: needed(OTHER), next: seeds.next, ...TIMES });
  });
  afterAll(async () => {
    await gate.close();
    removeFolders();
  });

  function needed(seed: Uint8Array | undefined): Uint8Array {
    if (seed === undefined) throw new Error('no seed');
    return seed;
  }

  const client = (more: Partial<ClientOptions> = {}) =>
    signalpressClient({
      baseUrl: gate.url,
      issuer,
      pay: payingFetch,
      catalog: 'served',
      wait: async () => undefined,
      clock: () => NOW_MS,
      onSigned: () => {
        signed += 1;
      },
      ...more,
    });

  describe('a client that knows the key before', () => {
    it('buys, redelivers and verifies with the list of keys', async () => {
      const bought = await client({ keys }).buy('/gauge', PARAMS);
      expect([bought.report?.verdict, bought.report?.issuer === issuer]).toEqual([
        'verified',
        false,
      ]);
      expect((await client({ keys }).redeliver(bought.payment)).text).toBe(bought.text);
      expect((await client({ keys }).verify(bought.text)).verdict).toBe('verified');
      await expect(client().verify(bought.text)).rejects.toThrow('not one of the trusted issuers');
    });

    it('signs nothing without it, with that of another issuer, or where the key was revoked', async () => {
      signed = 0;
      for (const [given, why] of [
        [undefined, 'is not one of the trusted issuers'],
        [foreign, 'is not one of the trusted issuers'],
        [revoked, 'is revoked from 2026-11-21T00:00:00Z on'],
      ] as const) {
        const buyer = client(given === undefined ? {} : { keys: given });
        await expect(buyer.buy('/gauge', PARAMS)).rejects.toThrow(why);
      }
      expect(signed).toBe(0);
      expect(() => client({ keys: { ...keys, keys: [] } })).toThrow('Cannot trust the list');
    });

    it('is the command too, with a file', async () => {
      const file = join(makeFolder(), 'own.trust');
      const text = trustText({
        issuers: [issuer],
        keys,
        log: (await (await fetch(`${gate.url}/log/vkey`)).text()).trim(),
      });
      writeFileSync(file, text);
      const printed: string[] = [];
      const run = (...more: readonly string[]) => {
        const command = new Command();
        const settings = { now: () => NOW_MS, print: (text: string) => printed.push(text) };
        defineBuy(command, settings as unknown as CommandSettings);
        const target = `${gate.url}/gauge?signal_id=tides.level&entity=pier-one`;
        return command.parseAsync([target, ...more], { from: 'user' });
      };
      await expect(run()).rejects.toThrow('nobody named');
      await expect(run('--issuer', issuer)).rejects.toThrow('not one of the trusted issuers');
      await run('--trust', file);
      expect(printed).toEqual([expect.stringContaining('"pier-one"')]);
    });
  });
});

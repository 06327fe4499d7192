import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signalpressClient } from '../../compiler/client/signalpress-client.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { sampleGate } from '../gate.ts';
import { NOW_MS } from '../gatekeeper/payer.ts';
import { compileFolder, fileOf, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { tideFiles } from '../tide-shop.ts';
import { payingAt } from './python-gate.ts';

// A shop that can serve the catalogue of an older release, signed as it is.

const HOUR_MS = 3_600_000;
const PARAMS = { signal_id: 'tides.level', entity: 'pier-one' } as const;
const at = (hours: number): string => new Date(NOW_MS + hours * HOUR_MS).toISOString();

let data: string;
let issuer: string;
let gate: Gatekeeper;
/** The release whose head and catalogue are served. */
let served = 1;
let asked: string[] = [];
/** Hours that the clock of the shop is on. */
let hours = 0;

beforeAll(async () => {
  const snapshots = writeSnapshots(tideFiles());
  const first = await compileFolder(snapshots, { validUntil: at(1) });
  ({ data } = first);
  issuer = first.release.issuer_did;
  await compileFolder(snapshots, { data, asOf: at(0), validUntil: at(24) });
  gate = await sampleGate(data, { clock: () => NOW_MS + hours * HOUR_MS });
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const replaying: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { pathname } = new URL(request.url);
  const [, name] = /^\/\.well-known\/(catalog|release)\.json$/.exec(pathname) ?? [];
  if (name === undefined) return fetch(request);
  asked.push(name);
  const folder = readdirSync(join(data, 'releases')).sort()[served - 1];
  return new Response(readFileSync(fileOf(join(data, 'releases', String(folder)), `${name}.json`)));
};

/** A client and its clock, hours after the time of the payments. */
function client() {
  const clock = { hours: 0, signed: 0 };
  const calls = signalpressClient({
    baseUrl: gate.url,
    issuer,
    pay: payingAt(() => NOW_MS + clock.hours * HOUR_MS),
    catalog: 'served',
    fetch: replaying,
    wait: async () => undefined,
    clock: () => NOW_MS + clock.hours * HOUR_MS,
    onSigned: () => {
      clock.signed += 1;
    },
  });
  return { clock, calls };
}

describe("catalog: 'served'", () => {
  it('signs nothing where an old release is all that is served, and still reads what was bought', async () => {
    served = 1;
    const { clock, calls } = client();
    const { payment, text } = await calls.buy('/gauge', PARAMS);
    const later = client();
    for (const { calls: buyer, clock: time } of [later, { calls, clock }]) {
      time.hours = 1.5;
      time.signed = 0;
      await expect(buyer.buy('/gauge', PARAMS)).rejects.toMatchObject({
        code: 'failed',
        message: expect.stringContaining(`was valid until ${at(1)}; ask when`),
      });
      await expect(buyer.buyBasket([`/gauge?entity=pier-one`])).rejects.toThrow('was valid until');
      expect(time.signed).toBe(0);
      expect((await buyer.redeliver(payment)).text).toBe(text);
      expect((await buyer.verify(text)).verdict).toBe('verified');
    }
  });

  it('goes back to no older release than it was given', async () => {
    served = 2;
    const { clock, calls } = client();
    await calls.buy('/gauge', PARAMS);
    clock.hours = 25;
    served = 1;
    await expect(calls.buy('/gauge', PARAMS)).rejects.toThrow(`was valid until ${at(24)}`);
  });

  it('is asked for once by calls that begin together', async () => {
    asked = [];
    const { calls } = client();
    await Promise.all([calls.quote('/gauge', PARAMS), calls.quote('/gauge', PARAMS)]);
    expect(asked).toEqual(['release', 'catalog']);
  });

  it('buys by a release until its end, and by a newer one from then on', async () => {
    served = 1;
    const { clock, calls } = client();
    const bought = await calls.buy('/gauge', PARAMS);
    expect(bought.report?.verdict).toBe('verified');
    hours = clock.hours = 1.5;
    served = 2;
    asked = [];
    expect((await calls.buy('/gauge', PARAMS)).report?.verdict).toBe('verified');
    await calls.buy('/gauge', PARAMS);
    expect(asked).toEqual(['release', 'catalog']);
  });
});

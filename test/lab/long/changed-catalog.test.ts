import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rollBack } from '../../../compiler/cli/releases-command.ts';
import type { PendingPayment } from '../../../compiler/client/client-error.ts';
import { signalpressClient } from '../../../compiler/client/signalpress-client.ts';
import { verify } from '../../../compiler/client/verify.ts';
import type { CheckBody } from '../../../compiler/products/shapes/free-body-schemas.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { payingFetch } from '../../client/python-gate.ts';
import { sampleGate } from '../../gate.ts';
import { NOW_MS } from '../../gatekeeper/payer.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  readJson,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { askPrice, HARBOUR_RULER, LEVEL, TIDE_PRICES, tideFiles } from '../../tide-shop.ts';
import { readHeadOf, resign } from '../../verify/resign.ts';

// A publisher changes a scale under its own name, and buyers hold bodies of before.

const PARAMS = { signal_id: 'tides.level', entity: 'pier-one' } as const;
const LATER = '2026-11-20T13:00:00Z';

const filesOf = ({ flood, price }: { readonly flood: number; readonly price: string }) => {
  const steps = [
    { band: 'normal', at: 0 },
    { band: 'flood', at: flood },
  ];
  const rulers = { harbour: { ...HARBOUR_RULER, steps } };
  return tideFiles({ catalog: { rulers, prices: { ...TIDE_PRICES, '/gauge': price } } });
};
const BEFORE = filesOf({ flood: 3.2, price: '0.02' });
const AFTER = filesOf({ flood: 4.5, price: '0.03' });

afterAll(removeFolders);

const rootOf = (data: string, sequence: number): string => {
  const [name] = readdirSync(join(data, 'releases')).filter(
    (each) => Number.parseInt(each, 10) === sequence,
  );
  return join(data, 'releases', name ?? 'none');
};
const priceAt = async (gate: Gatekeeper): Promise<string> =>
  (await askPrice(gate.url + LEVEL)).maxAmountRequired;
const openGate = (data: string) => sampleGate(data, { tokens: false, pollMs: 20 });
const seenBy = (gate: Gatekeeper, price: string) =>
  vi.waitFor(async () => expect(await priceAt(gate)).toBe(price), 60_000);

describe('a body that was sold before the catalogue changed', () => {
  let data: string;
  let issuer: string;
  let gate: Gatekeeper;
  let old: string;
  let fresh: string;
  let payment: PendingPayment;
  const client = (more: { readonly fetch?: typeof fetch } = {}) =>
    signalpressClient({
      baseUrl: gate.url,
      issuer,
      pay: payingFetch,
      clock: () => NOW_MS,
      catalog: 'served',
      onSigned: (signed) => {
        payment = signed;
      },
      ...more,
    });

  beforeAll(async () => {
    const snapshots = writeSnapshots(BEFORE);
    const first = await compileFolder(snapshots);
    ({ data } = first);
    issuer = first.release.issuer_did;
    gate = await openGate(data);
    // Knows the catalogue of the first release when the second one comes.
    const faithful = client();
    old = (await faithful.buy('/gauge', PARAMS)).text;
    writeSnapshots(AFTER, snapshots);
    await expect(compileFolder(snapshots, { data })).rejects.toThrow(
      /rulers\/harbour\/steps: was .*--accept/s,
    );
    await compileFolder(snapshots, { data, acceptCatalogChanges: true });
    await seenBy(gate, '30000');
    const first_payment = payment;
    const sold = await faithful.buy('/gauge', PARAMS);
    fresh = sold.text;
    expect(sold.report?.verdict).toBe('verified');
    payment = first_payment;
  });
  afterAll(() => gate.close());

  const saved = (text: string): string => {
    const path = join(makeFolder(), 'body.json');
    writeFileSync(path, text);
    return path;
  };
  const judged = (text: string, catalog: string) =>
    runVerify(saved(text), { issuer: [issuer], now: NOW_MS, catalog });
  /** The two files that a service gives away. */
  const givenAway = (sequence: number): string => {
    const folder = makeFolder();
    const root = rootOf(data, sequence);
    const bytes = (name: string) => readFileSync(fileOf(root, name));
    for (const name of ['catalog.json', 'release.json'])
      writeFileSync(join(folder, name), bytes(name));
    return join(folder, 'catalog.json');
  };

  it('is verified whatever catalogue is passed, and not where it was altered', async () => {
    const altered = old.replace('"band":"flood"', '"band":"normal"');
    for (const catalog of [data, rootOf(data, 1), givenAway(1), givenAway(2)]) {
      expect([(await judged(old, catalog)).exitCode, catalog]).toEqual([0, catalog]);
      expect([(await judged(altered, catalog)).exitCode, catalog]).toEqual([1, catalog]);
    }
  });

  it('is verified by the service and by the judge for browsers', async () => {
    const post = async (body: string) =>
      (await (await fetch(`${gate.url}/verify`, { method: 'POST', body })).json()) as CheckBody;
    expect([(await post(old)).verdict, (await post(fresh)).verdict]).toEqual([
      'verified',
      'verified',
    ]);
    const bytes = (name: string) => readFileSync(fileOf(rootOf(data, 2), name));
    const catalog = { file: bytes('catalog.json'), head: bytes('release.json') };
    const report = verify(old, { issuer, now: NOW_MS, catalog, demandsProof: false });
    expect(report.verdict).toBe('verified');
  });

  it('is delivered again to who paid for it', async () => {
    expect((await client().redeliver(payment)).text).toBe(old);
  });
});

describe('a rollback to a release of another catalogue', () => {
  it.each(['with its hash in the head', 'from before heads had its hash'])(
    'serves what that release sold, and goes on: %s',
    async (age) => {
      const snapshots = writeSnapshots(BEFORE);
      const { data, release } = await compileFolder(snapshots);
      const first = rootOf(data, 1);
      if (age !== 'with its hash in the head') {
        const { catalog_sha256: _, ...older } = readHeadOf(first);
        writeFileSync(join(first, 'release.json'), JSON.stringify(older));
        resign(first, {}, SEED);
      }
      writeSnapshots(AFTER, snapshots);
      const changed = { data, acceptCatalogChanges: true };
      await compileFolder(snapshots, changed);
      const gate = await openGate(data);
      expect(await priceAt(gate)).toBe('30000');
      const [name = ''] = readdirSync(join(data, 'releases')).sort();
      const back = await rollBack({ data, name, asOf: LATER, seed: SEED });
      expect(back.release.catalog_sha256).toBe(readHeadOf(first).catalog_sha256);
      await seenBy(gate, '20000');
      const carried = await (await fetch(`${gate.url}/.well-known/catalog.json`)).json();
      expect(carried).toEqual(readJson(first, 'catalog.json'));
      const trust = [release.issuer_did];
      const verdict = async () => {
        const { faults, verdict: said } = await verifyRelease(data, { trust });
        return [faults, said];
      };
      expect(await verdict()).toEqual([[], 'verified']);
      // What is remembered is of the release that was turned back, so the next compile reads everything.
      const refused = compileFolder(snapshots, { data, asOf: LATER });
      await expect(refused).rejects.toThrow(/rulers\/harbour\/steps: was /);
      const next = await compileFolder(snapshots, { ...changed, asOf: LATER });
      expect([next.release.sequence, next.isIncremental]).toEqual([4, false]);
      await seenBy(gate, '30000');
      expect(await verdict()).toEqual([[], 'verified']);
      const later = await compileFolder(snapshots, { data, asOf: LATER });
      expect([later.release.sequence, later.isIncremental]).toEqual([5, true]);
      await gate.close();
    },
    60_000,
  );
});

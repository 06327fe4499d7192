import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { PendingPayment } from '../compiler/client/client-error.ts';
import { signalpressClient } from '../compiler/client/signalpress-client.ts';
import { verify } from '../compiler/client/verify.ts';
import { rollBack } from '../compiler/commands/releases-command.ts';
import type { CheckBody } from '../compiler/contract/free-body-schemas.ts';
import { isoTime } from '../compiler/contract/iso-time.ts';
import { storedPath } from '../compiler/contract/path.ts';
import { runVerify } from '../compiler/verify/verify-command.ts';
import { verifyRelease } from '../compiler/verify/verify-release.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { payingFetch } from './client/paying-fetch.ts';
import { NOW_MS } from './gatekeeper/payer.ts';
import { sampleGate } from './sample-gate.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  readJson,
  removeFolders,
  SEED,
  writeSnapshots,
} from './snapshot-folder.ts';
import { HARBOUR_RULER } from './tide-catalog.ts';
import { askPrice, LEVEL, TIDE_PRICES, tideFiles } from './tide-shop.ts';
import { hasPython, VERIFY_RECORD } from './verify/python-judge.ts';
import { readHeadOf, resign } from './verify/resign.ts';

// A publisher changes a scale under its own name, and buyers hold bodies of before.

const PARAMS = { signal_id: 'tides.level', entity: 'pier-one' } as const;
const LATER = '2026-11-20T13:00:00Z';
const OTHER = 'made under another catalogue';

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
const openGate = (data: string) => sampleGate(data, { tokens: false, receipts: false, pollMs: 20 });
const seenBy = (gate: Gatekeeper, price: string) =>
  vi.waitFor(async () => expect(await priceAt(gate)).toBe(price), { timeout: 10_000 });

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
  const catalogStep = (checks: readonly CheckBody['details'][number][]) =>
    checks.filter(({ check }) => check === 'catalog').map(({ status, detail }) => [status, detail]);

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
    expect(catalogStep(sold.report?.checks ?? [])).toEqual([['pass', expect.anything()]]);
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
  /** Verdict and detail of verify_record.py. */
  const pythonJudged = (text: string, catalog: string): string => {
    const flags = ['--no-proof', '--issuer', issuer, '--now', isoTime(NOW_MS)];
    const { stdout } = spawnSync(
      'python3',
      [VERIFY_RECORD, ...flags, '--catalog', catalog, saved(text)],
      {
        encoding: 'utf8',
      },
    );
    return stdout;
  };
  /** The two files that a service gives away. */
  const givenAway = (sequence: number): string => {
    const folder = makeFolder();
    const root = rootOf(data, sequence);
    const bytes = (name: string) => readFileSync(fileOf(root, name));
    for (const name of ['catalog.json', 'release.json'])
      writeFileSync(join(folder, name), bytes(name));
    return join(folder, 'catalog.json');
  };

  it('is verified by the newer catalogue, and said not to be judged by it', async () => {
    for (const catalog of [data, rootOf(data, 2), givenAway(2)]) {
      const { exitCode, text } = await judged(old, catalog);
      expect([exitCode, text]).toEqual([
        0,
        expect.stringMatching(new RegExp(`- +catalog .*${OTHER}`)),
      ]);
    }
    for (const catalog of [rootOf(data, 1), givenAway(1)]) {
      const { exitCode, text } = await judged(old, catalog);
      expect([exitCode, text]).toEqual([0, expect.stringMatching(/ok +catalog /)]);
      expect(text).not.toContain(OTHER);
    }
  });

  it.skipIf(!hasPython)('is judged alike by verify_record.py (skipped without python3)', () => {
    for (const catalog of [data, rootOf(data, 2), givenAway(2)]) {
      expect(pythonJudged(old, catalog)).toMatch(
        new RegExp(`^verified .*\n(?: {2}[a-z_]+ +.*\n){4}.*${OTHER}`),
      );
      expect(pythonJudged(fresh, catalog)).toMatch(/^verified /);
      expect(pythonJudged(fresh, catalog)).not.toContain(OTHER);
    }
    for (const catalog of [rootOf(data, 1), givenAway(1)]) {
      expect(pythonJudged(old, catalog)).toMatch(/^verified /);
      expect(pythonJudged(old, catalog)).not.toContain(OTHER);
    }
    const altered = old.replace('"band":"flood"', '"band":"normal"');
    expect(pythonJudged(altered, rootOf(data, 1))).toMatch(/^FAILED /);
  });

  it.skipIf(!hasPython)(
    'is no catalogue for it that nobody signed (skipped without python3)',
    () => {
      const path = givenAway(2);
      writeFileSync(path, readFileSync(path, 'utf8').replace('4.5', '3.2'));
      expect(pythonJudged(old, path)).toBe('');
    },
  );

  it('is not verified where it was altered, whatever catalogue is passed', async () => {
    for (const catalog of [data, givenAway(2), rootOf(data, 1)]) {
      const altered = old.replace('"band":"flood"', '"band":"normal"');
      expect((await judged(altered, catalog)).exitCode).toBe(1);
    }
  });

  it('fails where the release lists it and its catalogue says otherwise', async () => {
    const copy = await compileFolder(writeSnapshots(BEFORE));
    const root = rootOf(copy.data, 1);
    const listed = (folder: string) =>
      readFileSync(join(folder, 'files.txt'), 'utf8').match(/^([0-9a-f]{64}) \d+ catalog\.json$/m);
    const [own = ''] = listed(root) ?? [];
    const [other = '', wanted = ''] = listed(rootOf(data, 2)) ?? [];
    const stored = join(copy.data, storedPath('catalog.json', wanted));
    mkdirSync(dirname(stored), { recursive: true });
    writeFileSync(stored, readFileSync(fileOf(rootOf(data, 2), 'catalog.json')));
    const list = join(root, 'files.txt');
    writeFileSync(list, readFileSync(list, 'utf8').replace(own, other));
    resign(root, { catalog_sha256: `sha256:${wanted}` }, SEED);
    const path = 'record/tides.level/pier-one.json';
    const body = readFileSync(fileOf(root, path), 'utf8');
    const lying = await runVerify(saved(body), { issuer: [issuer], now: NOW_MS, catalog: root });
    expect([lying.exitCode, lying.text]).toEqual([
      1,
      expect.stringMatching(
        /FAIL +catalog .*does not follow from the value and the official scale/,
      ),
    ]);
    if (hasPython) {
      expect(pythonJudged(body, root)).toMatch(/^FAILED .*\n.*does not follow from the value and/);
    }
    // A list that the head does not sign shows nothing.
    writeFileSync(list, readFileSync(list, 'utf8').replace(/.+\n$/, ''));
    if (hasPython) expect(pythonJudged(body, root)).toContain(OTHER);
    const unsigned = await runVerify(saved(body), { issuer: [issuer], now: NOW_MS, catalog: root });
    expect(unsigned.text).toContain(OTHER);
  });

  it('is told so by the service and by the judge for browsers', async () => {
    const post = async (body: string) =>
      (await (await fetch(`${gate.url}/verify`, { method: 'POST', body })).json()) as CheckBody;
    const [before, now] = [await post(old), await post(fresh)];
    expect([before.verdict, now.verdict]).toEqual(['verified', 'verified']);
    const named = [['not_applicable', expect.stringContaining(OTHER)]];
    expect(catalogStep(before.details)).toEqual(named);
    expect(catalogStep(now.details)).toEqual([['pass', expect.anything()]]);
    const bytes = (name: string) => readFileSync(fileOf(rootOf(data, 2), name));
    const catalog = { file: bytes('catalog.json'), head: bytes('release.json') };
    const report = verify(old, { issuer, now: NOW_MS, catalog, demandsProof: false });
    expect([report.verdict, catalogStep(report.checks)]).toEqual(['verified', named]);
  });

  it('is delivered again to who paid for it', async () => {
    const again = await client().redeliver(payment);
    expect(again.text).toBe(old);
    expect(catalogStep(again.report?.checks ?? [])).toEqual([
      ['not_applicable', expect.stringContaining(OTHER)],
    ]);
  });

  it('is not sold now: the client wants what the catalogue of now says', async () => {
    const folder = givenAway(1);
    const outdated: typeof fetch = async (request) => {
      const { pathname } = new URL((request as Request).url);
      const name = /^\/\.well-known\/(catalog|release)\.json$/.exec(pathname)?.[1];
      if (name === undefined) return fetch(request);
      return new Response(readFileSync(join(folder, '..', `${name}.json`)));
    };
    const sold = client({ fetch: outdated }).buy('/gauge', PARAMS);
    await expect(sold).rejects.toMatchObject({
      code: 'unverified',
      message: expect.stringContaining('does not follow from the value and the official scale'),
    });
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

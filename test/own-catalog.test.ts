import { hash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PayingFetch } from '../compiler/client/payment-trip.ts';
import { signalpressClient } from '../compiler/client/signalpress-client.ts';
import { linesText } from '../compiler/commands/lines-command.ts';
import type { Catalog } from '../compiler/contract/catalog/catalog.ts';
import type { CatalogFile } from '../compiler/contract/catalog/catalog-file.ts';
import { builtinDigest } from '../compiler/contract/catalog/release-catalog.ts';
import { storedPath } from '../compiler/contract/path.ts';
import { parseFiles } from '../compiler/contract/release.ts';
import { parseJson } from '../compiler/contract/strict-json.ts';
import { CompileError } from '../compiler/stages/intake/compile-error.ts';
import { loadCatalog } from '../compiler/stages/intake/load-catalog.ts';
import { canonicalDigest } from '../compiler/stages/seal/canonical-digest.ts';
import { carriedFault } from '../compiler/verify/release-catalog.ts';
import { verifyBody } from '../compiler/verify/verify-body.ts';
import { verifyRelease } from '../compiler/verify/verify-release.ts';
import { NETWORKS } from '../gatekeeper/money/networks.ts';
import type { RequirementsV1 } from '../gatekeeper/money/requirements.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { NOW_MS, payer } from './gatekeeper/payer.ts';
import { sampleGate } from './sample-gate.ts';
import {
  AS_OF,
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from './snapshot-folder.ts';

// A publisher who writes JSON alone: three tide gauges with thresholds of their own, sold one by one and as a chain.

const FORMAT = 'signalpress-catalog/1';
const HARBOUR: CatalogFile = {
  format: FORMAT,
  extends: null,
  rulers: {
    harbour: {
      scale: 'Harbour stages',
      metric: 'level_m',
      unit: 'm',
      direction: 'up',
      edge: 'worse',
      actionBand: 'flood',
      provenance: 'Harbour Authority, Notice 4',
      steps: [
        { band: 'normal', at: 0 },
        { band: 'high', at: 2.5 },
        { band: 'flood', at: 3.2 },
      ],
    },
  },
  prices: { '/gauge': '0.02', '/gauge/census': '0.3', '/gauge/tide-region': '0.4' },
};
const TIDES: CatalogFile = {
  format: FORMAT,
  extends: null,
  lines: [
    {
      id: 'tides',
      industry: 'ports',
      title: 'tide gauges',
      upperCase: true,
      signals: [
        {
          id: 'tides.waves',
          measures: 'wave height',
          cadence: 'hourly',
          metrics: ['height_m'],
          bands: ['calm', 'rough'],
        },
        {
          id: 'tides.level',
          measures: 'water level',
          cadence: 'hourly',
          metrics: ['level_m'],
          rulers: ['harbour'],
        },
      ],
      bundle: { path: '/gauge/tide-region', param: 'loc' },
      entities: [
        {
          id: 'PIER-ONE',
          name: 'Pier One',
          latitude: 51.9,
          longitude: 4.1,
          zone: 'Europe/Amsterdam',
        },
        { id: 'QUAY-TWO', name: 'Quay Two' },
        'LOCK-THREE',
      ],
    },
  ],
};
const BUILTIN_NAMES =
  /airquality|nas\.|us-denver|earthquake|aviation|hurricane|filing-company|drought|river/;
const LEVELS = [
  reading('PIER-ONE', { level_m: 3.4 }),
  reading('QUAY-TWO', { level_m: 0.4 }),
  reading('LOCK-THREE', { level_m: 2.6 }),
];
const WAVES = [reading('PIER-ONE', { height_m: 2, band: 'rough' })];
const BATCH = '2026-11-20';

function shopFiles(prices: CatalogFile = HARBOUR): SnapshotFiles {
  return {
    'catalog/harbour.json': JSON.stringify(prices),
    'catalog/tides.json': JSON.stringify(TIDES),
    [`${BATCH}/tides.level.ndjson`]: ndjson(LEVELS),
    [`${BATCH}/tides.waves.ndjson`]: ndjson(WAVES),
  };
}

const snapshots = writeSnapshots(shopFiles());
let data: string;
let gate: Gatekeeper;

beforeAll(async () => {
  ({ data } = await compileFolder(snapshots, { asOf: AS_OF }));
  gate = await sampleGate(data);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const textOf = async (target: string): Promise<string> => (await fetch(gate.url + target)).text();
const listedFiles = () => parseFiles(readFileSync(join(data, 'current/files.txt'), 'utf8'));
const issuer = (): string => readJson(join(data, 'current'), 'release.json').issuer_did;

/** Asks, signs what is asked for, and sends it. */
const wallet: PayingFetch = (inner) => async (input, init) => {
  const asked = await inner(input, init);
  if (asked.status !== 402) return asked;
  const { accepts } = (await asked.json()) as { accepts: [RequirementsV1] };
  const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
  return inner(input, { ...init, headers: { 'X-PAYMENT': header } });
};

async function buy(target: string) {
  const url = gate.url + target;
  const asked = await fetch(url);
  expect([target, asked.status]).toEqual([target, 402]);
  const { accepts } = (await asked.json()) as { accepts: [RequirementsV1] };
  const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
  const sold = await fetch(url, { headers: { 'x-payment': header } });
  expect([target, sold.status]).toEqual([target, 200]);
  return { amount: accepts[0].maxAmountRequired, text: await sold.text() };
}

describe('a shop of its own catalogue', () => {
  it.each([
    ['/gauge?entity=PIER-ONE&signal_id=tides.level', '20000', '"flood"'],
    ['/gauge?entity=QUAY-TWO&signal_id=tides.level', '20000', '"normal"'],
    ['/gauge/tide-region?loc=PIER-ONE', '400000', '"rough"'],
    ['/gauge/census?signal_id=tides.level', '300000', 'LOCK-THREE'],
  ])('sells %s at its price, and the body verifies', async (target, price, word) => {
    const { amount, text } = await buy(target);
    expect(amount).toBe(price);
    expect(text).toContain(word);
    const judge = (body: string) => verifyBody(parseJson(body), { trust: [issuer()] }).verdict;
    expect(judge(text)).toBe('verified');
    expect(judge(text.replace('2026-11-20T10:00:00', '2026-11-20T10:00:01'))).toBe('failed');
  });

  it('lights the legs of its bundle by its own bands', async () => {
    const { text } = await buy('/gauge/tide-region?loc=PIER-ONE');
    const body = JSON.parse(text);
    expect(body.legs_lit).toEqual({ count: 2, of: 2, names: ['waves', 'level'] });
    const { catalog } = loadCatalog(snapshots);
    const litFaults = (judged: object, known?: Catalog) => {
      const trust = { trust: [issuer()], ...(known === undefined ? {} : { catalog: known }) };
      const { checks } = verifyBody(parseJson(JSON.stringify(judged)), trust);
      return checks.filter(({ where, status }) => where.endsWith('.lit') && status === 'fail');
    };
    body.legs.level.lit = false;
    expect(litFaults(body, catalog)).toHaveLength(1);
    // Who does not know the signal cannot judge it; the signed content still differs.
    expect(litFaults(body)).toEqual([]);
    expect(litFaults(JSON.parse(text), catalog)).toEqual([]);
  });

  it('sells to the typed client, which needs its catalogue to know what it asked for', async () => {
    const { sha256 = '' } = listedFiles().find(({ path }) => path === 'catalog.json') ?? {};
    const catalog = readFileSync(join(data, storedPath('catalog.json', sha256)));
    const options = { baseUrl: gate.url, issuer: issuer(), pay: wallet, clock: () => NOW_MS };
    const client = signalpressClient({ ...options, maxUsd: '1', catalog });
    const sold = await client.buy('/gauge/tide-region', { loc: 'QUAY-TWO' });
    expect([sold.report?.verdict, sold.text.includes('QUAY-TWO')]).toEqual(['verified', true]);
    const plain = signalpressClient({ ...options, maxUsd: '1' });
    const refused = plain.buy('/gauge/tide-region', { loc: 'QUAY-TWO' });
    await expect(refused).rejects.toThrow('pass "catalog"');
  });

  it('lets no typed client pay for what it could not judge', async () => {
    const pay: PayingFetch = () => () => Promise.reject(new Error('it pays'));
    const options = { baseUrl: gate.url, issuer: issuer(), pay, clock: () => NOW_MS, maxUsd: '1' };
    const plain = signalpressClient(options);
    const sold = plain.buy('/gauge', { signal_id: 'tides.level', entity: 'PIER-ONE' });
    await expect(sold).rejects.toThrow('nothing was signed');
    const absent = plain.buy('/gauge', { signal_id: 'tides.level', entity: 'NOWHERE' });
    await expect(absent).rejects.toMatchObject({ code: 'not_charged' });
    const known = plain.buy('/gauge', { signal_id: 'airquality.aqi', entity: 'us-denver' });
    await expect(known).rejects.toThrow('Cannot reach');
  });

  it('sells nothing that it does not offer', async () => {
    for (const target of ['/gauge/series', '/gauge/environment-region?loc=us-denver', '/air']) {
      expect((await fetch(gate.url + target)).status, target).toBe(404);
    }
    const foreign = await fetch(`${gate.url}/gauge?entity=us-denver&signal_id=airquality.aqi`);
    expect(foreign.status).toBeGreaterThanOrEqual(400);
    expect(foreign.status).not.toBe(402);
  });

  it('describes what is there, and nothing else', async () => {
    const manifest = JSON.parse(await textOf('/manifest?all=1'));
    const paid = manifest.entries.filter(
      ({ price_usd }: { price_usd: string }) => price_usd !== '0',
    );
    expect(paid.map(({ path }: { path: string }) => path).sort()).toEqual([
      '/gauge',
      '/gauge/census',
      '/gauge/tide-region',
    ]);
    const openApi = JSON.parse(await textOf('/openapi.json'));
    expect(openApi.paths).toHaveProperty(['/gauge/tide-region']);
    expect(openApi.paths).not.toHaveProperty(['/gauge/environment-region']);
    for (const target of [
      '/llms.txt',
      '/manifest',
      '/openapi.json',
      '/gauge/catalog',
      '/gauge/preview',
      '/.well-known/agent-card.json',
      '/manifest?platform=mcp',
    ]) {
      const text = await textOf(target);
      expect([target, BUILTIN_NAMES.exec(text)?.[0]]).toEqual([target, undefined]);
    }
    expect(await textOf('/llms.txt')).toContain('tide');
  });

  it('publishes no file that names what only the built-in catalogue has', () => {
    // The program of the page is the same for every shop.
    const own = listedFiles().filter(({ path }) => !/\.(br|gz)$|^site\/assets/.test(path));
    const named = own.flatMap(({ path, sha256 }) => {
      const text = readFileSync(join(data, storedPath(path, sha256)), 'utf8');
      return BUILTIN_NAMES.test(text) ? [path] : [];
    });
    expect(own.length).toBeGreaterThan(40);
    expect(named).toEqual([]);
    expect('"/gauge/raw" of a river gauge').toMatch(BUILTIN_NAMES);
  });

  it('is verified as a release, and not with another price in its catalogue', async () => {
    const report = await verifyRelease(data, { trust: [issuer()] });
    expect([report.faults, report.verdict, report.ownTables]).toEqual([[], 'verified', true]);
    // Three places, one with both legs, in two forms.
    expect(report.checked.legs).toBe(8);
    const { table_digest, catalog_sha256 } = readJson(join(data, 'current'), 'release.json');
    const { sha256 = '' } = listedFiles().find(({ path }) => path === 'catalog.json') ?? {};
    const before = { head: { table_digest }, ownTables: true };
    const other = 'not the catalogue that the head was made of';
    expect(carriedFault(sha256, before)).toBeNull();
    expect(carriedFault('0'.repeat(64), before)).toBe(other);
    const builtin = { table_digest: builtinDigest(canonicalDigest) };
    expect(carriedFault(sha256, { head: builtin, ownTables: true })).toBe(other);
    // Of tables that are strange here, the hash in the head is all that can be compared.
    const strange = { head: { table_digest: other, catalog_sha256 }, ownTables: false };
    expect(carriedFault(sha256, strange)).toBeNull();
    expect(carriedFault('0'.repeat(64), strange)).toBe(other);
  });

  it('gives its catalogue away, and the signed head that proves it', async () => {
    const catalog = await fetch(`${gate.url}/.well-known/catalog.json`);
    const text = await catalog.text();
    const { sha256 = '' } = listedFiles().find(({ path }) => path === 'catalog.json') ?? {};
    expect(hash('sha256', text, 'hex')).toBe(sha256);
    const head = await (await fetch(`${gate.url}/.well-known/release.json`)).text();
    expect(head).toBe(readFileSync(join(data, 'current/release.json'), 'utf8'));
    expect(JSON.parse(head).catalog_sha256).toBe(`sha256:${sha256}`);
    for (const path of ['/.well-known/catalog.json', '/.well-known/release.json']) {
      const first = await fetch(gate.url + path);
      const etag = first.headers.get('etag') ?? 'none';
      const again = await fetch(gate.url + path, { headers: { 'if-none-match': etag } });
      const posted = await fetch(gate.url + path, { method: 'POST', body: '{}' });
      expect([path, first.status, again.status, posted.status]).toEqual([path, 200, 304, 405]);
      expect(first.headers.get('cache-control')).toBe('public, max-age=60');
      for (const description of ['/manifest', '/openapi.json', '/llms.txt']) {
        expect([description, (await textOf(description)).includes(path)]).toEqual([
          description,
          true,
        ]);
      }
    }
  });

  it('shows its lines to who writes readings', () => {
    const { catalog } = loadCatalog(snapshots);
    expect(linesText(catalog, 'tides.level')).toContain('PIER-ONE, QUAY-TWO, LOCK-THREE');
    expect(linesText(catalog)).not.toContain('airquality');
  });
});

describe('a changed catalogue', () => {
  it('is compiled again as a whole, and what did not change goes on', async () => {
    const root = writeSnapshots(shopFiles(), join(makeFolder(), 'snapshots'));
    const first = await compileFolder(root, { asOf: AS_OF });
    const again = await compileFolder(root, { asOf: AS_OF, data: first.data });
    expect(again.isIncremental).toBe(true);
    const dearer = { ...HARBOUR, prices: { ...HARBOUR.prices, '/gauge': '0.05' } };
    writeSnapshots(shopFiles(dearer), root);
    const changed = await compileFolder(root, { asOf: AS_OF, data: first.data });
    expect(changed.isIncremental).toBe(false);
    expect(changed.release.table_digest).not.toBe(first.release.table_digest);
    const carried = readJson(join(first.data, 'current'), 'catalog.json');
    expect(carried.prices['/gauge']).toBe('0.05');
  });

  it('adds lines to a shop of the built-in catalogue, and takes them away again only if told', async () => {
    const aqi = ndjson([reading('us-denver', { aqi_index: 42, band: 'good' })]);
    const root = writeSnapshots({ [`${BATCH}/airquality.aqi.ndjson`]: aqi });
    const first = await compileFolder(root, { asOf: AS_OF });
    const own = shopFiles({ ...HARBOUR, extends: 'builtin' });
    const tides = JSON.stringify({ ...TIDES, extends: 'builtin' });
    writeSnapshots({ ...own, 'catalog/tides.json': tides }, root);
    const more = await compileFolder(root, { asOf: AS_OF, data: first.data });
    expect([more.release.counts.records, more.release.sequence]).toEqual([5, 2]);
    const report = await verifyRelease(first.data, { trust: [issuer()] });
    expect([report.faults, report.ownTables]).toEqual([[], true]);
    rmSync(join(root, 'catalog'), { recursive: true });
    const without = compileFolder(root, { asOf: AS_OF, data: first.data });
    await expect(without).rejects.toThrow(/line "tides" sold .*--accept-catalog-changes/);
    const accepted = { asOf: AS_OF, data: first.data, acceptCatalogChanges: true };
    await expect(compileFolder(root, accepted)).rejects.toThrow(/no signal or collection of that/);
    rmSync(join(root, BATCH, 'tides.level.ndjson'));
    rmSync(join(root, BATCH, 'tides.waves.ndjson'));
    const shrunk = accepted;
    await expect(compileFolder(root, shrunk)).rejects.toThrow(CompileError);
    const less = await compileFolder(root, { ...shrunk, allowShrink: true });
    expect(less.release.table_digest).toBe(first.release.table_digest);
  });

  it('publishes nothing where it is broken', async () => {
    const root = writeSnapshots({ ...shopFiles(), 'catalog/more.json': '{"format":"x"}' });
    await expect(compileFolder(root, { asOf: AS_OF })).rejects.toThrow(/nothing was published/);
  });
});

describe('the example of CATALOG.md', () => {
  it('is a shop, though it prices little: what has no price is not made', async () => {
    const document = readFileSync(join(import.meta.dirname, '../compiler/CATALOG.md'), 'utf8');
    const [, text = ''] = /```json\n([\s\S]*?)```/.exec(document) ?? [];
    const root = writeSnapshots({
      'catalog/tides.json': text,
      [`${BATCH}/tides.level.ndjson`]: ndjson([reading('pier-one', { level_m: 3.4 })]),
    });
    const { data: folder } = await compileFolder(root, { asOf: AS_OF });
    const { issuer_did } = readJson(join(folder, 'current'), 'release.json');
    const { faults } = await verifyRelease(folder, { trust: [issuer_did] });
    expect(faults).toEqual([]);
    const shop = await sampleGate(folder);
    const statusOf = async (target: string) => (await fetch(shop.url + target)).status;
    expect(await statusOf('/gauge?entity=pier-one&signal_id=tides.level')).toBe(402);
    expect(await statusOf('/gauge/tide-region?loc=pier-one')).toBe(402);
    expect(await statusOf('/gauge/census?signal_id=tides.level')).toBe(404);
    await shop.close();
  });
});

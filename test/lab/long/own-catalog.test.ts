import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CatalogFile } from '../../../compiler/catalog/catalog-file.ts';
import { FORMAT_DOCUMENTS } from '../../../compiler/catalog/static-files.ts';
import { builtinDigest } from '../../../compiler/catalog/whole-catalog.ts';
import { linesText } from '../../../compiler/cli/lines-command.ts';
import type { PayingFetch } from '../../../compiler/client/payment-trip.ts';
import { signalpressClient } from '../../../compiler/client/signalpress-client.ts';
import { type VerifyOptions, verify } from '../../../compiler/client/verify.ts';
import { CONTRACT_VERSION, parseFiles } from '../../../compiler/format/release.ts';
import { parseJson } from '../../../compiler/format/strict-json.ts';
import type { CheckBody } from '../../../compiler/products/shapes/free-body-schemas.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { loadCatalog } from '../../../compiler/readings/load-catalog.ts';
import { CompileError } from '../../../compiler/system/compile-error.ts';
import { canonicalDigest } from '../../../compiler/system/jcs.ts';
import { carriedFault } from '../../../compiler/verify/description-checks.ts';
import { provenCatalog } from '../../../compiler/verify/signed-head.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { payingFetch } from '../../client/python-gate.ts';
import { servedShop } from '../../gate.ts';
import { NOW_MS } from '../../gatekeeper/payer.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  SEED,
  type SnapshotFiles,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { askPrice, HARBOUR_RULER, LEVEL_SIGNAL, pay, WAVES_SIGNAL } from '../../tide-shop.ts';
import { readHeadOf, resign } from '../../verify/resign.ts';

// A publisher who writes JSON alone: three tide gauges with thresholds of their own, sold one by one and as a chain.

const FORMAT = 'signalpress-catalog/1';
const HARBOUR: CatalogFile = {
  format: FORMAT,
  extends: null,
  rulers: {
    harbour: {
      ...HARBOUR_RULER,
      steps: [
        { band: 'normal', at: 0 },
        { band: 'high', at: 2.5 },
        { band: 'flood', at: 3.2 },
      ],
    },
  },
  prices: { '/gauge': '0.02', '/gauge/census': '0.3', '/gauge/tide-region': '0.4' },
  aliases: { 'tides.level': ['depth'], 'tides/LOCK-THREE': ['old gate'] },
  abbreviations: { One: 'First' },
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
        { ...WAVES_SIGNAL, bands: ['calm', 'rough'] },
        { ...LEVEL_SIGNAL, rulers: ['harbour'] },
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

let snapshots: string;
let data: string;
let issuer: string;
let gate: Gatekeeper;

beforeAll(async () => {
  ({ snapshots, data, issuer, gate } = await servedShop(shopFiles()));
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const textOf = async (target: string): Promise<string> => (await fetch(gate.url + target)).text();
const listedFiles = () => parseFiles(readFileSync(join(data, 'current/files.txt'), 'utf8'));

async function buy(target: string) {
  const terms = await askPrice(gate.url + target);
  const { status, text } = await pay(gate.url + target, terms);
  expect([target, status]).toEqual([target, 200]);
  return { amount: terms.maxAmountRequired, text };
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
    const judge = (body: string) => verifyBody(parseJson(body), { trust: [issuer] }).verdict;
    expect(judge(text)).toBe('verified');
    expect(judge(text.replace('2026-11-20T10:00:00', '2026-11-20T10:00:01'))).toBe('failed');
  });

  it('lights the legs of its bundle by its own bands', async () => {
    const { text } = await buy('/gauge/tide-region?loc=PIER-ONE');
    expect(JSON.parse(text).legs_lit).toEqual({ count: 2, of: 2, names: ['waves', 'level'] });
  });

  it('sells to the typed client, which needs its catalogue to know what it asked for', async () => {
    const { sha256 = '' } = listedFiles().find(({ path }) => path === 'catalog.json') ?? {};
    const catalog = readFileSync(join(data, storedPath('catalog.json', sha256)));
    const options = { baseUrl: gate.url, issuer, pay: payingFetch, clock: () => NOW_MS };
    const client = signalpressClient({ ...options, maxUsd: '1', catalog });
    const sold = await client.buy('/gauge/tide-region', { loc: 'QUAY-TWO' });
    expect([sold.report?.verdict, sold.text.includes('QUAY-TWO')]).toEqual(['verified', true]);
    const plain = signalpressClient({ ...options, maxUsd: '1' });
    const refused = plain.buy('/gauge/tide-region', { loc: 'QUAY-TWO' });
    await expect(refused).rejects.toThrow("pass catalog: 'served'");
  });

  it('lets no typed client pay for what it could not judge', async () => {
    const pay: PayingFetch = () => () => Promise.reject(new Error('it pays'));
    const options = { baseUrl: gate.url, issuer, pay, clock: () => NOW_MS, maxUsd: '1' };
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

  it.each([
    ['water level at Quay Two', 'tides.level/QUAY-TWO'],
    ['depth old gate', 'tides.level/LOCK-THREE'],
    ['waves at the first pier', 'tides.waves/PIER-ONE'],
    ['everywhere', undefined],
    ['air quality in Denver', undefined],
    ['bitcoin', undefined],
  ])('answers "%s" with %s', async (words, id) => {
    const { results } = JSON.parse(
      await textOf(`/gauge/search?q=${encodeURIComponent(words)}`),
    ) as { results: readonly { id: string; request: string; price_usd: string }[] };
    const [first] = results;
    expect(first?.id).toBe(id);
    if (first === undefined) return;
    expect((await fetch(gate.url + first.request)).status).toBe(402);
    expect(first.price_usd).toBe('0.02');
  });

  it('publishes no file that names what only the built-in catalogue has', () => {
    // The program of the page, the documents and the names that things in the world have are the same for every shop.
    const documents = new Set(FORMAT_DOCUMENTS.map(({ path }) => path));
    const own = listedFiles().filter(
      ({ path }) =>
        !documents.has(path) &&
        !/\.(br|gz)$|^site\/(?:assets|docs|data\/docs)|^index\/search-documents/.test(path),
    );
    const named = own.flatMap(({ path, sha256 }) => {
      const text = readFileSync(join(data, storedPath(path, sha256)), 'utf8');
      return BUILTIN_NAMES.test(text) ? [path] : [];
    });
    expect(own.length).toBeGreaterThan(40);
    expect(named).toEqual([]);
    expect('"/gauge/raw" of a river gauge').toMatch(BUILTIN_NAMES);
  });

  it('is verified as a release, and not with another price in its catalogue', async () => {
    const report = await verifyRelease(data, { trust: [issuer] });
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

describe('a stranger who judges by the catalogue of a shop', () => {
  const TARGET = '/gauge?entity=PIER-ONE&signal_id=tides.level';
  let body: string;
  beforeAll(async () => {
    body = (await buy(TARGET)).text;
  });

  /** What somebody saved: a body, and what a service gave away. */
  const saved = async (change: Readonly<Record<string, string>> = {}) => {
    const folder = makeFolder();
    const files = {
      'body.json': body,
      'catalog.json': await textOf('/.well-known/catalog.json'),
      'release.json': await textOf('/.well-known/release.json'),
      ...change,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  };
  const judged = (folder: string, more: { readonly issuer?: string[] } = {}) => {
    const own = { issuer: [issuer], now: NOW_MS, ...more };
    return runVerify(join(folder, 'body.json'), { ...own, catalog: join(folder, 'catalog.json') });
  };

  it('knows by the catalogue which request a body answers, and without it does not', async () => {
    const folder = await saved();
    const file = join(folder, 'body.json');
    const answers = `GET ${TARGET}`;
    for (const catalog of [join(folder, 'catalog.json'), data, join(data, 'current')]) {
      const options = { issuer: [issuer], now: NOW_MS, catalog, expect: `GET ${TARGET}` };
      const { exitCode, text } = await runVerify(file, options);
      expect([exitCode, text]).toEqual([0, expect.stringContaining(answers)]);
      const other = { ...options, expect: TARGET.replace('PIER-ONE', 'QUAY-TWO') };
      expect((await runVerify(file, other)).exitCode).toBe(1);
    }
    const plain = await runVerify(file, { issuer: [issuer], now: NOW_MS });
    expect([plain.exitCode, plain.text.includes(answers)]).toEqual([0, false]);
  });

  it('refuses a catalogue that the issuer of the body did not sign', async () => {
    const milder = (await textOf('/.well-known/catalog.json')).replace('"at":3.2', '"at":9.2');
    const other = await compileFolder(snapshots, { seed: Buffer.alloc(32, 9) });
    const otherHead = readFileSync(join(other.data, 'current/release.json'), 'utf8');
    const head = await textOf('/.well-known/release.json');
    const lied = head.replace(/"catalog_sha256": "sha256:[0-9a-f]{64}"/, () => {
      return `"catalog_sha256": "sha256:${hash('sha256', milder, 'hex')}"`;
    });
    const cases: [Readonly<Record<string, string>>, RegExp][] = [
      [{ 'catalog.json': milder }, /it hashes to sha256:[0-9a-f]{64}, and the head of release 1/],
      [{ 'catalog.json': milder, 'release.json': lied }, /signature: not a signature of did:key/],
      [{ 'release.json': otherHead }, /issuer_did: .* is not one of the trusted issuers/],
      [{ 'release.json': '{}' }, /"release.json" does not hold/],
    ];
    for (const [change, message] of cases) {
      const { exitCode, text } = await judged(await saved(change));
      expect([exitCode, text]).toEqual([2, expect.stringMatching(message)]);
    }
    const strange = await judged(await saved({ 'release.json': otherHead }), { issuer: [] });
    expect([strange.exitCode, strange.text]).toEqual([
      2,
      expect.stringMatching(/of did:key:\w+, and the body is signed by did:key/),
    ]);
    const folder = await saved();
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    const empty = await runVerify(join(folder, 'body.json'), { now: NOW_MS, catalog: inside });
    expect([empty.exitCode, empty.text.includes('nothing proves it')]).toEqual([2, true]);
    rmSync(join(folder, 'release.json'));
    expect((await judged(folder)).text).toContain('nothing proves it');
  });

  it('refuses the catalogue of a release whose head signs none, and of another version', async () => {
    const root = join((await compileFolder(snapshots)).data, 'current');
    const { catalog_sha256, ...older } = readHeadOf(root);
    const file = readFileSync(fileOf(root, 'catalog.json'));
    const proof = (head: object) => {
      writeFileSync(join(root, 'release.json'), JSON.stringify(head));
      resign(root, {}, SEED);
      return {
        catalog: file,
        head: readFileSync(join(root, 'release.json')),
        trust: 'any',
      } as const;
    };
    const { catalog } = provenCatalog(proof({ ...older, catalog_sha256 }));
    expect([...catalog.entryById.keys()]).toEqual(['tides.waves', 'tides.level']);
    expect(() => provenCatalog(proof(older))).toThrow('is older, and its head signs no catalogue');
    const next = { ...older, catalog_sha256, contract_version: CONTRACT_VERSION + 1 };
    expect(() => provenCatalog(proof(next))).toThrow(/is of version \d, this program reads \d/);
  });

  it('is told by the service too', async () => {
    const post = async (text: string) =>
      (await (
        await fetch(`${gate.url}/verify`, { method: 'POST', body: text })
      ).json()) as CheckBody;
    const { verdict, about } = await post(body);
    expect([verdict, about?.answers]).toEqual(['verified', TARGET]);
    const altered = await post(body.replace('"band":"flood"', '"band":"high"'));
    expect([altered.verdict, altered.about]).toEqual(['failed', null]);
  });

  it('has the catalogue by the client, which pays nobody where it is not proven', async () => {
    const options = { baseUrl: gate.url, issuer, clock: () => NOW_MS, maxUsd: '1' };
    const client = signalpressClient({ ...options, pay: payingFetch, catalog: 'served' });
    const { report } = await client.buy('/gauge', { signal_id: 'tides.level', entity: 'QUAY-TWO' });
    expect(report?.verdict).toBe('verified');
    const pay: PayingFetch = () => () => Promise.reject(new Error('it pays'));
    const lying: typeof fetch = async (request) => {
      const answer = await fetch(request);
      if (!(request as Request).url.endsWith('/catalog.json')) return answer;
      return new Response((await answer.text()).replace('"at":3.2', '"at":9.2'));
    };
    const lied = signalpressClient({ ...options, pay, catalog: 'served', fetch: lying });
    const sold = lied.buy('/gauge', { signal_id: 'tides.level', entity: 'QUAY-TWO' });
    await expect(sold).rejects.toThrow(/Cannot rely on the catalogue of .* it hashes to/);
  });

  it('has it in the judge for browsers', async () => {
    const folder = await saved();
    const bytes = (name: string) => readFileSync(join(folder, name));
    const catalog = { file: bytes('catalog.json'), head: bytes('release.json') };
    const own = { issuer, now: NOW_MS };
    const answers = (options: VerifyOptions) => verify(body, options).about?.answers;
    expect([answers({ ...own, catalog }), answers(own)]).toEqual([TARGET, null]);
    const demanded = { ...own, catalog, expect: TARGET };
    const other = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';
    const stranger = body.replaceAll(issuer, other);
    const judgedAs = (text: string) => verify(text, demanded).verdict;
    expect([body, stranger, '{}', 'no JSON'].map(judgedAs)).toEqual([
      'verified',
      'failed',
      'unsigned',
      'failed',
    ]);
    const lie = { ...catalog, file: Buffer.from('{}') };
    expect(() => verify(body, { ...own, catalog: lie })).toThrow('Cannot use "catalog.json"');
  });
});

describe('a changed catalogue', () => {
  it('goes on from a release whose head signs no catalogue yet, and verifies both', async () => {
    const first = await compileFolder(snapshots);
    const root = join(first.data, 'current');
    const { catalog_sha256: _, ...older } = readHeadOf(root);
    writeFileSync(join(root, 'release.json'), JSON.stringify(older));
    resign(root, {}, SEED);
    const trust = [older.issuer_did];
    const before = await verifyRelease(first.data, { trust });
    expect([before.faults, before.verdict, before.ownTables]).toEqual([[], 'verified', true]);
    const next = await compileFolder(snapshots, { data: first.data, asOf: '2026-11-20T13:00:00Z' });
    expect(next.release.sequence).toBe(2);
    expect(next.release.catalog_sha256).toMatch(/^sha256:[0-9a-f]{64}$/);
    const after = await verifyRelease(first.data, { trust });
    expect([after.faults, after.verdict]).toEqual([[], 'verified']);
    resign(root, { catalog_sha256: `sha256:${'0'.repeat(64)}` }, SEED);
    const lying = await verifyRelease(first.data, { trust });
    expect(lying.faults.map(({ file }) => file)).toContain('catalog.json');
  });

  it('is compiled again as a whole, and what did not change goes on', async () => {
    const root = writeSnapshots(shopFiles(), join(makeFolder(), 'snapshots'));
    const first = await compileFolder(root);
    const again = await compileFolder(root, { data: first.data });
    expect(again.isIncremental).toBe(true);
    const dearer = { ...HARBOUR, prices: { ...HARBOUR.prices, '/gauge': '0.05' } };
    writeSnapshots(shopFiles(dearer), root);
    const changed = await compileFolder(root, { data: first.data });
    expect(changed.isIncremental).toBe(false);
    expect(changed.release.table_digest).not.toBe(first.release.table_digest);
    const carried = readJson(join(first.data, 'current'), 'catalog.json');
    expect(carried.prices['/gauge']).toBe('0.05');
  });

  it('adds lines to a shop of the built-in catalogue, and takes them away again only if told', async () => {
    const aqi = ndjson([reading('us-denver', { aqi_index: 42, band: 'good' })]);
    const root = writeSnapshots({ [`${BATCH}/airquality.aqi.ndjson`]: aqi });
    const first = await compileFolder(root);
    const own = shopFiles({ ...HARBOUR, extends: 'builtin' });
    const tides = JSON.stringify({ ...TIDES, extends: 'builtin' });
    writeSnapshots({ ...own, 'catalog/tides.json': tides }, root);
    const more = await compileFolder(root, { data: first.data });
    expect([more.release.counts.records, more.release.sequence]).toEqual([5, 2]);
    const report = await verifyRelease(first.data, { trust: [issuer] });
    expect([report.faults, report.ownTables]).toEqual([[], true]);
    rmSync(join(root, 'catalog'), { recursive: true });
    const without = compileFolder(root, { data: first.data });
    await expect(without).rejects.toThrow(
      /"lines\/tides" was sold, and is gone; .*--accept-catalog-changes/,
    );
    const accepted = { data: first.data, acceptCatalogChanges: true };
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
    await expect(compileFolder(root)).rejects.toThrow(/nothing was published/);
  });
});

describe('the example of CATALOG.md', () => {
  it('is a shop, though it prices little: what has no price is not made', async () => {
    const document = readFileSync(
      join(import.meta.dirname, '../../../compiler/CATALOG.md'),
      'utf8',
    );
    const [, text = ''] = /```json\n([\s\S]*?)```/.exec(document) ?? [];
    const shop = await servedShop({
      'catalog/tides.json': text,
      [`${BATCH}/tides.level.ndjson`]: ndjson([reading('pier-one', { level_m: 3.4 })]),
    });
    const { faults } = await verifyRelease(shop.data, { trust: [shop.issuer] });
    expect(faults).toEqual([]);
    const statusOf = async (target: string) => (await fetch(shop.gate.url + target)).status;
    expect(await statusOf('/gauge?entity=pier-one&signal_id=tides.level')).toBe(402);
    expect(await statusOf('/gauge/tide-region?loc=pier-one')).toBe(402);
    expect(await statusOf('/gauge/census?signal_id=tides.level')).toBe(404);
    await shop.gate.close();
  });
});

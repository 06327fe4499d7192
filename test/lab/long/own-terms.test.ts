import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalRequest, route } from '../../../compiler/catalog/route.ts';
import type { PayingFetch } from '../../../compiler/client/payment-trip.ts';
import { signalpressClient } from '../../../compiler/client/signalpress-client.ts';
import { withoutProof } from '../../../compiler/format/citation.ts';
import { parseJson } from '../../../compiler/format/strict-json.ts';
import { loadCatalog } from '../../../compiler/readings/load-catalog.ts';
import { checkDescription } from '../../../compiler/verify/description-checks.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { channels } from '../../../gatekeeper/rooms/channels.ts';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { servedShop } from '../../gate.ts';
import { NOW_MS } from '../../gatekeeper/payer.ts';
import { jsonOf, tinyService } from '../../gatekeeper/tiny-service.ts';
import {
  compileFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import {
  askPrice,
  LEVEL,
  pay,
  type SignalRow,
  TIDE_PRICES,
  type TideTerms,
  tideFiles,
  WAVES,
} from '../../tide-shop.ts';

// What a publisher can say about prices, and what every part of the shop makes of it.

afterAll(removeFolders);

interface Called {
  readonly isError?: boolean;
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

async function callTool(gate: Gatekeeper, name: string, given: object): Promise<Called> {
  const params = { name, arguments: given };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await fetch(`${gate.url}/mcp`, { method: 'POST', headers, body });
  return ((await answer.json()) as { result: Called }).result;
}

describe('a price that changes with a release', () => {
  it('is asked for and taken from then on, for requests that were asked before too', async () => {
    const polling = { tokens: false, pollMs: 20 };
    const { snapshots, data, gate } = await servedShop(tideFiles(), polling);
    const url = gate.url + LEVEL;
    const before = await askPrice(url);
    expect(before.maxAmountRequired).toBe('20000');
    expect((await pay(url, before)).status).toBe(200);

    const cheaper = { catalog: { prices: { ...TIDE_PRICES, '/gauge': '0.005' } } };
    writeSnapshots(tideFiles(cheaper), snapshots);
    await compileFolder(snapshots, { data });
    await expect.poll(async () => (await askPrice(url)).maxAmountRequired).toBe('5000');
    expect((await pay(url, await askPrice(url))).status).toBe(200);
    // One unit less than the price of the new release.
    expect((await pay(url, before, '4999')).status).toBe(402);
    await gate.close();
  });
});

describe('a product that is free of one signal', () => {
  const free: TideTerms = {
    level: { free: ['latest', 'series'] },
    waves: { prices: { latest: '0.05' } },
  };
  let gate: Gatekeeper;
  let data: string;
  let issuer: string;
  let sold: Gatekeeper;

  beforeAll(async () => {
    ({ data, issuer, gate } = await servedShop(tideFiles(free)));
    ({ gate: sold } = await servedShop(tideFiles()));
  });
  afterAll(async () => {
    await gate.close();
    await sold.close();
  });

  const jsonOf = async (target: string) =>
    (await (await fetch(gate.url + target)).json()) as ReturnType<typeof readJson>;

  it('answers 200 with the very body that is sold elsewhere, and it verifies', async () => {
    const given = await fetch(gate.url + LEVEL);
    expect(given.status).toBe(200);
    const text = await given.text();
    const priced = `${sold.url}${LEVEL}&proof=0`;
    const bought = await pay(priced, await askPrice(priced));
    const { body, proof } = withoutProof(parseJson(text));
    expect([body, proof]).toEqual([JSON.parse(bought.text), expect.any(String)]);
    const asked = { trust: [issuer], proof: 'demanded' } as const;
    const judge = (each: string) => verifyBody(parseJson(each), asked).verdict;
    expect(judge(text)).toBe('verified');
    expect(judge(text.replace('3.4', '3.5'))).toBe('failed');
    const bare = await (await fetch(`${gate.url}${LEVEL}&proof=0`)).text();
    expect([bare, judge(bare)]).toEqual([bought.text, 'failed']);
  });

  it('may be kept by caches, as other free answers and no sold one may', async () => {
    const given = await fetch(gate.url + LEVEL);
    expect(given.headers.get('cache-control')).toContain('public');
    const again = { headers: { 'if-none-match': given.headers.get('etag') ?? '' } };
    expect((await fetch(gate.url + LEVEL, again)).status).toBe(304);
    const waves = await fetch(gate.url + WAVES);
    expect([waves.status, waves.headers.get('cache-control')]).toEqual([402, 'no-store']);
  });

  it.each([
    ['the parts of a free record', '/gauge/ruler?entity=pier-one&signal_id=tides.level', 200],
    [
      'a part under its other name',
      '/gauge?dim=calibrated&entity=pier-one&signal_id=tides.level',
      200,
    ],
    ['its series', '/gauge/history-series?entity=pier-one&signal_id=tides.level', 200],
    [
      'its series as a table',
      '/gauge/history-series?entity=pier-one&format=csv&signal_id=tides.level',
      200,
    ],
    ['all entities at once, which are sold', '/gauge/census?signal_id=tides.level', 402],
    ['a bundle with one free leg', '/gauge/tide-region?loc=pier-one', 402],
    ['another signal', WAVES, 402],
    [
      'the series of another signal',
      '/gauge/history-series?entity=pier-one&signal_id=tides.waves',
      402,
    ],
    ['the free signal beside one that is sold', `${LEVEL}&signal_id=tides.waves`, 400],
    ['an entity without a reading', '/gauge?entity=nowhere&signal_id=tides.level', 422],
  ])('%s: %s answers %i', async (_, target, status) => {
    expect((await fetch(gate.url + target)).status).toBe(status);
  });

  it('takes no payment that is sent with a free request', async () => {
    const terms = await askPrice(gate.url + WAVES);
    const answered = await pay(gate.url + LEVEL, terms);
    expect(answered.status).toBe(200);
    // The same authorization still buys what costs.
    const headers = { 'x-payment': answered.header };
    expect((await fetch(gate.url + WAVES, { headers })).status).toBe(200);
  });

  it('costs the typed client nothing, which says how to get it', async () => {
    const whole: PayingFetch = (inner) => inner;
    const options = { baseUrl: gate.url, issuer, pay: whole, clock: () => NOW_MS };
    const catalog = Buffer.from(
      await (await fetch(`${gate.url}/.well-known/catalog.json`)).arrayBuffer(),
    );
    const client = signalpressClient({ ...options, catalog });
    const asked = { signal_id: 'tides.level', entity: 'pier-one' };
    await expect(client.buy('/gauge', asked)).rejects.toMatchObject({
      code: 'not_charged',
      message: expect.stringContaining('what is free'),
    });
    expect(await client.get('/gauge', asked)).toMatchObject({ entity: 'pier-one' });
    const sold = client.get('/gauge', { ...asked, signal_id: 'tides.waves' });
    await expect(sold).rejects.toMatchObject({ code: 'refused' });
  });

  it('is told by every description', async () => {
    const { entries } = await jsonOf('/manifest?all=1');
    const bySignal = (path: string) =>
      entries.find((entry: { path: string }) => entry.path === path).price_by_signal;
    const prices = { 'tides.level': '0', 'tides.waves': '0.05' };
    expect(bySignal('/gauge')).toEqual(prices);
    expect(bySignal('/gauge/ruler')).toEqual({ 'tides.level': '0' });
    expect(bySignal('/gauge/census')).toBeUndefined();
    const words = '0.02 USD a call (tides.level: free, tides.waves: 0.05 USD)';
    const { paths } = await jsonOf('/openapi.json');
    expect(paths['/gauge'].get.description).toContain(words);
    const range = { mode: 'dynamic', currency: 'USD', min: '0', max: '0.05' };
    expect(paths['/gauge'].get['x-payment-info'].price).toEqual(range);
    const fixed = { mode: 'fixed', currency: 'USD', amount: '0.3' };
    expect(paths['/gauge/census'].get['x-payment-info'].price).toEqual(fixed);
    expect(JSON.stringify(await jsonOf('/.well-known/agent-card.json'))).toContain(words);
    expect(await (await fetch(`${gate.url}/llms.txt`)).text()).toContain('(tides.level: free,');
    expect(await (await fetch(`${gate.url}/site/`)).text()).toContain('(tides.level: free,');
    const { signals } = await jsonOf('/site/data/signals.json');
    expect(signals[0].prices).toMatchObject({ '/gauge': '0', '/gauge/ruler': '0' });
    const { prices: menu } = await jsonOf('/gauge/preview');
    expect(menu[0].price_by_signal).toEqual(prices);
    const { signals: listed } = await jsonOf('/gauge/catalog');
    const [level, waves] = listed;
    expect(level.free).toEqual([
      '/gauge',
      '/gauge/ruler',
      '/gauge/calibrated',
      '/gauge/history-series',
    ]);
    expect(level.sells).toEqual(['/gauge/census', '/gauge/tide-region']);
    expect(waves).not.toHaveProperty('free');
    expect(waves.sells).toContain('/gauge');
    const { items } = await jsonOf('/.well-known/x402');
    expect(items[0].price_by_signal).toEqual(prices);
  });

  it('is told by the tool, which offers only what costs', async () => {
    const call = (signal_id: string) =>
      callTool(gate, 'get_official_record', { signal_id, entity: 'pier-one' });
    const free = await call('tides.level');
    expect([free.isError, JSON.stringify(free)]).toEqual([true, expect.stringContaining(LEVEL)]);
    expect((await call('tides.waves')).isError).toBeFalsy();
  });

  it('is quoted as free where it is the example, beside what others cost', async () => {
    const quoted = async (request: string) =>
      (await callTool(gate, 'quote', { request })).structuredContent;
    expect(await quoted('/gauge')).toEqual({
      request: LEVEL,
      answers: expect.any(String),
      is_example: true,
      price_range_usd: { min: '0', max: '0.05' },
      price_usd: '0',
      how: expect.stringMatching(/^Free: send GET /),
    });
    const others = await quoted(WAVES);
    expect(others).toMatchObject({ price_usd: '0.05', accepts: [{ maxAmountRequired: '50000' }] });
    expect(others).not.toHaveProperty('is_example');
    const one = await quoted('/gauge/census');
    expect(one).toMatchObject({ is_example: true, price_usd: '0.3' });
    expect(one).not.toHaveProperty('price_range_usd');
  });

  it('is verified as a release, and not with another price of one signal in its manifest', async () => {
    const report = await verifyRelease(data, { trust: [issuer] });
    expect([report.faults, report.verdict]).toEqual([[], 'verified']);
    const { catalog } = loadCatalog(writeSnapshots(tideFiles(free)));
    const manifest = await jsonOf('/manifest');
    const faults = (change: object) => {
      const [first, ...rest] = manifest.entries;
      const body = { ...manifest, entries: [{ ...first, ...change }, ...rest] };
      const release = {
        catalog,
        ownTables: true,
        head: readJson(join(data, 'current'), 'release.json'),
      };
      const card = 'absent' as const;
      return checkDescription('well-known/manifest.json', body, {
        ...release,
        card,
        isSignature: () => true,
      });
    };
    expect(faults({})).toEqual([]);
    const dearer = faults({ price_by_signal: { 'tides.level': '0', 'tides.waves': '0.5' } });
    expect(dearer.map(([where]) => where)).toEqual(['entries.0.price_by_signal']);
    expect(faults({ price_by_signal: undefined })).toHaveLength(1);
    const ranged = faults({ price_range_usd: { min: '0.01', max: '0.30' } });
    expect(ranged.map(([where]) => where)).toEqual(['entries.0.price_range_usd']);
  });
});

describe('a price of the signal that is the example', () => {
  it('is what a quote of the path says, as the challenge does', async () => {
    const terms: TideTerms = { level: { prices: { latest: '0.07' } } };
    const { gate } = await servedShop(tideFiles(terms));
    const { structuredContent } = await callTool(gate, 'quote', { request: '/gauge' });
    await gate.close();
    expect(structuredContent).toMatchObject({
      price_usd: '0.07',
      price_range_usd: { min: '0.02', max: '0.07' },
      accepts: [{ maxAmountRequired: '70000' }],
    });
  });
});

describe('a price of one signal', () => {
  const dear: TideTerms = { waves: { prices: { latest: '0.05', series: '0.01' } } };
  let gate: Gatekeeper;

  beforeAll(async () => {
    ({ gate } = await servedShop(tideFiles(dear)));
  });
  afterAll(async () => gate.close());

  it('is what the challenge asks in both versions, and what the journal notes', async () => {
    const asked = await fetch(gate.url + WAVES);
    const header = Buffer.from(asked.headers.get('payment-required') ?? '', 'base64');
    expect(JSON.parse(header.toString()).accepts[0].amount).toBe('50000');
    expect((await askPrice(gate.url + LEVEL)).maxAmountRequired).toBe('20000');
    expect((await askPrice(`${gate.url}/gauge`)).maxAmountRequired).toBe('20000');
    const terms = await askPrice(gate.url + WAVES);
    expect(terms.maxAmountRequired).toBe('50000');
    expect((await pay(gate.url + WAVES, terms)).status).toBe(200);
  });

  it('is not met by a payment for a cheaper signal, in any spelling of the request', async () => {
    const cheap = await askPrice(gate.url + LEVEL);
    const { header, status } = await pay(gate.url + WAVES, cheap);
    expect(status).toBe(402);
    const headers = { 'x-payment': header };
    for (const target of [
      `${WAVES}&dim=gauge`,
      `${WAVES}&proof=1`,
      `/gauge?signal_id=tides.waves&issuer=pier-one`,
    ]) {
      expect([target, (await fetch(gate.url + target, { headers })).status]).toEqual([target, 402]);
    }
    expect((await fetch(gate.url + LEVEL, { headers })).status).toBe(200);
    // What it bought is not the dearer one.
    expect((await fetch(gate.url + WAVES, { headers })).status).toBe(402);
  });

  it('may be lower than that of the others', async () => {
    const series = '/gauge/history-series?entity=pier-one&signal_id=tides.waves';
    const terms = await askPrice(gate.url + series);
    expect(terms.maxAmountRequired).toBe('10000');
    expect((await pay(gate.url + series, terms)).status).toBe(200);
    const other = '/gauge/history-series?entity=pier-one&signal_id=tides.level';
    expect((await pay(gate.url + other, terms)).status).toBe(402);
  });

  it('is the price of a receipt too', () => {
    const { catalog } = loadCatalog(writeSnapshots(tideFiles(dear)));
    const priceAt = (target: string) => {
      const request = canonicalRequest(target);
      return 'status' in request ? null : route(request, catalog)?.endpoint.priceUsd;
    };
    expect([priceAt(WAVES), priceAt(LEVEL)]).toEqual(['0.05', '0.02']);
  });
});

describe('terms of a signal that cannot be', () => {
  it.each<[string, Partial<SignalRow>, string, string]>([
    ['a word that is none', { free: ['lastest' as 'latest'] }, '/free/0', 'did you mean "latest"'],
    ['a word twice', { free: ['latest', 'latest'] }, '/free/1', 'a second "latest"'],
    [
      'free and priced',
      { free: ['latest'], prices: { latest: '1' } },
      '/prices/latest',
      'is free too',
    ],
    [
      'a part of what is free',
      { free: ['latest'], prices: { ruler: '1' } },
      '/prices/ruler',
      'repeats a part',
    ],
    [
      'a whole whose newest part is sold',
      { free: ['series'] },
      '/free/0',
      'which are sold; add "latest"',
    ],
    ['a part that repeats it in short', { free: ['calibrated'] }, '/free/0', 'add "latest"'],
    ['all of it likewise', { free: ['census'] }, '/free/0', 'which are sold; add "latest"'],
    [
      'what the signal never has',
      { prices: { history: '1' } },
      '/prices/history',
      'no seasonal statistics',
    ],
    ['a price that is none', { prices: { latest: '0' } }, '/prices/latest', 'above 0'],
  ])('%s', (...[, level, pointer, reason]) => {
    const root = writeSnapshots(tideFiles({ level }));
    expect(() => loadCatalog(root)).toThrow(
      new RegExp(`lines/0/signals/0${pointer}[^]*${reason.replaceAll('"', '.')}`),
    );
  });

  it('what the shop sells of no signal', () => {
    const { '/gauge/ruler': _, ...prices } = TIDE_PRICES;
    const root = writeSnapshots(tideFiles({ level: { free: ['ruler'] }, catalog: { prices } }));
    expect(() => loadCatalog(root)).toThrow('"/gauge/ruler" is not sold of any signal');
  });
});

describe('what a shop leaves out', () => {
  const gone = ['/merkle/spec', '/merkle/proof', '/gauge/tide-region', '/mcp/preview'];
  let gate: Gatekeeper;
  let data: string;
  let issuer: string;

  beforeAll(async () => {
    ({ data, issuer, gate } = await servedShop(tideFiles({ catalog: { leftOut: gone } })));
  });
  afterAll(async () => gate.close());

  it.each(gone)('is nowhere: %s', async (path) => {
    expect((await fetch(gate.url + path)).status).toBe(404);
    for (const target of [
      '/manifest?all=1',
      '/openapi.json',
      '/llms.txt',
      '/site/',
      '/gauge/preview',
    ]) {
      const text = await (await fetch(gate.url + target)).text();
      expect([target, text.includes(path)]).toEqual([target, false]);
    }
  });

  it('leaves the rest as it was, and verifies', async () => {
    expect((await fetch(`${gate.url}/gauge/channels`)).status).toBe(200);
    await askPrice(gate.url + LEVEL);
    const { faults, verdict } = await verifyRelease(data, { trust: [issuer] });
    expect([faults, verdict]).toEqual([[], 'verified']);
  });

  it('has no subscriptions without their price: no token is asked for that nobody sells', async () => {
    expect((await fetch(`${gate.url}/gauge/watch?items=ports:pier-one`)).status).toBe(404);
    const channels = await (await fetch(`${gate.url}/gauge/channels`)).json();
    expect(channels).toMatchObject({ subscription: { configured: false } });
  });

  it('can be paid operations of the built-in catalogue, and what its readings show is no longer free', async () => {
    const own = {
      extends: 'builtin',
      leftOut: ['/gauge/raw', '/gauge/census', '/gauge/region'],
    } as const;
    const site = reading('07010000', { stage_ft: 12 }, { entity_name: 'Mississippi' });
    const files = (catalog: object) => ({
      'catalog/own.json': JSON.stringify({ format: 'signalpress-catalog/1', ...catalog }),
      '2026-11-20/hydrology.river-level.ndjson': ndjson([site, { ...site, entity: '07010001' }]),
    });
    const show = async (catalog: object) => {
      const shop = await servedShop(files(catalog));
      const statusOf = async (target: string) => (await fetch(shop.gate.url + target)).status;
      const at = '?entity=07010001&signal_id=hydrology.river-level';
      const { record_hash } = readJson(
        join(shop.data, 'current'),
        `record/hydrology.river-level/07010001.json`,
      );
      const proof = await (await fetch(`${shop.gate.url}/proof/${record_hash}`)).text();
      const census = '/gauge/census?signal_id=hydrology.river-level';
      const statuses = [await statusOf(`/gauge/raw${at}`), await statusOf(census)];
      await shop.gate.close();
      return { statuses, showsCore: proof.includes('stage_ft') };
    };
    expect(await show(own)).toEqual({ statuses: [404, 404], showsCore: false });
    expect(await show({ extends: 'builtin' })).toEqual({ statuses: [200, 402], showsCore: true });
  });

  it('is never taken out of a shop silently where money opened it', async () => {
    const prices = { ...TIDE_PRICES, '/gauge/subscribe': '9.90' };
    const root = writeSnapshots(tideFiles({ catalog: { prices } }));
    const first = await compileFolder(root);
    const without = (leftOut: string[]) => {
      writeSnapshots(tideFiles({ catalog: { prices, leftOut } }), root);
      return compileFolder(root, { data: first.data });
    };
    for (const path of ['/gauge/basket', '/gauge/watch']) {
      const message = 'catalog/tides.json /leftOut/1: was sold, and is gone; put the old row back';
      await expect(without(['/merkle/spec', path])).rejects.toThrow(message);
    }
    expect((await without(['/merkle/spec'])).release.sequence).toBe(2);
  });

  it.each([
    ['/gauge/verify', 'stays: buyers verify by it'],
    ['/proof/:record_hash', 'stays: buyers verify by it'],
    ['/gauge/catalog', 'stays: answers, descriptions and the page lead to it'],
    ['/resolve/preview', '"/resolve" needs "/resolve/preview"'],
    ['/gauge/wacth', 'did you mean "/gauge/watch"'],
  ])('is never %s', (path, reason) => {
    const root = writeSnapshots(tideFiles({ catalog: { leftOut: [path] } }));
    expect(() => loadCatalog(root)).toThrow(reason);
  });
});

describe('the prices for people', () => {
  const track = [
    { phase: 'half_price', until: '2026-11-21' },
    { phase: 'free', until: '2026-12-24' },
  ] as const;

  it.each([
    [track, 'half_price'],
    [[{ phase: 'half_price', until: '2026-11-20' }] as const, 'full_price'],
  ])('are those of the catalogue: %j', async (humanTrack, today) => {
    const { catalog } = loadCatalog(
      writeSnapshots(tideFiles({ catalog: { humanTrack: [...humanTrack] } })),
    );
    const tiny = await tinyService({}, Date.parse('2026-11-21T23:59:59Z'));
    const service = { ...tiny, release: Object.assign(Object.create(tiny.release), { catalog }) };
    const phases = [...humanTrack, { phase: 'full_price', until: null }];
    expect(jsonOf(await channels(service))).toMatchObject({
      human_track: { phase_today: today, phases },
    });
  });

  it('are missing where the catalogue has none, and may be taken away from the built-in one', async () => {
    const { catalog } = loadCatalog(writeSnapshots(tideFiles()));
    expect(catalog.humanTrack).toEqual([]);
    const none = { format: 'signalpress-catalog/1', extends: 'builtin', humanTrack: [] };
    const files = { 'catalog/a.json': JSON.stringify(none) };
    expect(loadCatalog(writeSnapshots(files)).catalog.humanTrack).toEqual([]);
    const kept = { 'catalog/a.json': JSON.stringify({ ...none, humanTrack: undefined }) };
    expect(loadCatalog(writeSnapshots(kept)).catalog.humanTrack).toHaveLength(2);
  });

  it.each([
    [[{ phase: 'half', until: '2026-11-20' }], 'humanTrack/0/phase'],
    [[track[1], track[0]], 'is not after 2026-12-24'],
    [[track[0], { ...track[1], phase: 'half_price' }], 'a second phase "half_price"'],
    [[{ ...track[0], until: '2026-02-31' }], 'humanTrack/0/until'],
  ])('are refused: %j', (humanTrack, reason) => {
    const root = writeSnapshots(tideFiles({ catalog: { humanTrack: humanTrack as never } }));
    expect(() => loadCatalog(root)).toThrow(reason);
  });
});

describe('an own line of cities', () => {
  const city = (signals: readonly string[]) => ({
    format: 'signalpress-catalog/1',
    extends: null,
    prices: { '/gauge': '0.02', '/gauge/air': '0.01', '/gauge/precip': '0.01' },
    lines: [
      {
        id: 'environment',
        industry: 'cities',
        title: 'cities',
        signals: signals.map((id) => ({
          id,
          measures: 'a city',
          cadence: 'daily',
          metrics: ['precip_mm'],
        })),
        entities: ['wien', 'graz'],
      },
    ],
  });

  it.each([
    [['noise.level'], [404, 404]],
    [
      ['precipitation.daily', 'noise.level'],
      [404, 402],
    ],
  ] as const)('of %j offers the add-ons that it has readings for', async (signals, statuses) => {
    const files = signals.map((id) => [
      `2026-11-20/${id}.ndjson`,
      ndjson([reading('wien', { precip_mm: 12 }), reading('graz', { precip_mm: 9 })]),
    ]);
    const catalog = { 'catalog/cities.json': JSON.stringify(city(signals)) };
    const shop = await servedShop({ ...catalog, ...Object.fromEntries(files) });
    const statusOf = async (addon: string) =>
      (await fetch(`${shop.gate.url}/gauge/${addon}?loc=wien`)).status;
    expect([await statusOf('air'), await statusOf('precip')]).toEqual(statuses);
    expect((await verifyRelease(shop.data, { trust: [shop.issuer] })).faults).toEqual([]);
    await shop.gate.close();
  });
});

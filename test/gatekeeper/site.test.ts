import { gunzipSync } from 'node:zlib';
import { XMLParser } from 'fast-xml-parser';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SiteChanges } from '../../compiler/catalog/site.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { servedShop } from '../gate.ts';
import { smallSet } from '../small-set.ts';
import { removeFolders } from '../snapshot-folder.ts';

let gate: Gatekeeper;
beforeAll(async () => {
  ({ gate } = await servedShop(smallSet()));
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

/** The bytes as they are sent. */
async function get(path: string, headers: Record<string, string> = {}) {
  const { statusCode: status, headers: had, body } = await request(gate.url + path, { headers });
  return { status, header: (name: string) => had[name], bytes: Buffer.from(await body.bytes()) };
}

/** What a page makes a browser load. */
const loaded = (html: string): string[] =>
  [...html.matchAll(/<(?:link rel="stylesheet" href|script type="module" src)="([^"]+)"/g)].map(
    ([, url]) => url ?? '',
  );

/** Every document that `/docs` leads to, and each link to a place in one. */
async function documents() {
  const pages = new Map<string, string>();
  const links: string[] = [];
  const waiting = ['/docs'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const answer = await get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.header('content-security-policy')).toContain("script-src 'self'");
    const text = answer.bytes.toString('utf8');
    pages.set(path, text);
    for (const [, link = ''] of text.matchAll(/href="((?:\/docs|#)[^"]*)"/g)) {
      const [to = '', id] = link.split('#');
      const target = to === '' ? path : to;
      if (id !== undefined && id !== 'main') links.push(`${target}#${id}`);
      if (!pages.has(target) && !waiting.includes(target)) waiting.push(target);
    }
  }
  return { pages, links };
}

describe('the page for people', () => {
  it('I69: is served at / and /site/, with a policy that allows nothing from elsewhere', async () => {
    for (const path of ['/', '/site/']) {
      const { status, header, bytes } = await get(path, { accept: 'text/html' });
      expect([path, status]).toEqual([path, 200]);
      expect(header('content-type')).toBe('text/html; charset=utf-8');
      expect(header('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
      expect(bytes.toString('utf8')).toContain('<h1>');
    }
    expect((await get('/site')).status).toBe(404);
    expect((await get('/site/index.html')).status).toBe(404);
  });

  it('is sent under gzip to who takes it alone, and its tag brings a 304', async () => {
    const plain = await get('/');
    const packed = await get('/', { 'accept-encoding': 'br;q=0.2, gzip;q=0.5' });
    expect(plain.header('content-encoding')).toBeUndefined();
    expect(packed.header('content-encoding')).toBe('gzip');
    expect([plain, packed].map(({ header }) => header('vary'))).toEqual([
      'accept-encoding',
      'accept-encoding',
    ]);
    expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
    expect((await get('/', { 'accept-encoding': 'gzip;q=0' })).bytes).toEqual(plain.bytes);
    const etag = String(packed.header('etag'));
    expect(etag).not.toBe(plain.header('etag'));
    const again = { 'accept-encoding': 'gzip', 'if-none-match': etag };
    expect((await get('/', again)).status).toBe(304);
  });

  it('loads files that are there, and kept for ever where their name tells their content', async () => {
    const urls = loaded((await get('/')).bytes.toString('utf8'));
    expect(urls.length).toBeGreaterThan(1);
    for (const url of urls) {
      const { status, header } = await get(url);
      expect([url, status]).toEqual([url, 200]);
      if (url.includes('/assets/')) expect(header('cache-control')).toContain('immutable');
    }
  });

  it('shows the band of a test shop', async () => {
    expect(await textAt('/site/shop.css')).toMatch(/^\.test-shop\{display:block\}\n/);
  });

  it('says without a program what is sold, how it is bought, and who vouches for it', async () => {
    const html = (await get('/')).bytes.toString('utf8');
    const { prices } = JSON.parse((await get('/gauge/preview')).bytes.toString('utf8')) as {
      prices: { path: string; price_usd: string }[];
    };
    for (const { path, price_usd } of prices.filter(({ path }) => path !== '/gauge/subscribe')) {
      expect(html).toContain(`<a href="${path}"><code>${path}</code></a>`);
      expect(html).toContain(`<td class="figure">${price_usd}</td>`);
    }
    const links = [...html.matchAll(/href="(\/(?:gauge\/(?:catalog|sample)|r\/)[^"]*)"/g)];
    expect(links.length).toBeGreaterThan(5);
    for (const [, link = ''] of links) {
      expect([link, (await get(link.replaceAll('&amp;', '&'))).status]).toEqual([link, 200]);
    }
    expect(html).toContain('did:key:z6Mk');
    expect(html).toMatch(/signalpress verify answer\.json --issuer did:key:/);
    expect(html).not.toMatch(/ (?:on[a-z]+|style)=|<script>|<style/);
  });

  it('describes every operation in the documents, and each of their links leads somewhere', async () => {
    const { pages, links } = await documents();
    expect(pages.size).toBeGreaterThan(30);
    const lost = links.filter((link) => {
      const [path = '', id = ''] = link.split('#');
      return !(pages.get(path) ?? '').includes(` id="${decodeURIComponent(id)}"`);
    });
    expect([...new Set(lost)]).toEqual([]);
    const { paths } = JSON.parse((await get('/openapi.json')).bytes.toString('utf8')) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const { operationId } of Object.values(paths).flatMap((item) => Object.values(item))) {
      const own = [...pages].filter(([, text]) => text.includes(`<details id="${operationId}">`));
      expect([operationId, own.length]).toEqual([operationId, 1]);
    }
    expect((await get('/docs/nothing')).status).toBe(404);
  });

  it('tells what changed as JSON and as a feed', async () => {
    const json = await get('/changes.json');
    const { counts, changes } = JSON.parse(json.bytes.toString('utf8')) as SiteChanges;
    expect(counts?.new).toBe(changes.length);
    expect(Object.keys(changes[0] ?? {}).sort()).toEqual([
      'change',
      'entity',
      'entity_name',
      'observed_at',
      'preview_url',
      'record_hash',
      'signal_id',
      'url',
    ]);
    const feed = await get('/changes.atom');
    expect(feed.header('content-type')).toBe('application/atom+xml; charset=utf-8');
    const parsed = new XMLParser().parse(feed.bytes.toString('utf8'));
    expect(parsed.feed.entry).toHaveLength(changes.length);
  });
});

const textAt = async (path: string): Promise<string> => (await get(path)).bytes.toString('utf8');

/** Paths that a sitemap names. */
const locsIn = (xml: string): string[] =>
  [...xml.matchAll(/<loc>https?:\/\/[^/<]+([^<]*)<\/loc>/g)].map(([, path]) => path ?? '');

/** Every page of the sitemaps. */
async function listedPages(): Promise<string[]> {
  const lists = locsIn(await textAt('/sitemap.xml'));
  return (await Promise.all(lists.map(textAt))).flatMap(locsIn);
}

describe('a page for each thing', () => {
  it('I69: stands in the sitemap, and each says by itself what and where it is', async () => {
    const pages = await listedPages();
    for (const kind of ['/r/', '/line/', '/chain/', '/release/', '/log/', '/docs']) {
      expect([kind, pages.some((path) => path.startsWith(kind))]).toEqual([kind, true]);
    }
    const titles = new Map<string, string>();
    for (const path of pages) {
      const { status, header, bytes } = await get(path);
      const text = bytes.toString('utf8');
      expect([path, status, header('content-type')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
      expect(header('content-security-policy')).toContain("script-src 'self'");
      expect(text.match(/<h1/g)).toHaveLength(1);
      expect(text).toContain(`<link rel="canonical" href="`);
      expect(text).not.toMatch(/ (?:on[a-z]+|style)=|<script>|<style/);
      const title = /<title>([^<]+)</.exec(text)?.[1] ?? '';
      expect([title, titles.get(title)]).toEqual([title, undefined]);
      titles.set(title, path);
    }
  });

  it('I69: tells a reading in words, with chart, class, source, prices and data', async () => {
    const path = '/r/airquality.aqi/us-denver';
    const text = await textAt(path);
    const { rows } = JSON.parse(
      await textAt('/gauge/history-preview?entity=us-denver&signal_id=airquality.aqi'),
    ) as { rows: { observed_at: string; current: { aqi_index: number }; record_hash: string }[] };
    const last = rows.at(-1);
    expect(text).toContain(`is ${last?.current.aqi_index}.`);
    expect(text).toContain(`<time datetime="${last?.observed_at}">`);
    expect(text).toContain(`/proof/${last?.record_hash}`);
    expect(text).toMatch(/aria-current="true"><span class="cell-name">/);
    expect(text).toContain('href="/gauge?entity=us-denver&amp;signal_id=airquality.aqi"');
    expect(text).toContain('US EPA');
    const block = /<script type="application\/ld\+json">(.*)<\/script>/.exec(text)?.[1] ?? '';
    expect(JSON.parse(block)).toMatchObject({
      '@type': 'Dataset',
      identifier: 'airquality.aqi/us-denver',
    });
    expect(text).toMatch(/src="\/site\/assets\/thing-/);
    expect(await textAt('/log/')).not.toContain('<script type="module"');
    const csv = await get(`${path}/readings.csv`);
    expect(csv.header('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.bytes.toString('utf8').trimEnd().split('\r\n')).toHaveLength(rows.length + 1);
    const kept = await get(path);
    const again = await get(path, { 'if-none-match': String(kept.header('etag')) });
    expect([kept.status, again.status]).toEqual([200, 304]);
  });

  it.each([
    '/r/airquality.aqi/nowhere',
    '/r/nothing.at-all/us-denver',
    '/r/airquality.aqi/us-denver/other.svg',
    '/r/airquality.aqi/us-denver/chart.svg/x',
    '/r/airquality.aqi/us~2ddenver',
    '/r/airquality.aqi/~zz',
    '/r/airquality.aqi/',
    '/r/',
    '/line/nothing',
    '/line/',
    '/line/nothing/sitemap.xml',
    '/place/nowhere',
    '/place/sitemap.xml',
    '/chain/environment/nowhere',
    '/chain/environment',
    '/release/999',
    '/release/01',
    '/log/nothing',
  ])('has none at %s', async (path) => {
    const program = await get(path);
    expect([program.status, program.header('content-type')]).toEqual([404, 'application/json']);
    const browser = await get(path, { accept: BROWSERS[0] ?? '' });
    expect([browser.status, browser.header('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(browser.bytes.toString('utf8')).toContain('<h1 id="refused">No such page</h1>');
  });
});

const BROWSERS = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
];
/** As fetch, axios, Python's requests, curl, a reader of JSON, and a program that sends none say it. */
const PROGRAMS = [
  '*/*',
  'application/json, text/plain, */*',
  'application/json',
  'application/json, text/html;q=0.5',
  null,
];
const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';

describe('a browser that opens a paid link', () => {
  const ask = (path: string, accept: string | null) => get(path, accept === null ? {} : { accept });

  it('I69: is told the price and how to buy, under the headers that programs get', async () => {
    for (const path of [PAID, '/gauge', '/gauge/census?signal_id=airquality.aqi']) {
      const program = await ask(path, '*/*');
      for (const accept of BROWSERS) {
        const page = await ask(path, accept);
        expect([page.status, page.header('content-type')]).toEqual([
          402,
          'text/html; charset=utf-8',
        ]);
        expect(page.header('payment-required')).toHaveLength(
          String(program.header('payment-required')).length,
        );
        for (const name of ['cache-control', 'access-control-allow-origin']) {
          expect([name, page.header(name)]).toEqual([name, program.header(name)]);
        }
        const text = page.bytes.toString('utf8');
        expect(text).toContain('This answer costs');
        expect(text).toContain('x402_requests(client)');
      }
    }
  });

  it('I69: changes nothing for programs, whoever asked before', async () => {
    const first = await ask(PAID, '*/*');
    await ask(PAID, BROWSERS[0] ?? '');
    for (const accept of PROGRAMS) {
      const again = await ask(PAID, accept);
      expect([accept, again.status, again.bytes]).toEqual([accept, 402, first.bytes]);
      expect(again.header('content-type')).toBe('application/json');
      expect(again.header('content-security-policy')).toBeUndefined();
    }
  });

  it('is told no price where nothing is sold, and none with a payment', async () => {
    const path = '/gauge?entity=nowhere&signal_id=airquality.aqi';
    // Whoever asked before, each gets its own form.
    for (const accept of [...PROGRAMS, ...BROWSERS, ...PROGRAMS]) {
      const none = await ask(path, accept);
      const type = BROWSERS.includes(accept ?? '')
        ? 'text/html; charset=utf-8'
        : 'application/json';
      expect([accept, none.status, none.header('content-type')]).toEqual([accept, 422, type]);
      expect(none.bytes.toString('utf8')).toContain('is not measured for airquality.aqi');
      expect(none.header('payment-required')).toBeUndefined();
    }
    const paying = await get(PAID, { accept: BROWSERS[0] ?? '', 'x-payment': 'bm9uc2Vuc2U=' });
    expect([paying.status, paying.header('content-type')]).toEqual([402, 'application/json']);
  });

  it('I69: shows what was asked as text', async () => {
    const path = `${PAID}&x=<script>alert(1)</script>`;
    const { status, header, bytes } = await ask(
      path.replaceAll('<', '%3C').replaceAll('>', '%3E'),
      BROWSERS[0] ?? '',
    );
    expect([status, header('content-type')]).toEqual([422, 'text/html; charset=utf-8']);
    expect(bytes.toString('utf8')).not.toContain('<script>');
    const OWN = /<script type="module" src="\/site\/assets\/pay-[0-9a-f]+\.js"><\/script>/;
    const page = (await ask(PAID, BROWSERS[0] ?? '')).bytes.toString('utf8');
    expect(page).toMatch(OWN);
    expect(page.replace(OWN, '')).not.toContain('<script');
  });
});

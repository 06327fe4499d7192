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
    expect((await get('/site/shop.css')).bytes.toString('utf8')).toBe(
      '.test-shop{display:block}\n',
    );
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
    const links = [...html.matchAll(/href="(\/gauge\/(?:history-preview|catalog|sample)[^"]*)"/g)];
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
    expect((await get('/sitemap.xml')).bytes.toString('utf8')).toContain('/docs</loc>');
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
    const none = await ask('/gauge?entity=nowhere&signal_id=airquality.aqi', BROWSERS[0] ?? '');
    expect([none.status, none.header('content-type')]).toEqual([422, 'application/json']);
    const paying = await get(PAID, { accept: BROWSERS[0] ?? '', 'x-payment': 'bm9uc2Vuc2U=' });
    expect([paying.status, paying.header('content-type')]).toEqual([402, 'application/json']);
  });

  it('I69: shows what was asked as text', async () => {
    const path = `${PAID}&x=<script>alert(1)</script>`;
    const { status, header } = await ask(
      path.replaceAll('<', '%3C').replaceAll('>', '%3E'),
      BROWSERS[0] ?? '',
    );
    // What is no price is no page.
    expect([status, header('content-type')]).toEqual([422, 'application/json']);
    const OWN = /<script type="module" src="\/site\/assets\/pay-[0-9a-f]+\.js"><\/script>/;
    const page = (await ask(PAID, BROWSERS[0] ?? '')).bytes.toString('utf8');
    expect(page).toMatch(OWN);
    expect(page.replace(OWN, '')).not.toContain('<script');
  });
});

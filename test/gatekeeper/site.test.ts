import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { sampleGate } from '../sample-gate.ts';
import { smallSet } from '../small-set.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../snapshot-folder.ts';

let gate: Gatekeeper;
beforeAll(async () => {
  gate = await sampleGate((await compileFolder(writeSnapshots(smallSet()))).data);
}, 60_000);
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

describe('the page for people', () => {
  it('is served at / and /site/, with a policy that allows nothing from elsewhere', async () => {
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

  it('is sent under gzip to who takes it, and its tag brings a 304', async () => {
    const plain = await get('/');
    const packed = await get('/', { 'accept-encoding': 'br, gzip;q=0.5' });
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
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CODINGS, type Coding, packedPath, parseFiles } from '../../compiler/format/release.ts';
import { storedPath } from '../../compiler/products/shapes/path.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { servedShop } from '../gate.ts';
import { smallSet } from '../small-set.ts';
import { removeFolders } from '../snapshot-folder.ts';
import { payer } from './payer.ts';

let gate: Gatekeeper;
let data: string;
beforeAll(async () => {
  ({ data, gate } = await servedShop(smallSet()));
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

type Method = 'GET' | 'HEAD';

/** The bytes as they are sent. */
async function get(path: string, headers: Record<string, string> = {}, method: Method = 'GET') {
  const answer = await request(gate.url + path, { headers, method });
  const bytes = Buffer.from(await answer.body.bytes());
  return { status: answer.statusCode, header: (name: string) => answer.headers[name], bytes };
}

const listed = () => parseFiles(readFileSync(join(data, 'current', 'files.txt'), 'utf8'));
const UNPACK: Readonly<Record<Coding, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
};
/** Descriptions of the table, files beside it, and the page. */
const LONG = ['/openapi.json', '/manifest', '/manifest?all=1', '/llms.txt', '/docs', '/'];

describe('a long free answer', () => {
  it.each(LONG)('%s is sent under the coding that the client likes best', async (path) => {
    // What is kept ready of one coding must not be given to another client, so each is asked for twice.
    for (const round of [1, 2]) {
      const plain = await get(path);
      expect([round, plain.status, plain.header('content-encoding')]).toEqual([
        round,
        200,
        undefined,
      ]);
      expect(plain.header('vary')).toBe('accept-encoding');
      const tags = [plain.header('etag')];
      for (const coding of CODINGS) {
        const packed = await get(path, { 'accept-encoding': `${coding}, deflate;q=0.5` });
        expect(packed.header('content-encoding')).toBe(coding);
        expect(packed.header('vary')).toBe('accept-encoding');
        expect(packed.header('content-type')).toBe(plain.header('content-type'));
        expect(packed.header('content-length')).toBe(String(packed.bytes.length));
        expect(UNPACK[coding](packed.bytes).equals(plain.bytes)).toBe(true);
        expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
        tags.push(packed.header('etag'));
      }
      expect(new Set(tags).size).toBe(3);
    }
  });

  it.each(LONG)(
    '%s has a tag for each coding, which brings a 304 to that one alone',
    async (path) => {
      const accepts = { 'accept-encoding': 'br' };
      const { bytes, header } = await get(path, accepts);
      const etag = String(header('etag'));
      const again = await get(path, { ...accepts, 'if-none-match': etag });
      expect([again.status, again.bytes.length, again.header('vary')]).toEqual([
        304,
        0,
        'accept-encoding',
      ]);
      expect(again.header('content-encoding')).toBeUndefined();
      expect((await get(path, { 'if-none-match': etag })).status).toBe(200);
      const head = await get(path, accepts, 'HEAD');
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
      expect(head.header('content-length')).toBe(String(bytes.length));
      expect([head.header('content-encoding'), head.header('etag')]).toEqual(['br', etag]);
    },
  );

  it('is sent whole and packed whatever range is asked for', async () => {
    const range = { 'accept-encoding': 'br', range: 'bytes=0-9' };
    const { status, bytes } = await get('/openapi.json', range);
    const whole = (await get('/openapi.json')).bytes;
    expect([status, brotliDecompressSync(bytes).equals(whole)]).toEqual([200, true]);
  });

  it('is 503 and not sent at all where its packed form is damaged', async () => {
    const path = packedPath('well-known/agent.json', 'br');
    const entry = listed().find((each) => each.path === path);
    if (entry === undefined) throw new Error(`not listed: ${path}`);
    const place = join(data, storedPath(path, entry.sha256));
    const before = readFileSync(place);
    writeFileSync(place, Buffer.alloc(before.length));
    const url = '/.well-known/agent.json';
    const damaged = await get(url, { 'accept-encoding': 'br' });
    expect([damaged.status, damaged.header('content-encoding')]).toEqual([503, undefined]);
    expect((await get(url)).status).toBe(200);
    writeFileSync(place, before);
    expect((await get(url, { 'accept-encoding': 'br' })).status).toBe(200);
  });

  it('has no address of its own under a coding', async () => {
    for (const path of [
      '/openapi.json.br',
      '/llms.txt.gz',
      '/site/data/signals.json.gz',
      '/docs.br',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });
});

describe('any other answer', () => {
  const ALL = { 'accept-encoding': 'gzip, deflate, br' };

  it('is sent as it is where it is short, or has members of the time of the request', async () => {
    for (const path of ['/gauge/sample', '/gauge/channels', '/robots.txt', '/healthz']) {
      const { status, header } = await get(path, ALL);
      expect([path, status, header('content-encoding')]).toEqual([path, 200, undefined]);
    }
  });

  it('I6: is never packed where it is sold, and no sold file has a packed form', async () => {
    const [sold] = listed().flatMap(({ path }) => (/^census\/.*\.json$/.test(path) ? [path] : []));
    const target = `/gauge/census?signal_id=${sold?.slice('census/'.length, -'.json'.length)}`;
    const { accepts } = JSON.parse((await get(target, ALL)).bytes.toString('utf8'));
    const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
    const paid = { 'x-payment': header, 'payment-identifier': 'pay_0123456789abcdef' };
    const bought = await get(target, { ...ALL, ...paid });
    expect([bought.status, bought.header('content-encoding')]).toEqual([200, undefined]);
    expect((await get(target, paid)).bytes).toEqual(bought.bytes);
    const free = /^((all|mcp|a2a)\/)?(well-known|site|free\/preview)\/|^catalog\.json\./;
    const packed = listed().filter(({ path }) => /\.(br|gz)$/.test(path));
    expect(packed.length).toBeGreaterThan(10);
    expect(packed.filter(({ path }) => !free.test(path))).toEqual([]);
  });
});

describe('a release', () => {
  it('holds the OpenAPI document, which repeats little, in an eighth of its size', async () => {
    const size = (path: string) => listed().find((each) => each.path === path)?.size ?? 0;
    const path = 'well-known/openapi.json';
    expect(size(packedPath(path, 'br'))).toBeLessThan(size(path) / 8);
    expect(size(packedPath(path, 'br'))).toBeLessThan(size(packedPath(path, 'gzip')));
  });
});

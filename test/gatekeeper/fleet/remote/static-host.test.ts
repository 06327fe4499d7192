import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import {
  HostError,
  type StaticHost,
  staticHost,
} from '../../../../gatekeeper/fleet/remote/static-host.ts';
import { closeSites, type Spoil, type StaticSite, staticSite } from './static-site.ts';

const hosts: StaticHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  await closeSites();
});

const SECRET = 'Authorization: Bearer 0123456789abcdef';

async function hostOf(spoil: Spoil, ms = 300): Promise<{ host: StaticHost; site: StaticSite }> {
  const site = await staticSite();
  site.spoil = spoil;
  const url = new URL(`${site.url}/data/`);
  const host = staticHost({ url, auth: SECRET, connections: 4, deadline: () => ms });
  hosts.push(host);
  return { host, site };
}

const failureOf = async (host: StaticHost, max = 100): Promise<HostError> => {
  const failed = await host.get({ path: 'a.json', max }).then(
    () => null,
    (error: unknown) => error,
  );
  if (failed instanceof HostError) return failed;
  throw new Error('no HostError');
};

describe('staticHost()', () => {
  it('gives the bytes below the address, asked for as they are and with the header', async () => {
    const seen: unknown[] = [];
    const { host } = await hostOf((path, response, { headers }) => {
      seen.push([path, headers.authorization, headers['accept-encoding']]);
      response.setHeader('etag', '"1"').end('0123456789');
      return true;
    });
    expect(await host.get({ path: 'files/a.json', max: 10 })).toEqual({
      bytes: Buffer.from('0123456789'),
      etag: '"1"',
    });
    expect(seen).toEqual([['data/files/a.json', 'Bearer 0123456789abcdef', 'identity']]);
  });

  it.each([
    { what: 'changed 2 s before it was sent', changed: '08:00:00', etag: '"1"' },
    {
      what: 'changed in the second before, so it may change unseen',
      changed: '08:00:01',
      etag: null,
    },
    { what: 'changed in the future, by a wrong clock', changed: '08:00:09', etag: null },
  ])('keeps a tag only once it means one file: $what', async ({ changed, etag }) => {
    const at = (time: string) => `Mon, 02 Nov 2026 ${time} GMT`;
    const { host } = await hostOf((_, response) => {
      response.setHeader('last-modified', at(changed)).setHeader('date', at('08:00:02'));
      response.setHeader('etag', '"1"').end('a');
      return true;
    });
    expect(await host.get({ path: 'a', max: 10 })).toMatchObject({ etag });
  });

  it('takes "not modified" for an answer where it sent a tag, and nowhere else', async () => {
    const { host } = await hostOf((_, response) => {
      response.writeHead(304).end();
      return true;
    });
    expect(await host.get({ path: 'a', max: 10, etag: '"1"' })).toBeNull();
    await expect(host.get({ path: 'a', max: 10 })).rejects.toThrow(/^status 304$/);
  });

  it.each<[string, Spoil, Pick<HostError, 'isFinal'> & { message: RegExp }]>([
    [
      'a missing file',
      (_, r) => !!r.writeHead(404).end('no'),
      { message: /^status 404$/, isFinal: true },
    ],
    [
      'a closed door',
      (_, r) => !!r.writeHead(403).end('no'),
      { message: /^status 403$/, isFinal: true },
    ],
    ['a part', (_, r) => !!r.writeHead(206).end('no'), { message: /^status 206$/, isFinal: true }],
    [
      'a busy host',
      (_, r) => !!r.writeHead(429).end('no'),
      { message: /^status 429$/, isFinal: false },
    ],
    [
      'a broken host',
      (_, r) => !!r.writeHead(503).end('no'),
      { message: /^status 503$/, isFinal: false },
    ],
    [
      'a redirect, which it does not follow',
      (path, r) => !!r.writeHead(302, { location: `/x/${path}` }).end(),
      { message: /^status 302$/, isFinal: true },
    ],
    [
      'one byte too many',
      (_, r) => !!r.end(Buffer.alloc(101)),
      { message: /longer than the 100 bytes/, isFinal: true },
    ],
    [
      'an endless body',
      (_, r) => {
        const more = setInterval(() => r.write(Buffer.alloc(50)), 2);
        r.on('close', () => clearInterval(more));
        return true;
      },
      { message: /longer than the 100 bytes/, isFinal: true },
    ],
    [
      'a body that ends before its length',
      (_, r) => {
        r.writeHead(200, { 'content-length': 50 }).write('abc');
        setTimeout(() => r.destroy(), 10);
        return true;
      },
      { message: /UND_ERR_SOCKET|other side closed|ECONNRESET|UND_ERR/, isFinal: false },
    ],
    ['silence', () => true, { message: /^no whole answer within 300 ms$/, isFinal: false }],
    [
      'a body that trickles',
      (_, r) => {
        const more = setInterval(() => r.write('a'), 20);
        r.on('close', () => clearInterval(more));
        return true;
      },
      { message: /^no whole answer within 300 ms$/, isFinal: false },
    ],
  ])('gives up on %s', async (_, spoil, { message, isFinal }) => {
    const { host } = await hostOf(spoil);
    const error = await failureOf(host);
    expect(error.message).toMatch(message);
    expect(error.isFinal).toBe(isFinal);
    expect(error.message).not.toContain('0123456789abcdef');
  });

  it('says that nobody listens', async () => {
    const { host, site } = await hostOf(() => true);
    await site.goAway();
    expect(await failureOf(host)).toMatchObject({
      message: 'nothing listens there (ECONNREFUSED)',
      isFinal: false,
    });
  });

  it('leaves bodies as they come, encoded or not', async () => {
    const packed = gzipSync('a body');
    const { host } = await hostOf((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
      return true;
    });
    expect((await host.get({ path: 'a', max: 100 }))?.bytes).toEqual(packed);
  });
});

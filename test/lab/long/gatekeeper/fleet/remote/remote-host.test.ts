import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CHECKPOINT_PATH } from '../../../../../../compiler/format/tiles.ts';
import { RemoteSource } from '../../../../../../gatekeeper/fleet/remote/remote-source.ts';
import {
  HostError,
  type StaticHost,
  staticHost,
} from '../../../../../../gatekeeper/fleet/remote/static-host.ts';
import { logTip } from '../../../../../../gatekeeper/heart/release/log-tip.ts';
import { openPlace } from '../../../../../../gatekeeper/heart/release/open-release.ts';
import {
  closeGates,
  closeSites,
  type HostedGate,
  hostedGate,
  type Spoil,
  type StaticSite,
  staticSite,
  storedAt,
  until,
  writeHostedRelease,
} from '../../../../../gatekeeper/fleet/remote/hosted-gate.ts';
import { loggedRelease } from '../../../../../gatekeeper/logged-service.ts';
import { tinyDataDir, tinyFiles, tinyRecord } from '../../../../../gatekeeper/tiny-release.ts';
import { untoldState } from '../../../../../gatekeeper/tiny-service.ts';

describe('staticHost()', () => {
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

interface Spoilt {
  readonly what: string;
  readonly entity: string;
  readonly give: (response: ServerResponse, bytes: Buffer) => void;
  /** The file is another one than listed, as far as the host lets anyone know. */
  readonly isDamaged: boolean;
}

/** A row for each way in which a host can be wrong about one file; each has a file of its own. */
const ROWS: Spoilt[] = (
  [
    ['one flipped bit', true, (r, bytes) => r.end(flipped(bytes))],
    ['other bytes of the same length', true, (r, bytes) => r.end(Buffer.alloc(bytes.length, 'x'))],
    [
      'an older file of the shop under its name',
      true,
      (r) => r.end(tinyFiles().get('record/airquality.aqi/us-chicago.json')),
    ],
    [
      'a truncated file that states its own length',
      true,
      (r, bytes) => r.end(bytes.subarray(0, 99)),
    ],
    ['a file with more behind it', true, (r, bytes) => r.end(Buffer.concat([bytes, bytes]))],
    ['an empty file', true, (r) => r.end()],
    ['a missing file', true, (r) => r.writeHead(404).end()],
    ['a file that is kept back', true, (r) => r.writeHead(403).end()],
    [
      'a file encoded by the host',
      true,
      (r, bytes) => r.setHeader('content-encoding', 'gzip').end(gzipSync(bytes)),
    ],
    ['a page in its place', true, (r) => r.setHeader('content-type', 'text/html').end('<h1>')],
    ['a redirect', true, (r) => r.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()],
    ['"not modified" to nothing known', true, (r) => r.writeHead(304).end()],
    [
      'a connection that breaks in the middle',
      false,
      (r, bytes) => {
        r.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 99));
        setTimeout(() => r.destroy(), 5);
      },
    ],
    ['an error of the host', false, (r) => r.writeHead(500).end('stack trace')],
  ] as const satisfies [string, boolean, Spoilt['give']][]
).map(([what, isDamaged, give], at) => ({ what, isDamaged, give, entity: `us-case${at}` }));

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[200] = (copy[200] ?? 0) ^ 1;
  return copy;
}

const pathOf = (entity: string): string => `record/airquality.aqi/${entity}.json`;

describe('files that the host spoils', () => {
  let site: StaticSite;
  let gate: HostedGate;
  let root: string;
  let sold = 0;
  const files = new Map(tinyFiles());
  for (const { entity } of ROWS) {
    const record = tinyRecord('airquality.aqi', entity, { aqi_index: 42, band: 'good' });
    files.set(pathOf(entity), Buffer.from(JSON.stringify(record)));
  }
  // Larger than what is fetched ahead, so that a file is read when it is asked for.
  files.set('free/ballast.json', Buffer.alloc(1024 * 1024, ' '));

  beforeAll(async () => {
    site = await staticSite();
    root = writeHostedRelease(site.dataDir, { files });
    const places = new Map(ROWS.map((row) => [storedAt(root, pathOf(row.entity)), row]));
    site.spoil = (path, response) => {
      const row = places.get(path);
      if (row === undefined || healed.has(row.entity)) return false;
      row.give(response, files.get(pathOf(row.entity)) ?? Buffer.alloc(0));
      return true;
    };
    gate = await hostedGate({ data: site.url, cacheMb: 1, refusedMs: 300 });
  });
  afterAll(async () => {
    await closeGates();
    await closeSites();
  });
  const healed = new Set<string>();
  const buy = async (entity: string) => {
    const answer = await gate.buy(`/gauge?entity=${entity}&signal_id=airquality.aqi`);
    if (answer.status === 200) sold += 1;
    return answer;
  };

  it.concurrent.each(ROWS)(
    'I24: $what is never served, never charged, and sold once it is right',
    async (row) => {
      const { entity, isDamaged } = row;
      for (let time = 0; time < 3; time += 1) {
        const { status, headers, text } = await buy(entity);
        expect(status).toBe(503);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        const state = isDamaged ? 'is damaged' : 'cannot be reached';
        const error = `Not charged. The stored file ${state}`;
        expect(JSON.parse(text)).toEqual({ error, retryable: true });
      }
      healed.add(entity);
      await until('sold', async () => (await buy(entity)).status === 200);
      const { text } = await gate.get(`/gauge/preview?entity=${entity}&signal_id=airquality.aqi`);
      expect(text).not.toContain('stack trace');
    },
  );

  it('I24: sells what the host does right, charges each sale once and nothing else', async () => {
    expect((await buy('us-denver')).status).toBe(200);
    expect(sold).toBe(ROWS.length + 1);
    expect(gate.settled()).toBe(sold);
  });

  it('names each path once in the log, and the host is not said to be away', async () => {
    const events = await gate.events();
    const paths = events.flatMap(({ event, path }) =>
      event === 'remote_file_refused' ? [path] : [],
    );
    expect(paths.sort()).toEqual(ROWS.map(({ entity }) => pathOf(entity)).sort());
    const others = new Set(events.map(({ event }) => event));
    for (const event of ['request_failed', 'data_host_unreachable', 'look_up_failed']) {
      expect(others).not.toContain(event);
    }
  });
});

describe('releases that a host replays', () => {
  const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
  const OTHER = '/gauge?entity=us-chicago&signal_id=airquality.aqi';

  /** Files that no other release lists, so that the list is not known. */
  const FRESH = new Map([...tinyFiles(), ['free/fresh.json', Buffer.from('{}')]]);

  /** What a host may put in place of release 5, which is served. */
  const ROWS: { readonly what: string; readonly publish: (site: StaticSite) => void }[] = [
    {
      what: 'an older release',
      publish: ({ dataDir }) => writeHostedRelease(dataDir, { sequence: 4 }),
    },
    {
      what: 'another release of the same number',
      publish: ({ dataDir }) =>
        writeHostedRelease(dataDir, { sequence: 5, head: { issuer_name: 'X' } }),
    },
    {
      what: 'a newer release that goes back in time',
      publish: ({ dataDir }) =>
        writeHostedRelease(dataDir, { sequence: 6, head: { as_of: '2026-11-20T11:00:00Z' } }),
    },
    {
      what: 'a release of another issuer',
      publish: ({ dataDir }) => writeHostedRelease(dataDir, { sequence: 6, seed: 2 }),
    },
    {
      what: 'a release that is not signed by its issuer',
      publish: ({ dataDir }) =>
        writeHostedRelease(dataDir, { sequence: 6, forged: { sequence: 7 } }),
    },
    {
      what: 'a release with another list',
      publish({ dataDir }) {
        const list = join(writeHostedRelease(dataDir, { sequence: 6, files: FRESH }), 'files.txt');
        writeFileSync(list, readFileSync(list, 'utf8').replace('a', 'b'));
      },
    },
    {
      what: 'a release without its list',
      publish: ({ dataDir }) =>
        rmSync(join(writeHostedRelease(dataDir, { sequence: 6, files: FRESH }), 'files.txt')),
    },
    {
      what: 'a page in place of the head',
      publish(site) {
        site.spoil = (path, response) => {
          if (path !== 'current/release.json') return false;
          response.end('<html>');
          return true;
        };
      },
    },
  ];

  afterAll(async () => {
    await closeGates();
    await closeSites();
  });

  it.concurrent.each(ROWS)(
    'I21: $what is not served, also after a restart',
    async ({ publish }) => {
      const site = await staticSite();
      writeHostedRelease(site.dataDir, { sequence: 5 });
      const gate = await hostedGate({ data: site.url });
      await until('fetched', () => gate.reported('release_fetched'));
      publish(site);
      await until('refused', () => gate.reported('release_refused'));
      expect((await gate.health()).release.sequence).toBe(5);
      expect((await gate.buy(TARGET)).status).toBe(200);
      await gate.close();
      const again = await hostedGate({ data: site.url, state: gate.state });
      expect((await again.health()).release.sequence).toBe(5);
      expect((await again.buy(OTHER)).status).toBe(200);
      expect((await again.events()).map(({ event }) => event)).toContain('release_refused');
    },
  );

  it('a newer release of the issuer is served', async () => {
    const site = await staticSite();
    writeHostedRelease(site.dataDir, { sequence: 5 });
    const gate = await hostedGate({ data: site.url });
    writeHostedRelease(site.dataDir, { sequence: 6, files: FRESH });
    await until('swapped', async () => (await gate.health()).release.sequence === 6);
    expect((await gate.buy(TARGET)).status).toBe(200);
  });
});

describe('a log on a host', () => {
  const TERMS = { issuerDid: null, baseUrl: null };
  const TILE = 'log/tile/0/000.p/3';

  afterEach(closeSites);

  function source(url: string, cacheDir: string): RemoteSource {
    return new RemoteSource({
      url: new URL(`${url}/`),
      auth: null,
      cacheDir,
      cacheBytesMax: 10_000_000,
      answerMs: 500,
      clock: Date.now,
      log: () => undefined,
      state: untoldState(),
    });
  }

  it('is checked, and a proof that held before stands in for a host that lies or is away', async () => {
    const data = tinyDataDir();
    writeHostedRelease(data, loggedRelease());
    const site = await staticSite(data);
    const cache = tinyDataDir();
    const one = source(site.url, cache);
    const release = await openPlace(await one.newest(), TERMS);
    await one.served(release);
    const { proof } = await logTip(release);
    await one.close();
    for (const path of [CHECKPOINT_PATH, TILE, TILE.replace('/0/', '/entries/')]) {
      const good = readFileSync(join(data, path));
      const flipped = Buffer.from(good);
      flipped[good.length - 20] = (flipped[good.length - 20] ?? 0) ^ 1;
      for (const bad of [flipped, Buffer.from('lies'), null]) {
        if (bad === null) rmSync(join(data, path));
        else writeFileSync(join(data, path), bad);
        const fresh = source(site.url, tinyDataDir());
        await expect(logTip(await openPlace(await fresh.newest(), TERMS)), path).rejects.toThrow();
        await fresh.close();
        const again = source(site.url, cache);
        const tip = await logTip(await openPlace(await again.newest(), TERMS));
        expect(tip.proof).toEqual(proof);
        await again.close();
      }
      writeFileSync(join(data, path), good);
    }
    await site.goAway();
    const away = source(site.url, cache);
    const kept = await away.kept();
    if (kept === null) throw new Error('nothing is kept');
    expect((await logTip(await openPlace(kept, TERMS))).proof).toEqual(proof);
    await away.close();
    expect(readdirSync(cache).filter((name) => name.startsWith('proof-'))).toHaveLength(1);
  });

  it('gives parts of a long file', async () => {
    const data = tinyDataDir();
    writeHostedRelease(data, loggedRelease());
    const site = await staticSite(data);
    const one = source(site.url, tinyDataDir());
    const { place } = await openPlace(await one.newest(), TERMS);
    const whole = readFileSync(join(data, 'log/new/1'));
    const part = { max: 64, start: 320, fault: () => null };
    expect(await place.log('log/new/1', part)).toEqual(whole.subarray(320, 384));
    expect(await place.log('log/new/9', part)).toBeNull();
    const wrong = { ...part, fault: () => 'not what was wanted' };
    await expect(place.log('log/new/1', wrong)).rejects.toThrow('not what was wanted');
    await one.close();
  });
});

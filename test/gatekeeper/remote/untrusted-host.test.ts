import { hash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defined } from '../../../compiler/contract/defined.ts';
import { publicFileUrl } from '../../../compiler/contract/public-files.ts';
import { dataUrl, isRemote } from '../../../gatekeeper/config/data-url.ts';
import { loadConfig } from '../../../gatekeeper/config/load-config.ts';
import { tinyFiles, tinyKey, tinyRecord } from '../tiny-release.ts';
import {
  closeGates,
  type HostedGate,
  type HostedGateOptions,
  hostedGate,
  shippedGate,
  spawned,
  until,
} from './hosted-gate.ts';
import {
  closeSites,
  type StaticSite,
  staticSite,
  storedAt,
  writeHostedRelease,
} from './static-site.ts';

const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const OTHER = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
const RECORD = 'record/airquality.aqi/us-denver.json';
const OTHER_RECORD = 'record/airquality.aqi/us-chicago.json';
/** Nothing is fetched before it is asked for: the release does not fit. */
const COLD = { cacheMb: 1 };

afterEach(async () => {
  await closeGates();
  await closeSites();
});

interface Shop {
  readonly site: StaticSite;
  readonly gate: HostedGate;
  readonly root: string;
  /** Where the host has the record of TARGET. */
  readonly at: string;
}

/** A release that is larger than the cache lets be fetched ahead, so that the record is read when it is asked for. */
async function shop(given: Omit<HostedGateOptions, 'data'> = {}): Promise<Shop> {
  const site = await staticSite();
  const files = new Map(tinyFiles());
  files.set('free/ballast.json', Buffer.alloc(1024 * 1024, ' '));
  const root = writeHostedRelease(site.dataDir, { files });
  const gate = await hostedGate({ data: site.url, ...COLD, ...given });
  return { site, gate, root, at: storedAt(root, RECORD) };
}

const serve =
  (at: string, give: (response: ServerResponse) => void): StaticSite['spoil'] =>
  (path, response) => {
    if (path !== at) return false;
    give(response);
    return true;
  };

const whole = tinyFiles().get(RECORD) ?? Buffer.alloc(0);
const flipped = Buffer.from(whole);
flipped[200] = (flipped[200] ?? 0) ^ 1;

describe('a gatekeeper over a host', () => {
  it('sells what the host has, byte for byte, and charges once', async () => {
    const { gate, site, at } = await shop();
    const sold = await gate.buy(TARGET);
    expect([sold.status, gate.settled()]).toEqual([200, 1]);
    const { _citation } = JSON.parse(sold.text);
    expect(_citation).toMatchObject({ statement_type: 'description' });
    expect((await gate.buy(TARGET)).status).toBe(200);
    expect(site.asked.filter((one) => one === `200 ${at}`)).toHaveLength(1);
  });

  it('I24: names a path once in the log, however often it is asked for', async () => {
    const { gate, site, at } = await shop({ refusedMs: 60_000 });
    site.spoil = serve(at, (r) => r.end(flipped));
    for (let time = 0; time < 20; time += 1) await gate.get(TARGET);
    const refused = (await gate.events()).filter(({ event }) => event === 'remote_file_refused');
    expect(refused).toEqual([
      expect.objectContaining({
        path: RECORD,
        error: expect.stringMatching(/not the listed ones/),
      }),
    ]);
    // And the host was asked once.
    expect(site.asked.filter((one) => one.endsWith(at))).toHaveLength(1);
  });

  it('goes on for a host that is gone: sells what it has, refuses the rest uncharged, and says so once', async () => {
    const { gate, site } = await shop();
    expect((await gate.buy(TARGET)).status).toBe(200);
    expect((await gate.health()).warnings.join()).not.toContain('stale');
    await site.goAway();
    await until('a word', async () => (await gate.health()).warnings.join().includes('stale'));
    const { status, warnings } = await gate.health();
    expect(status).toBe('ready');
    expect(warnings).toContainEqual(
      expect.stringMatching(/^stale: host unreachable since 20\d\d-\d\d-\d\dT[\d:.]+Z$/),
    );
    for (let time = 0; time < 10; time += 1) {
      expect((await gate.buy(TARGET)).status).toBe(200);
      const cold = await gate.buy(OTHER);
      expect([cold.status, cold.headers.get('retry-after')]).toEqual([503, '10']);
      expect(cold.text).toContain('Not charged');
    }
    expect(gate.settled()).toBe(11);
    await site.comeBack();
    await until('back', async () => (await gate.buy(OTHER)).status === 200);
    const events = (await gate.events()).map(({ event }) => event);
    expect(events.filter((event) => event === 'data_host_unreachable')).toHaveLength(1);
    expect(events.filter((event) => event === 'data_host_back')).toHaveLength(1);
    expect(events).not.toContain('request_failed');
    expect((await gate.health()).warnings.join()).not.toContain('stale');
  });

  it('I24: is not held by a host that trickles: who asks hears of it, the others are served', async () => {
    const { gate, site, at } = await shop({ answerMs: 700 });
    expect((await gate.buy(OTHER)).status).toBe(200);
    site.spoil = serve(at, (r) => {
      const more = setInterval(() => r.write(' '), 100);
      r.on('close', () => clearInterval(more));
    });
    const order: string[] = [];
    const slow = gate.get(TARGET).finally(() => order.push('slow'));
    const other = await gate.buy(OTHER).finally(() => order.push('other'));
    expect(other.status).toBe(200);
    expect((await slow).status).toBe(503);
    expect(order).toEqual(['other', 'slow']);
    expect(gate.settled()).toBe(2);
  });

  it('I24: finds a bit that flipped in its cache, and fetches the file again', async () => {
    const { gate, site, at } = await shop();
    expect((await gate.buy(TARGET)).status).toBe(200);
    await gate.close();
    const cache = join(gate.state, 'cache');
    const name = cachedName(cache, whole);
    writeFileSync(name, flipped);
    const again = await hostedGate({ data: site.url, state: gate.state, ...COLD });
    expect((await again.buy(TARGET)).status).toBe(200);
    expect(site.asked.filter((one) => one === `200 ${at}`)).toHaveLength(2);
    expect(readFileSync(name)).toEqual(whole);
    const damaged = (await again.events()).filter(({ event }) => event === 'cache_file_damaged');
    expect(damaged).toEqual([expect.objectContaining({ sha256: basename(name) })]);
  });

  it('starts from its cache while the host is away, and takes a newer release once it is back', async () => {
    const site = await staticSite();
    writeHostedRelease(site.dataDir);
    const first = await shippedGate({ data: site.url });
    await until('fetched', () => first.reported('release_fetched'));
    await first.kill('SIGKILL');
    await site.goAway();
    const gate = await hostedGate({ data: site.url, state: first.state });
    // All of it fits into the cache, so nothing is missing.
    for (const target of [TARGET, OTHER]) expect((await gate.buy(target)).status).toBe(200);
    expect((await gate.get('/gauge/sample')).status).toBe(200);
    writeHostedRelease(site.dataDir, { sequence: 2 });
    await site.comeBack();
    await until('swapped', async () => (await gate.health()).release.sequence === 2);
    expect((await gate.health()).warnings.join()).not.toContain('stale');
  });

  it('I47: refuses to start without the host and without a cache, and says what to do', async () => {
    const site = await staticSite();
    await site.goAway();
    const { did } = await import('../tiny-release.ts').then(({ tinyKey }) => tinyKey());
    const env = {
      SIGNALPRESS_DATA: site.url,
      SIGNALPRESS_ISSUER_DID: did,
      SIGNALPRESS_TEST_PAYMENTS: '1',
    };
    const { output, exit } = spawned({ ...env, SIGNALPRESS_PORT: '0' });
    expect(await exit).toBe(1);
    expect(output.err).toMatch(
      /^Cannot read "current\/release\.json" of "http:\/\/127\.0\.0\.1:\d+\/": nothing listens there \(ECONNREFUSED\); publish a release there, correct SIGNALPRESS_DATA, or wait/,
    );
  });

  it('asks for the head with its tag, and for nothing else while it is the same', async () => {
    const { gate, site } = await shop();
    await until(
      'looked twice',
      () => site.asked.filter((one) => one.startsWith('304 ')).length > 1,
    );
    const before = site.asked.length;
    await until('looked again', () => site.asked.length > before);
    expect(new Set(site.asked.slice(before))).toEqual(new Set(['304 current/release.json']));
    expect((await gate.health()).release.sequence).toBe(1);
  });

  it('reads what was asked before of a new release before it switches', async () => {
    const { gate, site } = await shop();
    expect((await gate.buy(TARGET)).status).toBe(200);
    const files = new Map(tinyFiles());
    files.set('free/ballast.json', Buffer.alloc(1024 * 1024, ' '));
    for (const path of [RECORD, OTHER_RECORD]) {
      files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), Buffer.from('\n')]));
    }
    const next = writeHostedRelease(site.dataDir, { sequence: 2, files });
    await until('swapped', async () => (await gate.health()).release.sequence === 2);
    expect(site.asked).toContain(`200 ${storedAt(next, RECORD)}`);
    expect(site.asked).not.toContain(`200 ${storedAt(next, OTHER_RECORD)}`);
    await site.goAway();
    expect((await gate.buy(TARGET)).status).toBe(200);
    expect((await gate.buy(OTHER)).status).toBe(503);
  });

  it('shares one fetch among many', async () => {
    const { gate, site, at } = await shop();
    const answers: (() => void)[] = [];
    site.spoil = serve(at, (r) => answers.push(() => void r.end(whole)));
    const asking = Array.from({ length: 10 }, () => gate.get(TARGET));
    await until('asked', () => answers.length > 0);
    await new Promise((done) => setTimeout(done, 300));
    expect(answers).toHaveLength(1);
    answers[0]?.();
    expect(new Set((await Promise.all(asking)).map(({ status }) => status))).toEqual(
      new Set([402]),
    );
  });

  it('charges a stranger more for what is cold', async () => {
    const { gate } = await shop({ ...COLD, env: { SIGNALPRESS_RATE_LIMIT: '2' } });
    // A file and its fetch are owed for longer than ten seconds.
    expect((await gate.get(TARGET)).status).toBe(402);
    expect((await gate.get(TARGET)).status).toBe(429);
  });
});

/** The file of the cache that holds these bytes. */
function cachedName(cache: string, bytes: Buffer): string {
  const names = readdirSync(cache, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(cache, name),
  );
  const found = names.find(
    (name) => /[0-9a-f]{64}$/.test(name) && readFileSync(name).equals(bytes),
  );
  if (found === undefined) throw new Error('not in the cache');
  return found;
}

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
    publish: ({ dataDir }) => writeHostedRelease(dataDir, { sequence: 6, forged: { sequence: 7 } }),
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

describe('releases that a host replays', () => {
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

describe('public files', () => {
  afterAll(async () => {
    await closeGates();
    await closeSites();
  });

  const bytesOf = (path: string): string =>
    defined(tinyFiles().get(path), `the file "${path}"`).toString();
  const urlOf = (path: string, as = path): string =>
    publicFileUrl({ path: as, sha256: hash('sha256', bytesOf(path)) });

  it('I52: a cache of sold and free files gives no sold one under the name of a free one', async () => {
    const site = await staticSite();
    writeHostedRelease(site.dataDir);
    const gate = await hostedGate({ data: site.url });
    const [record, free] = ['record/airquality.aqi/us-denver.json', 'free/merkle-spec.json'];
    const sold = await gate.buy('/gauge?entity=us-denver&signal_id=airquality.aqi');
    expect(sold.status).toBe(200);
    for (const as of [free, 'free/no-such-file.json', 'catalog.json']) {
      const { status, text } = await gate.get(urlOf(record, as));
      expect([as, status, text.includes('us-denver')]).toEqual([as, 404, false]);
    }
    const { status, text } = await gate.get(urlOf(free));
    expect([status, text]).toEqual([200, bytesOf(free)]);
  });
});

describe('files that the host spoils', () => {
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
      ['one flipped bit', true, (r, bytes) => r.end(withOtherBit(bytes))],
      [
        'other bytes of the same length',
        true,
        (r, bytes) => r.end(Buffer.alloc(bytes.length, 'x')),
      ],
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

  function withOtherBit(bytes: Buffer): Buffer {
    const copy = Buffer.from(bytes);
    copy[200] = (copy[200] ?? 0) ^ 1;
    return copy;
  }

  const pathOf = (entity: string): string => `record/airquality.aqi/${entity}.json`;

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

const { did } = tinyKey();
const URL_OF_DATA = 'https://static.example.com/shop';

/** The faults of some settings, none for settings that hold. */
function faults(env: Readonly<Record<string, string>>): string {
  try {
    loadConfig({ options: {}, env: { SIGNALPRESS_ISSUER_DID: did, ...env }, fileText: null });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('settings of data that a host serves', () => {
  it.each<[Record<string, string>]>([
    [{ SIGNALPRESS_DATA: URL_OF_DATA }],
    [{ SIGNALPRESS_DATA: `${URL_OF_DATA}/`, SIGNALPRESS_DATA_AUTH: 'Authorization: Bearer x' }],
    [{ SIGNALPRESS_DATA: 'http://127.0.0.1:8080' }],
    [
      {
        SIGNALPRESS_DATA: 'http://[::1]:8080/x',
        SIGNALPRESS_CACHE: '/tmp/x',
        SIGNALPRESS_CACHE_MB: '16',
      },
    ],
    [{ SIGNALPRESS_DATA: 'http://10.0.0.5/shop', SIGNALPRESS_DATA_HTTP: '1' }],
    [{ SIGNALPRESS_DATA: 'a folder:with a colon' }],
  ])('take %j', (env) => {
    expect(faults(env)).toBe('');
  });

  it.each<[Record<string, string>, RegExp]>([
    [
      { SIGNALPRESS_DATA: URL_OF_DATA, SIGNALPRESS_ISSUER_DID: '' },
      /SIGNALPRESS_ISSUER_DID: missing, but the host/,
    ],
    [{ SIGNALPRESS_DATA: 'http://10.0.0.5/shop' }, /not https.*SIGNALPRESS_DATA_HTTP=1/],
    [{ SIGNALPRESS_DATA: 'http://127.0.0.1.example/x' }, /not https/],
    [
      {
        SIGNALPRESS_DATA: 'http://10.0.0.5/shop',
        SIGNALPRESS_DATA_HTTP: '1',
        SIGNALPRESS_DATA_AUTH: 'Authorization: Bearer secret',
      },
      /SIGNALPRESS_DATA_AUTH: would be sent over plain http/,
    ],
    [{ SIGNALPRESS_DATA: 'https://u:secret@a.example' }, /put a key into SIGNALPRESS_DATA_AUTH/],
    [{ SIGNALPRESS_DATA: 'https://a.example/?sig=secret' }, /put a key into SIGNALPRESS_DATA_AUTH/],
    [{ SIGNALPRESS_DATA: 'ftp://a.example/x' }, /not an http\(s\) URL/],
    [{ SIGNALPRESS_DATA: 'https://' }, /not an http\(s\) URL/],
    [
      { SIGNALPRESS_DATA: URL_OF_DATA, SIGNALPRESS_DATA_AUTH: 'secret' },
      /SIGNALPRESS_DATA_AUTH: not one header/,
    ],
    [{ SIGNALPRESS_DATA: URL_OF_DATA, SIGNALPRESS_CACHE_MB: '1' }, /not between 16 and/],
    [{ SIGNALPRESS_CACHE: '/tmp/x' }, /SIGNALPRESS_CACHE: has no effect/],
    [
      { SIGNALPRESS_DATA: 'dist-data', SIGNALPRESS_DATA_HTTP: '1' },
      /SIGNALPRESS_DATA_HTTP: has no effect/,
    ],
  ])('I49: refuse %j with its remedy and without a secret', (env, message) => {
    expect(faults(env)).toMatch(message);
    expect(faults(env)).not.toContain('secret');
  });
});

describe('dataUrl()', () => {
  it('takes what is a URL, and nothing that is a folder', () => {
    expect(isRemote('dist-data') || isRemote('/srv/a:b') || isRemote('C:\\x')).toBe(false);
    expect(isRemote('HTTPS://a.example')).toBe(true);
    expect(dataUrl('HTTPS://A.example/x').href).toBe('https://a.example/x');
    expect(() => dataUrl('https://a.example/#x')).toThrow(RangeError);
  });
});

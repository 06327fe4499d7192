import { createHash, hash } from 'node:crypto';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { defined } from '../../../../compiler/format/errors.ts';
import { publicFileUrl } from '../../../../compiler/format/release.ts';
import {
  DiskCache,
  FETCHES_MAX,
  RemoteFiles,
} from '../../../../gatekeeper/fleet/remote/remote-files.ts';
import {
  HostError,
  type HostFile,
  type HostRequest,
} from '../../../../gatekeeper/fleet/remote/static-host.ts';
import {
  DamagedFileError,
  UnreachableFileError,
} from '../../../../gatekeeper/heart/release/read-body.ts';
import { loadConfig } from '../../../../gatekeeper/settings/load-config.ts';
import { dataUrl, isRemote } from '../../../../gatekeeper/settings/settings.ts';
import { FOR_EVERYBODY } from '../../../../gatekeeper/wire/cost.ts';
import { tinyFiles, tinyKey } from '../../tiny-release.ts';
import {
  closeGates,
  closeSites,
  hostedGate,
  staticSite,
  writeHostedRelease,
} from './hosted-gate.ts';

const bytesOf = (at: number): Buffer => Buffer.from(`file ${at} ${'x'.repeat(32_000)}`);
const entryOf = (at: number) => ({
  path: `free/${at}.json`,
  size: bytesOf(at).length,
  sha256: createHash('sha256').update(bytesOf(at)).digest('hex'),
});

/** Files behind a host that answers as a test says. */
function filesOver(get: (request: HostRequest) => Promise<HostFile | null>) {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  const logged: Readonly<Record<string, unknown>>[] = [];
  const log = (entry: Readonly<Record<string, unknown>>) => logged.push(entry);
  const cache = new DiskCache({ folder, bytesMax: 1e8, clock: () => 1e12, log });
  const outage: { since: string | null } = { since: null };
  const asked: string[] = [];
  let suspected = 0;
  const host = {
    get(request: HostRequest) {
      asked.push(request.path);
      return get(request);
    },
    close: async () => undefined,
  };
  const suspect = () => {
    suspected += 1;
  };
  const files = new RemoteFiles({ host, cache, outage, suspect, log });
  return { files, cache, outage, asked, logged, suspected: () => suspected };
}

const gives = async ({ path }: HostRequest): Promise<HostFile> => ({
  bytes: bytesOf(Number(/\d+/.exec(path)?.[0])),
  etag: null,
});

describe('RemoteFiles', () => {
  it('charges a read, and a fetch and its bytes beside it only where one is needed', async () => {
    const { files, asked } = filesOver(gives);
    const spent: number[] = [];
    const spend = (units: number): void => void spent.push(units);
    expect(await files.body(entryOf(1), spend)).toEqual(bytesOf(1));
    expect(spent).toEqual([4, 20 + entryOf(1).size / 16_384]);
    expect(await files.body(entryOf(1), spend)).toEqual(bytesOf(1));
    expect(spent.slice(2)).toEqual([4]);
    expect(asked).toHaveLength(1);
  });

  it('fetches 16 at once, lets 256 wait, and refuses more at once', async () => {
    let [running, most] = [0, 0];
    const ends: (() => void)[] = [];
    const { files, asked } = filesOver(async (request) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((done) => ends.push(done));
      running -= 1;
      return gives(request);
    });
    let refusals = 0;
    const asking = Array.from({ length: 400 }, (_, at) =>
      files.body(entryOf(at), FOR_EVERYBODY).then(
        () => 'given',
        (error: unknown) => {
          refusals += 1;
          return error;
        },
      ),
    );
    // Nobody is served before all have come.
    while (refusals < 400 - FETCHES_MAX - 256) await new Promise((done) => setTimeout(done, 5));
    const pump = setInterval(() => ends.shift()?.(), 1);
    const outcomes = await Promise.all(asking);
    clearInterval(pump);
    expect([most, asked.length]).toEqual([FETCHES_MAX, FETCHES_MAX + 256]);
    const refused = outcomes.filter((one) => one !== 'given');
    expect(refused).toHaveLength(400 - FETCHES_MAX - 256);
    expect(refused.every((one) => one instanceof UnreachableFileError)).toBe(true);
  });

  it('asks nobody while the host is away, and gives what it has', async () => {
    const { files, outage, asked } = filesOver(gives);
    await files.body(entryOf(1), FOR_EVERYBODY);
    outage.since = '2026-01-01T00:00:00Z';
    expect(await files.body(entryOf(1), FOR_EVERYBODY)).toEqual(bytesOf(1));
    await expect(files.body(entryOf(2), FOR_EVERYBODY)).rejects.toThrow(UnreachableFileError);
    expect(await files.bring(entryOf(2))).toBe(false);
    expect(asked).toHaveLength(1);
    outage.since = null;
    expect(await files.body(entryOf(2), FOR_EVERYBODY)).toEqual(bytesOf(2));
  });

  it('I24: suspects the host where nothing came, not where something else did', async () => {
    const silent = filesOver(() => Promise.reject(new HostError('status 503', { isFinal: false })));
    await expect(silent.files.body(entryOf(1), FOR_EVERYBODY)).rejects.toThrow(
      UnreachableFileError,
    );
    expect([silent.suspected(), silent.asked.length]).toEqual([1, 3]);
    const other = filesOver(async () => ({ bytes: bytesOf(9), etag: null }));
    for (let time = 0; time < 5; time += 1) {
      await expect(other.files.body(entryOf(1), FOR_EVERYBODY)).rejects.toThrow(DamagedFileError);
    }
    expect([other.suspected(), other.asked.length]).toEqual([0, 1]);
    expect(other.logged).toHaveLength(1);
    expect(await other.cache.has(entryOf(1))).toBe(false);
  });
});

describe('DiskCache', () => {
  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

  const bytesOf = (text: string, size = 1000): Buffer => Buffer.alloc(size, text);

  const blob = (bytes: Buffer) => ({ sha256: sha256(bytes), size: bytes.length });

  function cacheOf(
    bytesMax: number,
    folder = join(mkdtempSync(join(tmpdir(), 'cache-')), 'cache'),
  ) {
    const time = { now: 1_000_000_000_000 };
    const logged: Readonly<Record<string, unknown>>[] = [];
    const log = (entry: Readonly<Record<string, unknown>>) => logged.push(entry);
    const cache = new DiskCache({ folder, bytesMax, clock: () => time.now, log });
    const write = (bytes: Buffer) => cache.write(sha256(bytes), bytes);
    const path = (bytes: Buffer) => join(folder, sha256(bytes).slice(0, 2), sha256(bytes));
    return { cache, folder, time, logged, write, path };
  }

  const filesIn = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      statSync(join(folder, path)).isFile(),
    );

  it('gives back what it was given, also to another process, and nothing else', async () => {
    const { cache, folder, write } = cacheOf(100_000);
    const bytes = bytesOf('a');
    await write(bytes);
    expect(await cache.read(blob(bytes))).toEqual(bytes);
    expect(await cacheOf(100_000, folder).cache.read(blob(bytes))).toEqual(bytes);
    expect(await cache.has(blob(bytes))).toBe(true);
    expect(await cache.read(blob(bytesOf('b')))).toBeNull();
    expect(await cache.has({ ...blob(bytes), size: 999 })).toBe(false);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    [
      'a flipped bit',
      (bytes) => Buffer.concat([Buffer.from([(bytes[0] ?? 0) ^ 1]), bytes.subarray(1)]),
    ],
    ['a lost end', (bytes) => bytes.subarray(0, -1)],
    ['no bytes', () => Buffer.alloc(0)],
  ])('I24: finds %s, removes the file, and takes it again', async (_, spoilt) => {
    const { cache, write, path, logged } = cacheOf(100_000);
    const bytes = bytesOf('a');
    await write(bytes);
    writeFileSync(path(bytes), spoilt(bytes));
    expect(await cache.read(blob(bytes))).toBeNull();
    expect(logged).toEqual([{ event: 'cache_file_damaged', sha256: sha256(bytes) }]);
    expect(await cache.has(blob(bytes))).toBe(false);
    await write(bytes);
    expect(await cache.read(blob(bytes))).toEqual(bytes);
  });

  it('I24: gives no more than the listed length', async () => {
    const { cache, write, path } = cacheOf(100_000);
    const bytes = bytesOf('a');
    await write(bytes);
    writeFileSync(path(bytes), Buffer.concat([bytes, bytes]));
    expect(await cache.read(blob(bytes))).toBeNull();
  });

  it('removes what was not used for longest, and holds its bound', async () => {
    const { cache, folder, time, write } = cacheOf(10_000);
    const all = Array.from({ length: 40 }, (_, at) => bytesOf(`file ${at}`));
    for (const bytes of all) {
      time.now += 1000;
      await write(bytes);
      // The first one is read again and again.
      await cache.read(blob(all[0] as Buffer));
      await new Promise((done) => setTimeout(done, 2));
    }
    await cache.sweep();
    const size = filesIn(folder).reduce((sum, path) => sum + statSync(join(folder, path)).size, 0);
    expect(size).toBeLessThanOrEqual(10_000);
    expect(size).toBeGreaterThan(5_000);
    expect(await cache.has(blob(all[0] as Buffer))).toBe(true);
    expect(await cache.has(blob(all[1] as Buffer))).toBe(false);
    expect(await cache.has(blob(all[39] as Buffer))).toBe(true);
  });

  it('keeps what is pinned, whatever its age, and lets it go with the pin', async () => {
    const { cache, time, write } = cacheOf(10_000);
    const [list, other] = [bytesOf('list'), bytesOf('other')];
    await write(list);
    await write(other);
    cache.pin([sha256(list)]);
    for (let at = 0; at < 40; at += 1) {
      time.now += 1000;
      await write(bytesOf(`file ${at}`));
    }
    expect([await cache.has(blob(list)), await cache.has(blob(other))]).toEqual([true, false]);
    cache.pin([]);
    for (let at = 40; at < 60; at += 1) {
      time.now += 1000;
      await write(bytesOf(`file ${at}`));
    }
    expect(await cache.has(blob(list))).toBe(false);
  });

  it('takes nothing that is larger than all of it', async () => {
    const { cache, write, folder } = cacheOf(500);
    await write(bytesOf('a'));
    expect(await cache.has(blob(bytesOf('a')))).toBe(false);
    expect(() => readdirSync(folder)).toThrow(/ENOENT/);
  });

  it('removes what a killed writer left, and not what one is writing', async () => {
    const { cache, folder, write, path, time } = cacheOf(100_000);
    await write(bytesOf('a'));
    const [lost, fresh] = ['fresh-0', 'fresh-1'].map((name) =>
      join(path(bytesOf('a')), '..', name),
    );
    for (const [file, seconds] of [
      [lost, 7200],
      [fresh, 10],
    ] as const) {
      writeFileSync(file as string, 'half');
      const then = new Date(time.now - seconds * 1000);
      utimesSync(file as string, then, then);
    }
    await cache.sweep();
    expect(
      filesIn(folder)
        .map((name) => name.split('/')[1])
        .sort(),
    ).toEqual([sha256(bytesOf('a')), 'fresh-1'].sort());
  });

  it('is written by many at once without a torn file', async () => {
    const { folder } = cacheOf(1_000_000);
    const caches = Array.from({ length: 8 }, () => cacheOf(1_000_000, folder));
    const all = Array.from({ length: 20 }, (_, at) => bytesOf(`file ${at}`));
    const reads: (Buffer | null)[] = [];
    await Promise.all(
      caches.flatMap(({ cache, write }) =>
        all.map(async (bytes) => {
          await write(bytes);
          reads.push(await cache.read(blob(bytes)));
        }),
      ),
    );
    expect(reads).toHaveLength(160);
    expect(reads).not.toContain(null);
    expect(filesIn(folder)).toHaveLength(20);
  });

  it('remembers one word under each name', async () => {
    const { cache, folder } = cacheOf(100_000);
    expect(await cache.noted('newest')).toBeNull();
    await cache.note('newest', 'ab12');
    await cache.note('newest', 'cd34');
    expect(await cacheOf(1, folder).cache.noted('newest')).toBe('cd34');
    expect(await cache.noted('other')).toBeNull();
    expect(readFileSync(join(folder, 'newest'), 'utf8')).toBe('cd34\n');
  });

  it('says once that the disk takes nothing, and goes on', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'cache-')), 'file');
    writeFileSync(folder, 'no folder');
    chmodSync(folder, 0o600);
    const { cache, write, logged } = cacheOf(100_000, folder);
    await write(bytesOf('a'));
    await write(bytesOf('b'));
    await cache.note('newest', 'x');
    await cache.sweep();
    expect(logged.map(({ event }) => event)).toEqual(['cache_not_written']);
    expect(await cache.read(blob(bytesOf('a')))).toBeNull();
  });
});

const { did } = tinyKey();
const URL_OF_DATA = 'https://static.example.com/shop';

/** The faults of some settings, each named without the prefix of all; none for settings that hold. */
function faults(settings: Readonly<Record<string, string>>): string {
  const named = Object.entries({ ISSUER_DID: did, ...settings }).map(([name, value]) => {
    return [`SIGNALPRESS_${name}`, value];
  });
  try {
    loadConfig({ options: {}, env: Object.fromEntries(named), fileText: null });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('settings of data that a host serves', () => {
  it.each<[Record<string, string>]>([
    [{ DATA: URL_OF_DATA }],
    [{ DATA: `${URL_OF_DATA}/`, DATA_AUTH: 'Authorization: Bearer x' }],
    [{ DATA: 'http://127.0.0.1:8080' }],
    [{ DATA: 'http://[::1]:8080/x', CACHE_MB: '16' }],
    [{ DATA: 'http://10.0.0.5/shop', DATA_HTTP: '1' }],
    [{ DATA: 'a folder:with a colon' }],
  ])('take %j', (env) => {
    expect(faults(env)).toBe('');
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ DATA: URL_OF_DATA, ISSUER_DID: '' }, /SIGNALPRESS_ISSUER_DID: missing, but the host/],
    [{ DATA: 'http://10.0.0.5/shop' }, /not https.*SIGNALPRESS_DATA_HTTP=1/],
    [{ DATA: 'http://127.0.0.1.example/x' }, /not https/],
    [
      { DATA: 'http://10.0.0.5/shop', DATA_HTTP: '1', DATA_AUTH: 'Authorization: Bearer secret' },
      /SIGNALPRESS_DATA_AUTH: would be sent over plain http/,
    ],
    [{ DATA: 'https://u:secret@a.example' }, /put a key into SIGNALPRESS_DATA_AUTH/],
    [{ DATA: 'https://a.example/?sig=secret' }, /put a key into SIGNALPRESS_DATA_AUTH/],
    [{ DATA: 'ftp://a.example/x' }, /not an http\(s\) URL/],
    [{ DATA: 'https://' }, /not an http\(s\) URL/],
    [{ DATA: URL_OF_DATA, DATA_AUTH: 'secret' }, /SIGNALPRESS_DATA_AUTH: not one header/],
    [{ DATA: URL_OF_DATA, CACHE_MB: '1' }, /not between 16 and/],
    [{ CACHE_MB: '16' }, /SIGNALPRESS_CACHE_MB: has no effect/],
    [{ DATA: 'dist-data', DATA_HTTP: '1' }, /SIGNALPRESS_DATA_HTTP: has no effect/],
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

afterAll(async () => {
  await closeGates();
  await closeSites();
});

const tinyText = (path: string): string =>
  defined(tinyFiles().get(path), `the file "${path}"`).toString();
const urlOf = (path: string, as = path): string =>
  publicFileUrl({ path: as, sha256: hash('sha256', tinyText(path)) });

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
  expect([status, text]).toEqual([200, tinyText(free)]);
});

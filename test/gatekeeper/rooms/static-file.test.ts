import { hash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defined } from '../../../compiler/format/errors.ts';
import {
  type FileEntry,
  formatFiles,
  PUBLIC_LIST_URL,
  parseFiles,
  publicFileUrl,
} from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { respond } from '../../../gatekeeper/heart/answers/respond.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import { folderSource } from '../../../gatekeeper/heart/release/folder-source.ts';
import { openRelease } from '../../../gatekeeper/heart/release/open-release.ts';
import { publicBytes } from '../../../gatekeeper/rooms/static-file.ts';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/wire/cost.ts';
import { headerFacts } from '../../../gatekeeper/wire/header-facts.ts';
import { readPlainFile } from '../../../gatekeeper/wire/plain-file.ts';
import type { HttpRequest } from '../../../gatekeeper/wire/request.ts';
import { servedShop } from '../../gate.ts';
import { publicEntries } from '../../public-part.ts';
import { smallSet } from '../../small-set.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';
import { loggedRelease } from '../logged-service.ts';
import { TINY_NOW, tinyData } from '../tiny-release.ts';
import { compiledService } from '../tiny-service.ts';

describe('staticFile()', () => {
  let service: Service;
  let data: string;

  beforeAll(async () => {
    data = tinyData(loggedRelease());
    service = await compiledService(data, TINY_NOW);
  });

  const ask = async (target: string, method = 'GET', of = service) => {
    const request: HttpRequest = {
      method,
      target,
      facts: headerFacts([]),
      spend: FOR_EVERYBODY,
      readBody: async () => Buffer.alloc(0),
    };
    const { reply, etag } = await respond(request, of);
    return {
      ...reply,
      etag,
      header: (name: string) => reply.headers.find(([n]) => n === name)?.[1],
    };
  };

  it('serves every file of the log at its path, byte for byte', async () => {
    const names = readdirSync(join(data, 'log'), { recursive: true, withFileTypes: true });
    const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    for (const file of files) {
      const path = file.slice(data.length);
      const { status, body, etag } = await ask(path);
      expect([path, status]).toEqual([path, 200]);
      expect(Buffer.from(body)).toEqual(readFileSync(file));
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    }
    expect(files.length).toBeGreaterThan(6);
  });

  it('gives the tiles of earlier sizes too, as parts of the tile at hand', async () => {
    for (const level of ['0', 'entries']) {
      const whole = Buffer.from((await ask(`/log/tile/${level}/000.p/3`)).body);
      const part = Buffer.from((await ask(`/log/tile/${level}/000.p/2`)).body);
      expect(whole.subarray(0, part.length)).toEqual(part);
      expect(part.length).toBeGreaterThan(0);
      for (const width of ['/4', '/256', '']) {
        const path = `/log/tile/${level}/000${width === '' ? '' : `.p${width}`}`;
        expect([path, (await ask(path)).status]).toEqual([path, 404]);
      }
    }
  });

  it('gives nothing of the log that is not what its root states', async () => {
    const forged = tinyData(loggedRelease());
    const lying = await compiledService(forged, TINY_NOW);
    const taken = join(forged, 'log/new/1');
    const good = readFileSync(taken);
    for (const bad of [
      good.subarray(32),
      Buffer.concat([good.subarray(0, -32), Buffer.alloc(32)]),
    ]) {
      writeFileSync(taken, bad);
      expect((await ask('/log/new/1', 'GET', lying)).status).toBe(503);
    }
    writeFileSync(taken, good);
    expect((await ask('/log/new/1', 'GET', lying)).status).toBe(200);
    for (const path of ['log/tile/entries/000.p/3', 'log/vkey']) {
      writeFileSync(join(forged, path), 'another');
      const fresh = await compiledService(forged, TINY_NOW);
      expect([path, (await ask(`/${path}`, 'GET', fresh)).status]).toEqual([path, 503]);
    }
  });

  it('I52: gives nobody the look-up of hashes, which says more than is free', async () => {
    const [path] = service.release.files.pathsUnder('index/hashes/0', 1);
    expect((await ask(`/${path}`)).status).toBe(404);
  });

  it('lets tiles be kept for ever and a checkpoint for a minute', async () => {
    const tile = await ask('/log/tile/0/000.p/3');
    expect(tile.header('cache-control')).toBe('public, max-age=604800, immutable');
    const checkpoint = await ask('/log/checkpoint');
    expect(checkpoint.header('cache-control')).toBe('public, max-age=60');
    expect(checkpoint.header('content-type')).toBe('text/plain; charset=utf-8');
  });

  it('knows no other path: nothing is decoded, joined or listed', async () => {
    const paths = [
      '/log',
      '/log/x',
      '/log/tile/',
      '/log/tile/0/000/',
      '/log/tile/0//000',
      '/log/new/',
      '/log/new/0',
      '/log/new/4',
      '/log/new/01',
      '/log/new/1.',
      '/log/index/count.txt',
      '/log/tile/../checkpoint',
      '/log/tile/%30/000',
      '/log/%63heckpoint',
      '/log/checkpoint/',
      '/log/anchor/x.json',
      '/log/../release.json',
      '/log/tile/../../release.json',
      '/log/new/../../index/catalog.txt',
      '/LOG/checkpoint',
      '//log/checkpoint',
    ];
    for (const path of paths) expect([path, (await ask(path)).status]).toEqual([path, 404]);
  });

  it('answers HEAD and OPTIONS, and refuses every other method', async () => {
    expect((await ask('/log/checkpoint', 'HEAD')).status).toBe(200);
    expect((await ask('/log/checkpoint', 'OPTIONS')).status).toBe(204);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, header } = await ask('/log/checkpoint', method);
      expect([status, header('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });
});

describe('the public part of a release', () => {
  let gate: Gatekeeper;

  let data: string;

  let snapshots: string;

  beforeAll(async () => {
    ({ snapshots, data, gate } = await servedShop(smallSet(), { tokens: false, pollMs: 20 }));
  });

  afterAll(async () => {
    await gate.close();
    removeFolders();
  });

  type Method = 'GET' | 'HEAD' | 'POST';

  async function get(path: string, headers: Record<string, string> = {}, method: Method = 'GET') {
    const answer = await request(gate.url + path, { headers, method });
    const bytes = Buffer.from(await answer.body.bytes());
    return { status: answer.statusCode, header: (name: string) => answer.headers[name], bytes };
  }

  const whole = (): FileEntry[] =>
    parseFiles(readFileSync(join(data, 'current', 'files.txt'), 'utf8'));

  const longest = (): FileEntry =>
    publicEntries(data).reduce((one, other) => (other.size > one.size ? other : one));

  it('is listed as the head signs it', async () => {
    const { status, bytes, header } = await get(PUBLIC_LIST_URL);
    const { public_files } = JSON.parse((await get('/.well-known/release.json')).bytes.toString());
    expect(status).toBe(200);
    expect(bytes.toString()).toBe(formatFiles(publicEntries(data)));
    expect(`sha256:${hash('sha256', bytes, 'hex')}`).toBe(public_files.sha256);
    expect(public_files.count).toBe(publicEntries(data).length);
    expect(header('cache-control')).toBe('public, max-age=60');
  });

  it('is given for nothing, every byte of it, whatever is switched off', async () => {
    const entries = publicEntries(data);
    for (const entry of entries) {
      const { status, bytes, header } = await get(publicFileUrl(entry), {
        'accept-encoding': 'br',
      });
      expect([entry.path, status, hash('sha256', bytes, 'hex')]).toEqual([
        entry.path,
        200,
        entry.sha256,
      ]);
      expect(header('etag')).toBe(`"${entry.sha256.slice(0, 32)}"`);
      expect(header('content-type')).toBe('application/octet-stream');
      expect(header('cache-control')).toContain('immutable');
    }
    expect(entries.some(({ path }) => path.endsWith('.br'))).toBe(true);
  });

  it('I52: says of what is sold what it says of what there is not', async () => {
    const sold = whole().filter(({ path }) =>
      /^(record|verify|index|thin|log\/index)\//.test(path),
    );
    expect(sold.length).toBeGreaterThan(20);
    const absent = `/release/${'0'.repeat(64)}/record/no/such.json`;
    const unnamed = (bytes: Buffer) => bytes.toString().replace(/\/release\/[^"\\]*/, 'PATH');
    const unknown = await get(absent);
    expect(unknown.status).toBe(404);
    for (const entry of sold) {
      const url = publicFileUrl(entry);
      const { status, bytes } = await get(url);
      expect([url, status]).toEqual([url, 404]);
      expect(unnamed(bytes)).toBe(unnamed(unknown.bytes));
    }
  });

  it('has no file under another hash, and none under another path', async () => {
    const [one, other] = publicEntries(data);
    if (one === undefined || other === undefined) throw new TypeError('too few files');
    for (const file of [
      { ...one, sha256: other.sha256 },
      { ...one, path: `${one.path}.gone` },
    ]) {
      expect([file, (await get(publicFileUrl(file))).status]).toEqual([file, 404]);
    }
  });

  it('gives the part that is asked for, and says how much there is', async () => {
    const { size, ...file } = longest();
    const url = publicFileUrl(file);
    const all = (await get(url)).bytes;
    const cases = [
      ['bytes=0-9', 0, 10],
      [`bytes=${size - 5}-`, size - 5, size],
      ['bytes=-7', size - 7, size],
      [`bytes=100-${size + 100}`, 100, size],
    ] as const;
    for (const [range, from, to] of cases) {
      const { status, bytes, header } = await get(url, { range });
      expect([range, status]).toEqual([range, 206]);
      expect(header('content-range')).toBe(`bytes ${from}-${to - 1}/${size}`);
      expect(header('content-length')).toBe(String(to - from));
      expect(bytes.equals(all.subarray(from, to))).toBe(true);
    }
  });

  it.each(['bytes=5-4', 'bytes=-', 'bytes=0-1,4-5', 'lines=0-4', 'bytes=a-b'])(
    'gives everything for %s, which asks for no one part',
    async (range) => {
      const { status, bytes } = await get(publicFileUrl(longest()), { range });
      expect([status, bytes.length]).toEqual([200, longest().size]);
    },
  );

  it('refuses a part that is not there, and a HEAD has none', async () => {
    const file = longest();
    const { status, header, bytes } = await get(publicFileUrl(file), {
      range: `bytes=${file.size}-`,
    });
    expect([status, header('content-range'), bytes.length]).toEqual([
      416,
      `bytes */${file.size}`,
      0,
    ]);
    const head = await get(publicFileUrl(file), { range: 'bytes=0-9' }, 'HEAD');
    expect([head.status, head.header('content-length')]).toEqual([200, String(file.size)]);
  });

  it('gives a part only of the content that is meant', async () => {
    const tag = String((await get(PUBLIC_LIST_URL)).header('etag'));
    const part = (etag: string) => get(PUBLIC_LIST_URL, { range: 'bytes=0-9', 'if-range': etag });
    expect((await part(tag)).status).toBe(206);
    expect((await part('"0123456789abcdef0123456789abcdef"')).status).toBe(200);
    expect((await get(PUBLIC_LIST_URL, { 'if-none-match': tag })).status).toBe(304);
  });

  it('I6: no range of what is sold is anything but the price', async () => {
    const { status, bytes } = await get('/gauge?signal_id=nas.ground_ops&entity=bos', {
      range: 'bytes=0-9',
    });
    expect([402, 422]).toContain(status);
    expect(bytes.length).toBeGreaterThan(10);
  });

  it('refuses other methods', async () => {
    for (const url of [PUBLIC_LIST_URL, publicFileUrl(longest())]) {
      const { status, header } = await get(url, {}, 'POST');
      expect([status, header('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  it('I24: gives nothing of a damaged file, and it again once it is whole', async () => {
    const file = longest();
    const place = join(data, storedPath(file.path, file.sha256));
    const good = readFileSync(place);
    renameSync(place, `${place}.kept`);
    writeFileSync(place, Buffer.concat([good.subarray(1), good.subarray(0, 1)]));
    expect((await get(publicFileUrl(file))).status).toBe(503);
    rmSync(place);
    expect((await get(publicFileUrl(file))).status).toBe(503);
    renameSync(`${place}.kept`, place);
    expect((await get(publicFileUrl(file))).status).toBe(200);
  });

  it('I32: says of a full table of open files that it cannot tell, and of no file that there is none', async () => {
    const failing = (code: string) => async (): Promise<Buffer> => {
      throw Object.assign(new Error(code), { code, syscall: 'open' });
    };
    const kept = async (code: string) => {
      const { kept: ask } = await folderSource(data, failing(code)).newest();
      return ask({ ...longest(), sha256: '0'.repeat(64) }, () => undefined);
    };
    for (const code of ['ENOENT', 'ENAMETOOLONG']) expect(await kept(code)).toBeNull();
    for (const code of ['EMFILE', 'EIO']) await expect(kept(code)).rejects.toThrow('unreadable');
  });

  it('still gives what an earlier release listed, while that is kept', async () => {
    const before = publicEntries(data);
    await compileFolder(snapshots, { data, asOf: '2026-11-20T13:00:00Z' });
    await expect
      .poll(async () => (await get('/.well-known/release.json')).bytes.toString())
      .toContain('"sequence": 2');
    const now = new Map(publicEntries(data).map(({ path, sha256 }) => [path, sha256]));
    const former = before.filter(({ path, sha256 }) => now.get(path) !== sha256);
    expect(former.length).toBeGreaterThan(3);
    for (const file of former) {
      const { status, bytes } = await get(publicFileUrl(file));
      expect([file.path, status, hash('sha256', bytes, 'hex')]).toEqual([
        file.path,
        200,
        file.sha256,
      ]);
    }
  });
});

describe('publicBytes()', () => {
  let data: string;

  beforeAll(async () => {
    ({ data } = await compileFolder(writeSnapshots(smallSet())));
  });

  afterAll(removeFolders);

  /** The release of a disk that counts what is read, and fails when it is told to. */
  async function countedRelease() {
    const disk = { reads: 0, fails: false };
    const source = folderSource(data, async (path, max) => {
      disk.reads += 1;
      if (disk.fails) throw new Error('gone');
      return readPlainFile(path, max);
    });
    const release = await openRelease({ source, issuerDid: null, baseUrl: null });
    disk.reads = 0;
    return { disk, release };
  }

  it('reads a file once for all who ask at the same time, at the cost of the first', async () => {
    const { disk, release } = await countedRelease();
    const [one, other] = publicEntries(data);
    const file = defined(one, 'a public file');
    const spent: number[] = [];
    const spend = (units: number): void => void spent.push(units);
    const ask = () => publicBytes(file, { release, spend });
    const given = await Promise.all(Array.from({ length: 100 }, ask));
    expect([disk.reads, spent]).toEqual([1, [4]]);
    expect(new Set(given).size).toBe(1);
    expect(given[0]).toEqual(readFileSync(join(data, storedPath(file.path, file.sha256))));
    await ask();
    await Promise.all([ask(), publicBytes(defined(other, 'another'), { release, spend })]);
    expect([disk.reads, spent.length]).toEqual([4, 4]);
  });

  it('tells all of them of a failure, and nobody who asks later', async () => {
    const { disk, release } = await countedRelease();
    const file = defined(publicEntries(data)[0], 'a public file');
    const ask = () => publicBytes(file, { release, spend: () => undefined });
    disk.fails = true;
    const ends = await Promise.allSettled([ask(), ask()]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    disk.fails = false;
    expect(await ask()).toHaveLength(file.size);
  });
});

import { hash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedPath } from '../../../compiler/contract/path.ts';
import { PUBLIC_LIST_URL, publicFileUrl } from '../../../compiler/contract/public-files.ts';
import { type FileEntry, formatFiles, parseFiles } from '../../../compiler/contract/release.ts';
import { folderSource } from '../../../gatekeeper/release/folder-source.ts';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { publicEntries } from '../../public-part.ts';
import { sampleGate } from '../../sample-gate.ts';
import { smallSet } from '../../small-set.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';

let gate: Gatekeeper;
let data: string;
let snapshots: string;
beforeAll(async () => {
  snapshots = writeSnapshots(smallSet());
  data = (await compileFolder(snapshots)).data;
  gate = await sampleGate(data, { tokens: false, receipts: false, pollMs: 20 });
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

describe('the public part of a release', () => {
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
    const unknown = await get(absent);
    expect(unknown.status).toBe(404);
    for (const entry of sold) {
      const url = publicFileUrl(entry);
      const { status, bytes } = await get(url);
      expect([url, status]).toEqual([url, 404]);
      expect(bytes.toString().replace(url, absent)).toBe(unknown.bytes.toString());
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

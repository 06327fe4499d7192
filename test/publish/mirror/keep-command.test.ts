import { hash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatFiles, parsePublicFileUrl } from '../../../compiler/format/release.ts';
import { CHECKPOINT_PATH } from '../../../compiler/format/tiles.ts';
import { openLogMemory } from '../../../compiler/publish/anchor/log-memory.ts';
import { rotateKey } from '../../../compiler/publish/keys/key-command.ts';
import { adoptLog, copyShop } from '../../../compiler/publish/mirror/keep-command.ts';
import { fetchFiles, MirrorFolder } from '../../../compiler/publish/mirror/mirror-folder.ts';
import { openLog } from '../../../compiler/release/log-folder.ts';
import { currentName } from '../../../compiler/release/release-folders.ts';
import { issuerDid, signingKey } from '../../../compiler/system/sealer.ts';
import {
  compileFolder,
  filesBelow,
  makeFolder,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { VirtualClock } from '../../sources/fetch/test-row.ts';
import { readLog, seenLog } from '../log/memory-store.ts';

const ADDRESS = 'https://signals.example.org';

afterAll(removeFolders);

describe('MirrorFolder', () => {
  it('keeps files of the same bytes apart while they come at once', async () => {
    const bytes = new TextEncoder().encode('the same in each');
    const sha256 = hash('sha256', bytes, 'hex');
    const names = ['a', 'b', 'c'].map((name) => `free/preview/${name}.json`);
    const entries = names.map((path) => ({ path, sha256, size: bytes.length }));
    const folder = new MirrorFolder(join(makeFolder(), 'mirror'), ADDRESS);
    const clock = new VirtualClock('2026-11-20T12:00:00Z');
    const by = {
      address: ADDRESS,
      fetch: (url: string) => Promise.resolve(trickled(url, bytes)),
      folder,
      signal: new AbortController().signal,
      clock,
      end: clock.steady() + 60_000,
      answerMs: 60_000,
    };
    const fetched = { files: 0, bytes: 0, resumed: 0, ungiven: [] };
    await fetchFiles(entries, by, fetched);
    expect(fetched).toEqual({ files: 3, bytes: 3 * bytes.length, resumed: 0, ungiven: [] });
    expect(entries.map((entry) => folder.holds(entry))).toEqual([true, true, true]);
  });

  it('holds one release, and of those that failed since the newest alone', async () => {
    const at = join(makeFolder(), 'mirror');
    const folder = new MirrorFolder(at, ADDRESS);
    const tried = async (name: string) => {
      const entry = entryOf(name);
      folder.dropReleases(name);
      folder.put(name, 'files.txt', Buffer.from(formatFiles([entry])));
      folder.dropFiles([entry]);
      await folder.append(entry, chunks(name));
      folder.finish(entry);
      return entry;
    };
    const held = await tried('000001-a');
    folder.keepOnly('000001-a', [held]);
    const failed = [await tried('000002-b'), await tried('000003-c'), await tried('000004-d')];
    expect(readdirSync(join(at, 'releases')).sort()).toEqual(['000001-a', '000004-d']);
    expect([held, ...failed].map((entry) => folder.holds(entry))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    await folder.append(entryOf('000005-e'), chunks('0'));
    folder.dropFiles([]);
    expect([held, ...failed].map((entry) => folder.holds(entry))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(folder.partLength(entryOf('000005-e'))).toBe(0);
  });

  it.each(['releases', 'files', '.parts'])('refuses a link in the place of %s', (name) => {
    const [folder, elsewhere] = [makeFolder(), makeFolder()];
    const kept = join(elsewhere, 'kept', 'notes.txt');
    mkdirSync(join(elsewhere, 'kept'));
    writeFileSync(kept, 'mine');
    new MirrorFolder(join(folder, 'mirror'), ADDRESS);
    symlinkSync(elsewhere, join(folder, 'mirror', name));
    expect(() => new MirrorFolder(join(folder, 'mirror'), ADDRESS)).toThrow('it is a link');
    expect(existsSync(kept)).toBe(true);
  });
});

/** A public file whose bytes are its name. */
function entryOf(name: string) {
  const sha256 = hash('sha256', name, 'hex');
  return { path: `free/preview/${name}.json`, sha256, size: name.length };
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** A public file that comes in two pieces, one turn of the event loop apart. */
function trickled(url: string, bytes: Uint8Array): Response {
  if (parsePublicFileUrl(new URL(url).pathname) === null) return new Response('', { status: 404 });
  const pieces = [bytes.slice(0, 5), bytes.slice(5)].values();
  const body = new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const { value, done } = pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
  return new Response(body);
}

const COPY = { recursive: true, verbatimSymlinks: true } as const;
const OTHER = new Uint8Array(32).fill(8);
const didOf = (seed: Uint8Array) => issuerDid(signingKey(seed));
const at = (hour: number) => `2026-11-20T${hour}:00:00Z`;
const place = join(makeFolder(), 'memory');
const logMemory = openLogMemory({ place, data: 'data', auth: null, fetch });
const snapshots = writeSnapshots(spotPrices('2026-11-20', 2, 100));
const data = join(makeFolder(), 'data');
/** The folder as it was before its newest releases, of which one is of another key. */
const backup = join(makeFolder(), 'backup');
const compiled = (folder: string, hour: number, seed = SEED) =>
  compileFolder(snapshots, { data: folder, asOf: at(hour), seed, logMemory });

beforeAll(async () => {
  await compiled(data, 12);
  await copyShop(data, backup);
  await compiled(data, 13);
  rotateKey({ data, old: SEED, next: OTHER, from: at(14), overlapDays: 0, now: at(13) });
  await compiled(data, 15, OTHER);
});
const newFolder = () => join(makeFolder(), 'data');
const adopted = (from: string, into: string, issuers = [didOf(SEED)]) =>
  adoptLog({ from, data: into, issuers, fetch });

/** What a reader saw who looked at the shop and then at a folder, that an honest log never shows. */
function wrongs(folder: string): string[] {
  const [seen, wrong] = [seenLog(), [] as string[]];
  for (const each of [data, folder]) readLog(each, seen, (what) => wrong.push(what));
  return wrong;
}

/** Serves a folder as a static host does. */
async function served<T>(folder: string, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(({ url = '' }, response) => {
    const path = join(folder, url);
    const isFile = existsSync(path) && !url.endsWith('/');
    response.writeHead(isFile ? 200 : 404).end(isFile ? readFileSync(path) : '');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('signalpress adopt', () => {
  it('I65: a lost folder takes log and keys back, and the next compile goes on with the next key', async () => {
    const lost = newFolder();
    await expect(compiled(lost, 16, OTHER)).rejects.toThrow('signalpress adopt');
    const { signed, last } = await served(data, (url) => adopted(`${url}/`, lost));
    expect([signed.size, last.sequence]).toEqual([3, 3]);
    const copy = newFolder();
    cpSync(lost, copy, COPY);
    const { release } = await compileFolder(snapshots, { data: copy, asOf: at(16), seed: OTHER });
    expect([release.sequence, wrongs(copy)]).toEqual([4, []]);
    expect(release.previous).toBe(last.head);
    // What was adopted knows the keys: the first one has ended.
    const first = compileFolder(snapshots, { data: lost, asOf: at(16) });
    await expect(first).rejects.toThrow('it is no longer valid');
  });

  it('I65: a restored backup takes back what it lacks, and goes on', async () => {
    const restored = newFolder();
    await copyShop(backup, restored);
    await expect(compiled(restored, 16, OTHER)).rejects.toThrow('has 1: it was restored');
    await adopted(data, restored);
    await adopted(data, restored);
    const copy = newFolder();
    cpSync(restored, copy, COPY);
    const { release } = await compileFolder(snapshots, { data: copy, asOf: at(16), seed: OTHER });
    expect([release.sequence, wrongs(copy)]).toEqual([4, []]);
  });

  it('takes nothing of a stranger, of a log that is behind, of another history, and of bytes that were changed', async () => {
    await expect(
      adopted(data, newFolder(), [didOf(OTHER).replace('z6Mk', 'z6Mj')]),
    ).rejects.toThrow();
    const stranger = didOf(new Uint8Array(32).fill(9));
    await expect(adopted(data, newFolder(), [stranger])).rejects.toThrow(CHECKPOINT_PATH);
    await expect(adopted(backup, data)).rejects.toThrow('rollback: 1 entries');
    await expect(adopted(join(data, 'nowhere'), newFolder())).rejects.toThrow('no such folder');
    const fork = newFolder();
    await compileFolder(snapshots, { data: fork, asOf: at(18) });
    await expect(adopted(data, fork)).rejects.toThrow('not from the log that was mirrored before');
    const bad = newFolder();
    cpSync(data, bad, COPY);
    const path = join(bad, 'log/new/1');
    writeFileSync(path, Buffer.alloc(readFileSync(path).length));
    const into = newFolder();
    await expect(adopted(bad, into)).rejects.toThrow('it is not what the entry states');
    expect(openLog(into)).toBeNull();
  });

  it('I65: what another machine went on instead of ends a staged entry; nothing else does', async () => {
    const behind = newFolder();
    await copyShop(backup, behind);
    const killed = {
      ...logMemory,
      read: async () => null,
      swap: () => Promise.reject(new Error('killed')),
    };
    const dying = compileFolder(snapshots, { data: behind, asOf: at(14), logMemory: killed });
    await expect(dying).rejects.toThrow('killed');
    await expect(adopted(backup, behind)).rejects.toThrow('a release is staged here that it lacks');
    expect(existsSync(join(behind, '.staged-log'))).toBe(true);
    await adopted(data, behind);
    expect(existsSync(join(behind, '.staged-log'))).toBe(false);
    expect(readdirSync(join(behind, 'releases'))).toHaveLength(1);
    expect(wrongs(behind)).toEqual([]);
  });
});

describe('copyShop()', () => {
  it('copies what a compile goes on from, and what it copied is the same', async () => {
    const copy = newFolder();
    const { entries, name } = await copyShop(data, copy);
    expect([entries, name, currentName(copy)]).toEqual([3, currentName(data), currentName(data)]);
    const [one, other] = [data, copy].map((folder) => filesBelow(join(folder, 'log')));
    expect(other).toEqual(one);
    expect(existsSync(join(copy, 'keys.json'))).toBe(true);
    const next = await compileFolder(snapshots, { data: copy, asOf: at(16), seed: OTHER });
    expect([next.release.sequence, wrongs(copy)]).toEqual([4, []]);
  });

  it('refuses a folder that is not empty, one within the other, and a damaged file', async () => {
    await expect(copyShop(data, backup)).rejects.toThrow('not empty');
    await expect(copyShop(data, join(data, 'copy'))).rejects.toThrow('one lies within the other');
    await expect(copyShop(join(data, 'nowhere'), newFolder())).rejects.toThrow('nothing to copy');
    const bad = newFolder();
    cpSync(data, bad, COPY);
    rmSync(join(bad, CHECKPOINT_PATH));
    await expect(copyShop(bad, newFolder())).rejects.toThrow('the current release is not in it');
  });
});

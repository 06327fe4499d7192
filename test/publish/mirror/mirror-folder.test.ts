import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formatFiles, parsePublicFileUrl } from '../../../compiler/format/release.ts';
import { fetchFiles, MirrorFolder } from '../../../compiler/publish/mirror/mirror-folder.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { VirtualClock } from '../../sources/fetch/virtual-clock.ts';

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

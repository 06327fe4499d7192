import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type FileEntry, formatFiles, type Release } from '../../../compiler/contract/release.ts';
import { earlierEntry } from '../../../gatekeeper/release/earlier-files.ts';
import type { EarlierRelease } from '../../../gatekeeper/release/earlier-releases.ts';
import type { ReleaseFolder } from '../../../gatekeeper/release/release-source.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Sorted entries whose paths are short and as long as a line can be. */
function listOf(count: number): FileEntry[] {
  const names = Array.from({ length: count }, (_, at) => {
    const name = sha256(`${at}`).slice(0, 12);
    return at % 97 === 0 ? `record/${'long/'.repeat(700)}${name}.json` : `record/${name}.json`;
  });
  return names.sort().map((path, size) => ({ path, size, sha256: sha256(path) }));
}

/** A release with such a list, in a folder that counts what is open. */
function releaseOf(entries: readonly FileEntry[]) {
  const text = formatFiles(entries);
  const file = join(makeFolder(), 'files.txt');
  writeFileSync(file, text);
  const opened = { now: 0, most: 0, all: 0 };
  const folder: ReleaseFolder = {
    names: async () => [],
    mark: async () => '',
    head: async () => Buffer.alloc(0),
    async openList() {
      opened.all += 1;
      opened.now += 1;
      opened.most = Math.max(opened.most, opened.now);
      const handle = await open(file);
      const close = handle.close.bind(handle);
      handle.close = () => {
        opened.now -= 1;
        return close();
      };
      return handle;
    },
  };
  const head = { files_sha256: `sha256:${sha256(text)}` } as Release;
  const earlier: EarlierRelease = { name: '000001-x', head, hash: '', asOfMs: 0 };
  return { folder, earlier, opened, file, bytes: text.length };
}

describe('earlierEntry()', () => {
  it.each([0, 1, 2, 3000])(
    'finds each of %i files, and nothing else',
    async (count) => {
      const entries = listOf(count);
      const { folder, earlier } = releaseOf(entries);
      const find = (path: string) =>
        earlierEntry(path, earlier, { folder, spend: () => undefined });
      for (const entry of entries) expect(await find(entry.path)).toEqual(entry);
      const others = ['a', 'z', 'record/', ...entries.map(({ path }) => `${path}x`).slice(0, 300)];
      for (const path of others) expect([path, await find(path)]).toEqual([path, null]);
    },
    60_000,
  );

  it('charges the hash of a list once, then the few pieces that a search reads', async () => {
    const entries = listOf(3000);
    const { folder, earlier, opened, bytes } = releaseOf(entries);
    const costOf = async (path: string): Promise<number> => {
      let units = 0;
      await earlierEntry(path, earlier, { folder, spend: (more) => (units += more) });
      return units;
    };
    const halvings = Math.ceil(Math.log2(bytes / 16_384)) + 1;
    const searched = await costOf('record/none');
    expect(searched).toBeGreaterThan(bytes / 65_536 + 4);
    expect(searched).toBeLessThanOrEqual(bytes / 65_536 + 4 + halvings);
    const again = await costOf('record/another');
    expect(again).toBeGreaterThan(4);
    expect(again).toBeLessThanOrEqual(4 + halvings);
    // Whoever was told a price comes back.
    expect(await costOf('record/another')).toBe(0);
    expect(opened.all).toBe(2);
  });

  it('opens two lists at once, lets others wait, and sends the rest away', async () => {
    const { folder, earlier, opened } = releaseOf(listOf(300));
    const find = (path: string) => earlierEntry(path, earlier, { folder, spend: () => undefined });
    const asked = Array.from({ length: 100 }, (_, at) => find(`record/${at}`));
    const ends = await Promise.allSettled(asked);
    const away = ends.filter(({ status }) => status === 'rejected');
    expect(away).toHaveLength(100 - 2 - 64);
    expect(away[0]).toMatchObject({ reason: { name: 'UnreachableFileError' } });
    expect([opened.most, opened.now]).toEqual([2, 0]);
    expect(await find('record/35')).toBeNull();
  });

  it('I24: finds nothing in a list that differs, also where it was right before', async () => {
    const entries = listOf(30);
    const { folder, earlier, file } = releaseOf(entries);
    const find = (path: string) => earlierEntry(path, earlier, { folder, spend: () => undefined });
    expect(await find('record/none')).toBeNull();
    writeFileSync(file, formatFiles(entries.slice(1)));
    await expect(find('record/another')).rejects.toThrow(/differs from what its head signs/);
    writeFileSync(file, formatFiles(entries));
    expect(await find('record/another')).toBeNull();
  });
});

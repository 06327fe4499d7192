import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defined } from '../../../compiler/contract/defined.ts';
import { storedPath } from '../../../compiler/contract/path.ts';
import { folderSource } from '../../../gatekeeper/release/folder-source.ts';
import { openRelease } from '../../../gatekeeper/release/open-release.ts';
import { publicBytes } from '../../../gatekeeper/rooms/static-file.ts';
import { readPlainFile } from '../../../gatekeeper/system/plain-file.ts';
import { publicEntries } from '../../public-part.ts';
import { smallSet } from '../../small-set.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';

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

describe('publicBytes()', () => {
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

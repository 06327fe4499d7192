import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { RELEASE_NAME } from '../../compiler/contract/release.ts';
import { type Disk, nodeDisk } from '../../compiler/verify/disk.ts';
import { verifyRelease } from '../../compiler/verify/verify-release.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

let data: string;
let older: string;
beforeEach(async () => {
  const snapshots = writeSnapshots({
    '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 90_123.5 })]),
  });
  const first = await compileFolder(snapshots);
  data = first.data;
  older = first.folder;
  await compileFolder(snapshots, { data, asOf: '2026-11-21T12:00:00Z' });
});
afterAll(removeFolders);

async function faultsOf(disk: Disk = nodeDisk): Promise<readonly string[]> {
  const { faults } = await verifyRelease(data, { trust: 'any', disk });
  return faults.map(({ file, detail }) => `${file} ${detail}`);
}

describe('checkChain()', () => {
  it('takes a release that a compile removes while it is read for one that is gone', async () => {
    const removing: Disk = {
      ...nodeDisk,
      list(path) {
        const found = nodeDisk.list(path);
        if (path.endsWith('/..')) rmSync(older, { recursive: true, force: true });
        return found;
      },
    };
    expect(await faultsOf(removing)).toEqual([]);
  });

  it('takes a release whose removal was cut short for one that is gone', async () => {
    rmSync(join(older, RELEASE_NAME));
    expect(await faultsOf()).toEqual([]);
  });

  it('names a head that is there and not the signed one', async () => {
    appendFileSync(join(older, RELEASE_NAME), ' ');
    expect(await faultsOf()).toEqual([expect.stringContaining('not the signed head of a release')]);
  });
});

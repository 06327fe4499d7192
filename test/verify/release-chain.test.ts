import { appendFileSync, cpSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { CONTRACT_VERSION, RELEASE_NAME } from '../../compiler/contract/release.ts';
import { type Disk, nodeDisk } from '../../compiler/verify/disk.ts';
import { verifyRelease } from '../../compiler/verify/verify-release.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { resign } from './resign.ts';

let data: string;
let older: string;
let snapshots: string;
beforeEach(async () => {
  snapshots = writeSnapshots({
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

/** The release between the first and the newest. */
function secondOf(newest: string): string {
  const names = readdirSync(join(data, 'releases'));
  return names.find((name) => ![basename(older), basename(newest)].includes(name)) ?? '';
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

  it('takes a release that is kept from before the version of the contract was raised', async () => {
    const first = await compileFolder(snapshots);
    resign(first.folder, { contract_version: CONTRACT_VERSION - 1 }, SEED);
    await compileFolder(snapshots, { data: first.data, asOf: '2026-11-21T12:00:00Z' });
    const { faults, checked } = await verifyRelease(first.data, { trust: 'any' });
    expect([faults, checked.releases]).toEqual([[], 2]);
  });

  it('names a head that is there and not the signed one', async () => {
    appendFileSync(join(older, RELEASE_NAME), ' ');
    expect(await faultsOf()).toEqual([expect.stringContaining('not the signed head of a release')]);
  });

  it('names a release of another issuer, also where no neighbour of its number is kept', async () => {
    const seed = new Uint8Array(32).fill(8);
    const stranger = await compileFolder(snapshots, { seed });
    rmSync(older, { recursive: true });
    const third = await compileFolder(snapshots, { data, asOf: '2026-11-21T13:00:00Z' });
    rmSync(join(data, 'releases', secondOf(third.folder)), { recursive: true });
    expect(await faultsOf()).toEqual([]);
    cpSync(stranger.folder, older, { recursive: true });
    expect(await faultsOf()).toEqual([expect.stringContaining('is no key of this issuer')]);
  });
});

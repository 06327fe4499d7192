import { createHash } from 'node:crypto';
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FILES_NAME, parseFiles } from '../../compiler/contract/release.ts';
import { RELEASE_PROOF_NAME } from '../../compiler/contract/release-leaf.ts';
import { folderDestination } from '../../compiler/upload/destination.ts';
import { UploadNotes, uploadRelease } from '../../compiler/upload/upload-release.ts';
import { verifyRelease } from '../../compiler/verify/verify-release.ts';
import { logTip } from '../../gatekeeper/release/log-tip.ts';
import { openPlace } from '../../gatekeeper/release/open-release.ts';
import { RemoteSource } from '../../gatekeeper/remote/remote-source.ts';
import { closeSites, staticSite } from '../gatekeeper/remote/static-site.ts';
import { untoldState } from '../gatekeeper/state/untold.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

const WITNESS = `\u2014 witness.example/w ${Buffer.alloc(76, 9).toString('base64')}\n`;

let data: string;
let snapshots: string;
let to: string;
beforeEach(async () => {
  const row = ndjson([reading('btc', { price_usd: 1 })]);
  snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': row });
  ({ data } = await compileFolder(snapshots, { data: join(makeFolder(), 'data') }));
  to = join(makeFolder(), 'published');
});
afterEach(closeSites);
afterAll(removeFolders);

interface SmallCache {
  readonly cacheBytesMax: number;
  readonly clock: () => number;
}

async function upload() {
  const destination = folderDestination(to, data);
  const notes = new UploadNotes(data, destination.name);
  try {
    const flags = { all: false, prune: false, progress: () => undefined };
    return await uploadRelease({ data, destination, notes, ...flags });
  } finally {
    notes.close();
    await destination.close();
  }
}

const proofIn = (folder: string): string => join(folder, 'current', RELEASE_PROOF_NAME);
const faultsOf = async (folder: string) =>
  (await verifyRelease(folder, { trust: 'any' })).faults.map(({ file }) => file);

describe('uploadRelease() of a release with its proof', () => {
  it('brings the proof along, and again once witnesses have signed it', async () => {
    expect((await upload()).files).toBeGreaterThan(10);
    expect(await faultsOf(to)).toEqual([]);
    appendFileSync(proofIn(data), WITNESS);
    expect((await upload()).files).toBe(0);
    expect(readFileSync(proofIn(to))).toEqual(readFileSync(proofIn(data)));
    expect(await faultsOf(to)).toEqual([]);
    rmSync(proofIn(to));
    expect(await faultsOf(to)).toEqual([RELEASE_PROOF_NAME]);
    await upload();
    expect(await faultsOf(to)).toEqual([]);
  });

  it('publishes nothing without it', async () => {
    rmSync(proofIn(data));
    await expect(upload()).rejects.toThrow('gone or damaged');
  });
});

describe('a gatekeeper over a host', () => {
  const source = (url: string, cacheDir: string, more: Partial<SmallCache> = {}) =>
    new RemoteSource({
      url: new URL(`${url}/`),
      auth: null,
      cacheDir,
      cacheBytesMax: 10_000_000,
      answerMs: 500,
      clock: Date.now,
      log: () => undefined,
      state: untoldState(),
      ...more,
    });
  const terms = { issuerDid: null, baseUrl: null };

  it('checks the proof, keeps a copy that holds, and takes nothing else for one', async () => {
    await upload();
    const site = await staticSite(to);
    const cache = makeFolder();
    const one = source(site.url, cache);
    const release = await openPlace(await one.newest(), terms);
    await one.served(release);
    expect((await logTip(release))?.row.size).toBe((release.head.log_index ?? 0) + 1);
    await one.close();
    const good = readFileSync(proofIn(to));
    for (const bad of [
      Buffer.from('lies'),
      Buffer.from(good.toString('utf8').replace('index ', 'index 1')),
    ]) {
      writeFileSync(proofIn(to), bad);
      const fresh = source(site.url, makeFolder());
      await expect(logTip(await openPlace(await fresh.newest(), terms))).rejects.toThrow(
        RELEASE_PROOF_NAME,
      );
      await fresh.close();
      const again = source(site.url, cache);
      const tip = await logTip(await openPlace(await again.newest(), terms));
      expect(tip?.files.get(RELEASE_PROOF_NAME)?.bytes).toEqual(good);
      await again.close();
    }
    writeFileSync(proofIn(to), good);
    await site.goAway();
    const away = source(site.url, cache);
    const kept = await away.kept();
    if (kept === null) throw new Error('nothing is kept');
    const tip = await logTip(await openPlace(kept, terms));
    expect(tip?.files.get(RELEASE_PROOF_NAME)?.bytes).toEqual(good);
    await away.close();
  });

  it('keeps the proof in a cache that is too small for the rest, and writes it once', async () => {
    await upload();
    const site = await staticSite(to);
    const cache = makeFolder();
    const time = { now: Date.UTC(2026, 10, 20) };
    const small = { cacheBytesMax: 40_000, clock: () => time.now };
    const one = source(site.url, cache, small);
    const release = await openPlace(await one.newest(), terms);
    await one.served(release);
    const { place, head } = release;
    const proof = await place.proof(head, () => true);
    const name = createHash('sha256').update(proof).digest('hex');
    const written = (): number => statSync(join(cache, name.slice(0, 2), name)).ino;
    const first = written();
    await place.proof(head, () => true);
    expect(written()).toBe(first);
    const list = readFileSync(join(to, 'current', FILES_NAME), 'utf8');
    const others = parseFiles(list).filter(({ size }) => size < 20_000);
    expect(others.reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(
      2 * small.cacheBytesMax,
    );
    for (const entry of others) {
      time.now += 60_000;
      await place.body(entry, () => undefined);
    }
    await site.goAway();
    expect(await place.proof(head, () => true)).toEqual(proof);
    await one.close();
  });

  it('keeps the proof of the newest release alone, however many there were', async () => {
    const cache = makeFolder();
    await upload();
    const site = await staticSite(to);
    for (const hour of ['15', '16', '17']) {
      await compileFolder(snapshots, { data, asOf: `2026-11-20T${hour}:00:00Z` });
      await upload();
      const one = source(site.url, cache);
      const release = await openPlace(await one.newest(), terms);
      await one.served(release);
      await logTip(release);
      await one.close();
    }
    expect(readdirSync(cache).filter((name) => name.startsWith('proof-'))).toHaveLength(1);
  });
});

import { cpSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rollBack } from '../../../compiler/cli/releases-command.ts';
import { rotateKey } from '../../../compiler/publish/keys/key-command.ts';
import { currentName, releaseNames } from '../../../compiler/release/release-folders.ts';
import { issuerDid, signingKey } from '../../../compiler/system/sealer.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { folderSource } from '../../../gatekeeper/heart/release/folder-source.ts';
import { openRelease } from '../../../gatekeeper/heart/release/open-release.ts';
import { watchRelease } from '../../../gatekeeper/heart/release/watch-release.ts';
import type { Log } from '../../../gatekeeper/wire/log/line-log.ts';
import { ServiceState } from '../../../gatekeeper/wire/service-state.ts';
import {
  AS_OF,
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../snapshot-folder.ts';

// A clock once ran fifty years ahead and published; then it was set right. Time never goes back for readers, but for the
// one release that says, signed, that it does.

afterAll(removeFolders);
const FUTURE = '2076-11-20T12:00:00Z';
const RIGHT = '2026-11-20T13:00:00Z';
const NEXT = '2026-11-20T14:00:00Z';
const CORRECTED = { sequence: 3, latest: FUTURE };

let snapshots = '';
let locked = '';
beforeAll(async () => {
  const rows = [reading('btc', { price_usd: 1 }), reading('eth', { price_usd: 2 })];
  snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(rows) });
  ({ data: locked } = await compileFolder(snapshots));
  await compileFolder(snapshots, { data: locked, asOf: FUTURE });
});

/** A copy of the folder that the wrong clock locked. */
function copied(): string {
  const data = join(makeFolder(), 'data');
  cpSync(locked, data, { recursive: true, verbatimSymlinks: true });
  return data;
}
const accepted = (data: string, asOf = RIGHT) =>
  compileFolder(snapshots, { data, asOf, acceptClock: true });
const faultsOf = async (folder: string) => (await verifyRelease(folder, { trust: 'any' })).faults;

/** What a reader says of a data folder who remembers what another showed; the memory is handed on. */
async function remembered(data: string, text: string | null, now = FUTURE) {
  let saved = text;
  const save = (next: string): void => {
    saved = next;
  };
  const issuer = [issuerDid(signingKey(SEED))];
  const options = { memory: { text, save }, issuer, now: Date.parse(now), workers: 0 };
  const { exitCode, text: output } = await runVerify(data, options);
  return { exitCode, output, memory: saved };
}

describe('a data folder that a wrong clock locked', () => {
  it('I21: takes no release of an earlier time, and says how', async () => {
    const data = copied();
    await expect(compileFolder(snapshots, { data, asOf: RIGHT })).rejects.toThrow(
      /is before the current release, as of 2076.*pass --accept-clock/,
    );
    const back = { data, name: releaseNames(data)[0] ?? '', asOf: RIGHT, seed: SEED };
    await expect(rollBack(back)).rejects.toThrow(/pass --accept-clock/);
    expect(currentName(data)).toBe(currentName(locked));
  });

  it('I21: is opened again by a release that says so in its signed head, and so do all that follow', async () => {
    const data = copied();
    const { release, isIncremental } = await accepted(data);
    expect([release.as_of, release.sequence, release.clock_corrected, isIncremental]).toEqual([
      RIGHT,
      3,
      CORRECTED,
      false,
    ]);
    expect(await faultsOf(data)).toEqual([]);
    const after = await compileFolder(snapshots, { data, asOf: NEXT });
    expect([after.release.sequence, after.release.clock_corrected]).toEqual([4, CORRECTED]);
    expect(await faultsOf(data)).toEqual([]);
    const back = { data, name: releaseNames(data)[0] ?? '', asOf: NEXT, seed: SEED };
    const { release: rolled } = await rollBack(back);
    expect([rolled.sequence, rolled.clock_corrected]).toEqual([5, CORRECTED]);
    expect(await faultsOf(data)).toEqual([]);
  });

  it('is opened again by a rollback too', async () => {
    const data = copied();
    const name = releaseNames(data)[0] ?? '';
    const { release } = await rollBack({ data, name, asOf: RIGHT, acceptClock: true, seed: SEED });
    expect([release.as_of, release.clock_corrected]).toEqual([RIGHT, CORRECTED]);
    expect(await faultsOf(data)).toEqual([]);
  });

  it('has nothing to set right where no release is of a later time', async () => {
    const { data } = await compileFolder(snapshots);
    await expect(accepted(data)).rejects.toThrow(/--accept-clock is not needed/);
    await expect(accepted(join(makeFolder(), 'new'))).rejects.toThrow(
      /--accept-clock is not needed/,
    );
  });

  it('I29: is set right by the newest key alone', async () => {
    const data = copied();
    const next = new Uint8Array(32).fill(9);
    rotateKey({ data, old: SEED, next, from: AS_OF, now: AS_OF, overlapDays: 1 });
    await expect(accepted(data)).rejects.toThrow(
      /only the newest key may sign a release after a clock correction/,
    );
    const { release } = await compileFolder(snapshots, {
      data,
      asOf: RIGHT,
      acceptClock: true,
      seed: next,
    });
    expect(release.clock_corrected).toEqual(CORRECTED);
  });
});

describe('readers who remember a release of the future', () => {
  it('I26: follow to the release that was set right, and refuse one that goes back without a word', async () => {
    const data = copied();
    const { memory, exitCode } = await remembered(data, null);
    expect(exitCode).toBe(0);
    await accepted(data);
    await compileFolder(snapshots, { data, asOf: NEXT });
    const { exitCode: after, memory: newest } = await remembered(data, memory, NEXT);
    expect(after).toBe(0);
    // The old release of the future, once more: its sequence is lower, whatever its time says.
    const old = await remembered(locked, newest);
    expect([old.exitCode, old.output]).toEqual([1, expect.stringContaining('rollback: 2, but 4')]);
  });

  it('I26: refuse a release of a higher sequence and an earlier time that corrects nothing', async () => {
    // Somebody publishes on from the first release, in a folder of their own.
    const { data } = await compileFolder(snapshots);
    for (const hour of ['12', '13', '14']) {
      await compileFolder(snapshots, { data, asOf: `2026-11-20T${hour}:30:00Z` });
    }
    const { memory } = await remembered(locked, null);
    const { exitCode, output } = await remembered(data, memory);
    expect([exitCode, output]).toEqual([1, expect.stringContaining('rollback: before 2076')]);
  });

  it('I24: find a correction that is taken out of the head, or put into it', async () => {
    const data = copied();
    const { folder } = await accepted(data);
    const { clock_corrected, ...without } = readJson(folder, 'release.json');
    for (const head of [
      without,
      { ...without, clock_corrected: { ...clock_corrected, sequence: 1 } },
    ]) {
      writeFileSync(join(folder, 'release.json'), `${JSON.stringify(head, null, 2)}\n`);
      expect((await faultsOf(data)).map(({ where }) => where)).toContain('signature');
    }
  });
});

describe('a gatekeeper that serves a release of the future', () => {
  async function watched(data: string) {
    const open = () => openRelease({ source: folderSource(data), issuerDid: null, baseUrl: null });
    let current = await open();
    const logged: string[] = [];
    const log: Log = ({ event, error }) => logged.push(`${event} ${error ?? ''}`);
    const watcher = watchRelease({
      source: folderSource(data),
      current: () => current,
      open,
      swap: (next) => {
        current = next;
      },
      log,
      state: new ServiceState({ clock: Date.now, log }),
      pollMs: 1_000_000,
    });
    return { watcher, logged, served: () => current.head.sequence };
  }

  it('I21: goes on to the release that was set right', async () => {
    const data = copied();
    const { watcher, served } = await watched(data);
    await accepted(data);
    await watcher.check();
    watcher.close();
    expect(served()).toBe(3);
  });

  it('I21: stays with what it has where a newer one goes back without a word', async () => {
    const data = copied();
    const { watcher, logged, served } = await watched(data);
    const { data: other } = await compileFolder(snapshots);
    for (const hour of ['12', '13']) {
      await compileFolder(snapshots, { data: other, asOf: `2026-11-20T${hour}:30:00Z` });
    }
    const name = currentName(other) ?? '';
    cpSync(join(other, 'releases', name), join(data, 'releases', name), { recursive: true });
    cpSync(join(other, 'files'), join(data, 'files'), { recursive: true });
    symlinkSync(join('releases', name), join(data, 'next'));
    renameSync(join(data, 'next'), join(data, 'current'));
    await watcher.check();
    watcher.close();
    expect([served(), logged]).toEqual([
      2,
      [expect.stringMatching(/^release_refused Cannot serve release 3: as of .*, before 2076/)],
    ]);
  });
});

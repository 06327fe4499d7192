import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openNote } from '../../../../compiler/format/checkpoint.ts';
import { type KeyHistory, withRoots } from '../../../../compiler/format/key-history.ts';
import type { RootStatement } from '../../../../compiler/format/root-statement.ts';
import { adoptLog } from '../../../../compiler/publish/mirror/keep-command.ts';
import { issuerDid, signingKey } from '../../../../compiler/system/sealer.ts';
import { folderSource } from '../../../../gatekeeper/heart/release/folder-source.ts';
import {
  keepNewest,
  provenHeads,
  refuseOlder,
} from '../../../../gatekeeper/heart/release/newest-served.ts';
import { openRelease } from '../../../../gatekeeper/heart/release/open-release.ts';
import type { ReleaseIndex } from '../../../../gatekeeper/heart/release/release-index.ts';
import { watchRelease } from '../../../../gatekeeper/heart/release/watch-release.ts';
import type { Gatekeeper } from '../../../../gatekeeper/start.ts';
import type { Log } from '../../../../gatekeeper/wire/log/line-log.ts';
import { ServiceState } from '../../../../gatekeeper/wire/service-state.ts';
import { sampleGate } from '../../../gate.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { revocation } from '../../../verify/monitor/lying-service.ts';
import { type TinyOptions, tinyData, writeTinyRelease } from '../../tiny-release.ts';
import { untoldState } from '../../tiny-service.ts';

const MISSED_POLLS_MAX = 30;

/** `onOpen` is told, with the way to ask for another look, when a release was opened. */
async function watched(onOpen: (check: () => Promise<void>) => void = () => {}): Promise<{
  dataDir: string;
  served: () => number;
  logged: string[];
  check: () => Promise<void>;
  close: () => void;
}> {
  const dataDir = tinyData({ sequence: 5 });
  const open = (): Promise<ReleaseIndex> =>
    openRelease({ source: folderSource(dataDir), issuerDid: null, baseUrl: null });
  let current = await open();
  const logged: string[] = [];
  const log: Log = (entry) => logged.push(`${entry.event} ${entry.error ?? ''}`);
  const watcher = watchRelease({
    source: folderSource(dataDir),
    current: () => current,
    open: async () => {
      const opened = await open();
      onOpen(watcher.check);
      return opened;
    },
    swap: (next) => {
      current = next;
    },
    log,
    state: new ServiceState({ clock: Date.now, log }),
    pollMs: 20,
  });
  return { dataDir, served: () => current.head.sequence, logged, ...watcher };
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !condition(); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('watchRelease()', () => {
  it('swaps to a newer verified release without being told', async () => {
    const gate = await watched();
    writeTinyRelease(gate.dataDir, { sequence: 6 });
    await until(() => gate.served() === 6);
    gate.close();
    expect(gate.served()).toBe(6);
    expect(gate.logged).toEqual(['release_swapped ']);
  });

  it('tells of each look that finds nothing newer, and of none that does', async () => {
    const dataDir = tinyData({ sequence: 5 });
    const open = (): Promise<ReleaseIndex> =>
      openRelease({ source: folderSource(dataDir), issuerDid: null, baseUrl: null });
    let current = await open();
    const told: string[] = [];
    const tell = (word: string): void => {
      if (told.at(-1) !== word) told.push(word);
    };
    const watcher = watchRelease({
      source: folderSource(dataDir),
      current: () => current,
      open,
      swap: (next) => {
        current = next;
        tell('swapped');
      },
      goOn: ({ head }) => tell(`served ${head.sequence}`),
      log: () => undefined,
      state: untoldState(),
      pollMs: 1_000_000,
    });
    await watcher.check();
    writeTinyRelease(dataDir, { sequence: 6 });
    await watcher.check();
    await watcher.check();
    watcher.close();
    expect(told).toEqual(['served 5', 'swapped', 'served 6']);
  });

  it('looks again for whoever asks while it looks, once for all of them', async () => {
    let opened = 0;
    const gate = await watched((asking) => {
      opened += 1;
      if (opened > 1) return;
      // The next one is published, and asked for, while this one is being opened.
      writeTinyRelease(gate.dataDir, { sequence: 7 });
      void asking();
      void asking();
    });
    writeTinyRelease(gate.dataDir, { sequence: 6 });
    await gate.check();
    gate.close();
    expect([gate.served(), opened]).toEqual([7, 2]);
  });

  it.each<[string, TinyOptions]>([
    ['I21: an older release', { sequence: 4 }],
    ['I21: another release of the same number', { sequence: 5, seed: 1, head: {} }],
    ['a release of another issuer', { sequence: 6, seed: 2 }],
    ['a release that is not signed by its issuer', { sequence: 6, forged: { sequence: 7 } }],
  ])('keeps the old one and says so for %s', async (_, options) => {
    const gate = await watched();
    if (options.sequence === 5) writeTinyRelease(gate.dataDir, { sequence: 5, seed: 3 });
    else writeTinyRelease(gate.dataDir, options);
    await until(() => gate.logged.length > 0);
    await gate.check();
    gate.close();
    expect(gate.served()).toBe(5);
    expect(gate.logged).toEqual([expect.stringMatching(/^release_refused Cannot serve release/)]);
  });

  it('says when a look hangs, so that nobody looks any more, and not before', async () => {
    const dataDir = tinyData({ sequence: 5 });
    const served = await openRelease({
      source: folderSource(dataDir),
      issuerDid: null,
      baseUrl: null,
    });
    let answer: (release: ReleaseIndex) => void = () => {};
    let isOpening = false;
    // No timer looks meanwhile: the test does, by a clock of its own.
    const pollMs = 3_600_000;
    let time = 0;
    const watcher = watchRelease({
      source: folderSource(dataDir),
      current: () => served,
      open: () =>
        new Promise((done) => {
          isOpening = true;
          answer = done;
        }),
      swap: () => undefined,
      log: () => undefined,
      state: untoldState(),
      pollMs,
      now: () => time,
    });
    const look = (polls: number): Promise<void> => {
      time += polls * pollMs;
      return watcher.check();
    };
    for (let polls = 0; polls < 2 * MISSED_POLLS_MAX; polls += 1) await look(1);
    expect(watcher.failure()).toBeNull();
    writeTinyRelease(dataDir, { sequence: 6 });
    const hung = look(MISSED_POLLS_MAX);
    expect(watcher.failure()).toBeNull();
    time += 1;
    expect(watcher.failure()).toMatch(
      /^the last check for a newer release was more than \d+ s ago: the disk/,
    );
    await vi.waitFor(() => expect(isOpening).toBe(true));
    answer(served);
    await hung;
    expect(watcher.failure()).toBeNull();
    watcher.close();
  });
});

const NEWEST_NAME = 'newest-release.json';

const stateDir = () => mkdtempSync(join(tmpdir(), 'signalpress-state-'));

async function releaseOf(options: TinyOptions) {
  const dataDir = tinyData(options);
  return openRelease({ source: folderSource(dataDir), issuerDid: null, baseUrl: null });
}

/** A first version of a root; nobody checks signatures here. */
function rootOver({ keys }: KeyHistory): RootStatement {
  const [first] = keys;
  if (first === undefined) throw new Error('no key');
  const { did, valid_from, valid_until, revoked_from } = first;
  return {
    type: 'root',
    issuer: did,
    version: 1,
    stated_at: '2026-11-20T12:00:00Z',
    threshold: 2,
    root_keys: [],
    issuer_keys: [{ did, valid_from, valid_until, revoked_from }],
    receipt_keys: [],
    signatures: [],
  };
}

describe('refuseOlder()', () => {
  it('I26: takes what is newer, and the same again', async () => {
    const state = stateDir();
    const release = await releaseOf({ sequence: 5 });
    refuseOlder(state, release);
    keepNewest(state, release);
    refuseOlder(state, release);
    refuseOlder(state, await releaseOf({ sequence: 6 }));
  });

  it('I26: refuses what is older, and another release of the same number, also after a restart', async () => {
    const state = stateDir();
    keepNewest(state, await releaseOf({ sequence: 5 }));
    const older = await releaseOf({ sequence: 4 });
    expect(() => refuseOlder(state, older)).toThrow('release 4: older than release 5');
    const other = await releaseOf({ sequence: 5, head: { as_of: '2026-11-21T11:30:00Z' } });
    expect(() => refuseOlder(state, other)).toThrow('a different release with this number');
  });

  it('I26: lets an older one pass that is proven, unless its list of keys forgets what was seen', async () => {
    const state = stateDir();
    const release = await releaseOf({ sequence: 5 });
    const older = await releaseOf({ sequence: 4 });
    keepNewest(state, { ...release, head: { ...release.head, previous: 'sha256:4' } });
    expect(provenHeads(state)).toEqual([
      expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      'sha256:4',
    ]);
    refuseOlder(state, older, true);
    expect(() => refuseOlder(state, older)).toThrow('release 4: older than release 5');
    keepNewest(state, { ...release, keys: { ...release.keys, revocations: [revocation(7)] } });
    expect(() => refuseOlder(state, older, true)).toThrow('lacks a statement that was seen before');
    expect(provenHeads(stateDir())).toEqual([]);
  });

  it('does not compare releases of another issuer: which issuer is served is settled elsewhere', async () => {
    const state = stateDir();
    keepNewest(state, await releaseOf({ sequence: 5 }));
    refuseOlder(state, await releaseOf({ sequence: 1, seed: 2 }));
  });

  it('I26: refuses a list of keys that forgets a root or a statement, or begins before the first key', async () => {
    const state = stateDir();
    const release = await releaseOf({ sequence: 5 });
    const next = await releaseOf({ sequence: 6 });
    const rooted = withRoots(release.keys, [rootOver(release.keys)]);
    keepNewest(state, { ...release, keys: rooted });
    refuseOlder(state, { ...next, keys: rooted });
    expect(() => refuseOlder(state, next)).toThrow('lacks version 1 of the root');
    const other = withRoots(release.keys, [{ ...rootOver(release.keys), threshold: 3 }]);
    expect(() => refuseOlder(state, { ...next, keys: other })).toThrow('another version 1');
    const [first] = release.keys.keys;
    const [stranger] = (await releaseOf({ sequence: 1, seed: 2 })).keys.keys;
    if (first === undefined || stranger === undefined) throw new Error('no key');
    const longer = { ...rooted, keys: [stranger, first] };
    expect(() => refuseOlder(state, { ...next, keys: longer })).toThrow('does not begin with');
    const revoking = { ...release.keys, revocations: [revocation(7)] };
    keepNewest(state, { ...next, keys: revoking });
    refuseOlder(state, { ...next, keys: revoking });
    expect(() => refuseOlder(state, next)).toThrow('lacks a statement that was seen before');
  });

  it('I32: does not take a damaged note for none', async () => {
    const state = stateDir();
    const release = await releaseOf({ sequence: 5 });
    keepNewest(state, release);
    const path = join(state, NEWEST_NAME);
    writeFileSync(path, readFileSync(path, 'utf8').slice(1));
    expect(() => refuseOlder(state, release)).toThrow('damaged');
  });
});

afterAll(removeFolders);

describe('a gatekeeper and a log that forks', () => {
  const COPY = { recursive: true, verbatimSymlinks: true } as const;
  const at = (hour: number) => `2026-11-20T${hour}:00:00Z`;
  const snapshots = writeSnapshots(spotPrices('2026-11-20', 2, 100));
  const compiled = (data: string, hour: number) =>
    compileFolder(snapshots, { data, asOf: at(hour) });

  /** A shop after its first release and after its second, and a fork of three releases. */
  const [first, second, fork] = ['first', 'second', 'fork'].map((name) => join(makeFolder(), name));
  beforeAll(async () => {
    await compiled(`${first}`, 12);
    for (const folder of [second, fork]) cpSync(`${first}`, `${folder}`, COPY);
    await compiled(`${second}`, 13);
    await compiled(`${fork}`, 14);
    await compiled(`${fork}`, 15);
  });

  const gates: Gatekeeper[] = [];
  afterEach(async () => {
    for (const gate of gates.splice(0)) await gate.close();
  });
  /** A gatekeeper of a copy of a folder, and what it says of releases. */
  async function gateOf(folder: string, state = mkdtempSync(join(tmpdir(), 'signalpress-state-'))) {
    const data = join(makeFolder(), 'data');
    cpSync(folder, data, COPY);
    const said: Readonly<Record<string, unknown>>[] = [];
    const settings = { state };
    const gate = await sampleGate(data, { settings, log: (entry) => void said.push(entry) });
    gates.push(gate);
    return {
      gate,
      data,
      state,
      /** Puts the bytes of another folder in the place of its own. */
      async replaceBy(other: string) {
        rmSync(data, { recursive: true });
        cpSync(other, data, COPY);
        await gate.checkRelease();
      },
      refusals: () =>
        said.flatMap(({ event, error }) => (event === 'release_refused' ? [error] : [])),
      /** Size of the log and sequence of the release that clients get. */
      async served() {
        const note = await (await fetch(`${gate.url}/log/checkpoint`)).text();
        const head = await (await fetch(`${gate.url}/.well-known/release.json`)).json();
        return [openNote(note)?.checkpoint.size, (head as { sequence: number }).sequence];
      },
    };
  }

  const noteOf = (state: string) =>
    JSON.parse(readFileSync(join(state, 'newest-release.json'), 'utf8'));

  it('I65: serves on what it has, at a running service and at a start, whatever its number', async () => {
    const shop = await gateOf(`${second}`);
    expect(await shop.served()).toEqual([2, 2]);
    expect(noteOf(shop.state)).toMatchObject({ sequence: 2, log: { size: 2 } });
    await shop.replaceBy(`${fork}`);
    expect(shop.refusals()).toEqual([
      expect.stringContaining('its log is a fork: it has other entries than the 2'),
    ]);
    expect((await shop.served())[1]).toBe(2);
    const again = gateOf(`${fork}`, shop.state);
    await expect(again).rejects.toThrow('signalpress adopt');
    // The state that remembers is lost: nobody here can tell any more.
    expect(await (await gateOf(`${fork}`)).served()).toEqual([3, 3]);
  });

  it('I65: takes what goes on from the served log, also made in a folder that had lost it', async () => {
    const shop = await gateOf(`${second}`);
    const lost = join(makeFolder(), 'data');
    const issuers = [issuerDid(signingKey(SEED))];
    await adoptLog({ from: shop.gate.url, data: lost, issuers, fetch });
    await compiled(lost, 16);
    await shop.replaceBy(lost);
    expect([await shop.served(), shop.refusals()]).toEqual([[3, 3], []]);
    expect(noteOf(shop.state)).toMatchObject({ sequence: 3, log: { size: 3 } });
    await expect(gateOf(`${second}`, shop.state)).rejects.toThrow('older than release 3');
  });

  it('I65: a release that was served is served again while its log cannot be read, and no other', async () => {
    const shop = await gateOf(`${second}`);
    const bare = join(makeFolder(), 'bare');
    const next = join(makeFolder(), 'next');
    for (const folder of [bare, next]) cpSync(`${second}`, folder, COPY);
    rmSync(join(bare, 'log/tile'), { recursive: true });
    const { gate } = await gateOf(bare, shop.state);
    expect((await fetch(`${gate.url}/.well-known/release.json`)).status).toBe(200);
    expect(noteOf(shop.state)).toMatchObject({ log: { size: 2 } });
    await compiled(next, 16);
    rmSync(join(next, 'log/tile'), { recursive: true });
    await shop.replaceBy(next);
    expect(shop.refusals()).toEqual([expect.stringContaining('its log cannot be read')]);
  });
});

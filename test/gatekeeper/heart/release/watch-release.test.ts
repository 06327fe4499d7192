import { describe, expect, it, vi } from 'vitest';
import { folderSource } from '../../../../gatekeeper/heart/release/folder-source.ts';
import { openRelease } from '../../../../gatekeeper/heart/release/open-release.ts';
import type { ReleaseIndex } from '../../../../gatekeeper/heart/release/release-index.ts';
import { watchRelease } from '../../../../gatekeeper/heart/release/watch-release.ts';
import type { Log } from '../../../../gatekeeper/wire/log/line-log.ts';
import { ServiceState } from '../../../../gatekeeper/wire/service-state.ts';
import { type TinyOptions, tinyData, writeTinyRelease } from '../../tiny-release.ts';
import { untoldState } from '../../wire/untold.ts';

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

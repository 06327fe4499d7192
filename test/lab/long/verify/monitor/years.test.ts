import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { KEYS_URL } from '../../../../../compiler/catalog/static-files.ts';
import { defined } from '../../../../../compiler/format/errors.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../../../../compiler/format/iso-time.ts';
import { firstHistory, formatKeyHistory } from '../../../../../compiler/format/key-history.ts';
import type { Release } from '../../../../../compiler/format/release.ts';
import { releaseEntryBytes } from '../../../../../compiler/format/release-entry.ts';
import { tilePath } from '../../../../../compiler/format/tiles.ts';
import {
  appendEntries,
  edgeTiles,
  type TreeEdge,
} from '../../../../../compiler/release/log-tree.ts';
import { canonicalHash } from '../../../../../compiler/verify/body-check.ts';
import { MONITOR_EXIT } from '../../../../../compiler/verify/monitor/monitor.ts';
import { removeFolders } from '../../../../snapshot-folder.ts';
import {
  BASE_URL,
  DID,
  entryOf,
  keysOf,
  noteOf,
  rotation,
  SEED,
  signedHeadText,
} from '../../../../verify/monitor/lying-service.ts';
import { Watching } from '../../../../verify/monitor/watching.ts';

interface Grown {
  readonly as_of: string;
  readonly head?: Partial<Release>;
  readonly seed?: number;
}

/** The files of an honest service over years: partial tiles of older sizes go, so that each release costs the same. */
class GrowingService extends Map<string, Buffer | Uint8Array | string | null> {
  readonly #edge: TreeEdge = { size: 0, rows: [], bundle: [] };
  #newest: Release | null = null;

  constructor() {
    super();
    this.set('/.well-known/keys.json', formatKeyHistory(firstHistory(DID)));
  }

  /** Entries of the log. */
  get count(): number {
    return this.#edge.size;
  }

  publish({ as_of, head = {}, seed = SEED }: Grown): void {
    const members: Partial<Release> = {
      sequence: (this.#newest?.sequence ?? 0) + 1,
      as_of,
      previous: this.#newest === null ? null : canonicalHash(this.#newest),
      ...head,
    };
    const text = signedHeadText(members, seed);
    this.#newest = JSON.parse(text) as Release;
    const before = edgeTiles(this.count).map(tilePath);
    const grown = appendEntries(this.#edge, [releaseEntryBytes(entryOf(this.#newest))]);
    const now = new Set(edgeTiles(this.count).map(tilePath));
    for (const path of before) if (!now.has(path)) this.delete(`/${path}`);
    for (const [path, bytes] of grown) this.set(`/${path}`, bytes);
    this.set('/.well-known/release.json', text);
    this.set('/log/checkpoint', noteOf(this.#edge, seed));
  }

  /** The newest head. */
  get newest(): Release {
    return defined(this.#newest ?? undefined, 'a release');
  }
}

/** 10,000 for the ten-thousandth hour. */
const LOOKS = Number(process.env.MONITOR_LOOKS ?? 60);

/** Hours of a day at which it looks: once a week also at what it has seen. */
const hoursOf = (day: number): number[] => (day % 7 === 0 ? [0, 12] : [0]);

afterAll(removeFolders);

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + readFileSync(join(parentPath, name)).length, 0);
}

describe('a monitor over years', () => {
  it(`I70: looks ${LOOKS} times at a log that grows each time, at the same cost, and finds nothing`, async () => {
    const [service, watching] = [new GrowingService(), new Watching()];
    const { network, clock, monitor } = watching;
    network.sites.set(BASE_URL, service);
    const asked: number[] = [];
    let ms = 0;
    for (let look = 0; look < LOOKS; look += 1) {
      clock.ms += HOUR_MS;
      service.publish({ as_of: isoTime(clock.ms - 60_000) });
      const before = network.asked;
      const start = performance.now();
      await monitor.look();
      ms += performance.now() - start;
      asked.push(network.asked - before);
    }
    expect(watching.alarms()).toEqual([]);
    expect(monitor.exitCode).toBe(MONITOR_EXIT.well);
    expect(watching.status()).toMatchObject({ rounds: LOOKS, tree_size: service.count });
    expect(watching.lines.filter((line) => / (ALARM|NOTICE|seen once|cannot)/.test(line))).toEqual(
      [],
    );
    expect(readFileSync(join(watching.folder, 'state.json')).length).toBeLessThan(150_000);
    // Checkpoints are kept for long, each in some hundred bytes.
    expect(bytesBelow(watching.folder)).toBeLessThan(200_000 + LOOKS * 600);
    // Tiles grow with the logarithm of the log.
    expect(Math.max(...asked.slice(5))).toBeLessThan(25);
    const start = performance.now();
    const reopened = watching.reopened();
    const opened = performance.now() - start;
    await reopened.look();
    expect(watching.alarms()).toEqual([]);
    if (LOOKS > 1000) {
      const state = readFileSync(join(watching.folder, 'state.json')).length;
      const numbers = {
        ms_a_look: ms / LOOKS,
        asked: Math.max(...asked),
        opened_ms: opened,
        state,
      };
      const { heapUsed, rss } = process.memoryUsage();
      const all = { ...numbers, folder: bytesBelow(watching.folder), heapUsed, rss };
      process.stdout.write(`${JSON.stringify(all)}\n`);
    }
  }, 3_600_000);

  it('I70: finds nothing in a normal year: rotations, pauses, outages, a clock set right, a rollback that is announced', async () => {
    const [service, watching] = [new GrowingService(), new Watching()];
    const { network, clock, monitor } = watching;
    const start = clock.ms;
    network.sites.set(BASE_URL, service);
    let seed = 7;
    let more: Partial<Release> = {};
    const events: Readonly<Record<number, () => void>> = {
      // The next key is announced, then signs.
      100: () => service.set(KEYS_URL, formatKeyHistory(keysOf([rotation(7, 9)]))),
      110: () => {
        seed = 9;
      },
      // Nobody answers for three days, and releases come meanwhile.
      150: () => network.sites.delete(BASE_URL),
      153: () => network.sites.set(BASE_URL, service),
      // A release with the files of an older one.
      250: () => {
        more = { files_sha256: `sha256:${'1'.repeat(64)}` };
      },
      // The clock of the compiler ran ahead the day before.
      301: () => {
        const { as_of: latest, sequence } = service.newest;
        more = { clock_corrected: { sequence: sequence + 1, latest } };
      },
    };
    for (let day = 0; day < 365; day += 1) {
      events[day]?.();
      const as_of = isoTime(start + (day === 300 ? day + 5 : day) * DAY_MS);
      const isPause = [60, 61, 200].includes(day);
      if (!isPause) service.publish({ as_of, head: more, seed });
      for (const hours of hoursOf(day)) {
        clock.ms = start + day * DAY_MS + hours * HOUR_MS + 600_000;
        await monitor.look();
      }
    }
    const told = watching.lines.filter((line) => / (ALARM|NOTICE|seen once)/.test(line));
    expect(told).toEqual([]);
    expect(monitor.exitCode).toBe(MONITOR_EXIT.well);
  });
});

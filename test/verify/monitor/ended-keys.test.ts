import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { firstHistory, formatKeyHistory } from '../../../compiler/format/key-history.ts';
import type { RootStatement } from '../../../compiler/format/root-statement.ts';
import { trustedBy } from '../../../compiler/verify/key-trust.ts';
import { MONITOR_EXIT, type MonitorSettings } from '../../../compiler/verify/monitor/monitor.ts';
import { FIRST, ISSUER, root, rooted } from '../../seeded-keys.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import {
  BASE_URL,
  DID,
  didOfSeed,
  type Files,
  filesOf,
  keysOf,
  publish,
  publishHours,
  rotation,
  signedHeadText,
} from './lying-service.ts';
import { sampleBodies, Watching } from './watching.ts';

afterAll(removeFolders);

const MIRROR = 'https://mirror.example';
const END = '2026-11-20T13:30:00Z';
const listOf = (to: number, overlap_until: string) =>
  formatKeyHistory(keysOf([rotation(7, to, { overlap_until })]));
/** Key 9 follows key 7, which ends at half past one, or a year later. */
const ENDED = listOf(9, END);
const OVERLAP = listOf(9, '2027-11-20T12:00:00Z');

const [first, second] = publishHours(2);
if (!first || !second) throw new Error('too few releases');
/** The release of the next key, and what whoever holds the key before it makes in its place. */
const as_of = '2026-11-20T13:20:00Z';
const third = publish(second, { taken: 20, as_of: '2026-11-20T14:00:00Z', seed: 9 });
const other = publish(second, { taken: 600, as_of });
const longer = publish(other, { taken: 700, as_of });

/** What an address shows of the honest release, some of it changed. */
const showing = (change: Files, list = ENDED): Files =>
  new Map([...filesOf(third, list), ...change]);
const headOnly = (text: string): Files => new Map([['/.well-known/release.json', text]]);
const logOf = ({ log }: typeof other): Files =>
  new Map([...log].map(([path, bytes]) => [`/${path}`, bytes]));

/** A monitor of a service and its mirror that saw the release of the next key at both. */
const rotated = async (list = ENDED): Promise<Watching> => {
  const watching = new Watching({ addresses: [BASE_URL, MIRROR] });
  const seen = [filesOf(first, listOf(9, END)), filesOf(second, list), filesOf(third, list)];
  for (const files of list === ENDED ? seen : seen.slice(1)) {
    watching.network.sites.set(MIRROR, files);
    expect(await watching.sees(files, { minutes: 30 })).toEqual([]);
  }
  expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
  return watching;
};

const LIES: readonly (readonly [what: string, kind: string, lie: (list: string) => Files])[] = [
  ['a checkpoint of another tree', 'fork', (list) => showing(logOf(other), list)],
  ['a checkpoint of a longer one', 'fork', (list) => showing(logOf(longer), list)],
  [
    'another head of the same number',
    'release_fork',
    (list) => showing(headOnly(other.text), list),
  ],
];

describe('whoever holds a key that has ended', () => {
  it.each(LIES)(
    'I70: has nobody accused by %s, and is told of while it is shown',
    async (_, kind, lie) => {
      const watching = await rotated();
      expect(await watching.sees(lie(ENDED), { address: MIRROR })).toEqual([]);
      expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.undecided);
      expect(await watching.sees(lie(ENDED), { address: MIRROR })).toEqual(['unknown_key']);
      expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.alarm);
      expect(watching.lines.at(-1)).toContain(`signed by ${DID}, which was in use until ${END}`);
      expect(watching.verdicts()).toEqual([]);
      expect(await watching.sees(filesOf(third, ENDED), { address: MIRROR })).toEqual([]);
      expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
      // Two keys may sign in an overlap, and each lie is one then.
      const overlap = await rotated(OVERLAP);
      expect(await overlap.sees(lie(OVERLAP), { address: MIRROR })).toContain(kind);
      expect(overlap.monitor.exitCode).toBe(MONITOR_EXIT.alarm);
      expect(overlap.verdicts().every((each) => each.endsWith(' proven'))).toBe(true);
      expect(await overlap.sees(filesOf(third, OVERLAP), { address: MIRROR })).toContain(kind);
    },
  );

  it('I70: teaches a new monitor nothing, which then believes the key that is in use', async () => {
    const head = signedHeadText({ as_of });
    const lie = (list: string) => showing(headOnly(head), list);
    for (const files of [lie(ENDED), showing(logOf(longer))]) {
      const watching = new Watching();
      expect(await watching.sees(files, { minutes: 90 })).toEqual([]);
      expect(await watching.sees(files)).toEqual(['unknown_key']);
      expect(watching.verdicts()).toEqual([]);
      expect(await watching.sees(filesOf(third, ENDED))).toEqual([]);
      expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
    }
    const overlap = new Watching();
    expect(await overlap.sees(lie(OVERLAP), { minutes: 90 })).toEqual(['leaf_missing']);
    expect(overlap.verdicts()).toEqual(['leaf proven']);
  });

  it('I70: proves nothing by a second successor, which a key in use does', async () => {
    const watching = await rotated();
    const lie = filesOf(third, listOf(11, END));
    expect(await watching.sees(lie, { address: MIRROR, looks: 2 })).toEqual(['unknown_key']);
    expect(watching.verdicts()).toEqual([]);
    expect(await watching.sees(filesOf(third, ENDED), { address: MIRROR })).toEqual([]);
    const overlap = await rotated(OVERLAP);
    expect(await overlap.sees(filesOf(third, listOf(11, END)), { address: MIRROR })).toEqual([
      'key_fork',
    ]);
  });

  it('tells of a reading that it said in another way, and proves nothing by it', async () => {
    const [before, after] = await sampleBodies();
    const watching = await rotated();
    const sampled = (body: string) => showing(new Map([['/gauge/sample', body]]));
    await watching.sees(sampled(before));
    expect(await watching.sees(sampled(after), { looks: 2 })).toEqual([]);
    expect(watching.status().notices.map(({ evidence }) => evidence)).toEqual([null]);
    expect(watching.verdicts()).toEqual([]);
    await watching.sees(sampled(before));
    expect(watching.status().notices.every(({ ended_at }) => ended_at !== null)).toBe(true);
  });
});

describe('what a monitor saw while a key was in use', () => {
  it('I70: contradicts what the next key signs, for good, though it proves that to nobody else', async () => {
    const watching = await rotated();
    const next = publish(first, { taken: 800, as_of: third.head.as_of, seed: 9 });
    for (const [kind, lie] of [
      ['fork', showing(logOf(next))],
      ['release_fork', showing(headOnly(next.text))],
    ] as const) {
      expect(await watching.sees(lie, { address: MIRROR })).toContain(kind);
      expect(await watching.sees(filesOf(third, ENDED), { address: MIRROR })).toContain(kind);
    }
    expect(watching.verdicts({ trust: [DID], now: Date.parse(END) })).toEqual([
      'fork proven',
      'heads proven',
      'leaf proven',
    ]);
    expect(watching.verdicts({ trust: [DID], now: watching.clock.ms })).toEqual([
      'fork nothing',
      'heads nothing',
      // Both sides of it are of the next key.
      'leaf proven',
    ]);
  });
});

const ROOTS = [21, 22].map(didOfSeed);
const UNDER_ROOT = formatKeyHistory(rooted(FIRST));
const fork = publish(first, { taken: 700, as_of: second.head.as_of });
const watching = (settings: Partial<MonitorSettings> = {}) =>
  new Watching({ issuers: [], roots: ROOTS, ...settings });

describe('a monitor that knows root keys', () => {
  it('I29: believes the keys that their list names, and proves a fork to whoever knows root keys', async () => {
    const own = watching();
    expect(await own.sees(filesOf(first, UNDER_ROOT))).toEqual([]);
    expect(await own.sees(filesOf(second, UNDER_ROOT))).toEqual([]);
    expect(own.lines.join('\n')).not.toContain('believed from here on');
    expect(await own.sees(filesOf(fork, UNDER_ROOT))).toContain('fork');
    expect(own.verdicts(trustedBy([], ROOTS))).toContain('fork proven');
    expect(own.verdicts(trustedBy())).toContain('fork proven');
    for (const others of [trustedBy([], ROOTS.slice(1)), trustedBy(ROOTS)]) {
      expect(new Set(own.verdicts(others).map((each) => each.split(' ')[1]))).toEqual(
        new Set(['nothing']),
      );
    }
  });

  it('I29: takes no list that they did not sign, and nothing that its keys sign', async () => {
    const [sample] = await sampleBodies();
    for (const list of [formatKeyHistory(firstHistory(DID)), UNDER_ROOT]) {
      const roots = list === UNDER_ROOT ? [didOfSeed(21)] : ROOTS;
      const own = watching({ roots });
      // What else they sign does not hold either, and is not told once more.
      const files = filesOf(first, list).set('/gauge/sample', sample);
      expect(await own.sees(files, { looks: 2 })).toEqual(['unknown_key']);
      expect(own.lines.join('\n')).toContain('enough of the trusted root keys');
    }
  });

  it('tells of each version of a root, and finds an older list, another version and one that is not signed', async () => {
    const later = { version: 2, stated_at: '2026-11-21T12:00:00Z' };
    const listOf = (...versions: RootStatement[]) => formatKeyHistory(rooted(...versions));
    const newest = listOf(FIRST, root(later));
    const seen = async (list: string) => {
      const own = new Watching();
      await own.sees(filesOf(first, formatKeyHistory(firstHistory(DID))));
      expect(await own.sees(filesOf(first, UNDER_ROOT))).toEqual([]);
      expect(await own.sees(filesOf(first, newest))).toEqual([]);
      const alarms = await own.sees(filesOf(second, list), { looks: 2 });
      return { alarms, told: own.lines.join('\n'), verdicts: own.verdicts() };
    };
    const honest = await seen(newest);
    expect(honest.alarms).toEqual([]);
    for (const version of [1, 2]) {
      const line = `version ${version} of a root stands above its keys: 2 of ${ROOTS.join(', ')}`;
      expect(honest.told.split(line)).toHaveLength(2);
    }
    const older = await seen(UNDER_ROOT);
    expect(older).toMatchObject({ alarms: ['key_unlisted'], verdicts: [] });
    expect(older.told).toContain('version 2 of its root is no longer in its list of keys');
    const other = root({ ...later, stated_at: '2026-11-22T12:00:00Z' });
    expect(await seen(listOf(FIRST, other))).toMatchObject({
      alarms: ['key_fork'],
      verdicts: ['keys proven'],
    });
    // A thief of one root key, or of the issuer key, adds no version.
    for (const signers of [[21], [ISSUER, 21], [ISSUER]]) {
      const forged = root({ version: 3, stated_at: '2026-11-22T12:00:00Z' }, signers);
      expect(await seen(listOf(FIRST, root(later), forged))).toMatchObject({
        alarms: ['unreadable'],
        verdicts: [],
      });
    }
  });

  it('I29: says that a root key is no issuer', async () => {
    const own = watching({ issuers: ROOTS, roots: [] });
    expect(await own.sees(filesOf(first, UNDER_ROOT), { looks: 2 })).toEqual(['unknown_key']);
    expect(own.lines.join('\n')).toContain('is a root key');
  });

  it('I29: goes on from the state of before, and under no other root keys', async () => {
    const own = new Watching();
    await own.sees(filesOf(first, UNDER_ROOT));
    const path = join(own.folder, 'state.json');
    const { roots, ...before } = JSON.parse(readFileSync(path, 'utf8'));
    expect(roots).toEqual([]);
    writeFileSync(path, JSON.stringify(before));
    own.reopened();
    expect(await own.sees(filesOf(second, UNDER_ROOT))).toEqual([]);
    expect(() => own.reopenedWith({ roots: ROOTS })).toThrow(`does not believe ${ROOTS[0]}`);
  });
});

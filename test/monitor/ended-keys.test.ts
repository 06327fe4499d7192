import { afterAll, describe, expect, it } from 'vitest';
import { formatKeyHistory } from '../../compiler/contract/key-history.ts';
import { MONITOR_EXIT } from '../../compiler/monitor/monitor.ts';
import { removeFolders } from '../snapshot-folder.ts';
import { hashes } from '../stages/anchor/memory-log.ts';
import {
  BASE_URL,
  DID,
  type Files,
  filesOf,
  keysOf,
  publish,
  publishHours,
  rotation,
  signedHeadText,
} from './lying-service.ts';
import { sampleBodies } from './sample-bodies.ts';
import { Watching } from './watching.ts';

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
const third = publish(second, { leaves: hashes(20, 10), as_of: '2026-11-20T14:00:00Z', seed: 9 });
const other = publish(second, { leaves: hashes(600, 10), as_of });
const longer = publish(other, { leaves: hashes(700, 10), as_of });

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
    const head = signedHeadText({ as_of, log_index: 5 });
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
    const next = publish(first, { leaves: hashes(800, 10), as_of: third.head.as_of, seed: 9 });
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

import { describe, expect, it } from 'vitest';
import { formatVerifyEntry } from '../../compiler/contract/release.ts';
import { checkLogIndex, KnownHashes, sharedDigests } from '../../compiler/verify/known-hashes.ts';
import type { LogSource } from '../../compiler/verify/log-tiles-check.ts';
import { Faults } from '../../compiler/verify/release-fault.ts';
import { entriesIn, hashes, type LogFiles, memoryLog } from '../stages/anchor/memory-log.ts';

/** A log of three runs: two that are full, and what is left. */
const LOG = memoryLog({ '2026-11-20': hashes(0, 2100) });
const [ONE, OTHER] = ['log/index/0-1024/0.txt', 'log/index/1024-1024/0.txt'] as const;

const digestsOf = (recordHashes: readonly string[]): Buffer =>
  Buffer.concat(recordHashes.map((hash) => Buffer.from(hash.slice(7), 'hex')));

/** What is found in the index when some of its files hold something else. */
function judged(edits: Readonly<Record<string, string | null>> = {}) {
  const files: LogFiles = new Map(LOG);
  for (const [path, text] of Object.entries(edits)) {
    if (text === null) files.delete(path);
    else files.set(path, Buffer.from(text));
  }
  const faults = new Faults();
  const read = (path: string): Uint8Array | null => {
    const bytes = files.get(path) ?? null;
    if (bytes === null) faults.add(path, '', 'missing');
    return bytes;
  };
  const source: LogSource = {
    head: {} as LogSource['head'],
    faults,
    isPublic: false,
    paths: new Set(files.keys()),
    read,
    proof: () => null,
  };
  const found = checkLogIndex(source, digestsOf(entriesIn(LOG)));
  return {
    found,
    named: [...new Set(faults.kept.map(({ file, detail }) => `${file}: ${detail}`))],
  };
}

const linesAt = (path: string): string[] => (LOG.get(path)?.toString() ?? '').split(/(?<=\n)/);

describe('checkLogIndex()', () => {
  it('finds each published hash in whatever run it stands, and no other', () => {
    const line = (record_hash: string): string =>
      formatVerifyEntry({
        record_hash,
        kind: 'reading',
        state: 'current',
        file: 'record/a.json',
        signal_id: 'a.b',
        entity: 'c',
        observed_at: '2026-11-20T10:00:00Z',
      });
    expect(judged()).toEqual({ found: 0, named: [] });
    for (const [position, hash] of entriesIn(LOG).entries()) {
      if (position % 300 > 0) continue;
      expect(judged({ [`verify/${hash.slice(7, 9)}.txt`]: line(hash) })).toEqual({
        found: 1,
        named: [],
      });
    }
    const stranger = hashes(9000, 1)[0] ?? '';
    const path = `verify/${stranger.slice(7, 9)}.txt`;
    expect(judged({ [path]: line(stranger) })).toEqual({
      found: 0,
      named: [`${path}: "${stranger}" is not in the log`],
    });
  });

  it('names entries that stand in the run of others', () => {
    const [one, other] = [linesAt(ONE), linesAt(OTHER)];
    const [first = '', second = ''] = [one[0], other[0]];
    const [low, high] = [[...one.slice(1), second].sort(), [...other.slice(1), first].sort()];
    expect(judged({ [ONE]: low.join(''), [OTHER]: high.join('') }).named).toEqual([
      `${ONE}: belongs into another run`,
      `${OTHER}: belongs into another run`,
    ]);
  });

  it.each([
    ['a file that is missing', { [ONE]: null }, [`${ONE}: missing`]],
    [
      'a file of no run',
      { 'log/index/0-2048/0.txt': '' },
      ['log/index/0-2048/0.txt: belongs to no run of this log'],
    ],
    ['a line that is cut off', { [ONE]: linesAt(ONE).join('').slice(0, -1) }, [/cut off/]],
  ])('names %s', (_, edits, want) => {
    for (const one of want) {
      const match = typeof one === 'string' ? one : expect.stringMatching(one);
      expect(judged(edits).named).toContainEqual(match);
    }
  });
});

describe('KnownHashes', () => {
  it('knows the digests of several sorted lists, and no other', () => {
    const lists = [hashes(0, 500), hashes(500, 3), [], hashes(600, 200)].map((some) =>
      [...some].sort(),
    );
    const known = new KnownHashes(sharedDigests(lists.map(digestsOf)));
    for (const hash of lists.flat()) expect(known.has(hash)).toBe(true);
    for (const hash of hashes(2000, 300)) expect(known.has(hash)).toBe(false);
    expect(new KnownHashes(sharedDigests([])).has(hashes(0, 1)[0] ?? '')).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { tilePath } from '../../../compiler/contract/tiles.ts';
import { readSignedLog } from '../../../compiler/stages/anchor/previous-log.ts';
import { resumeLog } from '../../../compiler/stages/anchor/resume-log.ts';
import {
  checkpointIn,
  didOf,
  entriesIn,
  hashes,
  type Leaves,
  type LogFiles,
  memoryLog,
  releaseOf,
} from './memory-log.ts';

/** Batches of so many entries each. */
function batchesOf(counts: readonly number[]): Leaves {
  let from = 0;
  const rows = counts.map((count, at) => {
    from += count;
    const day = new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10);
    return [day, hashes(from - count, count)] as const;
  });
  return Object.fromEntries(rows);
}

function resumed(files: LogFiles) {
  const previous = releaseOf(files);
  const signed = readSignedLog(previous, [didOf()]);
  if (signed === null) throw new Error('no log');
  return resumeLog(previous, signed, () => undefined);
}

/** What is quick to compare. */
function texts(files: LogFiles): string[] {
  return [...files].map(([path, bytes]) => `${path} ${bytes.toString('base64')}`).sort();
}

function changed(files: LogFiles, path: string): LogFiles {
  const bytes = Buffer.from(files.get(path) ?? Buffer.alloc(0));
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  return new Map(files).set(path, bytes);
}

describe('writeLog() that goes on from the right edge', () => {
  it.each([
    [[1], [1]],
    [[1], [255]],
    [
      [255, 1],
      [3, 1],
    ],
    [[256], [256, 5]],
    [[300, 5, 2], [4]],
    [
      [300, 5, 2],
      [206, 1, 300],
    ],
    [[511, 1], []],
    [[1000], [2000, 1]],
    [[65_500], [35, 1, 700]],
  ])(
    'I18: gives the bytes of a log that was replayed: %j, then %j',
    (before, after) => {
      const first = memoryLog(batchesOf(before));
      const leaves = batchesOf([...before, ...after]);
      const whole = memoryLog(leaves, { previous: first });
      const goneOn = memoryLog(leaves, { previous: first, mayResume: true });
      expect(resumed(first)).not.toBeNull();
      expect(texts(goneOn)).toEqual(texts(whole));
    },
    60_000,
  );

  it('I27: appends what the log does not hold yet, once, whatever batch it comes with', () => {
    const previous = memoryLog({ '2026-01-02': hashes(0, 400) });
    const leaves = { '2026-01-01': hashes(390, 15), '2026-01-03': hashes(400, 20) };
    const log = memoryLog(leaves, { previous, mayResume: true });
    expect(checkpointIn(log).size).toBe(420);
    expect(new Set(entriesIn(log)).size).toBe(420);
    expect(entriesIn(log).slice(0, 400)).toEqual(entriesIn(previous));
  });

  it('reads the last tiles and a sample of the others, however long the log is', () => {
    for (const [size, most] of [
      [600, 7],
      [9000, 19],
    ] as const) {
      const files = memoryLog({ '2026-01-01': hashes(0, size) });
      const read = new Set<string>();
      const previous = releaseOf(files);
      const signed = readSignedLog(previous, [didOf()]);
      if (signed === null) throw new Error('no log');
      const noted = { ...previous, read: (path: string) => read.add(path) && previous.read(path) };
      expect(resumeLog(noted, signed, () => undefined)?.size).toBe(size);
      expect(read.size).toBe(most);
    }
  });

  it('I27: notices a full tile that is gone while batches are added', () => {
    let files = memoryLog({ '2026-01-01': hashes(0, 9000) });
    files.delete(tilePath({ level: 'entries', index: 7, width: 256 }));
    const compiles = Array.from({ length: 40 }, (_, at) => at);
    const noticed = compiles.findIndex((at) => {
      if (resumed(files) === null) return true;
      const leaves = { [`2026-02-01T${String(at % 24).padStart(2, '0')}Z`]: hashes(9000 + at, 1) };
      files = memoryLog(leaves, { previous: files, mayResume: true });
      return false;
    });
    expect(noticed).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ['hashes', 0],
    ['hashes of a level above', 1],
    ['entries', 'entries'],
  ] as const)('I27: does not go on from changed %s, and signs nothing', (_, level) => {
    const previous = memoryLog({ '2026-01-01': hashes(0, 600) });
    const last = { level, index: level === 1 ? 0 : 2, width: level === 1 ? 2 : 88 };
    const harmed = changed(previous, tilePath(last));
    expect(resumed(previous)).not.toBeNull();
    expect(resumed(harmed)).toBeNull();
    const leaves = { '2026-01-02': hashes(600, 1) };
    const go = () => memoryLog(leaves, { previous: harmed, mayResume: true });
    // The tiles of hashes follow from the entries: only a changed entry is beyond repair.
    if (level === 'entries') expect(go).toThrow('the log of the previous release');
    else expect(texts(go())).toEqual(texts(memoryLog(leaves, { previous })));
  });
});

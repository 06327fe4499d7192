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
      const goneOn = memoryLog(leaves, { previous: first, goOn: true });
      expect(resumed(first)).not.toBeNull();
      expect(texts(goneOn)).toEqual(texts(whole));
    },
    60_000,
  );

  it('I27: appends what the log does not hold yet, once, whatever batch it comes with', () => {
    const previous = memoryLog({ '2026-01-02': hashes(0, 400) });
    const leaves = { '2026-01-01': hashes(390, 15), '2026-01-03': hashes(400, 20) };
    const log = memoryLog(leaves, { previous, goOn: true });
    expect(checkpointIn(log).size).toBe(420);
    expect(new Set(entriesIn(log)).size).toBe(420);
    expect(entriesIn(log).slice(0, 400)).toEqual(entriesIn(previous));
  });

  it('reads no entry but those of the last bundle', () => {
    const files = memoryLog({ '2026-01-01': hashes(0, 600) });
    files.delete(tilePath({ level: 'entries', index: 0, width: 256 }));
    expect(resumed(files)?.size).toBe(600);
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
    const go = () => memoryLog(leaves, { previous: harmed, goOn: true });
    // The tiles of hashes follow from the entries: only a changed entry is beyond repair.
    if (level === 'entries') expect(go).toThrow('the log of the release before');
    else expect(texts(go())).toEqual(texts(memoryLog(leaves, { previous })));
  });
});

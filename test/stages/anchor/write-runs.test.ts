import { hash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  isSameRun,
  type LogLine,
  type LogRun,
  logLineText,
  parseLogLine,
  runPaths,
  runsOf,
} from '../../../compiler/contract/log-runs.ts';
import { StoredRuns } from '../../../compiler/stages/anchor/open-log.ts';
import { RunSpill } from '../../../compiler/stages/anchor/run-spill.ts';
import { runFiles } from '../../../compiler/stages/anchor/write-log.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { seeded } from '../../verify/overlay-disk.ts';

afterAll(removeFolders);

type Files = ReadonlyMap<string, Buffer>;

const hexOf = (position: number): string => hash('sha256', `entry ${position}`, 'hex');
const facts = (position: number): string => `"reading","a.b","${position}","now"`;

function storedIn(files: Files, size: number): StoredRuns {
  return new StoredRuns(size, (path) => {
    const bytes = files.get(path);
    if (bytes === undefined) throw new Error(`"${path}" is not there`);
    return bytes;
  });
}

/** The files of an index of `size` entries: those of `before` that stand, and what is written on top of them. */
function grown(before: { files: Files; size: number }, size: number) {
  const added = new RunSpill(join(makeFolder(), 'added'), runsOf(size));
  for (let at = before.size; at < size; at += 1) added.add(hexOf(at), at, facts(at));
  const old = runsOf(before.size);
  const stands = (run: LogRun): boolean => old.some((other) => isSameRun(run, other));
  const written = new Map<string, Buffer>();
  const source = storedIn(before.files, before.size);
  for (const [path, lines] of runFiles({ before: source, added, stands })) {
    written.set(path, Buffer.from(lines));
  }
  const paths = runsOf(size).flatMap(runPaths);
  const files = new Map(paths.map((path) => [path, written.get(path) ?? before.files.get(path)]));
  return { files: files as Files, size, written: written.size };
}

const NOTHING = { files: new Map<string, Buffer>(), size: 0 };

describe('runFiles()', () => {
  it('I18: gives the same files whatever the steps in which a log grew', () => {
    const random = seeded(7);
    let log: { files: Files; size: number } = NOTHING;
    for (let step = 0; step < 30; step += 1) {
      log = grown(log, log.size + random([1, 40, 900, 1024, 3000][step % 5] ?? 1));
      if (step % 6 > 0) continue;
      const whole = grown(NOTHING, log.size);
      expect([...log.files.keys()]).toEqual([...whole.files.keys()]);
      for (const [path, bytes] of log.files)
        expect(bytes.equals(whole.files.get(path) ?? Buffer.alloc(0)), path).toBe(true);
    }
    expect(log.size).toBeGreaterThan(16 * 1024);
  });

  it('has a file of about 1024 lines, sorted, for every part of a run, and finds each entry', () => {
    const { files, size } = grown(grown(NOTHING, 70_000), 86_123);
    const counts = [...files.values()].map((bytes) => bytes.toString().split('\n').length - 1);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(size);
    expect(Math.max(...counts)).toBeLessThan(1200);
    const stored = storedIn(files, size);
    for (let position = 0; position < size; position += 331) {
      expect(stored.find(hexOf(position))).toMatchObject({
        position,
        facts: { entity: `${position}` },
      });
    }
    for (let position = size; position < size + 50; position += 1) {
      expect(stored.find(hexOf(position))).toBeNull();
    }
  });

  it('writes few files for an hour, and more of them only when a run is full', () => {
    let log: { files: Files; size: number } = NOTHING;
    const written: number[] = [];
    for (let hour = 0; hour < 80; hour += 1) {
      const next = grown(log, log.size + 1000);
      written.push(next.written);
      log = next;
    }
    // One open run, one that was closed, and, now and then, those that it was merged into.
    const usual = written.filter((count) => count <= 2);
    expect(usual.length).toBeGreaterThan(55);
    expect(Math.max(...written)).toBe(65);
    const half = (from: number): number =>
      written.slice(from, from + 40).reduce((sum, count) => sum + count, 0);
    expect(half(40)).toBeLessThan(3 * half(0));
  });

  it('cuts a run that has more files than there are first bytes', () => {
    const run: LogRun = { start: 0, count: 4000, shards: 1024 };
    const lines = Array.from({ length: run.count }, (_, at) =>
      logLineText(hexOf(at), at, facts(at)),
    );
    const source = {
      runs: [run],
      lines: (_: LogRun, first: number) => {
        const start = `["sha256:${first.toString(16).padStart(2, '0')}`;
        return Buffer.from(lines.filter((line) => line.startsWith(start)).join(''));
      },
    };
    const nothing = { runs: [], lines: () => Buffer.alloc(0) };
    const files = new Map<string, Buffer>();
    for (const [path, bytes] of runFiles({ before: nothing, added: source, stands: () => false })) {
      files.set(path, Buffer.from(bytes));
    }
    expect([...files.keys()]).toEqual(runPaths(run));
    expect([...files.values()].join('')).toBe([...lines].sort().join(''));
    for (const [shard, bytes] of [...files.values()].entries()) {
      const found: LogLine[] = bytes.toString().split('\n').slice(0, -1).map(parseLogLine);
      for (const { record_hash } of found) {
        expect(Math.floor(Number.parseInt(record_hash.slice(7, 10), 16) / 4)).toBe(shard);
      }
    }
  });
});

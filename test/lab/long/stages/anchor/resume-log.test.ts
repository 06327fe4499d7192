import { describe, expect, it } from 'vitest';
import { anchorProofPath, anchorStatePath } from '../../../../../compiler/contract/log-batch.ts';
import { tilePath } from '../../../../../compiler/contract/tiles.ts';
import { readSignedLog } from '../../../../../compiler/stages/anchor/previous-log.ts';
import { resumeLog } from '../../../../../compiler/stages/anchor/resume-log.ts';
import { ForgottenError } from '../../../../../compiler/stages/remember/forgotten-error.ts';
import { logLinesIn } from '../../../../log-lines.ts';
import {
  batchesIn,
  checkpointIn,
  didOf,
  entriesIn,
  factsOf,
  hashes,
  type Leaves,
  type LogFiles,
  memoryLog,
  releaseOf,
} from '../../../../stages/anchor/memory-log.ts';

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
  ])('I18: gives the bytes of a log that was replayed: %j, then %j', (before, after) => {
    const first = memoryLog(batchesOf(before));
    const leaves = batchesOf([...before, ...after]);
    const whole = memoryLog(leaves, { previous: first });
    const goneOn = memoryLog(leaves, { previous: first, mayResume: true });
    expect(resumed(first)).not.toBeNull();
    expect(texts(goneOn)).toEqual(texts(whole));
  });

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
    expect(() => memoryLog(leaves, { previous: harmed, mayResume: true })).toThrow(ForgottenError);
    const again = () => memoryLog(leaves, { previous: harmed });
    // The tiles of hashes follow from the entries: only a changed entry is beyond repair.
    if (level === 'entries') expect(again).toThrow('the log of the previous release');
    else expect(texts(again())).toEqual(texts(memoryLog(leaves, { previous })));
  });
});

/** Files of the log that a resumed compile writes. */
function written(leaves: Leaves, previous: LogFiles) {
  const paths: string[] = [];
  const files = memoryLog(leaves, {
    previous,
    mayResume: true,
    onWrite: (path) => paths.push(path),
  });
  return { files, paths };
}

describe('what a resumed log costs', () => {
  it('writes and reads a bounded number of files, however many batches there were', () => {
    const hour = (at: number): Leaves => {
      const name = new Date(Date.UTC(2026, 0, 1, at)).toISOString().slice(0, 13);
      return { [`${name}Z`]: hashes(at * 7, 7) };
    };
    const hours = (count: number): Leaves =>
      Object.assign({}, ...Array.from({ length: count }, (_, at) => hour(at)));
    // The batches fill a file at 256.
    let log = memoryLog(hours(240));
    const counts: number[] = [];
    for (let at = 240; at < 300; at += 1) {
      const { files, paths } = written(hour(at), log);
      log = files;
      counts.push(paths.length);
    }
    // Bundle, hashes, a level above; run; batches; checkpoint and key; sometimes a tile or a run that is full.
    expect(Math.max(...counts)).toBeLessThanOrEqual(12);
    expect(checkpointIn(log).size).toBe(2100);
    const read: string[] = [];
    const more = { previous: log, mayResume: true, onRead: (path: string) => read.push(path) };
    memoryLog(hour(300), more);
    expect(read.filter((path) => path.startsWith('log/batches/'))).toEqual([
      'log/batches/000001.txt',
    ]);
    const all = hours(301);
    expect(texts(memoryLog(all, more))).toEqual(texts(memoryLog(all, { previous: log })));
  });

  it('asks the index of the log about leaves that may be known, and of no others', () => {
    const previous = memoryLog({ '2026-01-01': hashes(0, 3000) });
    const leaves = { '2026-01-02': hashes(3000, 5) };
    const readBy = (stated: () => object) => {
      const read: string[] = [];
      memoryLog(leaves, { previous, mayResume: true, stated, onRead: (path) => read.push(path) });
      return read.filter((path) => path.startsWith('log/index/'));
    };
    // The open run alone is read where it is written again.
    expect(new Set(readBy(() => ({ isNew: true })))).toEqual(new Set(['log/index/2048-952/0.txt']));
    expect(new Set(readBy(() => ({}))).size).toBe(3);
  });

  it('writes the timestamps that are new, and keeps the others', () => {
    const first = memoryLog(batchesOf([300, 5]));
    const anchorOf = (roots: readonly string[]) => (root: string) => {
      if (!roots.includes(root)) return null;
      const stamped_at = '2026-11-20T12:00:00Z';
      const height = { bitcoin_height: null, bitcoin_block: null };
      return {
        state: { root, ots_state: 'pending' as const, ...height, stamped_at },
        proof: Buffer.from(root),
      };
    };
    const [one = '', two = ''] = batchesIn(first).map(({ root }) => root);
    const previous = memoryLog(batchesOf([300, 5]), { previous: first, anchorOf: anchorOf([one]) });
    expect(previous.has(anchorStatePath(one))).toBe(true);
    const leaves = batchesOf([300, 5, 7]);
    const options = { previous, anchorOf: anchorOf([one, two]) };
    const paths: string[] = [];
    const stamped = [two, 'ab'.repeat(32)];
    const goneOn = memoryLog(leaves, {
      ...options,
      stamped,
      mayResume: true,
      onWrite: (path) => paths.push(path),
    });
    expect(texts(goneOn)).toEqual(texts(memoryLog(leaves, options)));
    expect(paths.filter((path) => path.startsWith('log/anchor/'))).toEqual([
      anchorStatePath(two),
      anchorProofPath(two),
    ]);
  });
});

describe('what the index says of an entry', () => {
  const [hash = ''] = hashes(5, 1);
  const factsIn = (files: LogFiles) =>
    logLinesIn(files).find(({ record_hash }) => record_hash === hash)?.facts;
  const withoutIndex = (files: LogFiles): LogFiles =>
    new Map([...files].filter(([path]) => !path.startsWith('log/index/')));
  const first = memoryLog({ '2026-01-01': hashes(0, 600) });
  const later = { '2026-01-02': hashes(600, 3) };

  it.each([true, false])(
    'is what its first leaf said, also when it is resumed: %s',
    (mayResume) => {
      const leaves = { ...later, '2026-01-01': [hash] };
      const stated = () => ({ entity: 'another' });
      expect(factsIn(memoryLog(leaves, { previous: first, mayResume, stated }))).toEqual(
        factsOf(hash),
      );
      expect(factsIn(memoryLog(later, { previous: first, mayResume }))).toEqual(factsOf(hash));
    },
  );

  it('comes from the leaf of the first batch, whatever the order', () => {
    for (const names of [
      ['2026-01-01', '2026-01-02'],
      ['2026-01-02', '2026-01-01'],
    ]) {
      let count = 0;
      const stated = () => ({ entity: names[count++] ?? '' });
      const leaves = Object.fromEntries(names.map((name) => [name, [hash]]));
      expect(factsIn(memoryLog(leaves, { stated }))).toMatchObject({ entity: '2026-01-01' });
    }
  });

  it('follows from the leaves where the release before has no index, else it is nothing', () => {
    const previous = withoutIndex(first);
    const known = memoryLog({ ...later, '2026-01-01': [hash] }, { previous });
    expect(factsIn(known)).toEqual(factsOf(hash));
    const unknown = logLinesIn(known).filter(({ facts }) => facts === null);
    expect(unknown).toHaveLength(599);
  });

  it('is filled in by a full compile when a leaf says it again, so that no other way gives other bytes', () => {
    const previous = memoryLog(later, { previous: withoutIndex(first) });
    expect(factsIn(previous)).toBeNull();
    const leaves = { '2026-01-03': [hash] };
    expect(() => memoryLog(leaves, { previous, mayResume: true })).toThrow(ForgottenError);
    expect(factsIn(memoryLog(leaves, { previous }))).toEqual(factsOf(hash));
  });

  it('is not gone on from where a file of it is missing or cannot be read', () => {
    const go = (previous: LogFiles) => () => memoryLog(later, { previous, mayResume: true });
    expect(go(first)).not.toThrow();
    expect(go(withoutIndex(first))).toThrow(ForgottenError);
  });
});

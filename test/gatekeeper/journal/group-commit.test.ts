import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import { GroupCommit } from '../../../gatekeeper/journal/group-commit.ts';

const folder = mkdtempSync(join(tmpdir(), 'group-commit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

interface Bench {
  readonly db: Database.Database;
  readonly path: string;
  readonly commit: GroupCommit;
  add(value: number | null): Promise<unknown>;
  count(): unknown;
}

function bench(wal = (path: string) => `${path}-wal`): Bench {
  files += 1;
  const path = join(folder, `${files}.db`);
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t(a INTEGER NOT NULL)');
  const commit = new GroupCommit({ db, path, walPath: wal(path) });
  const insert = db.prepare('INSERT INTO t VALUES(?)');
  const count = db.prepare('SELECT count(*) AS n FROM t');
  return {
    db,
    path,
    commit,
    add: (value) => commit.run(() => insert.run([value]).changes),
    count: () => (count.get([]) as { n: number }).n,
  };
}

describe('GroupCommit', () => {
  it('resolves for everybody who asked, also while a sync is running', async () => {
    const { add, count, commit } = bench();
    const first = add(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await Promise.all([first, add(2), add(3)])).toEqual([1, 1, 1]);
    expect(await add(4)).toBe(1);
    expect(count()).toBe(4);
    commit.close();
  });

  it('rejects the one bad write of a group and commits the others', async () => {
    const { add, count, commit } = bench();
    const results = await Promise.allSettled([add(1), add(null), add(3)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(count()).toBe(2);
    commit.close();
  });

  it('I17: calls nothing durable after a sync that failed, not even later writes', async () => {
    const { add } = bench(() => join(folder, 'absent', 'wal'));
    await expect(add(1)).rejects.toThrow(/the disk refused a sync/);
    await expect(add(2)).rejects.toThrow(/the disk refused a sync/);
  });

  it.each(['', '-wal'])(
    'I17: writes nothing once the journal%s was removed or replaced, and goes on when it is back',
    async (side) => {
      const { add, count, path, commit } = bench();
      await add(1);
      const file = path + side;
      renameSync(file, `${file}.old`);
      await expect(add(2)).rejects.toThrow(
        `Cannot write to the journal: "${file}" was moved or removed in service; do not restart: put it back, or save it ` +
          `from "/proc/${process.pid}/fd" as gatekeeper/SIGNS.md says`,
      );
      writeFileSync(file, '');
      const many = await Promise.allSettled([add(3), add(4)]);
      const replaced = expect.objectContaining({
        message: `Cannot write to the journal: another file stands at "${file}"; put the first one back, or restart to use this one`,
      });
      expect(many).toEqual([
        { status: 'rejected', reason: replaced },
        { status: 'rejected', reason: replaced },
      ]);
      renameSync(`${file}.old`, file);
      expect(await add(5)).toBe(1);
      expect(count()).toBe(2);
      commit.close();
    },
  );

  it('I17: says what to do when there is no room, and goes on once there is', async () => {
    const { db, commit, count } = bench();
    const fill = db.prepare(
      'INSERT INTO t WITH RECURSIVE g(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM g WHERE n < 5000) SELECT n FROM g',
    );
    const grow = (): Promise<unknown> => commit.run(() => fill.run().changes);
    db.pragma('max_page_count = 4');
    await expect(grow()).rejects.toThrow(
      /^Cannot write to the journal: database or disk is full; make room/,
    );
    expect(count()).toBe(0);
    db.pragma('max_page_count = 4000');
    expect(await grow()).toBe(5000);
    commit.close();
  });

  it('rejects what waits when it is closed', async () => {
    const { add, commit } = bench();
    const waiting = add(1);
    commit.close();
    await expect(waiting).rejects.toThrow(/closed/);
  });
});

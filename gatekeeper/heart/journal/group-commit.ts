import { closeSync, fdatasync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'libsql';
import { messageOf } from '../../../compiler/format/errors.ts';

interface GroupCommitOptions {
  readonly db: Database.Database;
  readonly path: string;
  readonly walPath: string;
  /** Told how long each sync of the disk took, in milliseconds. */
  readonly onSync?: (ms: number) => void;
}

/** Turns of the event loop that a group waits for as long as each brings more writes. */
const TURNS_MAX = 8;

interface WaitingWrite {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}
type Done = WaitingWrite & { readonly result: unknown };

/**
 * Runs writes of a database in groups; a promise resolves when its write is on the disk, not in a queue. One transaction
 * and one sync of the disk serve all who asked while the last sync was under way: the thread never waits for the disk, and
 * the more write at once the cheaper each one is.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  #waiting: WaitingWrite[] = [];
  #isRunning = false;
  #isClosed = false;
  readonly #files = new Map<string, string>();
  #file: number | null = null;
  /** After a failed sync nobody knows which pages the disk holds, and the next sync may succeed without them. */
  #broken: Error | null = null;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#begin = options.db.prepare('BEGIN IMMEDIATE');
    this.#commit = options.db.prepare('COMMIT');
    this.#movedFile();
  }

  run<T>(work: () => T): Promise<T> {
    if (this.#broken !== null) return Promise.reject(this.#broken);
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as WaitingWrite['resolve'], reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      this.#gather(0, 0);
    });
  }

  close(): void {
    this.#isClosed = true;
    if (!this.#isRunning) this.#closeFile();
  }

  /** Writes at once when nobody else comes; under load, few large commits cost less than many small ones. */
  #gather(seen: number, turns: number): void {
    const { length } = this.#waiting;
    if (turns > 0 && (length === seen || turns >= TURNS_MAX)) this.#next();
    else setImmediate(() => this.#gather(length, turns + 1));
  }

  #next(): void {
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length === 0 || this.#isClosed) {
      this.#isRunning = false;
      for (const { reject } of group) reject(new Error('Cannot write to the journal: closed'));
      if (this.#isClosed) this.#closeFile();
      return;
    }
    const done = this.#refusedIfMoved(group) ? [] : this.#write(group);
    if (done.length === 0) this.#gather(0, 0);
    else this.#sync(done);
  }

  /** Writes to a file that the next start cannot find are not recorded. */
  #refusedIfMoved(group: readonly WaitingWrite[]): boolean {
    const moved = this.#movedFile();
    if (moved === null) return false;
    // What was removed lives on as long as this process has it open.
    const state =
      fileAt(moved) === null
        ? `"${moved}" was moved or removed in service; do not restart: put it back, or save it from ` +
          `"/proc/${process.pid}/fd" as gatekeeper/SIGNS.md says`
        : `another file stands at "${moved}"; put the first one back, or restart to use this one`;
    const error = new Error(`Cannot write to the journal: ${state}`);
    for (const { reject } of group) reject(error);
    return true;
  }

  /** The first path at which another file stands than the one that was there first; null for none. */
  #movedFile(): string | null {
    for (const path of [this.#options.path, this.#options.walPath]) {
      const now = fileAt(path);
      const first = this.#files.get(path);
      if (first !== undefined && first !== now) return path;
      if (now !== null) this.#files.set(path, now);
    }
    return null;
  }

  /** One bad write must not take the others with it: what failed together is tried alone. */
  #write(group: readonly WaitingWrite[]): readonly Done[] {
    try {
      this.#begin.run();
      const done = group.map((one) => ({ ...one, result: one.work() }));
      this.#commit.run();
      return done;
    } catch (cause) {
      try {
        if (this.#options.db.inTransaction) this.#options.db.exec('ROLLBACK');
      } catch {
        // The error that led here is the one to report; a failed BEGIN leaves nothing to undo.
      }
      if (group.length > 1) return group.flatMap((one) => this.#write([one]));
      const why = `${messageOf(cause)}; make room on its disk, or check it`;
      group[0]?.reject(new Error(`Cannot write to the journal: ${why}`, { cause }));
      return [];
    }
  }

  #sync(done: readonly Done[]): void {
    try {
      const { walPath } = this.#options;
      if (this.#file === null) {
        // The name of a new file is durable only once its folder is.
        const folder = openSync(dirname(walPath), 'r');
        fsyncSync(folder);
        closeSync(folder);
        this.#file = openSync(walPath, 'r');
      }
    } catch (error) {
      this.#settle(done, error as Error);
      return;
    }
    const started = performance.now();
    fdatasync(this.#file, (error) => {
      this.#options.onSync?.(performance.now() - started);
      this.#settle(done, error);
    });
  }

  #settle(done: readonly Done[], error: Error | null): void {
    if (error !== null) this.#break(error);
    for (const { result, resolve, reject } of done) {
      if (this.#broken === null) resolve(result);
      else reject(this.#broken);
    }
    this.#gather(0, 0);
  }

  #break(cause: Error): void {
    this.#broken = new Error(
      'Cannot write to the journal: the disk refused a sync; check it, then restart the gatekeeper',
      { cause },
    );
    for (const { reject } of this.#waiting) reject(this.#broken);
    this.#waiting = [];
  }

  #closeFile(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

/** Which file stands at a path; null for none, and for one that cannot be seen. */
function fileAt(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

/**
 * A journal that is not there is that of a new shop, or it is lost: removed, on a disk that is not mounted, in a database
 * that was made anew. An empty one in its place would not know what was sold: it could be charged again, and be
 * asked for with the payments of others. So it is made only where nothing shows that there was one.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'libsql';
import { NEWEST_NAME } from '../release/newest-served.ts';
import { StartError } from '../system/start-error.ts';

/** A file that shows that a shop with this state folder has opened its journal; null for a new one. */
export function traceOfShop(stateDir: string): string | null {
  // Written when a release is first served, and the journal is made before.
  const newest = join(stateDir, NEWEST_NAME);
  return existsSync(newest) ? newest : null;
}

/** Throws a StartError where a journal in a file is lost. */
export function refuseLost(path: string): void {
  const trace = traceOfJournal(path);
  // Asked last: gatekeepers that start together make the journal before they leave a trace.
  if (trace !== null && isEmptyJournal(path)) throw lostJournal(path, trace);
}

/** A file that shows that there was a journal at a path; null for none. */
export function traceOfJournal(path: string): string | null {
  const trace = traceOfShop(dirname(path));
  const log = `${path}-wal`;
  // SQLite throws away the log that it finds beside an empty file.
  return trace ?? (isMissing(path) && existsSync(log) ? log : null);
}

/** Whether there is no file, or one without tables: those of a young journal stand in its log alone. */
export function isEmptyJournal(path: string): boolean {
  if (isMissing(path)) return true;
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  } catch {
    // Whoever opens it says what is wrong with it.
    return false;
  } finally {
    db.close();
  }
}

function isMissing(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** The error of a lost journal; the trace is null where this process itself has used it. */
export function lostJournal(journal: string, trace: string | null): StartError {
  const proof = trace === null ? 'this gatekeeper' : `"${trace}"`;
  return new StartError(
    `Cannot open payment journal "${journal}": it is lost, for ${proof} shows that this shop has served; with an empty ` +
      'one, what was sold could be asked for and charged again; mount its disk, restore a backup (gatekeeper/README.md), ' +
      'move it with "ledger migrate", or correct SIGNALPRESS_STATE and SIGNALPRESS_JOURNAL; if it is lost for good, keep a copy of what is left and run ' +
      '"signalpress-gate ledger accept-loss"',
  );
}

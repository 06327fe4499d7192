import { messageOf } from '../format/errors.ts';
import type { JsonObject, JsonValue } from '../format/strict-json.ts';
import { filingCore } from '../products/shapes/filing.ts';
import {
  FILERS_PATH,
  FILINGS_A_PART,
  FILINGS_FOLDER,
  type FilerLine,
  filerFolder,
  filingRecordsPath,
  formatFilerLine,
  LATER_FILE,
  parseFilerLine,
  settlementPath,
} from '../products/shapes/filing-index.ts';
import { filingLists, storedForms } from '../products/shapes/filing-lists.ts';
import { type FilingRow, filingRowSchema } from '../products/shapes/resolve-bodies.ts';
import { newestFirst } from '../products/shapes/settle-filings.ts';
import { askedForms, filerAnswers } from '../products/shapes/settlement-answers.ts';
import { checkMade, cited, isSame, type Related, rowsOf } from './relation.ts';
import type { StoredBodies } from './stored-bodies.ts';

const LATER = new RegExp(`^${FILINGS_FOLDER}[^/]+/resolve/${LATER_FILE.replace('.', '\\.')}$`);

/** Makes every answer about a filer again, out of the records of its filings, and compares all of them. */
export function checkFiler(related: Related): void {
  const { path, body, bodies, fault, count } = related;
  if (!LATER.test(path)) return;
  const { filers } = bodies;
  const filer = filers.find(({ cik }) => path === laterPath(cik));
  if (filer === undefined) {
    fault('entity', `is of a filer that "${FILERS_PATH}" does not list`);
    return;
  }
  try {
    const records = recordsOf(filer, bodies);
    if (records === null) return;
    const { rows, parts } = records;
    const made = filerAnswers(filer, rows, askedForms(filers));
    const ownForms = storedForms(filingLists(rows));
    if (!isSame(ownForms, [...filer.forms])) fault('', 'lists other forms than its filings have');
    for (const { path: at, body: answer, statement } of made.answers) {
      const stored = at === path ? body : bodies.get(at);
      if (stored === 'damaged') continue;
      const note = (where: string, detail: string) => fault(`${at} ${where}`.trim(), detail);
      if (stored === 'absent') note('', 'is missing');
      else
        checkMade({ ...related, body: stored, fault: note }, () =>
          cited(answer, stored, statement),
        );
    }
    for (const [at, index] of made.indexes) {
      const stored = bodies.get(at);
      if (stored === 'damaged') continue;
      if (!isSame(stored, index as unknown as JsonValue)) fault(at, 'is not what the filings make');
    }
    const files = made.answers.length + made.indexes.length + parts;
    const listed = bodies.list.count(filerFolder(filer.cik));
    if (listed !== files)
      fault('', `${listed} files are stored and ${files} follow from its filings`);
    count('filings', rows.length);
  } catch (error) {
    fault('', `cannot be made again: ${messageOf(error)}`);
  }
}

function laterPath(cik: string): string {
  return settlementPath(cik, '/resolve', LATER_FILE);
}

/** The records of a filer, newest first, and how many files they lie in; null where one of those is damaged. */
function recordsOf({ cik }: FilerLine, bodies: StoredBodies) {
  const rows: FilingRow[] = [];
  for (let part = 0; ; part += 1) {
    const path = filingRecordsPath(cik, part);
    const body = bodies.get(path);
    if (body === 'damaged') return null;
    if (body === 'absent') {
      if (!isInOrder(rows)) throw new RangeError('its filings are out of order');
      return { rows: rows.reverse(), parts: part };
    }
    if (part > 0 && rows.length % FILINGS_A_PART !== 0) throw new RangeError(`"${path}" is early`);
    rows.push(...rowsOf(body.rows).map((row) => checkedRow(row, cik, path)));
  }
}

function isInOrder(oldestFirst: readonly FilingRow[]): boolean {
  return oldestFirst.every((row, at) => {
    const next = oldestFirst[at + 1];
    return next === undefined || newestFirst(row, next) > 0;
  });
}

/** A record says beside its core what follows from it; its hash is checked with its file. */
function checkedRow(stored: JsonObject, cik: string, path: string): FilingRow {
  const row = filingRowSchema.parse(stored);
  const facts = filingCore(cik, row);
  const { _hash_core: core, is_amendment, evidence_url, source_ref } = row;
  const isWhole = isSame(facts as unknown as JsonValue, core as unknown as JsonValue);
  const isRight =
    isWhole &&
    row.entity === cik &&
    row.observed_at === core.observed_at &&
    is_amendment === row.form.endsWith('/A') &&
    evidence_url === source_ref;
  if (isRight) return row;
  throw new RangeError(`"${path}" has a filing ${row.accession} that contradicts itself`);
}

/** Compares the list of filers with what is stored of them. */
export function filerLineFault(line: string, bodies: StoredBodies): string | null {
  const filer = parseFilerLine(line);
  if (formatFilerLine(filer) !== `${line}\n`) return 'not spelled as compile writes it';
  return bodies.list.find(laterPath(filer.cik)) === null
    ? 'names a filer that is not stored'
    : null;
}

/** What lies in the folder of filings and is of no filer that is listed; null for nothing. */
export function strayFilings(ciks: readonly string[], bodies: StoredBodies): string | null {
  const of = ciks.reduce((sum, cik) => sum + bodies.list.count(filerFolder(cik)), 0);
  const all = bodies.list.count(FILINGS_FOLDER);
  return all === of ? null : `${all - of} files of filers that are not listed`;
}

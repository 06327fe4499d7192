import { csvLine, csvRows } from '../../format/csv-line.ts';
import { defined } from '../../format/errors.ts';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../format/strict-json.ts';
import { CORE_COLUMNS, SERIES_COLUMNS, SERIES_CSV_HEADER, SERIES_ROWS_MAX } from './series.ts';

// A series as CSV that can be verified (FORMAT.md, section 6): one line with the JSON answer of which the rows are taken out, then
// the table. The rows go back into the answer, which is then judged like any other.

/** Value of `format` that asks for it. */
export const SIGNED_CSV = 'csv-signed';
/** Why the table alone is not judged. */
export const UNSIGNED_CSV = `a series as CSV is not signed; ask for it with format=${SIGNED_CSV} or format=json`;
const MARK = '# ';
const LINE_END = '\r\n';

/** The first line: a series whose list of rows is empty, as JSON without line ends. */
export function signedCsvHead(series: string): string {
  return `${MARK}${series}${LINE_END}`;
}

/** True for a text that says of itself that it is one; nothing of it is checked. */
export function isSignedCsv(text: string): boolean {
  return text.startsWith(MARK);
}

/** The body that a saved text stands for: strict JSON, or a signed series as CSV; throws for any other. */
export function bodyOfText(text: string): JsonValue {
  if (!isSignedCsv(text)) return parseJson(text);
  // A program that prints what it bought ends it with a line feed of its own.
  return seriesOfCsv(text.endsWith('\r\n\n') ? text.slice(0, -1) : text);
}

function seriesOfCsv(text: string): JsonObject {
  const end = text.indexOf(LINE_END);
  const line = text.slice(MARK.length, Math.max(end, 0));
  // JSON may hold a bare CR or LF between its words, where other readers of CSV would end the line.
  if (/[\r\n]/.test(line)) throw new SyntaxError('the first line has a line end inside');
  const head = end === -1 ? null : parseJson(line);
  if (!isObject(head) || !Array.isArray(head.rows) || head.rows.length > 0) {
    throw new SyntaxError('the first line is not the answer of a series without its rows');
  }
  const table = end + LINE_END.length;
  const columns = [SERIES_COLUMNS, CORE_COLUMNS].find((names) =>
    text.startsWith(csvLine(names), table),
  );
  if (columns === undefined) {
    throw new SyntaxError(`the second line is not "${SERIES_CSV_HEADER}", with or without cores`);
  }
  const rows: JsonObject[] = [];
  for (const cells of csvRows(text, table + csvLine(columns).length)) {
    if (rows.length === SERIES_ROWS_MAX) throw new RangeError(`more than ${SERIES_ROWS_MAX} rows`);
    if (cells.length !== columns.length) {
      throw new SyntaxError(`a line has ${cells.length} cells, not ${columns.length}`);
    }
    rows.push(
      Object.fromEntries(
        columns.map((name, index) => [
          name,
          memberOf(name, defined(cells[index], 'a cell of each column')),
        ]),
      ),
    );
  }
  return { ...head, rows };
}

function memberOf(column: (typeof CORE_COLUMNS)[number], cell: string): JsonValue {
  switch (column) {
    case 'current':
    case '_hash_core':
      return parseJson(cell);
    case 'data_age_hours': {
      const age = Number(cell);
      if (String(age) === cell && Number.isFinite(age)) return age;
      throw new SyntaxError(`data_age_hours "${cell}" is not a number`);
    }
    case 'band':
      return cell === '' ? null : cell;
    default:
      return cell;
  }
}

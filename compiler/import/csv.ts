import { CsvError, parse } from 'csv-parse/sync';
import { defined } from '../contract/defined.ts';
import { firstTwice } from '../contract/grouped.ts';
import { fetchAgain, ImportError, type Payload, textOf } from './payload.ts';

/** One row by its column names; every value is text. */
export type CsvRow = Readonly<Record<string, string>>;

/**
 * Rows of a table with a header line. Throws an ImportError where a column of `needed` is missing, a column stands twice, a
 * row has another number of values than the header, or the last line is not ended.
 */
export function csvRows(
  payload: Payload,
  needed: readonly string[],
  separator = ',',
): readonly CsvRow[] {
  const { subject } = payload;
  const [header, ...rows] = records(payload, separator);
  if (header === undefined) throw new ImportError({ subject, state: 'the table is empty' });
  const missing = needed.find((name) => !header.includes(name));
  const twice = firstTwice(header);
  if (missing !== undefined || twice !== undefined) {
    const fault = missing === undefined ? `two columns "${twice}"` : `no column "${missing}"`;
    const state = `${fault} in the header "${header.join(',').slice(0, 120)}"; fetch it again`;
    throw new ImportError({ subject, state });
  }
  return rows.map((row) =>
    Object.fromEntries(header.map((name, at) => [name, defined(row[at], 'the cell')] as const)),
  );
}

function records(payload: Payload, delimiter: string): string[][] {
  const text = textOf(payload);
  if (!text.endsWith('\n')) {
    throw fetchAgain(payload, 'its last line is not ended, so it may be cut off');
  }
  try {
    return parse(text, { delimiter, trim: true, skip_empty_lines: true });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const state = `not a whole table (${cause.message}); fetch it again`;
    throw new ImportError({ subject: payload.subject, state }, { cause });
  }
}

const LINE_END = '\r\n';
/** What a spreadsheet would run as a formula, also after apostrophes; one more apostrophe can be taken off again. */
const FORMULA = /^'*[=+\-@\t\r]/;
/** A cell of RFC 4180 and what ends it. */
const CELL = /("[^"]*(?:""[^"]*)*"|[^",\r\n]*)(,|\r\n)/y;

/**
 * One line after RFC 4180, with its end. A null is an empty cell. A text that a spreadsheet would run gets an apostrophe in
 * front; a number is written as it is.
 */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return cells.map(cellText).join(',') + LINE_END;
}

function cellText(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const shown = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

/** The cells of all lines from an offset on, without the apostrophes of `csvLine`; throws for what it does not write. */
export function* csvRows(text: string, offset: number): Generator<readonly string[]> {
  let cells: string[] = [];
  let begin = offset;
  for (let at = offset; at < text.length; ) {
    CELL.lastIndex = at;
    const [whole, cell = '', end] = CELL.exec(text) ?? [];
    if (whole === undefined) throw new SyntaxError(`not CSV at character ${at}`);
    at += whole.length;
    cells.push(plainText(cell));
    if (end !== LINE_END) continue;
    // One spelling alone, so that no other reader finds other cells in the same line.
    if (csvLine(cells) !== text.slice(begin, at)) {
      throw new SyntaxError(`the line at character ${begin} has cells in another spelling`);
    }
    yield cells;
    cells = [];
    begin = at;
  }
  if (cells.length > 0) throw new SyntaxError('the last line has no end');
}

function plainText(cell: string): string {
  const text = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

const LINE_END = '\r\n';
/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

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

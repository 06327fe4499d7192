import type { Mutation } from './mutations.ts';

const PAGE = '<html><body>Service unavailable</body></html>';

/**
 * A table as text with one thing wrong in it: cut off, a page of markup in its place, a line absent or twice, a column absent
 * or in another place with its header, and each value of three lines in turn empty, of another type, unit or format.
 */
export function* textMutations(text: string): Generator<Mutation> {
  const lines = text.split('\n').filter((line) => line !== '');
  const rows = lines.map((line) => line.split(separatorOf(text)));
  const joined = (cells: readonly (readonly string[])[]) =>
    `${cells.map((row) => row.join(separatorOf(text))).join('\n')}\n`;
  for (const part of [0.5, 0.9]) {
    yield { name: `cut off at ${part}`, payload: text.slice(0, Math.floor(text.length * part)) };
  }
  yield { name: 'a page of markup', payload: PAGE };
  yield { name: 'cut off, with a page of markup', payload: text.slice(0, text.length >> 1) + PAGE };
  for (const at of new Set([0, 1, rows.length >> 1, rows.length - 1])) {
    const row = rows[at] ?? [];
    yield { name: `line ${at} absent`, payload: joined(rows.filter((_, index) => index !== at)) };
    yield { name: `line ${at} twice`, payload: joined(rows.toSpliced(at, 0, row)) };
    for (const [column, value] of row.entries()) {
      for (const other of others(value)) {
        const name = `line ${at} column ${column} = ${JSON.stringify(other)}`;
        yield { name, payload: joined(rows.with(at, row.with(column, other))) };
      }
    }
  }
  for (const column of (rows[0] ?? []).keys()) {
    yield {
      name: `column ${column} absent`,
      payload: joined(rows.map((row) => row.toSpliced(column, 1))),
    };
    const last = rows.map((row) => [...row.toSpliced(column, 1), row[column] ?? '']);
    yield { name: `column ${column} last`, payload: joined(last) };
  }
}

function separatorOf(text: string): string {
  return ['\t', ','].find((one) => text.includes(one)) ?? ' ';
}

function others(value: string): readonly string[] {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})/.exec(value) ?? [];
  const days =
    year === undefined ? [] : [`${day}/${month}/${year}`, `${year}-13-45`, `${year}-02-30`];
  const isNumber = value !== '' && !Number.isNaN(Number(value));
  const written = isNumber ? [`${value} ft`, value.replace('.', ';'), `${value}e9`, '-999999'] : [];
  return ['', 'n/a', 'null', ...days, ...written];
}

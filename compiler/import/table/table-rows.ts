import { csvRows } from '../csv.ts';
import { fetchAgain, ImportError, numberOf, type Payload, parsePayload } from '../payload.ts';
import type { MappedPart, TableMap } from './table-map.ts';

type Cell = string | number | boolean | null;

/** One row of a table; its methods throw a RangeError that names row and column. */
export class MappedRow {
  readonly #map: TableMap;
  readonly #values: unknown;
  readonly #at: number;

  constructor(values: unknown, at: number, map: TableMap) {
    this.#values = values;
    this.#at = at;
    this.#map = map;
  }

  /** An error about this row. */
  fault(column: string, why: string): RangeError {
    return new RangeError(`row ${this.#at}, column "${column}": ${why}`);
  }

  /** The text of a column; null where the map calls it no data. */
  text(column: string): string | null {
    const cell = this.#cell(column);
    if (cell === null || typeof cell === 'string') return cell;
    throw this.fault(column, `${cell} is not text`);
  }

  /** The number of a column, in text or in JSON; null where the map calls it no data. */
  number(column: string): number | null {
    const cell = this.#cell(column);
    if (cell === null || typeof cell === 'number') return cell;
    const { decimal } = this.#map;
    const text = String(cell);
    const number =
      decimal === '.' ? numberOf(text) : numberOf(text.includes('.') ? '' : text.replace(',', '.'));
    if (number !== null) return number;
    throw this.fault(
      column,
      `"${text.slice(0, 40)}" is not a number; if it means none, add it to no_data`,
    );
  }

  boolean(column: string): boolean | null {
    const cell = this.#cell(column);
    const text = cell === null ? null : String(cell).toLowerCase();
    if (text === null || text === 'true' || text === 'false') return text && text === 'true';
    throw this.fault(column, `"${text.slice(0, 40)}" is neither true nor false`);
  }

  /** What a part says in this row; undefined for a word of the table that its list leaves out. */
  part({ column, constant, values }: MappedPart): string | null | undefined {
    if (column === undefined) return constant;
    const text = this.text(column);
    if (values === undefined || text === null) return text;
    return Object.hasOwn(values, text) ? values[text] : undefined;
  }

  #cell(column: string): Cell {
    const cell = column.split('.').reduce<unknown>((part, name) => {
      if (typeof part === 'object' && part !== null && Object.hasOwn(part, name))
        return (part as Readonly<Record<string, unknown>>)[name];
      throw this.fault(column, `there is no "${name}"`);
    }, this.#own(column));
    if (typeof cell === 'object' && cell !== null)
      throw this.fault(column, 'a list or an object, not a value');
    if (this.#map.no_data.includes(String(cell))) return null;
    if (cell === '') throw this.fault(column, 'empty; if that means none, add "" to no_data');
    return cell as Cell;
  }

  /** A column of CSV may have dots in its name; only JSON has members of members. */
  #own(column: string): unknown {
    const row = this.#values as Readonly<Record<string, unknown>>;
    return Object.hasOwn(row, column) ? nested(column.split('.'), row[column]) : row;
  }
}

function nested(names: readonly string[], value: unknown): unknown {
  return names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
}

/** The rows of a payload, in order; throws an ImportError for one that is no table of this kind. */
export function tableRows(payload: Payload, map: TableMap, format: 'csv' | 'json'): MappedRow[] {
  const rows: readonly unknown[] =
    format === 'csv' ? csvRows(payload, [], map.separator) : jsonRows(payload, map.rows ?? []);
  return rows.map((row, index) => new MappedRow(row, index + 1, map));
}

function jsonRows({ bytes, subject }: Payload, path: readonly string[]): readonly object[] {
  const list = path.reduce<unknown>(
    (part, name) =>
      typeof part === 'object' && part !== null && Object.hasOwn(part, name)
        ? (part as Readonly<Record<string, unknown>>)[name]
        : undefined,
    parsePayload(bytes, subject),
  );
  const where = path.length === 0 ? 'the document' : path.join('.');
  if (!Array.isArray(list))
    throw new ImportError({
      subject,
      state: `${where} is not a list of rows; correct "rows" of the map, or fetch it again`,
    });
  const strange = list.findIndex((row) => typeof row !== 'object' || row === null);
  if (strange < 0) return list;
  throw fetchAgain({ subject }, `${where}: row ${strange + 1} is not an object`);
}

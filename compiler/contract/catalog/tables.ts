import * as WORDS from '../words.ts';
import type { Catalog } from './catalog.ts';

/** What a catalogue and the fixed words say, as plain data: its digest is in every release. */
export function tables(catalog: Catalog) {
  const { operations: endpoints, lines } = catalog;
  return { endpoints, lines, places: placeTables(catalog), words: { ...WORDS } };
}

/** What the names and positions of bodies follow from, as plain data; a name alone is a text. */
function placeTables({ namedByLine }: Catalog): {
  readonly [line: string]: Readonly<Record<string, unknown>>;
} {
  const tables = [...namedByLine].map(([line, named]) => {
    const rows = Object.entries(named).map(([entity, known]) => {
      return [entity, known.latitude === undefined ? known.name : known];
    });
    return [line, Object.fromEntries(rows)] as const;
  });
  return Object.fromEntries(tables.filter(([, rows]) => Object.keys(rows).length > 0));
}

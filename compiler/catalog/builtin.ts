import type { Line, Signal } from '../products/shapes/line.ts';
import type { Ruler } from '../products/shapes/rulers.ts';
import { BUILTIN_FILES } from './builtin-files.ts';
import { type Catalog, catalogOf } from './catalog.ts';
import type { CatalogFile } from './catalog-file.ts';

/** The catalogue that comes with the product: the lines of the specification. */
export const BUILTIN: Catalog = catalogOf(BUILTIN_FILES as readonly CatalogFile[]);

/** A line of the built-in catalogue; throws a RangeError for an id that it lacks. */
export function builtinLine(id: string): Line {
  const line = BUILTIN.lineById.get(id);
  if (line === undefined) throw new RangeError(`Cannot find line "${id}": not built in`);
  return line;
}

/** An official scale of the built-in catalogue; throws a RangeError for an id that it lacks. */
export function builtinRuler(id: string): Ruler {
  const ruler = BUILTIN.rulerById.get(id);
  if (ruler === undefined) throw new RangeError(`Cannot find ruler "${id}": not built in`);
  return ruler;
}

// The built-in catalogue for those who are not given one yet: whoever takes a Catalog as a parameter reads that instead, and
// this file goes when all do.

/** What is measured, in the order of the specification. */
export const LINES: readonly Line[] = BUILTIN.lines;

/** The signal row of an id, or undefined for an id that is not in the table. */
export function signalOf(id: string): Signal | undefined {
  return BUILTIN.entryById.get(id)?.signal;
}

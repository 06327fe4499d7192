import type { Ruler } from '../rulers.ts';
import { BUILTIN_FILES } from './builtin-files.ts';
import { type Catalog, catalogOf } from './catalog.ts';
import type { CatalogFile } from './catalog-file.ts';
import type { Line } from './line.ts';

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

import { BUILTIN } from '../compiler/catalog/builtin.ts';
import { entitiesOf as entitiesIn } from '../compiler/catalog/catalog.ts';
import { defined } from '../compiler/format/errors.ts';
import type { Line, SignalEntry } from '../compiler/products/shapes/line.ts';
import type { Endpoint } from '../compiler/products/shapes/product.ts';

/** An operation of the built-in catalogue. */
export function builtinOperation(path: string): Endpoint {
  return defined(BUILTIN.operationByPath.get(path), path);
}

/** A built-in signal with its line. */
export function builtinEntry(id: string): SignalEntry {
  return defined(BUILTIN.entryById.get(id), id);
}

/** The built-in line that a signal belongs to, or undefined. */
export function lineOf(signalId: string): Line | undefined {
  return BUILTIN.entryById.get(signalId)?.line;
}

/** Entities that a reading of a built-in signal may name; `open` when any id is valid. */
export function entitiesOf(signalId: string): readonly string[] | 'open' {
  const entry = BUILTIN.entryById.get(signalId);
  return entry === undefined ? [] : entitiesIn(entry);
}

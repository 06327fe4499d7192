import { BUILTIN } from './catalog/builtin.ts';
import { entitiesOf as entitiesIn } from './catalog/catalog.ts';
import type { Line, Signal } from './catalog/line.ts';

// The built-in catalogue for those who are not given one yet: whoever takes a Catalog as a parameter reads that instead, and
// this file goes when all do.

/** What is measured, in the order of the specification. */
export const LINES: readonly Line[] = BUILTIN.lines;

/** Every signal of every line, in table order. */
export const SIGNALS: readonly Signal[] = BUILTIN.signals;

/** The signal row of an id, or undefined for an id that is not in the table. */
export function signalOf(id: string): Signal | undefined {
  return BUILTIN.entryById.get(id)?.signal;
}

/** The line that a signal belongs to, or undefined. */
export function lineOf(signalId: string): Line | undefined {
  return BUILTIN.entryById.get(signalId)?.line;
}

/** Entities a reading of this signal may name; `open` when any id is valid. */
export function entitiesOf(signalId: string): readonly string[] | 'open' {
  const entry = BUILTIN.entryById.get(signalId);
  return entry === undefined ? [] : entitiesIn(entry);
}

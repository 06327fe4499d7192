import { BUILTIN } from './catalog/builtin.ts';
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

import type { z } from 'zod';
import { metricUnit } from '../../contract/units.ts';

const NUMBER_TEXT = /^\s*[+-]?\d+(\.\d*)?(e[+-]?\d+)?\s*$/i;

/** What is wrong with a value where a number is expected; text is never converted. */
export function figureFault(value: unknown): string {
  if (typeof value !== 'string') return `${kindOf(value)} is not a number; store a number or null`;
  return isNumberText(value)
    ? `"${value}" is text; write ${Number(value)} without quotes`
    : `"${value.slice(0, 40)}" is not a number; store a number or null`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : String(value);
}

export function isNumberText(text: string): boolean {
  return NUMBER_TEXT.test(text);
}

/** Whether a value may stand under a name: one that ends in a unit names a figure, so it holds a number or null. */
export function fitsName(name: string, value: unknown): boolean {
  return typeof value === 'number' || value === null || metricUnit(name).unit === '';
}

/** Reports every value in a record of named values that should be a number but is not. */
export function checkFigures(values: Readonly<Record<string, unknown>>, context: z.RefinementCtx) {
  for (const [name, value] of Object.entries(values)) {
    if (fitsName(name, value)) continue;
    context.addIssue({ code: 'custom', path: [name], message: figureFault(value) });
  }
}

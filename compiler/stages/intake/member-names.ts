import { z } from 'zod';

/** The names of all members that a row may have, of whichever form. */
export function memberNames(row: z.ZodType): string[] {
  const options = row instanceof z.ZodDiscriminatedUnion ? row.options : [row];
  const shapes = options.flatMap((each) => (each instanceof z.ZodObject ? [each.shape] : []));
  return [...new Set(shapes.flatMap((shape) => Object.keys(shape)))];
}

import { z } from 'zod';

/** The names of all members that a row may have, of whichever form. */
export function memberNames(row: z.ZodType): string[] {
  return [...new Set(shapesOf(row).flatMap((shape) => Object.keys(shape)))];
}

/** Any members of a row, each judged by itself; one that the forms of a row judge otherwise stays open. */
export function someMembers(row: z.ZodType): z.ZodType {
  const shapes = shapesOf(row);
  const members = memberNames(row).map((name): [string, z.ZodType] => {
    const [rule = z.unknown(), ...others] = new Set(shapes.flatMap((shape) => shape[name] ?? []));
    return [name, (others.length === 0 ? rule : z.unknown()).optional()];
  });
  return z.strictObject(Object.fromEntries(members));
}

function shapesOf(row: z.ZodType): Readonly<Record<string, z.ZodType>>[] {
  const forms: readonly unknown[] = row instanceof z.ZodDiscriminatedUnion ? row.options : [row];
  return forms.flatMap((form) => (form instanceof z.ZodObject ? [form.shape] : []));
}

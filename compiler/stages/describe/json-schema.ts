import { z } from 'zod';

/** A schema never changes, and many operations share one. */
const known = new WeakMap<z.ZodType, object>();

/** The JSON Schema of what a body may be, without the name of its dialect. */
export function jsonSchemaOf(schema: z.ZodType): object {
  const made = known.get(schema);
  if (made !== undefined) return made;
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  known.set(schema, rest);
  return rest;
}

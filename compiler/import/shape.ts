import type { z } from 'zod';
import { ImportError } from './import-error.ts';

/** What a payload should be, in words such as "a list of crossings", and what messages call it. */
export interface Expected {
  readonly subject: string;
  readonly is: string;
}

/** A parsed payload as the shape that its source documents; throws an ImportError that names the first member at fault. */
export function shaped<Shape>(
  schema: z.ZodType<Shape>,
  value: unknown,
  { subject, is }: Expected,
): Shape {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const member = issue?.path.join('.') || 'payload';
  const state = `not ${is} (${member}: ${issue?.message}); fetch it again`;
  throw new ImportError({ subject, state }, { cause: parsed.error });
}

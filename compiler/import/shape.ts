import type { z } from 'zod';
import { ImportError } from './import-error.ts';
import type { Payload } from './payload.ts';

/** What a payload should be, in words such as "a list of crossings", and what messages call it. */
interface Expected {
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

/** Bytes of the start of a payload by which its kind is told. */
const HEAD_BYTES = 4096;

/** Another kind of answer of the same agency: how its text begins, what it is, and what to import instead. */
export interface OtherKind {
  readonly begins: RegExp;
  readonly is: string;
}

/** Throws an ImportError that says what a payload is, where it is one of the kinds that give no readings. */
export function refuseOtherKinds(
  { bytes, subject }: Pick<Payload, 'bytes' | 'subject'>,
  kinds: readonly OtherKind[],
): void {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES)).trimStart();
  const found = kinds.find(({ begins }) => begins.test(head));
  if (found !== undefined) throw new ImportError({ subject, state: found.is });
}

/** The same for entries of JSON, which are told by a member that only they have. */
export function refuseOtherEntries(
  entry: unknown,
  kinds: ReadonlyMap<string, string>,
  subject: string,
): void {
  if (typeof entry !== 'object' || entry === null) return;
  const found = [...kinds].find(([member]) => Object.hasOwn(entry, member));
  if (found !== undefined) throw new ImportError({ subject, state: found[1] });
}

/** A number as publishers write it: digits and at most one point, no exponent. */
const NUMBER = /^-?\d{1,15}(\.\d{1,12})?$/;

/** The number that a text writes; null for any other text, so that what cannot be read never becomes 0. */
export function numberOf(text: string): number | null {
  return NUMBER.test(text) ? Number(text) : null;
}

import { ImportError } from './import-error.ts';
import type { Payload } from './payload.ts';

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

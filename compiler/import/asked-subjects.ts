import { ImportError } from './import-error.ts';
import type { Payload } from './payload.ts';

/**
 * Throws an ImportError for a subject that the address of a payload does not ask for. `parameter` of its query holds
 * the list of those it asks for; an address without one asks for none by name.
 */
export function refuseUnasked(
  { note, subject }: Payload,
  parameter: string,
  found: Iterable<string>,
): void {
  const asked = new URL(note.url).searchParams.get(parameter)?.split(',') ?? [];
  const foreign = [...found].find((id) => !asked.includes(id));
  if (asked.length === 0 || foreign === undefined) return;
  const state = `it holds "${foreign.slice(0, 40)}", which its address does not ask for; correct the fetch note`;
  throw new ImportError({ subject, state });
}

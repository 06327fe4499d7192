import { ImportError } from './import-error.ts';
import type { Payload } from './payload.ts';

/** A payload that is not what its source documents; another fetch may be. */
export function fetchAgain({ subject }: Pick<Payload, 'subject'>, state: string): ImportError {
  return new ImportError({ subject, state: `${state}; fetch it again` });
}

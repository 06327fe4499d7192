import { writeFileSync } from 'node:fs';
import { errorText } from './error-text.ts';

/** The file that `verify --write-proof` writes; throws a RangeError for an unusable path. */
export function proofFile(path: string): (proof: string) => void {
  if (path === '') throw new RangeError('Cannot write: --write-proof is empty; name a file');
  return (proof) => {
    try {
      writeFileSync(path, proof);
    } catch (cause) {
      throw new RangeError(`Cannot write the proof to "${path}": ${errorText(cause)}`, { cause });
    }
  };
}

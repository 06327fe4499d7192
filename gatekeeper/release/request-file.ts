import { filePath } from '../../compiler/contract/path.ts';

/** The file of a request; null for values that no file name can be made of. */
export function requestFile(...request: Parameters<typeof filePath>): string | null {
  try {
    return filePath(...request);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

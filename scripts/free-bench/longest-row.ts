import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storedPath } from '../../compiler/contract/path.ts';
import { FILES_NAME, parseFiles, parseVerifyEntry } from '../../compiler/contract/release.ts';
import { RECOMPUTED_BYTES_MAX } from '../../gatekeeper/answers/verify-hash.ts';

/** A row of a stored file: looking its hash up parses the whole file. */
export interface LookedUpRow {
  readonly hash: string;
  readonly bytes: number;
}

/** A row of the longest file of a data folder that a free look-up parses. */
export function longestRow(data: string): LookedUpRow {
  const files = parseFiles(readFileSync(join(data, 'current', FILES_NAME), 'utf8'));
  const sizes = new Map(files.map(({ path, size }) => [path, size]));
  let longest: LookedUpRow = { hash: '', bytes: 0 };
  for (const { path, sha256 } of files.filter((file) => file.path.startsWith('verify/'))) {
    const lines = readFileSync(join(data, storedPath(path, sha256)), 'utf8').split('\n');
    for (const { kind, file, record_hash } of lines.slice(0, -1).map(parseVerifyEntry)) {
      const bytes = (file === null ? undefined : sizes.get(file)) ?? 0;
      const isParsed = kind !== 'citation' && bytes <= RECOMPUTED_BYTES_MAX;
      if (isParsed && bytes > longest.bytes) longest = { hash: record_hash, bytes };
    }
  }
  return longest;
}

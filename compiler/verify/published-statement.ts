import { verifyShardPath } from '../contract/path.ts';
import { parseVerifyEntry } from '../contract/release.ts';
import type { StoredBodies } from './stored-bodies.ts';

/** Whether a release lists a statement, by `sha256:` of it: then its body is one of that release. */
export function isPublished(bodies: StoredBodies, statement: string): boolean {
  const shard = bodies.text(verifyShardPath(statement));
  return (shard ?? '').split('\n').some((line) => {
    return line.startsWith(`["${statement}"`) && parseVerifyEntry(line).kind === 'citation';
  });
}

import { FILERS_PATH } from '../contract/filing-index.ts';
import { SHARD_STARTS, verifyShardPath } from '../contract/path.ts';
import { filerLineFault } from './filing-relations.ts';
import { Faults, type ReleaseFault } from './release-fault.ts';
import {
  checkCatalog,
  checkShard,
  eachLine,
  type IndexCheck,
  type WorkShare,
} from './release-index.ts';
import type { ShareContext } from './share-check.ts';
import { StoredBodies } from './stored-bodies.ts';

/** What was found in a share of the indexes. */
export interface IndexResult {
  readonly lines: number;
  readonly reading: number;
  readonly citation: number;
  readonly subject: number;
  /** Lines of the catalog; the same in every share. */
  readonly catalog: number;
  readonly faults: readonly ReleaseFault[];
  readonly faultCount: number;
}

/** Look-up shards of a release, by path. */
export function shardsOf({ list }: Pick<ShareContext, 'list'>): string[] {
  return SHARD_STARTS.map(verifyShardPath).filter((path) => list.find(path) !== null);
}

/** Compares a share of the indexes with the files that they name: every n-th shard, every n-th line of the catalog. */
export function checkIndexes(context: ShareContext, part: WorkShare): IndexResult {
  const faults = new Faults();
  const index: IndexCheck = { ...context, faults };
  const sums = { lines: 0, reading: 0, citation: 0, subject: 0 };
  for (const [at, path] of shardsOf(context).entries()) {
    if (at % part.of !== part.number) continue;
    const listed = checkShard(index, path);
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += listed[name];
  }
  const catalog = checkCatalog(index, part);
  if (part.number === 0) checkFilers(index);
  return { ...sums, catalog, faults: faults.kept, faultCount: faults.count };
}

function checkFilers(index: IndexCheck): void {
  if (index.list.find(FILERS_PATH) === null) return;
  const bodies = new StoredBodies(index.disk, index.root, index.list);
  eachLine(index, FILERS_PATH, (line, where) => {
    const fault = filerLineFault(line, bodies);
    return fault === null ? null : [where, fault];
  });
}

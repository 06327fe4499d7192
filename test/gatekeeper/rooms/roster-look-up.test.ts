import { afterAll, describe, expect, it } from 'vitest';
import { parseVerifyEntry } from '../../../compiler/contract/release.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import type { ReleaseIndex } from '../../../gatekeeper/release/release-index.ts';
import { lookUpHash } from '../../../gatekeeper/rooms/verify-hash.ts';
import { logLinesIn } from '../../log-lines.ts';
import { rosterFiles, rosterSet } from '../../roster-rows.ts';
import { AS_OF, compileFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';
import { compiledService } from '../compiled-service.ts';

afterAll(removeFolders);

/** Texts of all files below a folder of a release, by their paths. */
async function textsBelow(folder: string, release: ReleaseIndex) {
  const paths = release.files.pathsUnder(folder, 1000);
  const bodies = await Promise.all(paths.map((path) => release.body(path, FOR_EVERYBODY)));
  return bodies.map(({ bytes }, at) => [paths[at] ?? '', bytes.toString('utf8')] as const);
}

/** What the release lists and the log holds: rows, and statements of the bodies that join them. */
async function currentHashes(release: ReleaseIndex): Promise<Set<string>> {
  const shards = await textsBelow('verify/', release);
  const lines = shards.flatMap(([, text]) => text.split('\n').slice(0, -1));
  return new Set(lines.map((line) => parseVerifyEntry(line).record_hash));
}

describe('lookUpHash() over compiled rosters and documents', () => {
  it('I36: finds every published row and recomputes the current ones', async () => {
    const { data } = await compileFolder(writeSnapshots(rosterFiles(rosterSet())));
    const service = await compiledService(data, AS_OF);
    const current = await currentHashes(service.release);
    const entries = logLinesIn(await textsBelow('log/index/', service.release));
    for (const { record_hash, facts } of entries) {
      const found = await lookUpHash(record_hash.slice('sha256:'.length), {
        ...service,
        spend: FOR_EVERYBODY,
      });
      const isCurrent = current.delete(record_hash);
      const state = isCurrent ? 'current' : 'superseded';
      expect(found).toMatchObject({ state: 'listed', entry: { record_hash, state, ...facts } });
      const hash = found.state === 'listed' ? (found.check?.recomputedHash ?? null) : 'none';
      expect(hash).toBe(isCurrent ? record_hash : null);
    }
    expect(current.size).toBe(0);
    expect(entries.length).toBeGreaterThan(20);
  });
});

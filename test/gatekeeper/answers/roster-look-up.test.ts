import { afterAll, describe, expect, it } from 'vitest';
import { parseVerifyEntry, type VerifyEntry } from '../../../compiler/contract/release.ts';
import { lookUpHash } from '../../../gatekeeper/answers/verify-hash.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import type { ReleaseIndex } from '../../../gatekeeper/release/release-index.ts';
import { rosterFiles, rosterSet } from '../../roster-rows.ts';
import { AS_OF, compileFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';
import { compiledService } from '../compiled-service.ts';

afterAll(removeFolders);

async function rowEntries(release: ReleaseIndex): Promise<VerifyEntry[]> {
  const shards = await Promise.all(
    release.pathsUnder('verify/', 1000).map((path) => release.body(path, FOR_EVERYBODY)),
  );
  const lines = shards.flatMap(({ bytes }) => bytes.toString('utf8').split('\n').slice(0, -1));
  return lines.map(parseVerifyEntry).filter(({ kind }) => kind === 'row');
}

describe('lookUpHash() over compiled rosters and documents', () => {
  it('I36: finds every published row and recomputes the current ones', async () => {
    const { data } = await compileFolder(writeSnapshots(rosterFiles(rosterSet())));
    const service = await compiledService(data, AS_OF);
    const entries = await rowEntries(service.release);
    for (const { record_hash, state } of entries) {
      const found = await lookUpHash(record_hash.slice('sha256:'.length), {
        ...service,
        spend: FOR_EVERYBODY,
      });
      const hash = found.state === 'listed' ? (found.check?.recomputedHash ?? null) : 'none';
      expect(hash).toBe(state === 'current' ? record_hash : null);
    }
    expect(new Set(entries.map(({ state }) => state))).toEqual(new Set(['current', 'superseded']));
    expect(entries.length).toBeGreaterThan(20);
  });
});

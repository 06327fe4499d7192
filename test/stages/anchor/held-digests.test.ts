import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { logIndexPath } from '../../../compiler/contract/log-batch.ts';
import { freshDigests, type HeldDigests } from '../../../compiler/stages/anchor/fresh-digests.ts';
import { logShards, storedDigests } from '../../../compiler/stages/anchor/held-digests.ts';
import { DigestSpill } from '../../../compiler/stages/publish/digest-spill.ts';
import { leafStore } from '../../../compiler/stages/publish/leaf-store.ts';
import { ForgottenError } from '../../../compiler/stages/remember/forgotten-error.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { entriesIn, hashes, type Leaves, memoryLog, releaseOf } from './memory-log.ts';

afterAll(removeFolders);

const digestOf = (recordHash: string): Buffer =>
  Buffer.from(recordHash.slice('sha256:'.length), 'hex');
const log = memoryLog({ '2026-01-01': hashes(0, 700) });
const held = storedDigests(releaseOf(log));

/** Record hashes that each batch adds, the batches in the order of their names. */
function freshOf(leaves: Leaves, known: HeldDigests): Record<string, string[]> {
  const store = leafStore(join(makeFolder(), 'leaves'));
  for (const [batch, some] of Object.entries(leaves)) {
    for (const record_hash of some) store.add({ batch, record_hash });
  }
  const batches = Object.keys(leaves).sort();
  const fresh = freshDigests(store, known, { batches, folder: join(makeFolder(), 'fresh') });
  return Object.fromEntries(
    batches.map((batch, rank) => {
      const hex = fresh.group(rank).toString('hex');
      return [batch, (hex.match(/.{72}/g) ?? []).map((line) => `sha256:${line.slice(0, 64)}`)];
    }),
  );
}

describe('freshDigests()', () => {
  it('I27: leaves out each digest of the log, and gives every other once, sorted, to the first batch that has it', () => {
    const [first, second] = [hashes(700, 50), hashes(740, 50)];
    const leaves = {
      '2026-01-03': [...second, ...second, ...entriesIn(log)],
      '2026-01-02': [...entriesIn(log), ...first, ...first],
    };
    expect(freshOf(leaves, held)).toEqual({
      '2026-01-02': [...first].sort(),
      '2026-01-03': hashes(750, 40).sort(),
    });
  });

  it('asks for a full compile when a shard cannot be read', () => {
    const damaged = storedDigests({
      issuerDid: '',
      read: () => {
        throw new Error('damaged');
      },
    });
    expect(() => freshOf({ '2026-01-02': hashes(0, 1) }, damaged)).toThrow(ForgottenError);
  });
});

describe('logShards()', () => {
  it('gives the shards that change, as a log with all of it has them, and no other', () => {
    const fresh = hashes(700, 20).sort();
    const added = DigestSpill.byFirstByte('');
    for (const [at, one] of fresh.entries()) added.add(digestOf(one), 700 + at);
    const whole = memoryLog({ '2026-01-01': hashes(0, 700), '2026-01-02': fresh });
    const shards = [...logShards({ held, added, stands: () => true })];
    expect(new Set(shards.map(([path]) => path))).toEqual(new Set(fresh.map(logIndexPath)));
    expect(shards.every(([path, bytes]) => whole.get(path)?.equals(bytes))).toBe(true);
    const none = DigestSpill.byFirstByte('');
    expect([...logShards({ held, added: none, stands: () => true })]).toEqual([]);
    const all = [...logShards({ held, added: none, stands: () => false })];
    expect(all.length).toBeGreaterThan(200);
    expect(all.every(([path, bytes]) => log.get(path)?.equals(bytes))).toBe(true);
  });
});

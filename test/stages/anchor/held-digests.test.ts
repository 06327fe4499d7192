import { describe, expect, it } from 'vitest';
import { logIndexPath } from '../../../compiler/contract/log-batch.ts';
import { continuedDigests } from '../../../compiler/stages/anchor/held-digests.ts';
import { ForgottenError } from '../../../compiler/stages/remember/forgotten-error.ts';
import { entriesIn, hashes, memoryLog, releaseOf } from './memory-log.ts';

const digestOf = (recordHash: string): Buffer =>
  Buffer.from(recordHash.slice('sha256:'.length), 'hex');
const log = memoryLog({ '2026-01-01': hashes(0, 700) });

describe('continuedDigests()', () => {
  it('I27: knows each digest of the log, and each that was added since', () => {
    const held = continuedDigests(releaseOf(log), 700);
    for (const entry of entriesIn(log)) expect(held.add(digestOf(entry))).toBe(false);
    for (const fresh of hashes(700, 50)) {
      expect(held.add(digestOf(fresh))).toBe(true);
      expect(held.add(digestOf(fresh))).toBe(false);
    }
  });

  it('gives the shards that change, as a log with all of it has them, and no other', () => {
    const held = continuedDigests(releaseOf(log), 700);
    const added = hashes(700, 20).sort();
    for (const fresh of added) held.add(digestOf(fresh));
    const whole = memoryLog({ '2026-01-01': hashes(0, 700), '2026-01-02': added });
    const shards = [...held.shards()];
    expect(new Set(shards.map(([path]) => path))).toEqual(new Set(added.map(logIndexPath)));
    expect(shards.every(([path, bytes]) => whole.get(path)?.equals(bytes))).toBe(true);
    expect([...continuedDigests(releaseOf(log), 700).shards()]).toEqual([]);
  });

  it('asks for a full compile when a shard cannot be read', () => {
    const previous = {
      issuerDid: '',
      read: () => {
        throw new Error('damaged');
      },
    };
    const held = continuedDigests(previous, 700);
    expect(() => held.add(digestOf(hashes(0, 1)[0] ?? ''))).toThrow(ForgottenError);
  });
});

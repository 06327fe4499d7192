import { describe, expect, it } from 'vitest';
import { type Backing, judgeKey, type KeyReader } from '../../compiler/verify/key-rule.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { InventedWitness } from '../publish/witness/invented-witness.ts';
import { didOf } from '../seeded-keys.ts';
import { listOf, noon } from './invented-issuer.ts';

// The first key signs until the 12th, the second one from the 10th on. It is the 20th.

const [K1, K2, STRANGER] = [didOf(1), didOf(2), didOf(3)];
const WINDOWS = { from: noon(10), until: noon(12) };
const KEYS = listOf([1, 2], WINDOWS);
const REVOKED = listOf([1, 2], WINDOWS, noon(8));
const policy = readPolicy(
  Buffer.from(
    `${new InventedWitness('w/1', 11).policyLine('One')}${new InventedWitness('w/2', 12).policyLine('Two')}group Both all One Two\nquorum Both\n`,
  ),
);
const LATER = Date.parse(noon(20));
const cosigned = (...days: readonly number[]): Backing['cosigned'] =>
  policy.witnesses.slice(0, days.length).map((witness, at) => {
    return { witness, at: Date.parse(noon(days[at] ?? 0)) };
  });
const by = (...signers: readonly string[]): Backing => ({ signers, cosigned: [] });
const judge = (
  did: string,
  day: number,
  backings: readonly Backing[],
  reader: Partial<KeyReader> = {},
) => judgeKey({ did, as_of: noon(day), backings }, { keys: KEYS, now: LATER, policy, ...reader });
const stateOf = (...asked: Parameters<typeof judge>) => judge(...asked).state;

describe('judgeKey(): was the key valid when its release was published', () => {
  it('I28: of a key inside its window, and of none before or after it', () => {
    expect(stateOf(K1, 12, [by(K1, K2)])).toBe('holds');
    expect(stateOf(K1, 13, [by(K1, K2)])).toBe('fails');
    expect(stateOf(K2, 10, [by(K2)])).toBe('holds');
    expect(stateOf(K2, 9, [by(K2)])).toBe('fails');
  });

  it('I29: of a revoked key before its revocation alone', () => {
    expect(stateOf(K1, 7, [by(K2)], { keys: REVOKED })).toBe('holds');
    expect(stateOf(K1, 8, [by(K2)], { keys: REVOKED })).toBe('fails');
    // The next key takes over at once.
    expect(stateOf(K2, 9, [by(K2)], { keys: REVOKED })).toBe('holds');
  });

  it('says nothing of a key that the list does not name', () => {
    expect(stateOf(STRANGER, 5, [by(STRANGER)])).toBe('holds');
  });
});

describe('judgeKey(): does the time of the release count', () => {
  it('I29: a key in use has to have signed the log; one of the past is not believed', () => {
    expect(stateOf(K1, 5, [by(K1)], { now: Date.parse(noon(12)) })).toBe('holds');
    expect(stateOf(K1, 5, [by(K1)])).toBe('open');
    expect(stateOf(K1, 5, [by(K1), by(K2)])).toBe('holds');
    expect(stateOf(K1, 5, [by(K1, K2)])).toBe('holds');
    expect(stateOf(K1, 5, [])).toBe('open');
  });

  it('I29: a revoked key shows nothing, whatever the time, and a body of the other key needs more too', () => {
    const early = { keys: REVOKED, now: Date.parse(noon(7)) };
    expect(stateOf(K1, 5, [by(K1)], early)).toBe('open');
    expect(stateOf(K2, 11, [by(K1)])).toBe('open');
  });

  it('without a clock, what was stated later ends a key', () => {
    const stated = listOf([1, 2], { from: noon(10), until: noon(9) });
    expect(stateOf(K1, 5, [by(K1)], { now: undefined })).toBe('holds');
    expect(stateOf(K1, 5, [by(K1)], { now: undefined, keys: stated })).toBe('open');
  });

  it('I71: a quorum of witnesses from before the end of its key is enough, and less is not', () => {
    const seen = (...days: readonly number[]) => [{ ...by(K1), cosigned: cosigned(...days) }];
    expect(stateOf(K1, 5, seen(6, 11))).toBe('holds');
    expect(stateOf(K1, 5, seen(6, 12))).toBe('open');
    expect(stateOf(K1, 5, seen(6))).toBe('open');
    expect(stateOf(K1, 5, seen(6, 7), { policy: { ...policy, quorum: null } })).toBe('open');
    expect(stateOf(K1, 5, seen(6, 8), { keys: REVOKED })).toBe('open');
    expect(stateOf(K1, 5, seen(6, 7), { keys: REVOKED })).toBe('holds');
  });

  it('so is a block from before it, and one of later is not', () => {
    const block = (day: number) => [{ ...by(K1), block: Date.parse(noon(day)) }];
    expect(stateOf(K1, 5, block(11))).toBe('holds');
    expect(stateOf(K1, 5, block(12))).toBe('open');
  });

  it('says each in one sentence', () => {
    expect(judge(K1, 13, []).detail).toBe(
      `${K1} was in use until ${noon(12)} only, and its release is of ${noon(13)}`,
    );
    expect(judge(K1, 5, [by(K1)]).detail).toBe(
      `nothing but a key of the past says that its release is of ${noon(5)}: ${K1} was in use until ${noon(12)}`,
    );
    expect(judge(K1, 5, [by(K2)]).detail).toBe(
      `${K1} was in use until ${noon(12)}, but it was valid when its release was published: it is of ${noon(5)}, and ${K2}, which is in use, signed the log with it`,
    );
  });
});

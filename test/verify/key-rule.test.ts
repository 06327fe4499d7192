import { describe, expect, it } from 'vitest';
import { type Backing, judgeKey, type KeyReader } from '../../compiler/verify/key-rule.ts';
import { judgeByPolicy, readPolicy } from '../../compiler/verify/policy-check.ts';
import { InventedWitness } from '../publish/witness/invented-log.ts';
import { didOf } from '../seeded-keys.ts';
import { Log, listOf, noon, signedBody } from './invented-issuer.ts';

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

const [W1, W2] = [new InventedWitness('w.example/1', 11), new InventedWitness('w.example/2', 12)];
const policyOf = (text: string) => readPolicy(Buffer.from(text));
const ONE = W1.policyLine('First');
const BOTH = `${ONE}${W2.policyLine('Second')}group Both all First Second\nquorum Both\n`;
const ANY = `${ONE}${W2.policyLine('Second')}group Any any First Second\nquorum Any\n`;

describe('the text of a policy', () => {
  it.each([
    'quorum none\n',
    '# a comment\n\n\tquorum \tnone \n',
    BOTH,
    ANY,
    `${ONE}group G 1 First\nquorum G\n`,
    `log ${new InventedWitness('log.example', 13).logKey}\n${ONE}quorum First\n`,
  ])('is taken: %j', (policy) => {
    expect(() => policyOf(policy)).not.toThrow();
  });

  it.each([
    '',
    'quorum none',
    'quorum none\r\n',
    'quorum none\nquorum none\n',
    'quorum First\n',
    'witness First\nquorum none\n',
    'witnesses 1\nquorum none\n',
    `${ONE}${ONE}quorum First\n`,
    `${ONE}${W1.policyLine('Other')}quorum First\n`,
    `${ONE.replace('First', 'none')}quorum none\n`,
    `${ONE}group G 0 First\nquorum G\n`,
    `${ONE}group G 2 First\nquorum G\n`,
    `${ONE}group G all First First\nquorum G\n`,
    `${ONE}group G all Second\nquorum G\n`,
    `${ONE.replace('witness First', 'log')}quorum none\n`,
    ONE,
  ])('is refused: %j', (policy) => {
    expect(() => policyOf(policy)).toThrow(RangeError);
  });

  it('I71: is refused where a witness has the key of a log, whichever stands first', () => {
    const log = `log ${W1.logKey}\n`;
    for (const lines of [log + ONE, ONE + log]) {
      expect(() => policyOf(`${lines}quorum none\n`)).toThrow('stands in an earlier line');
    }
  });
});

describe('judgeByPolicy()', () => {
  const log = new Log();
  log.add([signedBody(1)], noon(6));
  const note = log.note({ signers: [1] });

  it('asks nothing without a policy, and needs a note', () => {
    expect(judgeByPolicy(note, {})).toEqual({ fault: null, witnessed: [], ignored: [] });
    expect(judgeByPolicy('', { policy: policyOf(ANY) }).fault).toContain('not the signed note');
  });

  it('I71: counts no line of another note, or of another name, and says the earlier of two times', () => {
    const policy = policyOf(ANY);
    const lineOf = (of: string): string => of.slice(of.lastIndexOf('\u2014'));
    const other = W1.cosign(note.replace(/\n1\n/, '\n7\n'), noon(7));
    expect(judgeByPolicy(note + lineOf(other), { policy }).fault).toContain('does not hold');
    const renamed = new InventedWitness('w.example/3', 11).cosign(note, noon(7));
    expect(judgeByPolicy(renamed, { policy }).fault).toContain('not witnessed');
    const twice = W1.cosign(W1.cosign(note, noon(9)), noon(8));
    expect(judgeByPolicy(twice, { policy })).toEqual({
      fault: null,
      witnessed: [{ name: 'First', at: noon(8) }],
      ignored: [],
    });
  });

  it('I71: names what does not count for what it is about', () => {
    const policy = policyOf(ANY);
    const cosigned = W1.cosign(note, noon(5));
    expect(judgeByPolicy(cosigned, { policy }).fault).toBeNull();
    expect(judgeByPolicy(cosigned, { policy }, noon(6)).fault).toContain(
      `First says ${noon(5)}, which is before it was there`,
    );
  });
});

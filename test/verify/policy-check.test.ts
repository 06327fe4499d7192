import { describe, expect, it } from 'vitest';
import { judgeByPolicy, readPolicy } from '../../compiler/verify/policy-check.ts';
import { InventedWitness } from '../publish/witness/invented-witness.ts';
import { Log, noon, signedBody } from './invented-issuer.ts';

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

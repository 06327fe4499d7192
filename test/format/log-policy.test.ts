import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  hasWitnessed,
  type LogPolicy,
  POLICY_BYTES_MAX,
  parseLogPolicy,
  shortfall,
} from '../../compiler/format/log-policy.ts';
import { formatVerifierKey, NOTE_KEY } from '../../compiler/format/verifier-key.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
const read = (text: string): LogPolicy => parseLogPolicy(Buffer.from(text), sha256);
/** A key that is no point of small order; nothing is signed with it here. */
const vkey = (name: string, type: number, bytes = 32): string =>
  formatVerifierKey(
    { name, type, publicKey: new Uint8Array(bytes).fill(name.length + 40) },
    sha256,
  );
const witness = (name: string): string =>
  formatVerifierKey({ name, type: NOTE_KEY.witness, publicKey: sha256(Buffer.from(name)) }, sha256);
const LOG = vkey('a.example/log', NOTE_KEY.log);

/** The example of tlog-policy, with keys. */
const EXAMPLE = `log ${LOG}

# the first organization
witness X1 ${witness('x.example/1')}
witness X2 ${witness('x.example/2')} https://x.example/2
\twitness  X3 ${witness('x.example/3')}\t
group X-witnesses 2 X1 X2 X3

witness Y1 ${witness('y.example/1')}
witness Y2 ${witness('y.example/2')}
witness Y3 ${witness('y.example/3')}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`;

describe('parseLogPolicy()', () => {
  it('reads the example of tlog-policy', () => {
    const { logs, witnesses, quorum } = read(EXAMPLE);
    expect(logs.map(({ key, url }) => [key.name, url])).toEqual([['a.example/log', null]]);
    expect(witnesses.map(({ name }) => name)).toEqual(['X1', 'X2', 'X3', 'Y1', 'Y2', 'Y3']);
    expect(witnesses[1]?.url).toBe('https://x.example/2');
    expect(quorum).toMatchObject({ name: 'X-and-Y', threshold: 2 });
  });

  it('reads a policy of a quorum alone, and names in any octets', () => {
    expect(read('quorum none\n')).toEqual({ logs: [], witnesses: [], quorum: null });
    const name = Buffer.from([0xff, 0x4b]);
    const policy = Buffer.concat([
      Buffer.from('witness '),
      name,
      Buffer.from(` ${witness('z')}\n# \u00fcber \u2014\nquorum `),
      name,
      Buffer.from('\n'),
    ]);
    expect(parseLogPolicy(policy, sha256).quorum).toMatchObject({ name: '\ufffdK' });
  });

  it('takes 32 logs, 32 witnesses and 32 groups at least', () => {
    const at = Array.from({ length: 32 }, (_, n) => n);
    const logKey = (n: number): string =>
      formatVerifierKey(
        { name: `l${n}`, type: NOTE_KEY.log, publicKey: sha256(Buffer.from(`l${n}`)) },
        sha256,
      );
    const text = [
      ...at.map((n) => `log ${logKey(n)}`),
      ...at.map((n) => `witness w${n} ${witness(`w${n}`)}`),
      ...at.map((n) => `group g${n} any w${n}`),
      `quorum g31`,
    ];
    expect(read(`${text.join('\n')}\n`).witnesses).toHaveLength(32);
  });

  it('reads a witness of ML-DSA-44, which never counts', () => {
    const { quorum } = read(`witness M ${vkey('m', NOTE_KEY.mldsaWitness, 1312)}\nquorum M\n`);
    expect(quorum === null ? '' : shortfall(quorum, new Set())).toContain('does not check');
  });

  it('names the line and what is wrong with any other text', () => {
    const [w1, w2] = [`witness W1 ${witness('w1')}`, `witness W2 ${witness('w2')}`];
    const bad = [
      ['', 'no quorum line'],
      [`${w1}\n`, 'no quorum line'],
      ['quorum none', 'cut off'],
      ['quorum none\r\n', 'line 1: it ends in CR LF'],
      ['quorum none\u0007\n', 'line 1: octet 7'],
      ['quorum none\n\u007f\n', 'line 2: octet 127'],
      ['quorum none\nquorum none\n', 'line 2: a second quorum'],
      ['quorum\n', 'line 1: not "quorum <name>"'],
      ['quorum a b\n', 'line 1: not "quorum <name>"'],
      ['quorum W1\n', 'line 1: no line above defines "W1"'],
      [`quorum W1\n${w1}\n`, 'line 1: no line above defines "W1"'],
      ['Quorum none\n', 'line 1: "Quorum" is not one of'],
      ['log\n', 'line 1: not "log'],
      [`log ${LOG} a b\n`, 'line 1: not "log'],
      [`log ${witness('w')}\n`, 'line 1: the key of "w" is of type 4'],
      [`log ${LOG}\nlog ${LOG}\n`, 'line 2: the key of "a.example/log" stands'],
      ['witness W1\n', 'line 1: not "witness'],
      [`witness W1 ${LOG}\n`, 'line 1: the key of "a.example/log" is of type 1'],
      [`witness none ${witness('w')}\n`, 'line 1: "none" has a meaning'],
      [`${w1}\nwitness W1 ${witness('w2')}\n`, 'line 2: "W1" is defined twice'],
      [`${w1}\nwitness W2 ${witness('w1')}\n`, 'line 2: the key of "w1" stands'],
      [`${w1}\ngroup G all\n`, 'line 2: not "group'],
      [`${w1}\ngroup G 2 W1\n`, 'line 2: "2" is not all, any'],
      [`${w1}\ngroup G 0 W1\n`, 'line 2: "0" is not all, any'],
      [`${w1}\ngroup G 01 W1\n`, 'line 2: "01" is not all, any'],
      [`${w1}\ngroup G any none\n`, 'line 2: no line above defines "none"'],
      [`${w1}\ngroup G any G\n`, 'line 2: no line above defines "G"'],
      [`${w1}\ngroup G any W1 W1\n`, 'line 2: "W1" is a member twice'],
      [`${w1}\n${w2}\ngroup G any W1\ngroup H any W1 W2\n`, 'line 4: "W1" is a member twice'],
      [`${w1}\ngroup W1 any W1\n`, 'line 2: "W1" is defined twice'],
      ['witness W1 remora.n621.de+da77ade7\n', 'line 1: Cannot use verifier key'],
      [`${'#'.repeat(POLICY_BYTES_MAX)}\n`, 'longer than'],
    ] as const;
    for (const [text, why] of bad) expect(() => read(text), text).toThrow(why);
  });
});

describe('hasWitnessed(), shortfall()', () => {
  const { quorum, witnesses } = read(EXAMPLE);
  const of = (...names: string[]) => new Set(witnesses.filter(({ name }) => names.includes(name)));
  const lacks = (...names: string[]): string =>
    quorum === null ? 'none' : shortfall(quorum, of(...names));

  it('I71: counts the members of groups', () => {
    expect(quorum !== null && hasWitnessed(quorum, of('X1', 'X3', 'Y2'))).toBe(true);
    expect(lacks('X1', 'X3', 'Y2')).toBe('');
  });

  it('I71: names what is absent', () => {
    expect(lacks('X1', 'Y2')).toBe('1 of 2 of X-and-Y (without X-witnesses)');
    expect(lacks('X1', 'X2', 'X3')).toBe('1 of 2 of X-and-Y (without Y-witnesses)');
    expect(quorum !== null && hasWitnessed(quorum, of('X1', 'X2', 'X3'))).toBe(false);
  });
});

import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatAnchorState, parseAnchorState } from '../../compiler/format/anchor-state.ts';
import {
  checkpointText,
  cosignaturesOf,
  cosignedBytes,
  formatNote,
  formatVerifierKey,
  logOrigin,
  NOTE_KEY,
  noteKeyHash,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  signatureIn,
  type VerifierKey,
  verifierKey,
} from '../../compiler/format/checkpoint.ts';
import {
  hasWitnessed,
  type LogPolicy,
  POLICY_BYTES_MAX,
  parseLogPolicy,
  shortfall,
} from '../../compiler/format/log-policy.ts';
import { leafHash } from '../../compiler/format/merkle.ts';
import { printedBy } from '../client/python-gate.ts';
import { cosignatureLine } from '../publish/witness/invented-log.ts';
import { hasPython } from '../verify/python-judge.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
const FORMAT = readFileSync(new URL('../../compiler/format/FORMAT.md', import.meta.url), 'utf8');
/** The entry and the checkpoint of the example of FORMAT.md, section 10, and the key of its log in WITNESSES.md. */
const [, entry = ''] = /\*\*Entry\*\*[\s\S]*?```json\n(.*)\n```/.exec(FORMAT) ?? [];
const [, note = ''] = /\*\*Checkpoint\*\*[\s\S]*?```text\n([\s\S]*?)```/.exec(FORMAT) ?? [];
const WITNESSES = readFileSync(new URL('../../compiler/WITNESSES.md', import.meta.url), 'utf8');
const [, vkey] = /^log (\S+)$/m.exec(WITNESSES) ?? [];
const NAME = 'readings.example/log';
const KEY = createPrivateKey({
  key: Buffer.from(
    '302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'hex',
  ),
  format: 'der',
  type: 'pkcs8',
});
const PUBLIC_KEY = createPublicKey(KEY).export({ format: 'der', type: 'spki' }).subarray(-32);

describe('checkpointText()', () => {
  it('gives the checkpoint of the example in FORMAT.md', () => {
    const root = leafHash(Buffer.from(entry), sha256);
    const text = checkpointText({ origin: NAME, size: 1, root });
    expect(verifierKey(NAME, PUBLIC_KEY, sha256)).toBe(vkey);
    const keyHash = noteKeyHash(NAME, PUBLIC_KEY, sha256);
    const signature = new Uint8Array(sign(null, Buffer.from(text), KEY));
    expect(formatNote({ text, signatures: [{ name: NAME, keyHash, signature }] })).toBe(note);
  });
});

describe('parseCheckpoint()', () => {
  const root = new Uint8Array(32).fill(5);
  const good = checkpointText({ origin: NAME, size: 12, root });

  it('is the inverse of checkpointText', () => {
    expect(parseCheckpoint(good)).toEqual({ origin: NAME, size: 12, root });
  });

  it('refuses every other spelling', () => {
    const bad = [
      '',
      good.trimEnd(),
      `${good}extension\n`,
      good.replace('12', '012'),
      good.replace('12', '-1'),
      good.replace('12', '1e3'),
      good.replace('12', '9007199254740993'),
      good.replace('=', ''),
      good.replace('BQUF', 'BQU'),
      good.replace(NAME, ''),
      good.replace(NAME, 'a b'),
      good.replaceAll('\n', '\r\n'),
    ];
    for (const text of bad) expect([text, parseCheckpoint(text)]).toEqual([text, null]);
  });

  it('I43: takes an origin of 1,024 characters, and none that costs more to hash', () => {
    const named = (length: number) => parseCheckpoint(good.replace(NAME, 'a'.repeat(length)));
    expect(named(1024)?.origin).toHaveLength(1024);
    expect(named(1025)).toBeNull();
  });
});

describe('parseNote()', () => {
  // Spaces and control characters of ECMAScript, of Python and of Unicode are not the same.
  const LINE = '\u2014 witness AAAAAAAA\n';
  const named = (name: string): string => note + LINE.replace('witness', name);
  const REFUSED = ['\u001f', '\u0085', '\u00a0', '\u2028', '\u3000', '+', '\u007f'];
  const TAKEN = ['', '\ufeff', '\u180e', '\u{1f600}'];

  it('I72: takes the same names of signers as the verifier in Python', async () => {
    const notes = [...TAKEN, ...REFUSED].map((odd) => named(`w${odd}itness`));
    const taken = notes.map((each) => parseNote(each) !== null);
    expect(taken).toEqual([...TAKEN.map(() => true), ...REFUSED.map(() => false)]);
    if (hasPython) expect(await printedBy(PROGRAM, [JSON.stringify(notes)])).toEqual(taken);
  });

  it('reads text and signatures, several of them', () => {
    const parsed = parseNote(note);
    expect(parsed?.signatures.map(({ name }) => name)).toEqual([NAME]);
    const line = note.split('\n').at(-2) ?? '';
    const twice = `${note}${line.replace(NAME, 'other')}\n`;
    expect(parseNote(twice)?.signatures.map(({ name }) => name)).toEqual([NAME, 'other']);
  });

  it('reads the line of a witness, whose signature has a form of its own', () => {
    const cosigned = `${note}\u2014 zeuge-\u00e4 ${Buffer.alloc(76, 9).toString('base64')}\n`;
    expect(parseNote(cosigned)?.signatures.map(({ signature }) => signature.length)).toEqual([
      64, 72,
    ]);
  });

  it('reads lines of keys that nobody here knows: 16 of the longest kind', () => {
    const line = `\u2014 witness ${Buffer.alloc(4 + 8 + 4_900, 9).toString('base64')}\n`;
    expect(parseNote(note + line.repeat(16))?.signatures).toHaveLength(17);
    expect(parseNote(note + line.repeat(40))).toBeNull();
  });

  it('refuses what formatNote never makes', () => {
    const bad = [
      '',
      note.trimEnd(),
      note.replace('\u2014', '-'),
      note.replace('\n\n', '\n'),
      `${note}\n`,
      note.replace('G4F9', 'G4F'),
      note.replace('rwU=', 'rwV='),
      note.replace(`\u2014 ${NAME}`, `\u2014 ${NAME} `),
      `${note}more\n`,
      `${note}\u2014 a+b ${Buffer.alloc(76, 9).toString('base64')}\n`,
      `${note}\u2014 witness ${Buffer.alloc(4, 9).toString('base64')}\n`,
      `${note}\u2014 witness ${Buffer.alloc(76, 9).toString('base64url')}\n`,
      note + note.split('\n').at(-2)?.concat('\n').repeat(120),
    ];
    for (const text of bad) expect([text, parseNote(text)]).toEqual([text, null]);
  });
});

describe('signatureIn()', () => {
  const keyHash = noteKeyHash(NAME, PUBLIC_KEY, sha256);
  const own = (text: string): Uint8Array | null => {
    const parsed = parseNote(text);
    return parsed === null ? null : signatureIn(parsed, NAME, keyHash);
  };
  const line = note.slice(note.lastIndexOf('\u2014'));
  const witness = `\u2014 witness ${Buffer.alloc(76, 9).toString('base64')}\n`;

  it('finds the one of a key among those of others, in any order', () => {
    const alone = own(note);
    expect(alone).toHaveLength(64);
    expect(own(note + witness)).toEqual(alone);
    expect(own(note.replace(line, witness + line))).toEqual(alone);
  });

  it('finds none that is missing, there twice, or of another length', () => {
    const short = Buffer.concat([keyHash, Buffer.alloc(63, 1)]).toString('base64');
    const bad = [
      note.replace(line, witness),
      note + line,
      note.replaceAll(NAME, 'other.example/log'),
      note.replace(line, `\u2014 ${NAME} ${short}\n`),
    ];
    for (const text of bad) expect([text, own(text)]).toEqual([text, null]);
  });
});

describe('verifierKey()', () => {
  it('names the key as other programs take it', () => {
    expect(verifierKey(NAME, PUBLIC_KEY, sha256)).toBe(
      `${NAME}+1b817d15+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea`,
    );
  });
});

describe('logOrigin()', () => {
  it('is the address without its scheme', () => {
    expect(logOrigin('https://a.example/b/')).toBe('a.example/b/log');
    expect(logOrigin('http://127.0.0.1:4021')).toBe('127.0.0.1:4021/log');
  });

  it('refuses an address that a key name cannot hold', () => {
    for (const url of ['https://a.example/b+c', 'https://a.example/b c']) {
      expect(() => logOrigin(url)).toThrow(RangeError);
    }
  });
});

const PROGRAM = `
import json, sys
sys.dont_write_bytecode = True
from signalpress_verify import Refused, read_note
def is_taken(note):
    try:
        return read_note(note) is not None
    except Refused:
        return False
print(json.dumps([is_taken(note) for note in json.loads(sys.argv[1])]))`;

const STATE = {
  root: 'ab'.repeat(32),
  ots_state: 'confirmed' as const,
  bitcoin_height: 900_000,
  bitcoin_block: null,
  stamped_at: '2026-11-20T12:00:00Z',
};

describe('parseAnchorState()', () => {
  it('is the inverse of formatAnchorState', () => {
    expect(parseAnchorState(formatAnchorState(STATE))).toEqual(STATE);
  });

  it('refuses a state that is none', () => {
    const bad = [
      { ...STATE, ots_state: 'unstamped' },
      { ...STATE, bitcoin_height: -1 },
      { ...STATE, bitcoin_block: 'x' },
      { ...STATE, stamped_at: 'yesterday' },
      { ...STATE, more: 1 },
    ];
    for (const one of bad) expect(() => parseAnchorState(JSON.stringify(one))).toThrow();
  });
});

describe('cosignature', () => {
  const KEY = createPrivateKey({
    key: Buffer.from(`302e020100300506032b657004220420${'2a'.repeat(32)}`, 'hex'),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(KEY).export({ format: 'der', type: 'spki' }).subarray(-32);
  const WITNESS: VerifierKey = { name: 'witness.example/w1', type: NOTE_KEY.witness, publicKey };
  const TEXT = checkpointText({
    origin: 'a.example/log',
    size: 9,
    root: new Uint8Array(32).fill(7),
  });

  function cosigned(seconds: number) {
    const signature = new Uint8Array(sign(null, cosignedBytes(TEXT, seconds), KEY));
    return cosignatureLine({ seconds, signature }, WITNESS, sha256);
  }

  describe('cosignedBytes()', () => {
    it('puts the header line and the time in front of the whole text', () => {
      expect(Buffer.from(cosignedBytes(TEXT, 1679315147)).toString()).toBe(
        `cosignature/v1\ntime 1679315147\n${TEXT}`,
      );
    });

    it('refuses a time that cannot be stated', () => {
      for (const seconds of [0, -1, 1.5, Number.NaN, 2 ** 53, 253_402_300_800]) {
        expect(() => cosignedBytes(TEXT, seconds)).toThrow(RangeError);
      }
    });
  });

  /** A checkpoint of a public log as a public witness cosigned it: programs and keys of others. */
  const PUBLISHED = `arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

\u2014 arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
\u2014 witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
\u2014 remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
`;
  const PUBLISHED_KEY = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';

  describe('a cosignature that others made', () => {
    const witness = parseVerifierKey(PUBLISHED_KEY, sha256);
    const x = Buffer.from(witness.publicKey).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const holds = (published: string): boolean[] => {
      const note = parseNote(published) ?? { text: '', signatures: [] };
      return cosignaturesOf(note, witness, sha256).map(
        (one) =>
          one !== null && verify(null, cosignedBytes(note.text, one.seconds), key, one.signature),
      );
    };

    it('is read and holds', () => {
      expect(parseCheckpoint(parseNote(PUBLISHED)?.text ?? '')?.size).toBe(1432088532);
      expect(holds(PUBLISHED)).toEqual([true]);
    });

    it('does not hold for another size or at another time', () => {
      expect(holds(PUBLISHED.replace('1432088532', '1432088533'))).toEqual([false]);
      expect(holds(PUBLISHED.replace('2net5wAAAABqEiEg', '2net5wAAAABqEiEh'))).toEqual([false]);
    });
  });

  describe('cosignaturesOf()', () => {
    it('finds what stands under the key of a witness, whatever stands beside it', () => {
      const log = {
        name: 'a.example/log',
        keyHash: noteKeyHash('a.example/log', publicKey, sha256),
        signature: new Uint8Array(64).fill(1),
      };
      const other = { ...cosigned(5), name: 'witness.example/w2' };
      const note = formatNote({ text: TEXT, signatures: [log, other, cosigned(1679315147)] });
      const [found, ...rest] = cosignaturesOf(
        parseNote(note) ?? { signatures: [] },
        WITNESS,
        sha256,
      );
      expect(rest).toEqual([]);
      expect(found?.seconds).toBe(1679315147);
      const bytes = cosignedBytes(TEXT, found?.seconds ?? 0);
      expect(verify(null, bytes, createPublicKey(KEY), found?.signature ?? Buffer.alloc(0))).toBe(
        true,
      );
      const later = cosignedBytes(TEXT, 1679315148);
      expect(verify(null, later, createPublicKey(KEY), found?.signature ?? Buffer.alloc(0))).toBe(
        false,
      );
    });

    it('gives null for a line of another form, and for a time that nobody can state', () => {
      const line = cosigned(1);
      const zero = new Uint8Array(line.signature).fill(0, 0, 8);
      const far = new Uint8Array(line.signature).fill(0xff, 0, 8);
      for (const signature of [line.signature.slice(1), line.signature.slice(8), zero, far]) {
        const signatures = [{ ...line, signature }];
        expect(cosignaturesOf({ signatures }, WITNESS, sha256)).toEqual([null]);
      }
    });

    it('finds none of the same key in the form of a log', () => {
      const asLog = { ...WITNESS, type: NOTE_KEY.log };
      expect(cosignaturesOf({ signatures: [cosigned(1)] }, asLog, sha256)).toEqual([]);
    });
  });
});

const read = (text: string): LogPolicy => parseLogPolicy(Buffer.from(text), sha256);
/** A key that is no point of small order; nothing is signed with it here. */
const vkeyOf = (name: string, type: number, bytes = 32): string =>
  formatVerifierKey(
    { name, type, publicKey: new Uint8Array(bytes).fill(name.length + 40) },
    sha256,
  );
const witness = (name: string): string =>
  formatVerifierKey({ name, type: NOTE_KEY.witness, publicKey: sha256(Buffer.from(name)) }, sha256);
const LOG = vkeyOf('a.example/log', NOTE_KEY.log);

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
    const { quorum } = read(`witness M ${vkeyOf('m', NOTE_KEY.mldsaWitness, 1312)}\nquorum M\n`);
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

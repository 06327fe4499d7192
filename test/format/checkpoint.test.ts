import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatAnchorState, parseAnchorState } from '../../compiler/format/anchor-state.ts';
import {
  checkpointText,
  formatNote,
  logOrigin,
  noteKeyHash,
  parseCheckpoint,
  parseNote,
  signatureIn,
  verifierKey,
} from '../../compiler/format/checkpoint.ts';
import { leafHash } from '../../compiler/format/merkle.ts';
import { printedBy } from '../client/python-gate.ts';
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

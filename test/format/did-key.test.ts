import { hash } from 'node:crypto';
import * as ed from '@noble/ed25519';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientKey, networkKey } from '../../compiler/format/addresses.ts';
import { formatVerifierKey, parseVerifierKey } from '../../compiler/format/checkpoint.ts';
import {
  decodeBase58,
  decodeBase64Url,
  didKey,
  encodeBase58,
  encodeBase64Url,
  parseDidKey,
} from '../../compiler/format/did-key.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 1000);
const fromHex = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
/** Public key of RFC 8032 §7.1, test 1. */
const KEY = fromHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
const DID = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';

const P = 2n ** 255n - 19n;
const littleEndian = (y: bigint, sign: number) => {
  const bytes = new Uint8Array(Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse());
  bytes[31] = (bytes[31] ?? 0) | (sign << 7);
  return bytes;
};
/** A did:key without the refusals of didKey(). */
const rawDid = (key: Uint8Array, codec = [0xed, 0x01]) =>
  `did:key:z${encodeBase58(Uint8Array.from([...codec, ...key]))}`;

describe('didKey() and parseDidKey()', () => {
  it('are each other`s inverse', () => {
    expect(didKey(KEY)).toBe(DID);
    expect(parseDidKey(DID)).toEqual(KEY);
  });
  it('come back from any reduced y', () => {
    const y = fc.uint8Array({ minLength: 31, maxLength: 31 });
    fc.assert(
      // No weak key ends in 0x11.
      fc.property(y, (low) => {
        const key = Uint8Array.of(...low, 0x11);
        expect(parseDidKey(didKey(key))).toEqual(key);
      }),
      { numRuns: RUNS },
    );
  });
  it.each([
    ['nothing', ''],
    ['another method', DID.replace('did:key', 'did:web')],
    ['capital letters', DID.replace('did', 'DID')],
    ['another multibase', DID.replace(':z', ':u')],
    ['a space before', ` ${DID}`],
    ['a line feed behind', `${DID}\n`],
    ['a fragment', `${DID}#${DID.slice(8)}`],
    ['a character less', DID.slice(0, -1)],
    ['a character more', `${DID}1`],
    ['a foreign character', DID.replace('w', '0')],
    ['a leading zero byte', DID.replace(':z', ':z1')],
    ['31 bytes', rawDid(KEY.slice(1))],
    ['33 bytes', rawDid(Uint8Array.of(...KEY, 0))],
    ['an X25519 key', rawDid(KEY, [0xec, 0x01])],
    ['a secp256k1 key', rawDid(KEY, [0xe7, 0x01])],
    ['a codec that is not a varint', rawDid(KEY, [0xed])],
    ['a megabyte', `did:key:z${'6'.repeat(1_000_000)}`],
  ])('I30: parseDidKey() refuses %s', (_name, did) => {
    expect(() => parseDidKey(did)).toThrow(TypeError);
    expect(parseDidKey(DID)).toEqual(KEY);
  });
  it.each([0, 31, 33])('didKey() refuses %i bytes', (length) => {
    expect(() => didKey(new Uint8Array(length).fill(7))).toThrow('not 32 bytes');
  });
});

describe('weak keys', () => {
  const smallOrder = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ];
  it('parseDidKey() refuses the 8 points of small order', () => {
    expect(new Set(smallOrder).size).toBe(8);
    for (const hex of smallOrder) {
      expect(ed.Point.fromHex(hex).isSmallOrder()).toBe(true);
      expect(() => parseDidKey(rawDid(fromHex(hex)))).toThrow('a point of small order');
      expect(() => didKey(fromHex(hex))).toThrow('a point of small order');
    }
  });
  it('parseDidKey() refuses a negative zero x', () => {
    for (const y of [1n, P - 1n]) {
      expect(() => parseDidKey(rawDid(littleEndian(y, 1)))).toThrow('a point of small order');
    }
  });
  it('I30: parseDidKey() refuses all 38 encodings with y >= p', () => {
    for (let y = P; y < 2n ** 255n; y += 1n) {
      for (const sign of [0, 1]) {
        expect(() => parseDidKey(rawDid(littleEndian(y, sign)))).toThrow('a non-canonical point');
      }
    }
  });
  it('parseDidKey() takes the canonical neighbours', () => {
    for (const y of [2n, 3n, P - 2n, P - 3n, P - 256n, 2n ** 254n]) {
      for (const sign of [0, 1]) {
        const key = littleEndian(y, sign);
        expect(parseDidKey(rawDid(key))).toEqual(key);
      }
    }
  });
});

describe('encodeBase58() and decodeBase58()', () => {
  it.each([
    ['', ''],
    ['00', '1'],
    ['000000287fb4cd', '111233QC4'],
    ['61', '2g'],
    ['626262', 'a3gV'],
    ['48656c6c6f20576f726c6421', '2NEpo7TZRRrLZSi2U'],
    ['516b6fcd0f', 'ABnLTmg'],
  ])('know %s', (hex, text) => {
    expect(encodeBase58(fromHex(hex))).toBe(text);
    expect(decodeBase58(text)).toEqual(fromHex(hex));
  });
  it.each(['0', 'O', 'I', 'l', '+', ' ', 'a a', '1\n', 'é', '😀'])(
    'decodeBase58() refuses %j',
    (text) => {
      expect(() => decodeBase58(text)).toThrow(TypeError);
    },
  );
  it('refuse what is too long', () => {
    expect(() => encodeBase58(new Uint8Array(129))).toThrow(RangeError);
    expect(() => decodeBase58('1'.repeat(257))).toThrow(TypeError);
    expect(encodeBase58(new Uint8Array(128))).toHaveLength(128);
  });
  it('come back from any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        expect(decodeBase58(encodeBase58(bytes))).toEqual(bytes);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('encodeBase64Url() and decodeBase64Url()', () => {
  it.each([
    ['', ''],
    ['66', 'Zg'],
    ['666f', 'Zm8'],
    ['666f6f', 'Zm9v'],
    ['fbff', '-_8'],
  ])('know %s', (hex, text) => {
    expect(encodeBase64Url(fromHex(hex))).toBe(text);
    expect(decodeBase64Url(text)).toEqual(fromHex(hex));
  });
  it.each([
    'A',
    'Zh',
    'Zm9',
    'Zg==',
    'Zg=',
    'Zm9v=',
    '+_8',
    '-/8',
    ' Zg',
    'Zg ',
    'Zg\n',
    'Z g',
    'Zé',
    '=====',
  ])('I30: decodeBase64Url() refuses %j', (text) => {
    expect(() => decodeBase64Url(text)).toThrow(TypeError);
  });
  it('I30: bytes have one text', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const text = fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 9 });
    fc.assert(
      fc.property(text, fc.uint8Array({ maxLength: 70 }), (spelling, bytes) => {
        const standard = Buffer.from(bytes).toString('base64url');
        expect(encodeBase64Url(bytes)).toBe(standard);
        expect(decodeBase64Url(standard)).toEqual(bytes);
        let decoded: Uint8Array;
        try {
          decoded = decodeBase64Url(spelling);
        } catch {
          return;
        }
        expect(encodeBase64Url(decoded)).toBe(spelling);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a signature in base58', () => {
  /** RFC 8032 §7.1, test 1, and its spelling by other code. */
  const HEX =
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b';
  const SPELT =
    '5awYiUvGiDFA33EJjj4TXJG44a5afJc8QjWRpGgQiu6b23jCr7yndW2fmp9ujwqJVe32J456wV3VF78Asb1obnTc';

  it('is read and written', () => {
    expect(decodeBase58(SPELT)).toEqual(fromHex(HEX));
    expect(encodeBase58(fromHex(HEX))).toBe(SPELT);
    expect(decodeBase58('112yCnFnSvK')).toEqual(fromHex('0000e5564300c360'));
  });
  it('is refused with a letter that base58 does not have', () => {
    for (const letter of '0OIl') {
      expect(() => decodeBase58(`${SPELT.slice(0, -1)}${letter}`)).toThrow('base58');
    }
  });
});

describe('parseDidKey() beside the code that wrote the vectors', () => {
  it('reads a key that was spelt elsewhere', () => {
    const key = '41031dffdc13554b7ce8e1701041129abb3389be16f3ad8f594a99b9f6f577fa';
    const did = 'did:key:z6Mkiq3JWVpDrky6R99p7eDp9C5K8TMELTQCiDa8x2cYk2t1';
    expect(parseDidKey(did)).toEqual(fromHex(key));
    expect(didKey(fromHex(key))).toBe(did);
  });
});

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/** Keys as others published them: two witnesses, the second by its test, and a log of the Go project. */
const PUBLISHED = [
  ['remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2', 4],
  ['sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8', 1],
] as const;

describe('parseVerifierKey()', () => {
  it.each(PUBLISHED)('reads "%s", and its inverse writes it', (vkey, type) => {
    const key = parseVerifierKey(vkey, sha256);
    expect([key.name, key.type, key.publicKey.length]).toEqual([vkey.split('+')[0], type, 32]);
    expect(formatVerifierKey(key, sha256)).toBe(vkey);
  });

  it('says what is wrong with any other text', () => {
    const [[vkey]] = PUBLISHED;
    const weak = (bytes: Uint8Array): string =>
      formatVerifierKey({ name: 'w', type: 4, publicKey: bytes }, sha256);
    const bad = [
      ['', 'not <name>'],
      ['remora.n621.de', 'not <name>'],
      [vkey.replace('remora', 'rem ora'), 'not <name>'],
      [vkey.replace('da77', 'DA77'), 'not <name>'],
      [vkey.replace('da77', 'da78'), 'its hash'],
      [vkey.replace('remora', 'remorb'), 'its hash'],
      [vkey.replace('+BOv', '+AOv'), 'its hash'],
      [vkey.replace('mtw2', 'mtw'), 'not base64'],
      [vkey.replace('mtw2', ''), 'not 32 bytes'],
      [weak(new Uint8Array(32)), 'can be forged'],
      [weak(new Uint8Array(32).fill(0xff)), 'can be forged'],
      [`w+00000000+${'A'.repeat(5000)}`, 'too long'],
    ] as const;
    for (const [text, why] of bad) {
      expect(() => parseVerifierKey(text, sha256), text).toThrow(why);
    }
  });
});

describe('clientKey()', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1', null],
    ['::ffff:10.0.0.1', '10.0.0.1', null],
    ['2001:db8:0:1::5', '2001:db8:0:1::/64', '2001:db8:0::/48'],
    ['2001:db8:0:1:ffff:2:3:4', '2001:db8:0:1::/64', '2001:db8:0::/48'],
    ['2001:0DB8:00F0::1', '2001:db8:f0:0::/64', '2001:db8:f0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['', '', null],
  ])('counts %s as %s, in the network %s', (address, key, network) => {
    expect(clientKey(address)).toBe(key);
    expect(networkKey(address)).toBe(network);
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { OtsError } from '../../compiler/format/ots-bytes.ts';
import {
  attestationsOf,
  bitcoinHeight,
  CALENDAR_BYTES_MAX,
  formatProof,
  formatTimestamp,
  mergeTimestamps,
  PROOF_BYTES_MAX,
  parseProof,
  parseTimestamp,
  stepTo,
  type Timestamp,
} from '../../compiler/format/ots-proof.ts';

type Attestation = Timestamp['attestations'][number];

const STEPS_DEEP_MAX = 256;
const URI_BYTES_MAX = 1000;
const MESSAGE_BYTES_MAX = 4096;
const STEPS_MAX = 4096;
const DIGEST = new Uint8Array(createHash('sha256').update('a root').digest());
const bytes = (hex: string): Uint8Array =>
  new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex');
const MAGIC = '004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e89294';
const proofOf = (rest: string): Uint8Array => bytes(`${MAGIC} 01 08 ${hex(DIGEST)} ${rest}`);
/** `pending` at a calendar called `a`. */
const PENDING = '00 83dfe30d2ef90c8e 02 01 61';
const HEIGHT_258 = '00 0588960d73d71901 02 8202';
const refused = (proof: Uint8Array) => () => parseProof(proof, DIGEST);
const end =
  (...attestations: readonly Attestation[]) =>
  (message: Uint8Array) => ({
    message,
    attestations,
    steps: [],
  });
const NONE = new Uint8Array(0);

describe('parseProof()', () => {
  it('reads operations, branches and attestations, and writes the same bytes again', () => {
    const text = `ff ${PENDING} f0 02 aabb 08 ff 02 ${HEIGHT_258} f1 01 cc 08 ${PENDING}`;
    const timestamp = parseProof(proofOf(text), DIGEST);
    expect(hex(formatProof(timestamp))).toBe(hex(proofOf(text)));
    const found = [...attestationsOf(timestamp)];
    expect(found.map(({ attestation }) => attestation.kind)).toEqual([
      'pending',
      'bitcoin',
      'pending',
    ]);
    const salted = createHash('sha256').update(Buffer.concat([DIGEST, Buffer.from('aabb', 'hex')]));
    const sha1 = createHash('sha1').update(salted.digest()).digest('hex');
    expect(found.map(({ message }) => hex(message))[1]).toBe(sha1);
  });

  it('computes every operation that proofs use', () => {
    const ends = (tag: string): string => {
      const [found] = [...attestationsOf(parseProof(proofOf(`${tag} ${PENDING}`), DIGEST))];
      return hex(found?.message ?? NONE);
    };
    expect(ends('08')).toBe(createHash('sha256').update(DIGEST).digest('hex'));
    expect(ends('03')).toBe(createHash('ripemd160').update(DIGEST).digest('hex'));
    expect(ends('f2')).toBe(hex(DIGEST.toReversed()));
    expect(ends('f3')).toBe(Buffer.from(hex(DIGEST), 'ascii').toString('hex'));
    expect(ends('67')).toHaveLength(64);
  });

  it('keeps an attestation that it does not know and believes nothing of it', () => {
    const text = '00 0102030405060708 03 aabbcc';
    const timestamp = parseProof(proofOf(text), DIGEST);
    expect(hex(formatProof(timestamp))).toBe(hex(proofOf(text)));
    expect(bitcoinHeight(timestamp)).toBeNull();
  });

  it.each([
    ['another magic', bytes(`01${MAGIC.slice(2)} 01 08 ${hex(DIGEST)} ${PENDING}`)],
    ['another version', bytes(`${MAGIC} 02 08 ${hex(DIGEST)} ${PENDING}`)],
    ['another digest algorithm', bytes(`${MAGIC} 01 02 ${hex(DIGEST)} ${PENDING}`)],
    ['another digest', bytes(`${MAGIC} 01 08 ${'00'.repeat(32)} ${PENDING}`)],
    ['nothing behind the digest', proofOf('')],
    ['a fork without a last branch', proofOf(`ff ${PENDING}`)],
    ['an unknown operation', proofOf(`09 ${PENDING}`)],
    ['an operand without bytes', proofOf(`f0 00 ${PENDING}`)],
    ['an operand that is cut off', proofOf('f0 05 aabb')],
    ['an operand that is too long', proofOf(`f0 8120 ${'00'.repeat(4097)} ${PENDING}`)],
    ['a length in another spelling', proofOf(`f0 8100 aa ${PENDING}`)],
    ['a length beyond any file', proofOf(`f0 ffffffffffffffffff01 ${PENDING}`)],
    ['bytes behind the last attestation', proofOf(`${PENDING} 00`)],
    ['bytes behind a height', proofOf('00 0588960d73d71901 03 820200')],
    ['a height that is cut off', proofOf('00 0588960d73d71901 01 82')],
    ['a calendar address with a space', proofOf('00 83dfe30d2ef90c8e 03 02 6120')],
    ['a calendar address with a line end', proofOf('00 83dfe30d2ef90c8e 03 02 610a')],
    ['a payload beyond its limit', proofOf(`00 0102030405060708 8140 ${'00'.repeat(8193)}`)],
    ['nothing at all', NONE],
  ])('refuses %s', (_, proof) => {
    expect(refused(proof)).toThrow(OtsError);
  });

  it('refuses a message, an address, a depth, a number of steps and a proof beyond their limits', () => {
    const long = `f0 8018 ${'00'.repeat(3072)}`;
    expect(refused(proofOf(`${long} ${long} ${PENDING}`))).toThrow(`${MESSAGE_BYTES_MAX}`);
    expect(refused(proofOf(`${'f3 '.repeat(8)} ${PENDING}`))).toThrow(`${MESSAGE_BYTES_MAX}`);
    const address = '61'.repeat(URI_BYTES_MAX + 1);
    expect(refused(proofOf(`00 83dfe30d2ef90c8e eb07 e907 ${address}`))).toThrow('1001 bytes');
    expect(refused(proofOf(`${'08 '.repeat(STEPS_DEEP_MAX + 1)} ${PENDING}`))).toThrow('in a row');
    expect(() =>
      parseProof(proofOf(`${'08 '.repeat(STEPS_DEEP_MAX)} ${PENDING}`), DIGEST),
    ).not.toThrow();
    expect(refused(proofOf(`${`ff 08 ${PENDING}`.repeat(STEPS_MAX)} ${PENDING}`))).toThrow('steps');
    expect(refused(new Uint8Array(PROOF_BYTES_MAX + 1))).toThrow('longer');
    expect(() => parseTimestamp(new Uint8Array(CALENDAR_BYTES_MAX + 1), DIGEST)).toThrow('longer');
  });

  it('never fails but with an OtsError, whatever byte is changed, cut or added', () => {
    const good = proofOf(`ff ${PENDING} f0 02 aabb 08 ff 02 ${HEIGHT_258} f1 01 cc 08 ${PENDING}`);
    let refusals = 0;
    for (let at = 0; at < good.length; at += 1) {
      for (const change of [1, 0x80, 0xff]) {
        const bad = Uint8Array.from(good);
        bad[at] = (bad[at] ?? 0) ^ change;
        refusals += refusal(bad);
      }
      refusals += refusal(good.slice(0, at));
    }
    expect(refusals).toBeGreaterThan(3 * 65);
  });
});

function refusal(proof: Uint8Array): number {
  try {
    parseProof(proof, DIGEST);
    return 0;
  } catch (error) {
    expect(error).toBeInstanceOf(OtsError);
    return 1;
  }
}

describe('mergeTimestamps()', () => {
  const stamp = (operand: Uint8Array, attestation: Attestation): Timestamp =>
    stepTo(DIGEST, { tag: 0xf0, operand }, end(attestation));
  const pending = (uri: string): Attestation => ({ kind: 'pending', uri });

  it('follows equal operations together and keeps equal attestations once', () => {
    const one = stamp(Uint8Array.of(1), pending('a'));
    const merged = mergeTimestamps(one, stamp(Uint8Array.of(1), pending('b')));
    expect(merged.steps).toHaveLength(1);
    expect([...attestationsOf(mergeTimestamps(merged, one))]).toHaveLength(2);
    const bytes = formatTimestamp(merged);
    expect(parseTimestamp(bytes, DIGEST)).toEqual(merged);
  });

  it('writes the same bytes in whatever order the branches came', () => {
    const all = [
      stamp(Uint8Array.of(2), pending('a')),
      stamp(Uint8Array.of(1), pending('b')),
    ] as const;
    expect(formatProof(mergeTimestamps(all[0], all[1]))).toEqual(
      formatProof(mergeTimestamps(all[1], all[0])),
    );
  });

  it('refuses timestamps of two messages', () => {
    const other = { message: Uint8Array.of(1), attestations: [pending('a')], steps: [] };
    expect(() => mergeTimestamps(stamp(Uint8Array.of(1), pending('a')), other)).toThrow(OtsError);
  });
});

describe('bitcoinHeight()', () => {
  it('is the lowest height of a message that a header can hold', () => {
    const ends = (height: number): Attestation => ({ kind: 'bitcoin', height });
    expect(bitcoinHeight(end(ends(9), ends(7))(DIGEST))).toBe(7);
    expect(bitcoinHeight(end(ends(9))(DIGEST.slice(1)))).toBeNull();
    expect(bitcoinHeight(end({ kind: 'pending', uri: 'a' })(DIGEST))).toBeNull();
  });
});

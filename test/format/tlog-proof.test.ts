import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkpointText, formatNote, noteKeyHash } from '../../compiler/format/checkpoint.ts';
import {
  completeLevels,
  inclusionRanges,
  leafHash,
  rangeHash,
} from '../../compiler/format/merkle.ts';
import {
  formatTlogProof,
  isLeafProven,
  parseTlogProof,
  TLOG_PROOF_BYTES_MAX,
} from '../../compiler/format/tlog-proof.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
const NAME = 'readings.example/log';
const KEY = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'2a'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
});
const PUBLIC_KEY = createPublicKey(KEY).export({ format: 'der', type: 'spki' }).subarray(-32);

const leafOf = (at: number): Uint8Array => leafHash(Buffer.from(`entry ${at}`), sha256);

function proofOf(index: number, size: number) {
  const levels = completeLevels(
    Array.from({ length: size }, (_, at) => leafOf(at)),
    sha256,
  );
  const hashes = inclusionRanges(index, size).map((range) => rangeHash(range, levels, sha256));
  const root = rangeHash({ start: 0, end: size }, levels, sha256);
  const text = checkpointText({ origin: NAME, size, root });
  const keyHash = noteKeyHash(NAME, PUBLIC_KEY, sha256);
  const signature = new Uint8Array(sign(null, Buffer.from(text), KEY));
  const checkpoint = formatNote({ text, signatures: [{ name: NAME, keyHash, signature }] });
  return { index, hashes, checkpoint };
}

describe('formatTlogProof()', () => {
  it('writes the lines of C2SP tlog-proof@v1', () => {
    const proof = proofOf(2, 3);
    const [sibling = new Uint8Array()] = proof.hashes;
    expect(formatTlogProof({ ...proof, extra: Buffer.from('hello') })).toBe(
      `c2sp.org/tlog-proof@v1\nextra aGVsbG8=\nindex 2\n${Buffer.from(sibling).toString('base64')}\n\n${proof.checkpoint}`,
    );
  });

  it('refuses to write what cannot be read', () => {
    const proof = proofOf(2, 3);
    const wrong = [
      { ...proof, index: 3 },
      { ...proof, index: -1 },
      { ...proof, hashes: [] },
      { ...proof, hashes: [...proof.hashes, ...proof.hashes] },
      { ...proof, hashes: [new Uint8Array(31)] },
      { ...proof, checkpoint: '' },
      { ...proof, extra: new Uint8Array(0) },
      { ...proof, extra: new Uint8Array(4097) },
    ];
    for (const each of wrong) expect(() => formatTlogProof(each)).toThrow(RangeError);
  });
});

describe('parseTlogProof()', () => {
  it('reads every proof of every small tree, and each proves its own leaf alone', () => {
    for (let size = 1; size <= 20; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const proof = proofOf(index, size);
        const read = parseTlogProof(formatTlogProof(proof));
        expect(read).toMatchObject({ index, checkpoint: proof.checkpoint });
        expect(read.signed).toMatchObject({ origin: NAME, size });
        expect(isLeafProven(read, leafOf(index), sha256)).toBe(true);
        expect(isLeafProven(read, leafOf(index + 1), sha256)).toBe(false);
      }
    }
  });

  it('keeps extra data, and signature lines of keys that it does not know', () => {
    const proof = proofOf(4, 9);
    const checkpoint = `${proof.checkpoint}\u2014 witness.example ${Buffer.alloc(76, 7).toString('base64')}\n`;
    const extra = new Uint8Array([1, 2, 3]);
    const read = parseTlogProof(formatTlogProof({ ...proof, checkpoint, extra }));
    expect(read.extra).toEqual(extra);
    expect(read.note.signatures.map(({ name }) => name)).toEqual([NAME, 'witness.example']);
  });

  it('says what is wrong with every other text', () => {
    const good = formatTlogProof(proofOf(4, 9));
    const bad: readonly (readonly [string, RegExp])[] = [
      ['', /no empty line/],
      [good.slice(0, good.indexOf('\n\n')), /no empty line/],
      [` ${good}`, /first line/],
      [good.replace('@v1', '@v2'), /first line/],
      [good.replaceAll('\n', '\r\n'), /no empty line/],
      [good.replace('index 4', 'index 04'), /"index <position>"/],
      [good.replace('index 4', 'index -4'), /"index <position>"/],
      [good.replace('index 4', 'index 9007199254740993'), /"index <position>"/],
      [good.replace('index 4\n', ''), /"index <position>"/],
      [good.replace('index 4', 'extra !\nindex 4'), /extra data/],
      [good.replace('index 4', 'extra \nindex 4'), /extra data/],
      [good.replace('index 4', 'index 9'), /entry 9 of a log of 9/],
      [good.replace('index 4', 'index 8'), /needs 1/],
      [good.replace('index 4', 'index 4\nAAAA'), /hash 1 .* 32 bytes/],
      [good.replace(/\n\n[\s\S]*$/, '\n\nno checkpoint'), /signed checkpoint/],
      [good.replace('\n9\n', '\n9\n\n'), /signed checkpoint/],
      [good.trimEnd(), /signed checkpoint/],
      [`${good}\n`, /signed checkpoint/],
      [`${good}${'x'.repeat(TLOG_PROOF_BYTES_MAX)}`, /longer than/],
    ];
    for (const [text, why] of bad) expect(() => parseTlogProof(text), text).toThrow(why);
  });

  it('proves nothing once any hash of it is another', () => {
    const text = formatTlogProof(proofOf(4, 9));
    const read = parseTlogProof(text);
    for (const [at] of read.hashes.entries()) {
      const hashes = read.hashes.map((one, place) => (place === at ? leafOf(at) : one));
      expect(isLeafProven({ ...read, hashes }, leafOf(4), sha256)).toBe(false);
    }
    expect(isLeafProven({ ...read, index: 5 }, leafOf(4), sha256)).toBe(false);
    expect(isLeafProven(read, leafOf(4), sha256)).toBe(true);
  });
});

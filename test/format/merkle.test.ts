import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkpointText, formatNote, noteKeyHash } from '../../compiler/format/checkpoint.ts';
import {
  besideRanges,
  completeLevels,
  consistencyRanges,
  hashOfSubtrees,
  inclusionRanges,
  leafHash,
  nodeHash,
  type Range,
  rangeHash,
  type Subtree,
  stretchRoot,
  subtreesOf,
  verifyConsistency,
  verifyInclusion,
} from '../../compiler/format/merkle.ts';
import {
  bundleEntries,
  encodeBundle,
  logEntry,
  parseTilePath,
  type Tile,
  tileOfSubtree,
  tilePath,
  tilesOf,
} from '../../compiler/format/tiles.ts';
import {
  formatTlogProof,
  isLeafProven,
  parseTlogProof,
  TLOG_PROOF_BYTES_MAX,
} from '../../compiler/format/tlog-proof.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex');

/** A tree by the recursive definition of RFC 6962, so that it shares nothing with what it checks. */
function treeHash(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length === 0) return sha256(Buffer.alloc(0));
  if (entries.length === 1) return sha256(Buffer.concat([Buffer.of(0), entries[0] as Uint8Array]));
  let middle = 1;
  while (middle * 2 < entries.length) middle *= 2;
  const halves = [treeHash(entries.slice(0, middle)), treeHash(entries.slice(middle))];
  return sha256(Buffer.concat([Buffer.of(1), ...halves]));
}

const ENTRIES = Array.from({ length: 41 }, (_, at) => Buffer.from(`entry ${at}`));
const ROOTS = Array.from({ length: ENTRIES.length + 1 }, (_, size) =>
  treeHash(ENTRIES.slice(0, size)),
);
const rootOf = (size: number): Uint8Array => ROOTS[size] as Uint8Array;
const subtree = ({ height, index }: Subtree): Uint8Array =>
  treeHash(ENTRIES.slice(index * 2 ** height, (index + 1) * 2 ** height));
const treeRangeHash = (range: Range): Uint8Array =>
  hashOfSubtrees(subtreesOf(range).map(subtree), sha256);
const inclusionOf = (index: number, size: number) => ({
  index,
  size,
  leaf: leafHash(ENTRIES[index] as Uint8Array, sha256),
  proof: inclusionRanges(index, size).map(treeRangeHash),
  root: rootOf(size),
});
const consistencyOf = (size1: number, size2: number) => ({
  size1,
  size2,
  root1: rootOf(size1),
  root2: rootOf(size2),
  proof: consistencyRanges(size1, size2).map(treeRangeHash),
});

describe('hashOfSubtrees()', () => {
  it('gives the roots of the Certificate Transparency example at every size', () => {
    const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657'];
    const roots = [
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ];
    const hashes = leaves.map((leaf) => leafHash(Buffer.from(leaf, 'hex'), sha256));
    const at = ({ height, index }: Subtree): Uint8Array => {
      if (height === 0) return hashes[index] as Uint8Array;
      const [left, right] = [2 * index, 2 * index + 1];
      return nodeHash(
        at({ height: height - 1, index: left }),
        at({ height: height - 1, index: right }),
        sha256,
      );
    };
    for (const [size, root] of roots.entries()) {
      const parts = subtreesOf({ start: 0, end: size }).map(at);
      expect(hex(hashOfSubtrees(parts, sha256))).toBe(root);
    }
  });
});

describe('verifyInclusion()', () => {
  it('accepts the proof of every entry of every small tree, and refuses it for another entry', () => {
    for (let size = 1; size <= ENTRIES.length; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const proof = inclusionOf(index, size);
        expect(verifyInclusion(proof, sha256)).toBe(true);
        expect(verifyInclusion({ ...proof, index: index + 1 }, sha256)).toBe(false);
      }
    }
  });

  it('plans proofs up to 2^53 entries and no further', () => {
    const top = Number.MAX_SAFE_INTEGER;
    expect(inclusionRanges(0, top)).toHaveLength(53);
    expect(inclusionRanges(top - 1, top)).toHaveLength(52);
    expect(() => inclusionRanges(0, 2 ** 53)).toThrow(RangeError);
    expect(() => inclusionRanges(5, 5)).toThrow(RangeError);
  });

  it('I27: accepts none of 10,000 altered proofs: index, size, side, order, length, bytes', () => {
    const trials = mutations(10_000);
    const accepted = trials.filter((claim) => verifyInclusion(claim, sha256));
    expect(accepted).toEqual([]);
    expect(trials).toHaveLength(10_000);
  });
});

describe('stretchRoot()', () => {
  const leaves = ENTRIES.map((entry) => leafHash(entry, sha256));
  const stretchOf = (size: number, { start, end }: Range) => {
    const levels = completeLevels(leaves.slice(0, size), sha256);
    const beside = besideRanges({ start, end }, size);
    return {
      size,
      start,
      leaves: leaves.slice(start, end),
      beside: beside.map((range) => rangeHash(range, levels, sha256)),
    };
  };

  /** Stretches of every small tree: each start, every third end. */
  const SIZES = Array.from({ length: ENTRIES.length }, (_, at) => at + 1);
  const STRETCHES = SIZES.flatMap((size) =>
    SIZES.filter((end) => end <= size).flatMap((end) =>
      SIZES.filter((start) => start <= end && (end - start) % 3 === 0).map((start) =>
        stretchOf(size, { start: start - 1, end }),
      ),
    ),
  );

  it('leads every stretch of every small tree to its root, and no other stretch', () => {
    for (const stretch of STRETCHES) {
      const { size, start, leaves: own, beside } = stretch;
      const rootWith = (more: object): string =>
        hex(stretchRoot({ ...stretch, ...more }, sha256) ?? Buffer.alloc(0));
      expect(rootWith({})).toBe(hex(rootOf(size)));
      const lies = [
        { start: start + 1 },
        { leaves: own.slice(1) },
        { leaves: [...own, ...own] },
        { beside: [...beside, ...beside, rootOf(0)] },
        { leaves: own.toSpliced(0, 1, rootOf(0)) },
      ].map(rootWith);
      expect(lies).not.toContain(hex(rootOf(size)));
    }
    expect(STRETCHES.length).toBeGreaterThan(3000);
  });

  it('is an inclusion proof for one entry', () => {
    const { leaf, proof, root } = inclusionOf(6, 13);
    const { beside, leaves: own } = stretchOf(13, { start: 6, end: 7 });
    expect(new Set(beside.map(hex))).toEqual(new Set(proof.map(hex)));
    expect([own.map(hex), hex(rootOf(13))]).toEqual([[hex(leaf)], hex(root)]);
  });

  it('refuses a place outside of the tree, and hashes of another length', () => {
    const stretch = stretchOf(9, { start: 2, end: 4 });
    const lies = [
      { start: -1 },
      { start: 8 },
      { start: 0.5 },
      { size: 3 },
      { size: Number.NaN },
      { size: 2 ** 53 },
      { leaves: [] },
      { leaves: [Buffer.alloc(31), Buffer.alloc(32)] },
      { beside: stretch.beside.map(() => Buffer.alloc(33)) },
    ];
    for (const lie of lies) expect(stretchRoot({ ...stretch, ...lie }, sha256)).toBe(null);
    for (const [start, end, size] of [
      [0, 0, 5],
      [3, 6, 5],
      [-1, 2, 5],
    ] as const) {
      expect(() => besideRanges({ start, end }, size)).toThrow(RangeError);
    }
  });
});

describe('verifyConsistency()', () => {
  it('accepts the proof of every growth of small trees, and refuses a root that is not the old one', () => {
    for (let size2 = 1; size2 <= ENTRIES.length; size2 += 1) {
      for (let size1 = 1; size1 <= size2; size1 += 1) {
        const proof = consistencyOf(size1, size2);
        expect(verifyConsistency(proof, sha256)).toBe(true);
        expect(verifyConsistency({ ...proof, root1: rootOf(size1 - 1) }, sha256)).toBe(false);
      }
    }
  });

  it('refuses growth from nothing, shrinking and sizes that are no numbers', () => {
    const proof = consistencyOf(3, 7);
    const sizes = [
      [0, 7],
      [8, 7],
      [3.5, 7],
      [3, Number.NaN],
      [-1, 7],
      [3, 2 ** 53],
    ] as const;
    for (const [size1, size2] of sizes) {
      expect(verifyConsistency({ ...proof, size1, size2 }, sha256)).toBe(false);
      expect(() => consistencyRanges(size1, size2)).toThrow(RangeError);
    }
  });

  it('I27: notices 5,000 altered proofs of growth', () => {
    const next = numbers(11);
    for (let trial = 0; trial < 5000; trial += 1) {
      const size2 = 2 + next(ENTRIES.length - 2);
      const good = consistencyOf(1 + next(size2 - 1), size2);
      expect(verifyConsistency(altered(good, next), sha256)).toBe(false);
    }
  });
});

/** Numbers below a limit, the same ones for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function flipped(value: Uint8Array, next: (below: number) => number): Uint8Array {
  const copy = Uint8Array.from(value);
  const at = next(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << next(8));
  return copy;
}

/** Proofs that differ from a good one in one place. */
function mutations(count: number): ReturnType<typeof inclusionOf>[] {
  const next = numbers(7);
  return Array.from({ length: count }, (_, trial) => {
    const size = 2 + next(ENTRIES.length - 2);
    const good = inclusionOf(next(size), size);
    const { index, proof, leaf, root } = good;
    const at = next(proof.length);
    const other = proof.with(at, flipped(proof[at] as Uint8Array, next));
    const all = [
      { ...good, index: (index + 1 + next(size - 1)) % size },
      { ...good, index: -1 - index },
      { ...good, index: index + 0.5 },
      { ...good, size: index },
      { ...good, size: size * 4 + next(100) },
      { ...good, proof: [] },
      { ...good, proof: proof.slice(1) },
      { ...good, proof: proof.slice(0, -1) },
      { ...good, proof: [...proof, root] },
      { ...good, proof: [new Uint8Array(0), ...proof] },
      { ...good, proof: proof.with(at, (proof[at] as Uint8Array).subarray(0, 31)) },
      { ...good, proof: other },
      { ...good, leaf: flipped(leaf, next) },
      { ...good, leaf: nodeHash(leaf, leaf, sha256) },
      { ...good, root: flipped(root, next) },
      { ...good, root: new Uint8Array(0) },
      { ...good, proof: proof.with(at, leaf) },
      ...(proof.length > 1 ? [{ ...good, proof: proof.toReversed() }] : []),
    ];
    return all[trial % all.length] as (typeof all)[number];
  });
}

function altered(good: ReturnType<typeof consistencyOf>, next: (below: number) => number) {
  const { size1, size2, root1, root2, proof } = good;
  const at = next(proof.length);
  const all = [
    { ...good, root1: flipped(root1, next) },
    { ...good, root2: flipped(root2, next) },
    { ...good, root1: root2, root2: root1 },
    { ...good, size2: size1 },
    { ...good, size1: size2 },
    { ...good, size2: size2 * 4 + 1 },
    { ...good, proof: [] },
    { ...good, proof: proof.slice(1) },
    { ...good, proof: proof.slice(0, -1) },
    { ...good, proof: [...proof, root2] },
    { ...good, proof: [new Uint8Array(0), ...proof] },
    { ...good, proof: proof.with(at, flipped(proof[at] as Uint8Array, next)) },
  ];
  return all[next(all.length)] as (typeof all)[number];
}

interface InclusionRow {
  readonly comment: string;
  readonly index: number;
  readonly size: number;
  readonly leaf: string;
  readonly proof: readonly string[];
  readonly root: string;
  readonly valid: boolean;
}
interface ConsistencyRow {
  readonly comment: string;
  readonly size1: number;
  readonly size2: number;
  readonly root1: string;
  readonly root2: string;
  readonly proof: readonly string[];
  readonly valid: boolean;
}

describe('proofs that other code made', () => {
  const read = (name: string) => JSON.parse(readFileSync(`test/vectors/${name}`, 'utf8'));
  const fromHex = (text: string): Uint8Array => Buffer.from(text, 'hex');

  it('verifyInclusion() judges every vector as it says', () => {
    const rows = read('inclusion.json') as InclusionRow[];
    const wrong = rows.filter(({ leaf, proof, root, valid, ...row }) => {
      const nodes = { leaf: fromHex(leaf), proof: proof.map(fromHex), root: fromHex(root) };
      return verifyInclusion({ ...row, ...nodes }, sha256) !== valid;
    });
    expect(wrong).toEqual([]);
    expect(rows.filter(({ valid }) => valid)).toHaveLength(3);
  });

  it('verifyConsistency() judges every vector as it says', () => {
    const rows = read('consistency.json') as ConsistencyRow[];
    const wrong = rows.filter(({ root1, root2, proof, valid, ...row }) => {
      const nodes = { root1: fromHex(root1), root2: fromHex(root2), proof: proof.map(fromHex) };
      return verifyConsistency({ ...row, ...nodes }, sha256) !== valid;
    });
    expect(wrong).toEqual([]);
    expect(rows.filter(({ valid }) => valid)).toHaveLength(4);
  });
});

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

const HASHES = [0, 1, 2].map((digit) => `sha256:${String(digit).repeat(64)}`);

describe('tilePath()', () => {
  const paths: readonly (readonly [Tile, string])[] = [
    [{ level: 0, index: 0, width: 256 }, 'log/tile/0/000'],
    [{ level: 0, index: 999, width: 1 }, 'log/tile/0/999.p/1'],
    [{ level: 1, index: 1000, width: 255 }, 'log/tile/1/x001/000.p/255'],
    [{ level: 2, index: 1_234_067, width: 256 }, 'log/tile/2/x001/x234/067'],
    [{ level: 'entries', index: 1_234_067, width: 8 }, 'log/tile/entries/x001/x234/067.p/8'],
  ];

  it.each(paths)('spells %j', (tile, path) => {
    expect(tilePath(tile)).toBe(path);
    expect(parseTilePath(path)).toEqual(tile);
  });

  it('has one spelling for each tile: every other is refused', () => {
    const bad = [
      'log/tile/0/0',
      'log/tile/0/x000/000',
      'log/tile/0/001/000',
      'log/tile/0/000.p/0',
      'log/tile/0/000.p/256',
      'log/tile/0/000.p/01',
      'log/tile/00/000',
      'log/tile/x/000',
      'tile/0/000',
      'log/tile/0/000/',
    ];
    for (const path of bad) expect([path, parseTilePath(path)]).toEqual([path, null]);
  });
});

describe('tilesOf()', () => {
  it('lists the tiles of every level and the bundles', () => {
    expect(tilesOf(0)).toEqual([]);
    expect(tilesOf(1).map(tilePath)).toEqual(['log/tile/0/000.p/1', 'log/tile/entries/000.p/1']);
    expect(tilesOf(256).map(tilePath)).toEqual([
      'log/tile/0/000',
      'log/tile/1/000.p/1',
      'log/tile/entries/000',
    ]);
    expect(tilesOf(70_000)).toHaveLength(274 + 2 + 1 + 274);
  });
});

describe('tileOfSubtree()', () => {
  it('finds the tile that holds a subtree, in the width that a size gives it', () => {
    expect(tileOfSubtree({ height: 0, index: 300 }, 310)).toEqual({
      tile: { level: 0, index: 1, width: 54 },
      height: 0,
      offset: 44,
    });
    expect(tileOfSubtree({ height: 3, index: 33 }, 300)).toMatchObject({ height: 3, offset: 8 });
    expect(tileOfSubtree({ height: 9, index: 0 }, 600)).toEqual({
      tile: { level: 1, index: 0, width: 2 },
      height: 1,
      offset: 0,
    });
  });
});

describe('bundleEntries()', () => {
  it('is the inverse of encodeBundle, for entries of any length', () => {
    const entries = [...HASHES.map(logEntry), new Uint8Array(0), new Uint8Array(65_535).fill(7)];
    expect(bundleEntries(encodeBundle(entries))).toEqual(entries);
    expect(bundleEntries(new Uint8Array(0))).toEqual([]);
  });

  it('refuses what is cut off', () => {
    const good = encodeBundle(HASHES.map(logEntry));
    expect(() => bundleEntries(good.slice(0, -1))).toThrow('entry 2');
    expect(() => bundleEntries(good.slice(0, 1))).toThrow('entry 0');
    expect(() => bundleEntries(good.with(0, 1))).toThrow('entry 0');
  });
});

describe('logEntry()', () => {
  it('refuses a text that is no record hash', () => {
    for (const text of ['', 'sha256:00', `SHA256:${'0'.repeat(64)}`, `sha256:${'A'.repeat(64)}`]) {
      expect(() => logEntry(text)).toThrow(RangeError);
    }
  });
});

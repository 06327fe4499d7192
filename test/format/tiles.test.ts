import { describe, expect, it } from 'vitest';
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

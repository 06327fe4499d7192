import { describe, expect, it } from 'vitest';
import { type Position, regionBox, ringInBox } from '../../../compiler/import/region-box.ts';
import { closeAtBorder } from '../../../compiler/import/sources/spc/us-outline.ts';

const KANSAS = regionBox([37.5, 39.5], [-100, -97]);
const FLORIDA = regionBox([26, 28], [-82, -80.5]);
const IDAHO = regionBox([43, 45], [-116, -113]);
const covered = (lines: readonly (readonly Position[])[]) => {
  const rings = closeAtBorder(lines);
  return [KANSAS, FLORIDA, IDAHO].map((box) =>
    Number(rings.reduce((sum, ring) => sum + ringInBox(ring, box), 0).toFixed(1)),
  );
};
const NORTHWARD: readonly Position[] = [
  [-105, 29],
  [-105, 49.5],
];
const SOUTHWARD: readonly Position[] = [
  [-90, 49],
  [-90, 28.5],
];
const ACROSS_FLORIDA: readonly Position[] = [
  [-83.2, 28.5],
  [-80, 28.5],
];

describe('closeAtBorder()', () => {
  it('takes what lies to the right of a line', () => {
    expect(covered([NORTHWARD])).toEqual([1, 1, 0]);
    expect(covered([NORTHWARD.toReversed()])).toEqual([0, 0, 1]);
  });

  it('takes what lies between two lines', () => {
    expect(covered([NORTHWARD, SOUTHWARD])).toEqual([1, 0, 0]);
    expect(covered([NORTHWARD.toReversed(), SOUTHWARD.toReversed()])).toEqual([0, 1, 1]);
  });

  it('takes the land behind a line whose ends are close to each other', () => {
    expect(covered([ACROSS_FLORIDA])).toEqual([0, 1, 0]);
    expect(covered([ACROSS_FLORIDA.toReversed()])).toEqual([1, 0, 1]);
  });

  it('is empty without lines', () => {
    expect(closeAtBorder([])).toEqual([]);
  });

  it('I55: refuses a line that ends inland', () => {
    expect(() => closeAtBorder([[...NORTHWARD.slice(0, 1), [-100, 40]]])).toThrow(
      'a line ends at 40 -100, far from the border',
    );
  });
});

import { describe, expect, it } from 'vitest';
import {
  clockwiseArea,
  type Position,
  regionBox,
  ringInBox,
} from '../../compiler/import/region-box.ts';

const BOX = regionBox([30, 40], [-100, -90]);
const ring = (...points: readonly Position[]): readonly Position[] => points;
const SQUARE = ring([-100, 30], [-100, 40], [-90, 40], [-90, 30], [-100, 30]);

describe('ringInBox()', () => {
  it.each([
    ['the box itself', SQUARE, 1],
    ['more than the box', ring([-120, 20], [-120, 50], [-80, 50], [-80, 20]), 1],
    ['its eastern half', ring([-95, 20], [-95, 50], [-80, 50], [-80, 20]), 0.5],
    ['one of its corners', ring([-91, 39], [-91, 41], [-89, 41], [-89, 39]), 0.01],
    ['half of it by a slope', ring([-100, 30], [-90, 40], [-90, 30]), 0.5],
    [
      'the north and the south, joined beyond its west',
      ring(
        [-110, 28],
        [-110, 42],
        [-80, 42],
        [-80, 38],
        [-105, 38],
        [-105, 32],
        [-80, 32],
        [-80, 28],
      ),
      0.4,
    ],
    ['a place beside it', ring([-80, 30], [-80, 40], [-70, 40], [-70, 30]), 0],
    ['a place around its edge', ring([-100, 20], [-100, 30], [-90, 30], [-90, 20]), 0],
    ['nothing', [], 0],
  ])('is the part of the box that covers %s', (_name, points, part) => {
    expect(ringInBox(points, BOX)).toBeCloseTo(part, 9);
  });

  it('is below 0 for a ring that runs the other way, so that a hole takes away', () => {
    expect(ringInBox(SQUARE.toReversed(), BOX)).toBeCloseTo(-1, 9);
    const hole = ring([-98, 32], [-92, 32], [-92, 38], [-98, 38]);
    expect(ringInBox(SQUARE, BOX) + ringInBox(hole, BOX)).toBeCloseTo(0.64, 9);
  });
});

describe('clockwiseArea()', () => {
  it('has the sign of the direction', () => {
    expect(clockwiseArea(SQUARE)).toBe(100);
    expect(clockwiseArea(SQUARE.toReversed())).toBe(-100);
  });
});

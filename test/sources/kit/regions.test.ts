import { describe, expect, it } from 'vitest';
import { BUILTIN, builtinLine } from '../../../compiler/catalog/builtin.ts';
import { placesOf } from '../../../compiler/catalog/catalog.ts';
import { CROSSINGS } from '../../../compiler/sources/agencies/cbp-bwt.ts';
import {
  EARTHQUAKE_BOXES,
  regionScope,
} from '../../../compiler/sources/agencies/earthquake-events.ts';
import { TICKER_CIKS } from '../../../compiler/sources/agencies/edgar-ownership.ts';
import { AUTHORITIES } from '../../../compiler/sources/agencies/eia.ts';
import { FIRE_BOXES } from '../../../compiler/sources/agencies/nasa-firms.ts';
import { CLASSES, drugOf } from '../../../compiler/sources/agencies/openfda.ts';
import { closeAtBorder } from '../../../compiler/sources/agencies/spc.ts';
import { DROUGHT_STATES, STATE_CODES } from '../../../compiler/sources/agencies/usdm.ts';
import {
  CONVECTION_AREAS,
  clockwiseArea,
  inBox,
  type Position,
  regionBox,
  ringInBox,
} from '../../../compiler/sources/kit/regions.ts';

describe('our tables', () => {
  it.each([
    ['earthquake', Object.keys(EARTHQUAKE_BOXES)],
    ['wildfire', Object.keys(FIRE_BOXES)],
    ['severe-convection', [...CONVECTION_AREAS.keys()]],
    ['drought', Object.keys(DROUGHT_STATES)],
    ['grid-reliability', Object.keys(AUTHORITIES)],
    ['border-wait', CROSSINGS.map(({ entity }) => entity)],
    ['filing', [...TICKER_CIKS.keys()]],
    ['drug-shortage', [...CLASSES.values()]],
  ])('of the line %s name each of its entities, and no other', (line, entities) => {
    expect([...entities].sort()).toEqual([...builtinLine(line).entities].sort());
  });

  it('have boxes that are boxes, each with its scope that says whose it is', () => {
    for (const box of Object.values(EARTHQUAKE_BOXES)) {
      expect(box.south).toBeLessThan(box.north);
      expect(regionScope(box)).toContain('ours');
    }
  });

  it('have counties in the states of their region, and its place in its box', () => {
    for (const [entity, { states, zones, box }] of CONVECTION_AREAS) {
      const named = new Set([...zones].map((zone) => /^([A-Z]{2})C\d{3}$/.exec(zone)?.[1]));
      expect([...named]).toEqual(states);
      const place = placesOf(BUILTIN, 'severe-convection').get(entity);
      expect([entity, place && inBox(box, place.longitude, place.latitude)]).toEqual([
        entity,
        true,
      ]);
    }
  });

  it('have a code for each state in drought, none of them twice', () => {
    const states = Object.values(DROUGHT_STATES).flat();
    expect(new Set(states).size).toBe(states.length);
    expect([...STATE_CODES.keys()].sort()).toEqual([...states].sort());
    expect(new Set(STATE_CODES.values()).size).toBe(states.length);
  });

  it('have a port of its own for each crossing, and know each drug by its words', () => {
    expect(new Set(CROSSINGS.map(({ port }) => port)).size).toBe(CROSSINGS.length);
    for (const drug of builtinLine('drug-detail').entities)
      expect(drugOf(`${drug.replaceAll('-', ' ')} injection`)).toBe(drug);
  });
});

describe('inBox()', () => {
  const pacific = { south: 50, north: 72, west: 170, east: -130 };

  it('takes both sides of longitude 180', () => {
    for (const longitude of [179.9, -179.9, 180, -180, 170, -130]) {
      expect(inBox(pacific, longitude, 55)).toBe(true);
    }
  });

  it('leaves out what lies beyond an edge', () => {
    expect(inBox(pacific, 169.9, 55)).toBe(false);
    expect(inBox(pacific, -129.9, 55)).toBe(false);
    expect(inBox(pacific, 0, 55)).toBe(false);
    expect(inBox(pacific, 180, 49.9)).toBe(false);
  });
});

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

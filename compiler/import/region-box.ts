import { defined } from '../contract/defined.ts';

/** A latitude and longitude box in degrees; `west` above `east` means that it crosses 180. */
export interface RegionBox {
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
}

export function regionBox(
  latitudes: readonly [south: number, north: number],
  longitudes: readonly [west: number, east: number],
): RegionBox {
  const [south, north] = latitudes;
  const [west, east] = longitudes;
  return { south, north, west, east };
}

/** Whether a place lies in a box, edges included, on either side of longitude 180. */
export function inBox(area: RegionBox, longitude: number, latitude: number): boolean {
  if (latitude < area.south || latitude > area.north) return false;
  if (area.west <= area.east) return longitude >= area.west && longitude <= area.east;
  return longitude >= area.west || longitude <= area.east;
}

/** The box as text for `scope`. */
export function boxText({ south, north, west, east }: RegionBox): string {
  return (
    `region box latitude ${south} to ${north}, longitude ${west} to ${east}` +
    `${west > east ? ' across 180' : ''}`
  );
}

/** Degrees east and north. */
export type Position = readonly [longitude: number, latitude: number];

/** One side of a box: which coordinate it limits, where, and on which side of it the box lies. */
interface BoxSide {
  readonly axis: 0 | 1;
  readonly at: number;
  readonly inward: 1 | -1;
}

/**
 * Part of a box that a ring of positions covers, 0 to 1: above 0 for a ring that runs clockwise, below 0 for one that runs
 * the other way. The ring is cut at each side of the box in turn (Sutherland and Hodgman, 1974). The box must not cross
 * longitude 180.
 */
export function ringInBox(ring: readonly Position[], box: RegionBox): number {
  const { south, north, west, east } = box;
  const sides: readonly BoxSide[] = [
    { axis: 0, at: west, inward: 1 },
    { axis: 0, at: east, inward: -1 },
    { axis: 1, at: south, inward: 1 },
    { axis: 1, at: north, inward: -1 },
  ];
  return clockwiseArea(sides.reduce(cut, ring)) / ((north - south) * (east - west));
}

function cut(ring: readonly Position[], { axis, at, inward }: BoxSide): readonly Position[] {
  const isInside = (point: Position): boolean => inward * (point[axis] - at) >= 0;
  return edges(ring).flatMap(([from, to]) => {
    const kept = isInside(from) ? [from] : [];
    if (isInside(from) === isInside(to)) return kept;
    const part = (at - from[axis]) / (to[axis] - from[axis]);
    const crossing: Position = [
      from[0] + part * (to[0] - from[0]),
      from[1] + part * (to[1] - from[1]),
    ];
    return [...kept, crossing];
  });
}

/** Area of a ring in square degrees; below 0 where it runs counterclockwise. */
export function clockwiseArea(ring: readonly Position[]): number {
  return edges(ring).reduce((sum, [from, to]) => sum + to[0] * from[1] - from[0] * to[1], 0) / 2;
}

function edges(ring: readonly Position[]): (readonly [from: Position, to: Position])[] {
  return ring.map((from, at) => [from, defined(ring[(at + 1) % ring.length], 'the next corner')]);
}

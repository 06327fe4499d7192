import { defined } from '../../../contract/defined.ts';
import type { Position } from '../../region-box.ts';

/**
 * The border of the 48 states in short, clockwise from the north-west corner: longitude and latitude (ours; about a quarter of a degree exact). The
 * lines of an outlook end at it or a little beyond.
 */
const BORDER: readonly Position[] = `
  -124.7 48.4, -123 49, -95.2 49, -94.6 48.7, -91.5 48.1, -89.5 48, -88.4 48.3, -84.9 46.9,
  -83.5 45.8, -82.5 45.3, -82.4 43, -83.1 42.1, -82.4 41.7, -79 42.7, -79.1 43.4, -76.8 43.6,
  -75 45, -71.5 45, -70.3 46, -69.2 47.5, -68.3 47.3, -67.8 45.7, -67 44.8, -69 43.9, -70.6 43,
  -69.9 41.6, -71.9 41.1, -74 40.5, -74.9 38.9, -75.9 36.9, -75.5 35.2, -77.8 33.9, -79.2 33.1,
  -81.2 31.5, -81.3 30, -80 27, -80.2 25.3, -81.2 25.1, -82.8 27.8, -82.8 29, -84 30,
  -85.3 29.6, -86.5 30.3, -88.5 30.3, -89.2 29, -91.3 29.3, -93.8 29.7, -95.2 28.9, -97.2 27.6,
  -97.2 25.9, -99.1 26.4, -99.5 27.5, -101.4 29.8, -102.7 29.7, -103.2 29, -104.5 29.6,
  -106.5 31.8, -108.2 31.8, -108.2 31.3, -111.1 31.3, -114.8 32.5, -117.1 32.5, -118.4 33.8,
  -120.6 34.5, -122.5 37.5, -124.4 40.4, -124.2 42, -124 46.2`
  .split(',')
  .map((corner) => corner.trim().split(' ').map(Number) as [number, number]);
/** A line that ends further inside than this ends nowhere, in degrees. */
const INSIDE_MAX = 1;

/** A place at the border: how far along it, in corners and parts of a side, and how far away. */
interface BorderPlace {
  readonly along: number;
  readonly distance: number;
}

interface OpenLine {
  readonly points: readonly Position[];
  readonly from: number;
  readonly to: number;
}

/**
 * Closes lines that end at the border, where the area is to the right of each line: from the end of one the way goes
 * clockwise along the border to the nearest begin of one, until it is back. Throws a RangeError for a line that ends
 * inside.
 */
export function closeAtBorder(lines: readonly (readonly Position[])[]): Position[][] {
  const open = new Set(lines.map(openLine));
  const rings: Position[][] = [];
  for (const first of open) {
    const ring: Position[] = [];
    for (let line: OpenLine | undefined = first; line !== undefined && open.delete(line); ) {
      const { to } = line;
      const next: OpenLine = nextLine(to, first, open);
      ring.push(...line.points, ...cornersBetween(to, next.from));
      line = next;
    }
    rings.push(ring);
  }
  return rings;
}

/** The line that begins first on the way clockwise; `first` closes the ring. */
function nextLine(at: number, first: OpenLine, open: ReadonlySet<OpenLine>): OpenLine {
  return [first, ...open].reduce((a, b) => (way(at, b.from) < way(at, a.from) ? b : a));
}

function openLine(points: readonly Position[]): OpenLine {
  const from = borderPlace(defined(points[0], 'where the line begins')).along;
  const to = borderPlace(defined(points.at(-1), 'where the line ends')).along;
  return { points, from, to };
}

function borderPlace(point: Position): BorderPlace {
  const nearest = BORDER.map((_, side) => onSide(point, side)).reduce((a, b) =>
    b.distance < a.distance ? b : a,
  );
  if (nearest.distance <= INSIDE_MAX || !isInside(point)) return nearest;
  const [longitude, latitude] = point;
  throw new RangeError(`a line ends at ${latitude} ${longitude}, far from the border`);
}

/** The place of one side of the border that is nearest to a point. */
function onSide([x, y]: Position, side: number): BorderPlace {
  const [a, b] = [corner(side), corner(side + 1)];
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const part = ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy);
  const held = Math.min(1, Math.max(0, part));
  const distance = Math.hypot(x - a[0] - held * dx, y - a[1] - held * dy);
  return { along: (side + held) % BORDER.length, distance };
}

function corner(at: number): Position {
  return defined(BORDER[at % BORDER.length], 'the corner');
}

/** Length of the way clockwise from one place of the border to another. */
function way(from: number, to: number): number {
  return (to - from + BORDER.length) % BORDER.length;
}

/** Corners that lie on the way clockwise from one place to another. */
function cornersBetween(from: number, to: number): Position[] {
  const first = Math.floor(from) + 1;
  const count = Math.floor(from + way(from, to)) - Math.floor(from);
  return Array.from({ length: count }, (_, index) => corner(first + index));
}

/** Whether a point lies within the border: a line to the east of it crosses the border an odd number of times. */
function isInside([x, y]: Position): boolean {
  const crossed = BORDER.filter((a, side) => {
    const b = corner(side + 1);
    if (a[1] > y === b[1] > y) return false;
    return x < a[0] + ((y - a[1]) / (b[1] - a[1])) * (b[0] - a[0]);
  });
  return crossed.length % 2 === 1;
}

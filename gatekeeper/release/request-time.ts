import { type Cadence, freshness, parseFreshnessBasis } from '../../compiler/contract/freshness.ts';

/** Where request-time fields go in a stored body, and what they are computed from. */
export interface SplicePoint {
  /** Offset of the byte after `"provenance":{`. */
  readonly at: number;
  readonly cadence: Cadence;
  readonly oldestLegAsOf: string;
}

const OPENING = Buffer.from('"provenance":{');
/** How far behind the opening the two members stand at most; both come before the lineage. */
const MEMBERS_BYTES_MAX = 4096;
const OLDEST = /"oldest_leg_as_of":"([^"\\]+)"/;
const BASIS = /"freshness_basis":"([^"\\]+)"/;

/** Finds every provenance object of a stored JSON body; one without a legal age basis gets no fields. */
export function splicePoints(body: Buffer): SplicePoint[] {
  const points: SplicePoint[] = [];
  for (let found = body.indexOf(OPENING); found !== -1; found = body.indexOf(OPENING, found + 1)) {
    const point = splicePoint(body, found + OPENING.length);
    if (point !== null) points.push(point);
  }
  return points;
}

function splicePoint(body: Buffer, at: number): SplicePoint | null {
  const next = body.indexOf(OPENING, at);
  const end = Math.min(at + MEMBERS_BYTES_MAX, next === -1 ? body.length : next);
  const members = body.toString('latin1', at, end);
  const oldestLegAsOf = OLDEST.exec(members)?.[1];
  const cadence = parseFreshnessBasis(BASIS.exec(members)?.[1] ?? '');
  if (oldestLegAsOf === undefined || cadence === null) return null;
  return Number.isNaN(Date.parse(oldestLegAsOf)) ? null : { at, cadence, oldestLegAsOf };
}

/** The members that each point gets at an instant (epoch milliseconds), as JSON text with a comma behind it. */
export function requestTimeMembers(points: readonly SplicePoint[], now: number): string[] {
  return points.map(({ cadence, oldestLegAsOf }) => {
    const members = JSON.stringify(freshness(cadence, oldestLegAsOf, now));
    return `${members.slice(1, -1)},`;
  });
}

/** The body as it is served with the members of each point; the stored bytes themselves when there is no point. */
export function spliceMembers(
  body: Buffer,
  points: readonly SplicePoint[],
  members: readonly string[],
): Buffer {
  if (points.length === 0) return body;
  const parts: Buffer[] = [];
  let from = 0;
  for (const [index, { at }] of points.entries()) {
    parts.push(body.subarray(from, at), Buffer.from(members[index] ?? ''));
    from = at;
  }
  parts.push(body.subarray(from));
  return Buffer.concat(parts);
}

/** The body as it is served at an instant (epoch milliseconds). */
export function spliceRequestTime(
  body: Buffer,
  points: readonly SplicePoint[],
  now: number,
): Buffer {
  return spliceMembers(body, points, requestTimeMembers(points, now));
}

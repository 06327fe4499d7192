import {
  type Aged,
  type AgedPart,
  ageHeldUntil,
  bodyFreshness,
  CADENCES,
  type Cadence,
  freshness,
  freshnessTurns,
  type Publication,
  parseFreshnessBasis,
  parseFreshnessRule,
  statusTurns,
  updateStatus,
} from '../../compiler/contract/freshness.ts';

// A stored body lacks the members that depend on the moment of the request (FORMAT.md, section 5). The compiler writes
// what they follow from side by side, so that they can be found in the bytes: nothing is parsed, and each goes in where
// its anchor begins.

/** A provenance: of one reading or roster, or of a body that joins parts. */
interface ProvenancePoint {
  readonly at: number;
  readonly kind: 'provenance';
  readonly of: AgedPart;
  readonly parts: readonly AgedPart[];
}

/** Where members of request time go into a stored body, and what they follow from. */
export type SplicePoint =
  | ProvenancePoint
  | { readonly at: number; readonly kind: 'leg'; readonly of: AgedPart }
  | { readonly at: number; readonly kind: 'status'; readonly of: Publication };

const BASIS_ANCHOR = Buffer.from('"freshness_basis":"cadence=');
const STATUS_ANCHOR = Buffer.from('"official_cadence":"');
/** How far before and behind an anchor its members reach at most. */
const NEAR_BYTES_MAX = 1024;

const TIME = '([0-9TZ:.-]+)';
const NAME = '([a-z0-9._-]+)';
const AGE = '"data_age_hours":[0-9.e+]+,';
const LEG = new RegExp(
  `"${NAME}":{"leg":"[^"\\\\]*","position":\\d+,"observed_at":"${TIME}",${AGE}$`,
);
const OWN = new RegExp(`"oldest_leg_as_of":"${TIME}",${AGE}(?:"freshness_rule":"([^"\\\\]*)",)?$`);
const BASIS = /^"freshness_basis":"([^"\\]+)"/;
const LINEAGE = new RegExp(`^[^,]*,"data_lineage":\\[{"signal":"${NAME}"`);
const OBSERVED = new RegExp(`"observed_at":"${TIME}",$`);
const LOOKED = new RegExp(`^"official_cadence":"([a-z-]+)","last_looked_at":"${TIME}"`);

/** Finds every place of a stored JSON body that members of request time go into, in order. */
export function splicePoints(body: Buffer): SplicePoint[] {
  const points: SplicePoint[] = [];
  for (const near of places(body, BASIS_ANCHOR)) {
    const point = agedPoint(near, points);
    if (point !== null) points.push(point);
  }
  for (const near of places(body, STATUS_ANCHOR)) {
    const point = statusPoint(near);
    if (point !== null) points.push(point);
  }
  return points.sort((a, b) => a.at - b.at);
}

/** An anchor, with the text in front of it and the text that it begins. */
interface Near {
  readonly at: number;
  readonly before: string;
  readonly after: string;
}

function* places(body: Buffer, anchor: Buffer): Generator<Near> {
  for (let at = body.indexOf(anchor); at !== -1; at = body.indexOf(anchor, at + 1)) {
    const before = body.toString('latin1', Math.max(0, at - NEAR_BYTES_MAX), at);
    yield { at, before, after: body.toString('latin1', at, at + NEAR_BYTES_MAX) };
  }
}

/** A leg, or a provenance; one that joins parts speaks of as many points directly before it. */
function agedPoint(near: Near, found: readonly SplicePoint[]): SplicePoint | null {
  const cadence = parseFreshnessBasis(BASIS.exec(near.after)?.[1] ?? '');
  if (cadence === null) return null;
  return legPoint(near, cadence) ?? ownPoint(near, cadence, found);
}

function legPoint({ at, before }: Near, cadence: Cadence): SplicePoint | null {
  const [, name, observed_at] = LEG.exec(before) ?? [];
  if (name === undefined || !isTime(observed_at)) return null;
  return {
    at,
    kind: 'leg',
    of: { name: ownText(name), cadence, observed_at: ownText(observed_at) },
  };
}

function ownPoint(
  { at, before, after }: Near,
  cadence: Cadence,
  found: readonly SplicePoint[],
): SplicePoint | null {
  const [, observed_at, rule] = OWN.exec(before) ?? [];
  const count = rule === undefined ? 0 : parseFreshnessRule(rule);
  if (!isTime(observed_at) || count === null || count > found.length) return null;
  const parts = found.slice(found.length - count).flatMap(partOf);
  const name = ownText(LINEAGE.exec(after)?.[1] ?? '');
  return {
    at,
    kind: 'provenance',
    of: { name, cadence, observed_at: ownText(observed_at) },
    parts,
  };
}

function partOf(point: SplicePoint): AgedPart[] {
  return point.kind === 'status' ? [] : [point.of];
}

function statusPoint({ at, before, after }: Near): SplicePoint | null {
  const [, observed_at] = OBSERVED.exec(before) ?? [];
  const [, word, last_looked_at] = LOOKED.exec(after) ?? [];
  const official_cadence = CADENCES.find((cadence) => cadence === word);
  if (official_cadence === undefined || !isTime(observed_at) || !isTime(last_looked_at))
    return null;
  const times = { observed_at: ownText(observed_at), last_looked_at: ownText(last_looked_at) };
  return { at, kind: 'status', of: { official_cadence, ...times } };
}

/** A copy that stands alone: a piece of a text holds the whole of it, here 1 KB for each time of each body in memory. */
function ownText(piece: string): string {
  return Buffer.from(piece, 'latin1').toString('latin1');
}

function isTime(text: string | undefined): text is string {
  return text !== undefined && !Number.isNaN(Date.parse(text));
}

/** The members that a point gets at an instant (epoch milliseconds), as JSON text with a comma behind it. */
function memberText(point: SplicePoint, now: number): string {
  return `${JSON.stringify(membersOf(point, now)).slice(1, -1)},`;
}

function membersOf(point: SplicePoint, now: number): object {
  switch (point.kind) {
    case 'status':
      return { update_status: updateStatus(point.of, now) };
    case 'leg':
      return { freshness: freshness(point.of.cadence, point.of.observed_at, now).freshness };
    case 'provenance':
      return bodyFreshness(point.of, point.parts, now);
  }
}

/** The last instant (epoch milliseconds) at which all members are what they are at `now`. */
export function membersHeldUntil(points: readonly SplicePoint[], now: number): number {
  const turns = points.flatMap((point) => turnsOf(point, now));
  return turns.reduce((next, turn) => (turn >= now && turn < next ? turn : next), Infinity);
}

function turnsOf(point: SplicePoint, now: number): number[] {
  switch (point.kind) {
    case 'status':
      return statusTurns(point.of, updateStatus(point.of, now).overdue_days);
    case 'leg':
      return freshnessTurns(point.of);
    case 'provenance': {
      const judged: readonly Aged[] = point.parts.length === 0 ? [point.of] : point.parts;
      return [ageHeldUntil(point.of.observed_at, now), ...judged.flatMap(freshnessTurns)];
    }
  }
}

/**
 * The body as it is served at an instant (epoch milliseconds); the stored bytes themselves if nothing has to be
 * inserted.
 */
export function spliceRequestTime(
  body: Buffer,
  points: readonly SplicePoint[],
  now: number,
): Buffer {
  if (points.length === 0) return body;
  const parts: Buffer[] = [];
  let from = 0;
  for (const point of points) {
    parts.push(body.subarray(from, point.at), Buffer.from(memberText(point, now)));
    from = point.at;
  }
  parts.push(body.subarray(from));
  return Buffer.concat(parts);
}

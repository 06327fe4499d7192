import { utcTime } from '../contract/iso-time.ts';
import { isObject, type JsonObject } from '../contract/strict-json.ts';
import { type BodyCheck, checkAt, memberPath, type ObjectNode } from './body-check.ts';
import { isSame } from './relation.ts';
import {
  isClaim,
  requestTimeClaims,
  type TimeClaim,
  type TimeWindow,
} from './request-time-claims.ts';

// What a body says of the moment it was asked for is outside every hash and signature (FORMAT.md, section 5). It has to
// follow from signed members and from one instant, which nobody signs: the shown ages leave a few minutes for it, and all
// words have to be those of one instant of these minutes.

/** Clocks of service, publisher and reader may differ by this much. */
export const CLOCK_SKEW_MS = 300_000;
const FOLLOWS = 'outside the signature; follows from signed members';

/** Whether all that a body says of the moment it was asked for is true of one instant, which is not to come (`now`, epoch milliseconds). */
export function requestTimeChecks(nodes: readonly ObjectNode[], now = Infinity): BodyCheck[] {
  const found = nodes.flatMap(requestTimeClaims);
  const unfit = found.flatMap((one) => (isClaim(one) ? [] : [one]));
  const own = found.filter(isClaim);
  const claims = isForeign(nodes) ? own.map(withForeignWords) : own;
  // A stored body says nothing of any moment; one that says anything says all of it.
  if (claims.every(({ shown }) => Object.keys(shown).length === 0)) return unfit;
  const bounds = { from: earliest(nodes) - CLOCK_SKEW_MS, to: now + CLOCK_SKEW_MS };
  const window = windowOf(claims, bounds);
  return [...unfit, ...('check' in window ? [window] : verdicts(claims, window))];
}

/** A citation without a claim is of another issuer's form. */
function isForeign([root]: readonly ObjectNode[]): boolean {
  const citation = root?.value._citation;
  return isObject(citation) && citation.claim === undefined;
}

/** Another issuer has sentences of its own, which cannot be derived: they are only where ours would be. */
function withForeignWords(claim: TimeClaim): TimeClaim {
  const { dead_source } = claim.shown;
  if (typeof dead_source !== 'string') return claim;
  const expected = (now: number): JsonObject => {
    const right = claim.expected(now);
    return right.dead_source === undefined ? right : { ...right, dead_source };
  };
  return { ...claim, expected };
}

/** Nothing is served before it was collected and, for the last time, looked at. */
function earliest(nodes: readonly ObjectNode[]): number {
  const times = nodes.flatMap(({ value: { _citation, last_looked_at } }) => {
    const isOwn = isObject(_citation) && _citation.claim !== undefined;
    return [last_looked_at, isOwn ? _citation.retrieved_at : undefined];
  });
  const known = times.map((time) => (typeof time === 'string' ? utcTime(time) : Number.NaN));
  return known.reduce((latest, at) => (at > latest ? at : latest), -Infinity);
}

/** The instants that all shown ages leave, or the first age that leaves none. */
function windowOf(claims: readonly TimeClaim[], bounds: TimeWindow): TimeWindow | BodyCheck {
  let { from, to } = bounds;
  for (const { where, window } of claims) {
    from = Math.max(from, window.from);
    to = Math.min(to, window.to);
    if (from > to) {
      const at = checkAt('request_time', memberPath(where, 'age_hours_now'));
      return at.fail(emptyWindow(window, bounds));
    }
  }
  return { from, to };
}

function emptyWindow(window: TimeWindow, { from, to }: TimeWindow): string {
  if (window.from > to) return 'of a moment that is still to come';
  if (window.to < from) return 'of a moment before the body was collected';
  return 'of another moment than the other ages of the body';
}

function verdicts(claims: readonly TimeClaim[], window: TimeWindow): BodyCheck[] {
  const spans = claims.map((claim) => consistentSpans(claim, window));
  const { at, covered } = commonInstant(spans, window);
  return claims.map((claim) => {
    const off = covered === claims.length ? null : difference(claim, at);
    if (off === null) return checkAt('request_time', claim.where).pass(FOLLOWS);
    const want = claim.expected(at)[off];
    const right = want === undefined ? 'nothing' : JSON.stringify(want);
    const where = memberPath(claim.where, off);
    return checkAt('request_time', where).fail(
      `${right} follows from the signed members and the ages`,
    );
  });
}

/** The parts of a window in which what is shown is what follows. */
export function consistentSpans(claim: TimeClaim, { from, to }: TimeWindow): TimeWindow[] {
  const turns = [...new Set(claim.turns)].filter((turn) => turn >= from && turn < to);
  const spans: TimeWindow[] = [];
  let start = from;
  for (const end of [...turns.sort((a, b) => a - b), to]) {
    if (difference(claim, start) === null) spans.push({ from: start, to: end });
    start = end + 1;
  }
  return spans;
}

/** The first member that is not shown as it follows for an instant; null where all are. */
function difference({ shown, expected }: TimeClaim, at: number): string | null {
  const right = expected(at);
  const names = [...Object.keys(right), ...Object.keys(shown)];
  return names.find((name) => !isSame(shown[name], right[name])) ?? null;
}

/** An instant that lies in as many of some sets of spans as any, and in how many; spans of one set do not overlap. */
export function commonInstant(sets: readonly (readonly TimeWindow[])[], window: TimeWindow) {
  const edges = sets.flat().flatMap(({ from, to }) => [
    { at: from, step: 1 },
    { at: to, step: -1 },
  ]);
  // At one instant a span begins before another one ends, for both ends are included.
  edges.sort((a, b) => (a.at === b.at ? b.step - a.step : a.at < b.at ? -1 : 1));
  let [best, covered] = [{ at: window.from, covered: 0 }, 0];
  for (const { at, step } of edges) {
    covered += step;
    if (covered > best.covered) best = { at, covered };
  }
  return best;
}

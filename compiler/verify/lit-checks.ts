import { bandOfRecord } from '../contract/leg.ts';
import { isLit, legsLit } from '../contract/lit-legs.ts';
import type { SignalRecord } from '../contract/record.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { agreement, type BodyCheck } from './body-check.ts';
import { isObject, type JsonObject, memberPath, type ObjectNode } from './object-nodes.ts';
import { isSame } from './relation.ts';

/** Whether legs and readings are lit as their classes say, and counted as such; a body without these members says nothing. */
export function litChecks(node: ObjectNode): BodyCheck[] {
  const { signal_id, lit, provenance, freshness_basis = provenance } = node.value;
  const isJudged = lit !== undefined && freshness_basis !== undefined;
  const own = isJudged ? [litCheck(node, String(signal_id))] : [];
  return [...own, ...countCheck(node)];
}

function litCheck({ path, value }: ObjectNode, signalId: string): BodyCheck {
  const band =
    value.band === undefined ? bandOfRecord(value as unknown as SignalRecord) : value.band;
  const right = isLit(signalId, typeof band === 'string' ? band : null);
  const where = memberPath(path, 'lit');
  return agreement(where, value.lit === right, `${right}, which follows from its class`);
}

/** The names are in causal order; members of an object have none, so positions must not fall. */
function countCheck({ path, value }: ObjectNode): BodyCheck[] {
  const { legs, legs_lit: shown, leg_availability } = value;
  if (shown === undefined || !isObject(legs) || !isObject(shown)) return [];
  const of = isObject(leg_availability) ? leg_availability.expected : Object.keys(legs).length;
  const members = legs as Readonly<Record<string, { readonly lit?: JsonValue }>>;
  const right = legsLit(members, Number(of));
  const names = Array.isArray(shown.names) ? (shown.names as JsonValue[]).map(String) : [];
  const holds =
    shown.count === right.count &&
    shown.of === right.of &&
    isSame([...names].sort(), [...right.names].sort()) &&
    isAscending(names.map((name) => positionOf(legs, name)));
  return [agreement(memberPath(path, 'legs_lit'), holds, 'the count of the legs that are lit')];
}

function positionOf(legs: JsonObject, name: string): number {
  const leg = legs[name];
  return isObject(leg) && typeof leg.position === 'number' ? leg.position : Number.NaN;
}

function isAscending(positions: readonly number[]): boolean {
  return positions.slice(1).every((position, at) => {
    const before = positions[at];
    return before !== undefined && position >= before;
  });
}

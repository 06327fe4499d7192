import { PROOF_MEMBER } from '../../compiler/contract/citation.ts';
import type { JsonObject, JsonValue } from '../../compiler/contract/strict-json.ts';

/**
 * The most that judging one body may cost: some tens of milliseconds of the serving thread, far more than any sold body
 * needs.
 */
export const CHECK_COST_MAX = 60_000;
/** Objects cost as much as this many plain values. */
const OBJECT_COST = 4;
/** So many characters of a text or a name cost as much as a plain value. */
const CHARS_A_VALUE = 64;

/** How much work a body is for the judge. */
export interface CheckCost {
  readonly citations: number;
  /** Values read, each again for every hash that covers it. */
  readonly cost: number;
}

/** Signatures cost the most: each costs as much as this many plain answers. */
const UNITS_A_CITATION = 12;
const COST_A_UNIT = 100;
/** The proof of a body has a signature of its own, and a hash for each level of the log. */
const PROOF_COST = 2 * UNITS_A_CITATION * COST_A_UNIT;
/** How often a proof is read: as a proof, as a note, and each of its lines as bytes. */
const PROOF_READINGS = 4;
/** Members that hold a signed note: the proof of a body, and that of an answer of the log. */
const NOTED = [PROOF_MEMBER, 'checkpoint'];

/** What judging a body costs in the units of the rate limit. */
export function judgingCost({ citations, cost }: CheckCost): number {
  return citations * UNITS_A_CITATION + cost / COST_A_UNIT;
}

/** Bytes of a table that cost one unit to read: several times what JSON costs, also where it is refused then. */
const TABLE_BYTES_A_UNIT = 500;

/** What reading a signed CSV costs in the units of the rate limit, before anything of it is judged. */
export function tableCost(bytes: Uint8Array): number {
  return bytes.length / TABLE_BYTES_A_UNIT;
}

interface Weight extends CheckCost {
  /** Values read once. */
  readonly size: number;
}

/** Weighs a parsed body before it is judged; its depth is bounded by the parser, so this ends. */
export function checkCost(value: JsonValue): CheckCost {
  const { citations, cost } = weightOf(value);
  return { citations, cost };
}

function weightOf(value: JsonValue): Weight {
  if (typeof value !== 'object' || value === null) return plainWeight(value);
  let [citations, cost, size] = [0, 0, OBJECT_COST];
  for (const [name, member] of Object.entries<JsonValue>(value as JsonObject)) {
    const inside = weightOf(member);
    citations += inside.citations;
    cost += inside.cost + (NOTED.includes(name) ? PROOF_COST + PROOF_READINGS * inside.size : 0);
    size += inside.size + name.length / CHARS_A_VALUE;
  }
  const hashes = hashesOver(value);
  return {
    citations: citations + (cites(value) ? 1 : 0),
    cost: cost + hashes * size + OBJECT_COST,
    size,
  };
}

function plainWeight(value: JsonValue): Weight {
  const size = 1 + (typeof value === 'string' ? value.length / CHARS_A_VALUE : 0);
  return { citations: 0, cost: size, size };
}

function hashesOver(value: object): number {
  return (cites(value) ? 1 : 0) + (Object.hasOwn(value, 'record_hash') ? 1 : 0);
}

function cites(value: object): boolean {
  return Object.hasOwn(value, '_citation');
}

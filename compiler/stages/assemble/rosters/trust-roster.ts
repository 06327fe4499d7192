import {
  DEMAND_FIELDS,
  serviceId,
  TRUST_SERVICES,
  trustModel,
} from '../../../contract/collections.ts';
import { HASH_CORE_VERSION } from '../../../contract/record-hash.ts';
import type { InputFault } from '../../intake/compile-error.ts';
import { type TrustServiceRow, trustServiceRowSchema } from '../../intake/roster-rows.ts';
import {
  absentSubjects,
  type CaptureRoster,
  capturePart,
  type Subject,
  unavailable,
} from './capture-roster.ts';
import { noteOf } from './roster-provenance.ts';

/** Members that clients know and that nothing is stored of. */
const UNAVAILABLE = ['tier', 'verified', 'action_hint', 'sub_scores', 'onchain_*'];
const ORDERING = 'score_total is an ordering key, not a rating';
const DEMAND_NOTE = `${ORDERING}; unique_payers_30d is a lower bound: the largest count of one endpoint, never a sum`;
const LEGACY_NOTE = `${ORDERING}; captured from a registry, before demand was measured`;

const idOf = ({ host }: TrustServiceRow): string => serviceId(host);

/** Everything about x402 services: precheck, scorecard, graveyard and their preview. */
export const trustPart = capturePart<TrustServiceRow>({
  of: TRUST_SERVICES,
  schema: trustServiceRowSchema,
  idOf,
  factsOf,
  faultsOf: sharedIds,
  version: String(HASH_CORE_VERSION),
  views: (roster) => ({
    membersOf: ({ newest }) => [notesOf(newest.row), unavailable(UNAVAILABLE)],
    textOf,
    counts: { services: roster.subjects.length, absent: absentSubjects(roster).length },
  }),
});

/** Dots become hyphens, so two hosts could claim one id. */
function sharedIds({ subjects }: CaptureRoster<TrustServiceRow>): InputFault[] {
  return subjects.flatMap(({ id, rows, newest }) => {
    const other = rows.find(({ row }) => row.host !== newest.row.host);
    if (other === undefined) return [];
    const message = `"${other.row.host}" and "${newest.row.host}" share the id "${id}"; keep one of them`;
    return [{ code: 'conflict', file: other.file, line: other.line, message }];
  });
}

/** The members of a row as they are served, those of its model only. */
function factsOf(row: TrustServiceRow) {
  const model = trustModel(row.capture_date);
  const demand = Object.fromEntries(DEMAND_FIELDS.map((name) => [name, row[name] ?? null]));
  return {
    service_id: idOf(row),
    name: row.name ?? row.host,
    capture_date: row.capture_date,
    score_total: row.score_total,
    liveness_state: row.liveness_state,
    liveness_streak: row.liveness_streak,
    baseline_delta: row.baseline_delta,
    domain: row.host,
    first_endpoint: row.first_endpoint,
    observed_at: row.observed_at,
    source_ref: row.source_ref,
    source_tier: row.source_tier,
    model,
    ...(model === 'demand-v1' ? demand : {}),
  };
}

function textOf({ id, newest: { row } }: Subject<TrustServiceRow>) {
  const demand = row.demand_class === undefined ? '' : `, demand class ${row.demand_class}`;
  return {
    claim: `demand record of the x402 service ${id}`,
    fact: `${row.host} as captured on ${row.capture_date}: ordering key ${row.score_total}${demand}`,
  };
}

function notesOf(row: TrustServiceRow): object {
  if (trustModel(row.capture_date) === 'demand-v1') return { model_note: DEMAND_NOTE };
  return { source_note: noteOf(row), note: LEGACY_NOTE };
}

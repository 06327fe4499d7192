import { endpointAt } from '../../../contract/endpoints.ts';
import { filePath } from '../../../contract/path.ts';
import { DEMAND_FIELDS, serviceId, trustModel } from '../../../contract/roster-core.ts';
import { absentRow, scorecardRow } from '../../../contract/roster-views.ts';
import { NATURE } from '../../../contract/words.ts';
import { hoursBetween } from '../../derive/age.ts';
import type { Problem } from '../../intake/compile-error.ts';
import { type TrustServiceRow, trustServiceRowSchema } from '../../intake/trust-service-row.ts';
import type { Press } from '../../publish/press.ts';
import {
  absentSubjects,
  type CaptureRoster,
  captureCounts,
  capturePart,
  presenceOf,
  type Subject,
  shownSubjects,
} from './capture-roster.ts';
import { disclosureOf, putRoster } from './put-roster.ts';
import { putPreview } from './roster-preview.ts';
import { measurers, rowProvenance } from './roster-provenance.ts';

const SIGNAL = 'trust.service';
const ABOUT = { signal: SIGNAL, dimension: 'x402-services', cadence: 'daily' } as const;
/** Members that clients know and that nothing is stored of. */
const UNAVAILABLE = ['tier', 'verified', 'action_hint', 'sub_scores', 'onchain_*'];
const UNAVAILABLE_REASON = 'no source of these is stored; they are left out, not guessed';
const ORDERING = 'score_total is an ordering key, not a rating';
const DEMAND_NOTE = `${ORDERING}; unique_payers_30d is a lower bound: the largest count of one endpoint, never a sum`;
const LEGACY_NOTE = `${ORDERING}; captured from a registry, before demand was measured`;

type Service = Subject<TrustServiceRow>;
const idOf = ({ host }: TrustServiceRow): string => serviceId(host);

/** Everything about x402 services: precheck, scorecard, graveyard and their preview. */
export const trustPart = capturePart<TrustServiceRow>({
  kind: SIGNAL,
  schema: trustServiceRowSchema,
  idOf,
  factsOf,
  problemsOf: sharedIds,
  write(press, roster) {
    const { subjects, days } = roster;
    for (const service of subjects) putPrecheck(press, service);
    // The newest row of each service that the newest capture found.
    putRoster(press, {
      path: '/trust/scorecard',
      member: 'rows',
      about: ABOUT,
      claim: `demand of the x402 services captured on ${days.at(-1)}`,
      rows: shownSubjects(subjects, (service) => scorecardRow(precheckBody(service))),
    });
    putRoster(press, {
      path: '/trust/graveyard',
      member: 'deaths',
      about: ABOUT,
      claim: `x402 services that a capture up to ${days.at(-1)} no longer found`,
      rows: shownSubjects(subjects, (service) => absentRow(service.id, precheckBody(service))),
    });
    const absent = absentSubjects(roster).length;
    putPreview(press, '/trust/preview', {
      kind: SIGNAL,
      counts: { services: subjects.length, absent, ...captureCounts(roster) },
      paths: ['/trust/precheck', '/trust/scorecard', '/trust/graveyard'],
      values: subjects.map(({ id }) => id),
    });
    return ({ id }) => filePath(endpointAt('/trust/precheck'), { service: id });
  },
});

/** Dots become hyphens, so two hosts could claim one id. */
function sharedIds({ subjects }: CaptureRoster<TrustServiceRow>): Problem[] {
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

function precheckBody(service: Service) {
  const { newest } = service;
  const { row, record_hash } = newest;
  return {
    nature: NATURE,
    ...factsOf(row),
    ...notesOf(row),
    lifecycle: presenceOf(service),
    data_age_hours: hoursBetween(row.observed_at, row.collected_at),
    record_hash,
    hash_core_version: record_hash === null ? null : '3',
    unavailable_fields: UNAVAILABLE,
    unavailable_reason: UNAVAILABLE_REASON,
    provenance: rowProvenance(ABOUT, newest),
    ...disclosureOf(row),
  };
}

function putPrecheck(press: Press, service: Service): void {
  const { id } = service;
  const { row } = service.newest;
  const demand = row.demand_class === undefined ? '' : `, demand class ${row.demand_class}`;
  const statement = {
    claim: `demand record of the x402 service ${id}`,
    fact: `${row.host} as captured on ${row.capture_date}: ordering key ${row.score_total}${demand}`,
    target: `/trust/precheck?service=${encodeURIComponent(id)}`,
    observed_at: row.observed_at,
    retrieved_at: row.collected_at,
  };
  press.put(
    '/trust/precheck',
    { service: id },
    press.sealer.seal(precheckBody(service), statement),
  );
}

function notesOf(row: TrustServiceRow): object {
  if (trustModel(row.capture_date) === 'demand-v1') return { model_note: DEMAND_NOTE };
  const source_note = row.source_note ?? `captured on ${row.capture_date} by ${measurers(row)}`;
  return { source_note, note: LEGACY_NOTE };
}

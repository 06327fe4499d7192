import { endpointAt } from '../../../contract/endpoints.ts';
import { filePath } from '../../../contract/path.ts';
import { DEMAND_FIELDS, serviceId, trustModel } from '../../../contract/roster-core.ts';
import { absentRow, scorecardRow } from '../../../contract/roster-views.ts';
import { NATURE } from '../../../contract/words.ts';
import { hoursBetween } from '../../derive/age.ts';
import type { Problem } from '../../intake/compile-error.ts';
import { readCollection } from '../../intake/read-collection.ts';
import { type TrustServiceRow, trustServiceRowSchema } from '../../intake/trust-service-row.ts';
import type { Press } from '../../publish/press.ts';
import type { ReadPart } from '../part.ts';
import {
  absentSubjects,
  type CaptureRoster,
  captureCounts,
  capturedHashes,
  captureRoster,
  presenceOf,
  type Subject,
} from './capture-roster.ts';
import { disclosureOf, putHashes, putRoster } from './put-roster.ts';
import { previewHead, previewValues } from './roster-preview.ts';
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
export const trustPart: ReadPart = (collections, asOf) => {
  const { rows, problems } = readCollection(
    { files: collections[SIGNAL], asOf },
    trustServiceRowSchema,
  );
  const roster = captureRoster(rows, { kind: SIGNAL, idOf, factsOf });
  return {
    problems: [...problems, ...roster.problems, ...sharedIds(roster)],
    rows: rows.length,
    write(press) {
      for (const service of roster.subjects) putPrecheck(press, service);
      putScorecard(press, roster);
      putGraveyard(press, roster);
      putPreview(press, roster);
      putHashes(press, capturedHashes(roster, { signal: SIGNAL, idOf, fileOf }));
    },
  };
};

const fileOf = ({ id }: Service): string | null =>
  filePath(endpointAt('/trust/precheck'), { service: id });

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

/** The newest row of each service that the newest capture found. */
function putScorecard(press: Press, { subjects, days }: CaptureRoster<TrustServiceRow>): void {
  putRoster(press, {
    path: '/trust/scorecard',
    member: 'rows',
    about: ABOUT,
    claim: `demand of the x402 services captured on ${days.at(-1)}`,
    rows: subjects.flatMap((service) => {
      const shown = scorecardRow(precheckBody(service));
      return shown === null ? [] : [{ shown, from: service.newest }];
    }),
  });
}

function putGraveyard(press: Press, roster: CaptureRoster<TrustServiceRow>): void {
  putRoster(press, {
    path: '/trust/graveyard',
    member: 'deaths',
    about: ABOUT,
    claim: `x402 services that a capture up to ${roster.days.at(-1)} no longer found`,
    rows: roster.subjects.flatMap((service) => {
      const shown = absentRow(service.id, precheckBody(service));
      return shown === null ? [] : [{ shown, from: service.newest }];
    }),
  });
}

function putPreview(press: Press, roster: CaptureRoster<TrustServiceRow>): void {
  const counts = {
    services: roster.subjects.length,
    absent: absentSubjects(roster).length,
    ...captureCounts(roster),
  };
  const ids = roster.subjects.map(({ id }) => id);
  press.put(
    '/trust/preview',
    {},
    {
      ...previewHead(press, {
        kind: SIGNAL,
        counts,
        paths: ['/trust/precheck', '/trust/scorecard', '/trust/graveyard'],
      }),
      ...previewValues('/trust/precheck', ids),
    },
  );
}

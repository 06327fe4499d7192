import { byTime } from './joined-provenance.ts';
import { bandOfRecord } from './leg.ts';
import { positionIn } from './places.ts';
import type { SignalRecord, StandardRuler } from './record.ts';
import type { CatalogRow } from './release.ts';
import type { SeriesRow } from './series.ts';
import { NATURE_SHORT } from './words.ts';

// Bodies that repeat one record, each as a pure function of it. The compiler publishes what they return, and `verify` makes
// it again from the signed record and compares it whole.

/** Days on either side of the same calendar day that a season has. */
export const WINDOW_DAYS = 15;
/** Snapshots shown by `/gauge/history-preview`. */
const PREVIEW_ROWS = 7;

/** One add-on: the member that gives it its name, between identity and provenance of the record. */
export function addOn<Member extends object>(record: SignalRecord, dim: string, member: Member) {
  const { nature, signal_id, entity, entity_name, observed_at } = record;
  const { record_hash, provenance, grade, scope } = record;
  const identity = { nature, dim, signal_id, entity, entity_name, observed_at };
  return { ...identity, ...member, record_hash, provenance, grade, scope };
}

/** The figures of a ruler that compare across stations. */
function calibratedMember(ruler: StandardRuler) {
  const { normalized_index, pct_to_action } = ruler;
  const comparable = 'the same index is the same official position at any station of this signal';
  return { normalized_index, pct_to_action, comparable };
}

/** The add-ons that repeat a part of their record, by the path of the operation that sells them. */
export function recordAddOns(record: SignalRecord) {
  const { standard_ruler: ruler, strata } = record;
  return {
    ...(ruler === null
      ? {}
      : {
          '/gauge/ruler': addOn(record, 'ruler', { ruler }),
          '/gauge/calibrated': addOn(record, 'calibrated', { calibrated: calibratedMember(ruler) }),
        }),
    ...(strata === null ? {} : { '/gauge/strata': addOn(record, 'strata', { strata }) }),
  };
}

/** Which value a season reaches up to each percentile; the only part of the history that stands in no record. */
export type PercentileTable = readonly { readonly percentile: number; readonly value: number }[];

/** The history add-on, which a record with a statistical ruler has; null for any other. */
export function historyAddOn(record: SignalRecord, percentile_table: PercentileTable) {
  const { stat_ruler, sources } = record;
  if (stat_ruler === null) return null;
  const { current_percentile, frequency_label, window_years, n } = stat_ruler;
  const history = {
    seasonal_percentile: current_percentile,
    frequency: frequency_label,
    percentile_table,
    window_years,
    n,
    method: `share of same-season readings below, ties counted half; window of ${WINDOW_DAYS} days`,
    source: (sources ?? []).map((source) => source.name).join(', '),
  };
  return addOn(record, 'history', { history });
}

/** The short form of a record: identity, time, reading, class and hash; no member of request time. */
export function thinRecord(record: SignalRecord) {
  const { signal_id, entity, entity_name, observed_at, current, record_hash } = record;
  const identity = { nature: NATURE_SHORT, signal_id, entity, entity_name, observed_at };
  return { ...identity, current, band: bandOfRecord(record), record_hash };
}

/** The short form of the calibrated add-on: that of the record with the figures; null without a ruler. */
export function thinCalibrated(record: SignalRecord) {
  const { standard_ruler: ruler } = record;
  if (ruler === null) return null;
  const { nature, entity_name, record_hash, ...reading } = thinRecord(record);
  const { normalized_index, pct_to_action } = ruler;
  const calibrated = { normalized_index, pct_to_action };
  return { nature, dim: 'calibrated', ...reading, calibrated, record_hash };
}

/** `/gauge/raw`: the bare record, without rulers, statistics and what is derived from them. */
export function rawBody(record: SignalRecord) {
  const { nature, signal_id, entity, entity_name, snapshot_date, observed_at } = record;
  const { official_cadence, last_looked_at, data_age_hours, current, previous, change } = record;
  const { trend_7d, sources, grade, scope } = record;
  const { hash_core_version, lifecycle, provenance, source_ref, source_tier, record_hash } = record;
  return {
    nature,
    signal_id,
    entity,
    entity_name,
    ...positionIn(record),
    snapshot_date,
    observed_at,
    official_cadence,
    last_looked_at,
    data_age_hours,
    current,
    previous,
    change,
    trend_7d,
    sources,
    grade,
    scope,
    lifecycle,
    hash_core_version,
    provenance,
    source_ref,
    source_tier,
    record_hash,
  };
}

/** `/gauge/history-preview`: the newest readings of a series, oldest first, each with its own record hash. */
export function historyPreview(record: SignalRecord, series: readonly SeriesRow[]) {
  const { nature, signal_id, entity, entity_name } = record;
  const byAge = [...series].sort((a, b) => byTime(a.observed_at, b.observed_at));
  const rows = byAge.slice(-PREVIEW_ROWS).map(({ band, ...row }) => row);
  return { nature, signal_id, entity, entity_name, count: rows.length, rows };
}

/** What the catalog says of a record. */
export function catalogRow(record: SignalRecord): CatalogRow {
  const { signal_id, entity, entity_name, observed_at, record_hash, last_looked_at } = record;
  const band = bandOfRecord(record);
  return { signal_id, entity, entity_name, observed_at, band, record_hash, last_looked_at };
}

import type { Statement } from '../../format/citation.ts';
import type { Signal } from '../../products/shapes/line.ts';
import { nameOf } from '../../products/shapes/reading-text.ts';
import { withoutStatus } from '../../products/shapes/record-views.ts';
import {
  type ChainState,
  cutRuns,
  formatRuns,
  joinRuns,
  originOf,
  SERIES_COLUMNS,
  SERIES_DAYS_MAX,
  type SeriesCut,
  type SeriesRow,
  stateBefore,
} from '../../products/shapes/series.ts';
import { NATURE } from '../../products/shapes/words.ts';
import { bandOf, dataAgeHours, disclosures, snapshotDate } from '../../readings/figures.ts';
import type { Reading } from '../../readings/reading.ts';
import {
  type ChainedRows,
  chainRows,
  type SeriesPast,
  type SourcedRow,
} from '../../readings/series-segments.ts';
import type { Sealer } from '../../system/sealer.ts';
import { coreFields, type EntityFacts, orderedCurrent } from './entity-record.ts';

const NOTE =
  'oldest snapshot first; a shorter look-back is the end of the same rows, and `before` is where their chain stands';
const VERIFIABLE = {
  mode: 'via-endpoint',
  note: 'the signed chain proves every row here; each row hash looks up at /gauge/verify, and verifiable=1 adds its pre-image as _hash_core',
} as const;

type SeriesFacts = Pick<EntityFacts, 'signal' | 'latest' | 'record_hash' | 'provenance'>;

/** The rows of a series: what is settled, for the same earliest date, and the tail. */
interface SeriesRows {
  readonly past: SeriesPast;
  /** The newest rows, at least one. */
  readonly tail: readonly SourcedRow[];
  /** The earliest snapshot date that is delivered. */
  readonly wanted: string;
}

/** The file of a series: its head, and the rows that are in no segment. Every answer is cut out of this text and the segments. */
export function seriesFile(
  facts: SeriesFacts,
  rows: SeriesRows,
  sealer: Sealer,
): { body: object; text: string } {
  const chained = chainRows(rows.past.chain, rows.tail);
  const begin = beginOf(rows, chained);
  const head = seriesHeadBody(facts, begin, chained.end);
  const { _citation, ...rest } = sealer.seal(head, seriesStatement(facts, begin, chained.end));
  const text = [
    `${JSON.stringify(rest).slice(0, -1)},`,
    ...placeLines(rows.past, chained, begin),
    [...rows.past.open, ...chained.lines]
      .slice(Math.max(0, begin.before.rows - rows.past.openBefore.rows))
      .join(',\n'),
    `],"_citation":${JSON.stringify(_citation)}}`,
  ].join('\n');
  return { body: { ...rest, _citation }, text };
}

/** Where the delivered rows begin: their date, and the state in front of them. */
interface Begin {
  readonly from: string;
  readonly before: ChainState;
}

function beginOf({ past, wanted }: SeriesRows, { cuts }: ChainedRows): Begin {
  const { delivered, chain } = past;
  const { before, snapshot_date } = delivered;
  if (snapshot_date !== null) return { from: snapshot_date, before };
  // No settled row is delivered, so the first one that is begins a date of the tail.
  const cut = cuts.find(([date]) => date >= wanted);
  if (cut === undefined) throw new RangeError('Cannot write a series: no row is wanted');
  const known = chain.snapshot_date === null ? [] : [chain.snapshot_date];
  return { from: cut[0], before: stateBefore(cut, [...known, ...cuts.map(([date]) => date)]) };
}

/** The lines between the head and the rows: which segments go before these rows, and where an answer can begin. */
function placeLines(past: SeriesPast, chained: ChainedRows, { from, before }: Begin): string[] {
  const { cuts, end } = chained;
  const segments = past.segments.map(({ before, count, first_date, last_date }) => {
    return [before.rows, count, first_date, last_date];
  });
  const first: SeriesCut = [from, before.rows, before.chain];
  const others = [...past.cuts, ...cuts].filter(([, rows]) => rows > before.rows);
  const answer = { days: SERIES_DAYS_MAX, count: end.rows - before.rows, before };
  return [
    `"segments":${JSON.stringify(segments)},`,
    `"cuts":${JSON.stringify([first, ...others])},`,
    `"origins":${shownOrigins(past, chained, before)},`,
    `${JSON.stringify(answer).slice(1, -1)},"rows":[`,
  ];
}

function shownOrigins({ openBefore, origins }: SeriesPast, tail: ChainedRows, before: ChainState) {
  const runs = joinRuns([...origins, ...tail.origins]);
  return formatRuns(cutRuns(runs, Math.max(0, before.rows - openBefore.rows)));
}

/** A row with what its hash core has besides. */
export function sourcedRow(signal: Signal, reading: Reading, record_hash: string): SourcedRow {
  const origin = JSON.stringify(originOf(coreFields(signal, reading)));
  return { ...seriesRow(signal, reading, record_hash), origin };
}

export function seriesRow(signal: Signal, reading: Reading, record_hash: string): SeriesRow {
  return {
    snapshot_date: snapshotDate(reading),
    observed_at: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    current: orderedCurrent(signal, reading),
    band: bandOf(signal, reading),
    record_hash,
  };
}

/** What the citation signs: who the series is about, and where its chain ends. */
function seriesHeadBody(facts: SeriesFacts, { from, before }: Begin, end: ChainState) {
  const { signal, latest, record_hash, provenance } = facts;
  return {
    nature: NATURE,
    tier: 'history-series' as const,
    signal_id: signal.id,
    entity: latest.entity,
    entity_name: latest.entity_name ?? null,
    observed_at: latest.observed_at,
    record_hash,
    columns: [...SERIES_COLUMNS],
    retained: {
      rows: end.rows,
      from,
      to: end.snapshot_date,
      chain: end.chain,
      older_rows: before.rows,
      ...(before.rows === 0 ? {} : { older_chain: before.chain }),
    },
    note: NOTE,
    record_hash_verifiable: VERIFIABLE,
    provenance: withoutStatus(provenance),
    ...disclosures(latest),
  };
}

function seriesStatement(facts: SeriesFacts, { from, before }: Begin, end: ChainState): Statement {
  const { signal, latest } = facts;
  const rows = end.rows - before.rows;
  return {
    claim: `series of ${signal.measures} at ${nameOf(latest)}`,
    fact: `${signal.id} of ${latest.entity}: ${rows} stored readings, snapshots of ${from} to ${end.snapshot_date}`,
    target: `/gauge/history-series?entity=${encodeURIComponent(latest.entity)}&signal_id=${signal.id}`,
    observed_at: latest.observed_at,
    retrieved_at: latest.collected_at,
  };
}

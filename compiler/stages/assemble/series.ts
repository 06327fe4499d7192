import { hash } from 'node:crypto';
import { SERIES_DAYS_MAX } from '../../contract/endpoints.ts';
import {
  CHAIN_ORIGIN,
  type ChainState,
  chainLink,
  retainedFrom,
  SERIES_COLUMNS,
  SERIES_ROWS_MAX,
  type SeriesCut,
  type SeriesRow,
} from '../../contract/series.ts';
import { dataAgeHours, snapshotDate } from '../derive/age.ts';
import { bandOf } from '../derive/ruler.ts';
import type { Reading } from '../intake/reading.ts';
import { jcs } from '../seal/jcs.ts';
import type { Sealer, Statement } from '../seal/sealer.ts';
import { disclosures, type EntityFacts, orderedCurrent } from './entity-record.ts';
import { NATURE } from './provenance.ts';
import { nameOf } from './summary.ts';

const NOTE =
  'oldest snapshot first; a shorter look-back is the end of the same rows, and `before` is where their chain stands';
const VERIFIABLE = {
  mode: 'via-endpoint',
  note: 'the signed chain proves every row here; each row hash looks up at /gauge/verify',
} as const;

/** The series of one entity: the sealed head, and the text of the whole file, one row a line. */
export interface SeriesFile {
  readonly body: object;
  readonly text: string;
}

/** Everything that `/gauge/history-series` delivers of an entity; a shorter answer is cut out of this text. */
export function seriesFile(
  facts: EntityFacts,
  { hashOf, sealer }: { hashOf: (reading: Reading) => string; sealer: Sealer },
): SeriesFile {
  const { all, kept } = retainedReadings(facts);
  const chained = chain(kept.map((reading) => seriesRow(facts, reading, hashOf(reading))));
  const head = seriesHeadBody(facts, chained, all - kept.length);
  const { _citation, ...rest } = sealer.seal(head, seriesStatement(facts, chained));
  const cut = { days: SERIES_DAYS_MAX, count: chained.lines.length, before: CHAIN_ORIGIN };
  const text = [
    `${JSON.stringify(rest).slice(0, -1)},`,
    `"cuts":${JSON.stringify(chained.cuts)},`,
    `${JSON.stringify(cut).slice(1, -1)},"rows":[`,
    chained.lines.join(',\n'),
    `],"_citation":${JSON.stringify(_citation)}}`,
  ].join('\n');
  return { body: { ...rest, _citation }, text };
}

/** Readings of the retained days by snapshot date, the newest ones where there are too many. */
function retainedReadings({ timeline }: EntityFacts) {
  const dated = timeline.readings.map((reading) => ({ reading, date: snapshotDate(reading) }));
  dated.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  const from = retainedFrom(dated.at(-1)?.date ?? '');
  const reached = dated.filter(({ date }) => date >= from).slice(-SERIES_ROWS_MAX);
  return { all: dated.length, kept: reached.map(({ reading }) => reading) };
}

function seriesRow({ signal }: EntityFacts, reading: Reading, record_hash: string): SeriesRow {
  return {
    snapshot_date: snapshotDate(reading),
    observed_at: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    current: orderedCurrent(signal, reading),
    band: bandOf(signal, reading),
    record_hash,
  };
}

interface Chained {
  readonly lines: readonly string[];
  readonly cuts: readonly SeriesCut[];
  readonly end: ChainState;
}

/** Runs the chain over the rows and notes where each snapshot date begins. */
function chain(rows: readonly SeriesRow[]): Chained {
  const cuts: SeriesCut[] = [];
  let state = CHAIN_ORIGIN;
  for (const row of rows) {
    const { snapshot_date } = row;
    if (snapshot_date !== state.snapshot_date) cuts.push([snapshot_date, state.rows, state.chain]);
    const digest = hash('sha256', jcs(chainLink(state, row)), 'hex');
    state = { rows: state.rows + 1, snapshot_date, chain: `sha256:${digest}` };
  }
  return { lines: rows.map((row) => JSON.stringify(row)), cuts, end: state };
}

/** What the citation signs: who the series is about, and where its chain ends. */
function seriesHeadBody(facts: EntityFacts, { cuts, end }: Chained, older_rows: number) {
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
      from: cuts[0]?.[0] ?? '',
      to: end.snapshot_date ?? '',
      chain: end.chain,
      older_rows,
    },
    note: NOTE,
    record_hash_verifiable: VERIFIABLE,
    provenance,
    ...disclosures(latest),
  };
}

function seriesStatement({ signal, latest }: EntityFacts, { cuts, end }: Chained): Statement {
  const { rows, snapshot_date: to } = end;
  return {
    claim: `series of ${signal.measures} at ${nameOf(latest)}`,
    fact: `${signal.id} of ${latest.entity}: ${rows} stored readings, snapshots of ${cuts[0]?.[0]} to ${to}`,
    target: `/gauge/history-series?entity=${encodeURIComponent(latest.entity)}&signal_id=${signal.id}`,
    observed_at: latest.observed_at,
    retrieved_at: latest.collected_at,
  };
}

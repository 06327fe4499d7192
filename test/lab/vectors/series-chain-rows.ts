import { createHash } from 'node:crypto';
import { CHAIN_ORIGIN, type ChainState, type SeriesRow } from '../../../compiler/contract/series.ts';
import { jcs } from '../../../compiler/stages/seal/jcs.ts';
import type { Vector } from './vector.ts';

const hashOf = (text: string): string =>
  `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;

const ROWS: readonly SeriesRow[] = ['18', '19', '19', '20'].map((day, at) => ({
  snapshot_date: `2026-11-${day}T00:00:00Z`,
  observed_at: `2026-11-${day}T1${at}:45:00Z`,
  data_age_hours: 0.3,
  current: { stage_ft: 13.1 + at, band: null },
  band: at === 2 ? 'minor' : null,
  record_hash: hashOf(`reading ${at}`),
}));

/** `input` is a state and rows, `want` the states behind each row; with `end` the chain must lead there, or `error`. */
export function seriesChainVectors(): readonly Vector[] {
  const states = statesAfter(CHAIN_ORIGIN, ROWS);
  const [, second = CHAIN_ORIGIN] = states;
  const end = states.at(-1) ?? CHAIN_ORIGIN;
  const [first, ...later] = ROWS;
  const bent = ROWS.map((row, at) => (at === 1 ? { ...row, current: { stage_ft: 14.2 } } : row));
  const refused = (comment: string, before: ChainState, rows: readonly SeriesRow[]): Vector => {
    return { comment, input: { before, rows, end }, error: 'chain' };
  };
  return [
    whole('all rows', CHAIN_ORIGIN, ROWS),
    whole('the first row', CHAIN_ORIGIN, first === undefined ? [] : [first]),
    whole('a later part, from the state before it', second, ROWS.slice(2)),
    refused('a value is altered', CHAIN_ORIGIN, bent),
    refused('the first row is missing', CHAIN_ORIGIN, later),
    refused('two rows change places', CHAIN_ORIGIN, [...ROWS].reverse()),
    refused('the state before is another', { ...second, rows: 1 }, ROWS.slice(2)),
  ];
}

function whole(comment: string, before: ChainState, rows: readonly SeriesRow[]): Vector {
  return { comment, input: { before, rows }, want: { states: statesAfter(before, rows) } };
}

function statesAfter(before: ChainState, rows: readonly SeriesRow[]): ChainState[] {
  const states: ChainState[] = [];
  let state = before;
  for (const row of rows) {
    const { snapshot_date } = row;
    state = { rows: state.rows + 1, snapshot_date, chain: hashOf(jcs([state, row])) };
    states.push(state);
  }
  return states;
}

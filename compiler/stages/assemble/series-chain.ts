import { hash } from 'node:crypto';
import {
  type ChainState,
  chainLink,
  type SeriesCut,
  type SeriesRow,
} from '../../contract/series.ts';
import { jcs } from '../seal/jcs.ts';

/** Rows with what the chain makes of them. */
export interface ChainedRows {
  /** Each row as its line stands in a file, without the comma behind it. */
  readonly lines: readonly string[];
  /** The state in front of each row. */
  readonly states: readonly ChainState[];
  /** Where each snapshot date begins. */
  readonly cuts: readonly SeriesCut[];
  readonly end: ChainState;
}

/** Runs the chain over rows that follow a state. */
export function chainRows(before: ChainState, rows: readonly SeriesRow[]): ChainedRows {
  const cuts: SeriesCut[] = [];
  const states: ChainState[] = [];
  let state = before;
  for (const row of rows) {
    const { snapshot_date } = row;
    if (snapshot_date !== state.snapshot_date) cuts.push([snapshot_date, state.rows, state.chain]);
    states.push(state);
    const digest = hash('sha256', jcs(chainLink(state, row)), 'hex');
    state = { rows: state.rows + 1, snapshot_date, chain: `sha256:${digest}` };
  }
  return { lines: rows.map((row) => JSON.stringify(row)), states, cuts, end: state };
}

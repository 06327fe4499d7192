import type { COIN_STATES } from '../../../contract/roster-bodies.ts';
import { PERSISTENT_ABSENCES } from '../../../contract/roster-views.ts';
import { coinFigures, type StableCoinRow } from '../../intake/stable-coin-row.ts';
import type { Subject } from './capture-roster.ts';

/** A coin that is worth less than this, in units of its peg, is terminated. */
export const TERMINATED_BELOW = 0.1;
/** A coin within these prices, in units of its peg, is on its peg. */
export const ON_PEG = { from: 0.95, to: 1.05 } as const;

export interface CoinState {
  readonly state: (typeof COIN_STATES)[number];
  readonly terminated: boolean;
  readonly depegged: boolean;
  /** Day on which it was first below the price or persistently absent; null while it is neither. */
  readonly died_on: string | null;
}

/** A captured row that has a price, as the state reads it. */
interface Priced {
  readonly price: number;
  readonly day: string;
}

/**
 * State of a coin by its newest known price and by the captures since; one that recovers or returns is alive again. A row
 * without a price says nothing: a coin that never had one is judged by its presence alone.
 */
export function coinState(coin: Subject<StableCoinRow>): CoinState {
  const priced = coin.rows.flatMap(pricedRow);
  const price = priced.at(-1)?.price ?? null;
  const depegged = price !== null && (price < ON_PEG.from || price > ON_PEG.to);
  const end = terminatedOn(priced);
  const flags = { terminated: end !== null, depegged };
  if (end !== null) return { state: 'dead', ...flags, died_on: end };
  const confirmed = coin.absences[PERSISTENT_ABSENCES - 1];
  if (confirmed !== undefined) return { state: 'absent', ...flags, died_on: confirmed };
  if (coin.absences.length > 0) return { state: 'missing', ...flags, died_on: null };
  return { state: depegged ? 'at_risk' : 'operating', ...flags, died_on: null };
}

function pricedRow({ row }: { readonly row: StableCoinRow }): Priced[] {
  const { price_in_peg: price } = coinFigures(row);
  return price === null ? [] : [{ price, day: row.capture_date }];
}

/** First day of the run below the price that lasts until now; null for none. */
function terminatedOn(priced: readonly Priced[]): string | null {
  const alive = priced.findLastIndex(({ price }) => price >= TERMINATED_BELOW);
  return priced[alive + 1]?.day ?? null;
}

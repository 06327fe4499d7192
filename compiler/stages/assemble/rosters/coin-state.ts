import type { COIN_STATES } from '../../../contract/roster-bodies.ts';
import { coinFigures, type StableCoinRow } from '../../intake/stable-coin-row.ts';
import { daysBetween, type Subject } from './capture-roster.ts';

/** A coin that is worth less than this, in units of its peg, is terminated. */
export const TERMINATED_BELOW = 0.1;
/** A coin within these prices, in units of its peg, is on its peg. */
export const ON_PEG = { from: 0.95, to: 1.05 } as const;
/** Consecutive capture days without a coin after which its absence is persistent. */
export const PERSISTENT_ABSENCES = 2;

export interface CoinState {
  readonly state: (typeof COIN_STATES)[number];
  readonly terminated: boolean;
  readonly depegged: boolean;
  /** Day on which it was first below the price or persistently absent; null while it is neither. */
  readonly died_on: string | null;
  /** Absences that confirmed the death; null for a price. */
  readonly confirm_absences: number | null;
}

const ALIVE = { died_on: null, confirm_absences: null };

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
  if (end !== null) return { state: 'dead', ...flags, died_on: end, confirm_absences: null };
  const confirmed = coin.absences[PERSISTENT_ABSENCES - 1];
  if (confirmed !== undefined) {
    const confirm_absences = PERSISTENT_ABSENCES;
    return { state: 'absent', ...flags, died_on: confirmed, confirm_absences };
  }
  if (coin.absences.length > 0) return { state: 'missing', ...flags, ...ALIVE };
  return { state: depegged ? 'at_risk' : 'operating', ...flags, ...ALIVE };
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

/** Days that a coin lived: as its source states them, else between its first and its last capture. */
export function coinLifespan(coin: Subject<StableCoinRow>): number {
  const { lifespan_days } = coinFigures(coin.newest.row);
  return lifespan_days ?? daysBetween(coin.first_seen, coin.last_seen);
}

import { grouped } from '../../format/lists.ts';
import { STABLE_COINS } from '../../products/collections.ts';
import { canonicalTarget, encodeSegment } from '../../products/shapes/path.ts';
import type { COIN_STATES } from '../../products/shapes/roster-bodies.ts';
import { PERSISTENT_ABSENCES } from '../../products/shapes/roster-views.ts';
import {
  coinFigures,
  type StableCoinRow,
  stableCoinRowSchema,
} from '../../readings/roster-rows.ts';
import { capturePart, type Subject } from './capture-rosters.ts';
import type { IsStored } from './settle-rows.ts';

/** A coin that is worth less than this, in units of its peg, is terminated. */
const TERMINATED_BELOW = 0.1;
/** A coin within these prices, in units of its peg, is on its peg. */
const ON_PEG = { from: 0.95, to: 1.05 } as const;

type Coin = Subject<StableCoinRow>;
type BySymbol = ReadonlyMap<string, readonly Coin[]>;

/** Everything about stablecoins: coin, census, graveyard and their preview. */
export const stablePart = capturePart<StableCoinRow>({
  of: STABLE_COINS,
  schema: stableCoinRowSchema,
  idOf: ({ coin_id }) => coin_id,
  factsOf(row) {
    const { coin_id, symbol, capture_date, current, observed_at, source_ref, source_tier } = row;
    const name = row.name ?? null;
    return { coin_id, symbol, name, capture_date, current, observed_at, source_ref, source_tier };
  },
  views({ subjects }, isStored) {
    // Symbols are not unique: the coin with the largest market cap answers for one, the others are named beside it.
    const bySymbol = grouped([...subjects].sort(byMarketCap), ({ newest }) => newest.row.symbol);
    const states = subjects.map((coin) => coinState(coin).state);
    return {
      membersOf: (coin) => [{}, referencesOf(coin, bySymbol, isStored)],
      lifecycleOf: lifeOf,
      listedOf: (coin) => ({ depegged: coinState(coin).depegged }),
      textOf,
      askedBy(coin) {
        const { symbol } = coin.newest.row;
        return bySymbol.get(symbol)?.[0] === coin ? symbol : null;
      },
      byRank: byMarketCap,
      counts: {
        coins: states.length,
        terminated: states.filter((state) => state === 'dead').length,
        absent: states.filter((state) => state === 'absent').length,
      },
    };
  },
});

/** Largest first, an unknown market cap last, equal ones by id. */
function byMarketCap(a: Coin, b: Coin): number {
  const [capA, capB] = [a, b].map(({ newest }) => coinFigures(newest.row).market_cap_usd ?? -1);
  if (capA !== capB) return (capB ?? -1) - (capA ?? -1);
  return a.id < b.id ? -1 : 1;
}

function lifeOf(coin: Coin) {
  const { state, died_on } = coinState(coin);
  const { first_seen, last_seen } = coin;
  return { peg: coinFigures(coin.newest.row).peg, state, first_seen, last_seen, end_at: died_on };
}

/** Where the chain of the same coin is sold; null where none is stored. */
function companionOf({ id }: Coin, isStored: IsStored): string | null {
  const path = '/gauge/stablecoin-region';
  if (!isStored(`bundle/stablecoin/${encodeSegment(id)}.json`)) return null;
  return `peg distress and redemption flight: ${canonicalTarget(path, { entity: id })}`;
}

/** What the body of a coin names beside itself: its chain, and other coins of its symbol. */
function referencesOf(coin: Coin, bySymbol: BySymbol, isStored: IsStored) {
  const companion = companionOf(coin, isStored);
  const others = (bySymbol.get(coin.newest.row.symbol) ?? []).filter((other) => other !== coin);
  return {
    ...(companion === null ? {} : { companion }),
    ...(others.length === 0 ? {} : { same_symbol: others.map(({ id }) => id) }),
  };
}

function textOf({ id, newest: { row } }: Coin) {
  const price = coinFigures(row).price_in_peg;
  return {
    claim: `price and life-cycle record of the stablecoin ${id}`,
    fact: `${id} as captured on ${row.capture_date}: price in units of its peg ${price}`,
  };
}

interface CoinState {
  readonly state: (typeof COIN_STATES)[number];
  readonly depegged: boolean;
  /** Day on which it was first below the price or persistently absent; null while it is neither. */
  readonly died_on: string | null;
}

/**
 * State of a coin by its newest known price and by the captures since; one that recovers or returns is alive again. A row
 * without a price says nothing: a coin that never had one is judged by its presence alone.
 */
function coinState(coin: Subject<StableCoinRow>): CoinState {
  const priced = coin.rows.flatMap(pricedRow);
  const price = priced.at(-1)?.price ?? null;
  const depegged = price !== null && (price < ON_PEG.from || price > ON_PEG.to);
  const end = terminatedOn(priced);
  if (end !== null) return { state: 'dead', depegged, died_on: end };
  const confirmed = coin.absences[PERSISTENT_ABSENCES - 1];
  if (confirmed !== undefined) return { state: 'absent', depegged, died_on: confirmed };
  if (coin.absences.length > 0) return { state: 'missing', depegged, died_on: null };
  return { state: depegged ? 'at_risk' : 'operating', depegged, died_on: null };
}

function pricedRow({ row }: { readonly row: StableCoinRow }) {
  const { price_in_peg: price } = coinFigures(row);
  return price === null ? [] : [{ price, day: row.capture_date }];
}

/** First day of the run below the price that lasts until now; null for none. */
function terminatedOn(priced: ReturnType<typeof pricedRow>): string | null {
  const alive = priced.findLastIndex(({ price }) => price >= TERMINATED_BELOW);
  return priced[alive + 1]?.day ?? null;
}

import { canonicalTarget } from '../../../contract/canonical-request.ts';
import { endpointAt } from '../../../contract/endpoints.ts';
import { filePath } from '../../../contract/path.ts';
import type { COIN_STATES } from '../../../contract/roster-bodies.ts';
import { coinDeathRow, coinRow, PERSISTENT_ABSENCES } from '../../../contract/roster-views.ts';
import { NATURE } from '../../../contract/words.ts';
import { hoursBetween } from '../../derive/age.ts';
import {
  coinFigures,
  type StableCoinRow,
  stableCoinRowSchema,
} from '../../intake/stable-coin-row.ts';
import type { Press } from '../../publish/press.ts';
import type { IsStored } from '../part.ts';
import {
  type CaptureRoster,
  captureCounts,
  capturePart,
  type Subject,
  shownSubjects,
} from './capture-roster.ts';
import { disclosureOf, putRoster, verifiableFile } from './put-roster.ts';
import { putPreview } from './roster-preview.ts';
import { rowProvenance } from './roster-provenance.ts';

/** A coin that is worth less than this, in units of its peg, is terminated. */
export const TERMINATED_BELOW = 0.1;
/** A coin within these prices, in units of its peg, is on its peg. */
export const ON_PEG = { from: 0.95, to: 1.05 } as const;

const SIGNAL = 'stable.coin';
const ABOUT = { signal: SIGNAL, dimension: 'stablecoin-peg', cadence: 'daily' } as const;

type Coin = Subject<StableCoinRow>;

/** Everything about stablecoins: coin, census, graveyard and their preview. */
export const stablePart = capturePart<StableCoinRow>({
  kind: SIGNAL,
  schema: stableCoinRowSchema,
  idOf: ({ coin_id }) => coin_id,
  factsOf,
  write(press, roster, isStored) {
    const ranked = [...roster.subjects].sort(byMarketCap);
    const bySymbol = groupBySymbol(ranked);
    for (const [symbol, [largest, ...others]] of bySymbol) {
      if (largest !== undefined)
        putCoin(press, largest, { symbol, others, companion: companionOf(largest, isStored) });
    }
    putCensus(press, ranked, roster.days);
    putGraveyard(press, roster);
    const states = roster.subjects.map((coin) => coinState(coin).state);
    const terminated = states.filter((state) => state === 'dead').length;
    const absent = states.filter((state) => state === 'absent').length;
    putPreview(press, '/stable/preview', {
      kind: SIGNAL,
      counts: { coins: states.length, terminated, absent, ...captureCounts(roster) },
      paths: ['/stable/coin', '/stable/census', '/stable/graveyard'],
      values: [...bySymbol.keys()].sort(),
    });
    return (coin) =>
      bySymbol.get(coin.newest.row.symbol)?.[0] === coin
        ? filePath(endpointAt('/stable/coin'), { symbol: coin.newest.row.symbol })
        : verifiableFile('/stable/census');
  },
});

function factsOf(row: StableCoinRow) {
  const { coin_id, symbol, capture_date, current, observed_at, source_ref, source_tier } = row;
  const name = row.name ?? null;
  return { coin_id, symbol, name, capture_date, current, observed_at, source_ref, source_tier };
}

/** Largest first, an unknown market cap last, equal ones by id. */
function byMarketCap(a: Coin, b: Coin): number {
  const [capA, capB] = [a, b].map(({ newest }) => coinFigures(newest.row).market_cap_usd ?? -1);
  if (capA !== capB) return (capB ?? -1) - (capA ?? -1);
  return a.id < b.id ? -1 : 1;
}

/** Symbols are not unique: the coin with the largest market cap answers for one, the others are named beside it. */
function groupBySymbol(ranked: readonly Coin[]): ReadonlyMap<string, readonly Coin[]> {
  const groups = new Map<string, Coin[]>();
  for (const coin of ranked) {
    const { symbol } = coin.newest.row;
    groups.set(symbol, [...(groups.get(symbol) ?? []), coin]);
  }
  return groups;
}

function lifeOf(coin: Coin) {
  const { state, died_on } = coinState(coin);
  const { first_seen, last_seen } = coin;
  return { peg: coinFigures(coin.newest.row).peg, state, first_seen, last_seen, end_at: died_on };
}

/** Where the chain of the same coin is sold; null where none is stored. */
function companionOf({ id }: Coin, isStored: IsStored): string | null {
  const chain = endpointAt('/gauge/stablecoin-region');
  const file = filePath(chain, { entity: id });
  if (file === null || !isStored(file)) return null;
  return `peg distress and redemption flight: ${canonicalTarget(chain.path, { entity: id })}`;
}

interface Listing {
  readonly symbol: string;
  /** Other coins of the same symbol. */
  readonly others: readonly Coin[];
  readonly companion: string | null;
}

function putCoin(press: Press, coin: Coin, of: Listing): void {
  const { newest, id } = coin;
  const { row, record_hash } = newest;
  const others = of.others.map((other) => other.id);
  const body = {
    nature: NATURE,
    ...factsOf(row),
    lifecycle: lifeOf(coin),
    data_age_hours: hoursBetween(row.observed_at, row.collected_at),
    record_hash,
    hash_core_version: record_hash === null ? null : 3,
    ...(of.companion === null ? {} : { companion: of.companion }),
    ...(others.length === 0 ? {} : { same_symbol: others }),
    provenance: rowProvenance(ABOUT, newest),
    ...disclosureOf(row),
  };
  const price = coinFigures(row).price_in_peg;
  const statement = {
    claim: `price and life-cycle record of the stablecoin ${id}`,
    fact: `${id} as captured on ${row.capture_date}: price in units of its peg ${price}`,
    target: `/stable/coin?symbol=${encodeURIComponent(of.symbol)}`,
    observed_at: row.observed_at,
    retrieved_at: row.collected_at,
  };
  press.put('/stable/coin', { symbol: of.symbol }, press.sealer.seal(body, statement));
}

function putCensus(press: Press, ranked: readonly Coin[], days: readonly string[]): void {
  putRoster(press, {
    path: '/stable/census',
    member: 'rows',
    about: ABOUT,
    claim: `stablecoins by market cap, captured up to ${days.at(-1)}`,
    rows: ranked.map((coin, index) => {
      const { depegged } = coinState(coin);
      return { shown: coinRow(coinFacts(coin), { rank: index + 1, depegged }), from: coin.newest };
    }),
  });
}

/** What rows of rosters say of a coin. */
function coinFacts(coin: Coin) {
  const { row, record_hash } = coin.newest;
  return { ...factsOf(row), lifecycle: lifeOf(coin), record_hash };
}

function putGraveyard(press: Press, { subjects, days }: CaptureRoster<StableCoinRow>): void {
  putRoster(press, {
    path: '/stable/graveyard',
    member: 'deaths',
    about: ABOUT,
    claim: `stablecoins terminated or persistently absent by ${days.at(-1)}`,
    rows: shownSubjects(subjects, (coin) => coinDeathRow(coinFacts(coin))),
  });
}

interface CoinState {
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
function coinState(coin: Subject<StableCoinRow>): CoinState {
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

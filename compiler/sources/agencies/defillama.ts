import { z } from 'zod';
import { neutralFault } from '../../catalog/neutral-text.ts';
import type { StableCoinRow } from '../../readings/roster-rows.ts';
import { memberText, originOf, readableEntries } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import {
  fetchAgain,
  type Imported,
  jsonOf,
  type Payload,
  parsePayload,
  shaped,
} from '../kit/payload.ts';
import { ReadingList, statedReading } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';
import { stateReading, yearReading } from '../kit/subjects.ts';

// Three lists of DefiLlama, https://api-docs.defillama.com: protocols, stablecoins, prices. Members were read in tests of
// public clients. It measures and collects what others run: tier T2-aggregator.

/** Lines by the category of a protocol. */
const LINES: Readonly<Record<string, string>> = {
  'Liquid Restaking': 'lrt',
  Lending: 'defi-lending',
  RWA: 'rwa',
  DePIN: 'depin',
};
const COINS: Readonly<Record<string, string>> = {
  'coingecko:bitcoin': 'btc',
  'coingecko:ethereum': 'eth',
};

const ORIGIN = originOf('DefiLlama', 'https://defillama.com/', {
  role: 'aggregator',
  independent: false,
  tier: 'T2-aggregator',
  status: 'as collected by DefiLlama',
});

/** Seconds or milliseconds since 1970, or a day: its list has all three. None is of before there were protocols. */
const when = z.union([
  z
    .number()
    .min(Date.UTC(2009, 0) / 1000)
    .transform((at) => (at > 1e11 ? at : at * 1000)),
  z
    .string()
    .transform((text) => dayTime(text))
    .pipe(z.number({ error: 'not a day' })),
]);
const protocolSchema = z.looseObject({
  slug: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,79}$/),
  name: z.string().min(1),
  category: z.string(),
  tvl: z.number().nullish(),
  deadFrom: when.nullish(),
});
const amount = z.number().min(0);
const coinSchema = z.looseObject({
  id: z.string().regex(/^\d{1,9}$/),
  name: z.string().min(1),
  symbol: z.string(),
  pegType: z.string(),
  price: z.unknown(),
  circulating: z.record(z.string(), z.unknown()),
});
/** Symbols that a row may have; a coin of another one stands in no row, on any day. */
const SYMBOL = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,39}$/;
const pricesSchema = z.looseObject({
  coins: z.record(
    z.string(),
    z.looseObject({
      price: z.number().min(0),
      timestamp: z.int(),
      confidence: z.number().optional(),
    }),
  ),
});

function read(payload: Payload): Imported {
  const list = new ReadingList();
  const { pathname } = new URL(payload.note.url);
  if (pathname.endsWith('/stablecoins')) return readCoins(payload, list);
  if (pathname.includes('/prices/current/')) addPrices(payload, list);
  else addProtocols(payload, list);
  return list.someOf(payload);
}

/** Protocols of our lines. One without value and without an end says nothing of its state. */
function addProtocols(payload: Payload, list: ReadingList): void {
  const { bytes, subject, note } = payload;
  const is = 'a list of protocols';
  const entries = shaped(z.array(z.unknown()), parsePayload(bytes, subject), { subject, is });
  const { read: protocols, unread } = readableEntries(entries, protocolSchema, {
    list,
    of: memberText('slug'),
  });
  const at = Date.parse(note.fetched_at);
  for (const [category, line] of Object.entries(LINES)) {
    const own = protocols.filter((one) => one.category === category);
    const scope = `protocols of category "${category}"; "dead" from the day that the list gives, "operating" with value locked and no such day`;
    const statement = { origin: ORIGIN, payload, at, scope };
    for (const { slug, name, tvl, deadFrom = null } of own) {
      const isDead = deadFrom !== null && deadFrom <= at;
      const subject = {
        entity: slug,
        entity_name: name,
        birth: null,
        end: isDead ? deadFrom : null,
      };
      if (isDead)
        list.add(`${line}.lifecycle`, stateReading({ ...subject, state: 'dead' }, statement));
      else if (tvl)
        list.add(`${line}.lifecycle`, stateReading({ ...subject, state: 'operating' }, statement));
      else list.skips.add(slug, 'neither value locked nor an end');
    }
    if (own.length === 0) continue;
    const ends = unread > 0 ? [null] : own.flatMap(({ deadFrom }) => deadFrom ?? []);
    list.add(`${line}.industry-timeline`, yearReading({ entity: 'all', ends }, statement));
  }
}

/** Above this price in its peg a coin is taken to bear yield, and not to be off its peg (ours). */
const YIELD_FROM = 1.02;

/**
 * Each coin as a row, and its distance from the dollar. The list holds no time of its own. Who is in no row counts as gone: a
 * figure that cannot be read is null there, and where a coin cannot be told there are no rows.
 */
function readCoins(payload: Payload, list: ReadingList): Imported {
  const shape = z.looseObject({ peggedAssets: z.array(z.unknown()) });
  const { peggedAssets } = jsonOf(payload, shape, 'a list of stablecoins');
  const of = memberText('symbol');
  const { read: coins, unread } = readableEntries(peggedAssets, coinSchema, { list, of });
  if (coins.length === 0) throw fetchAgain(payload, 'it lists no stablecoin');
  const rows = coins.flatMap((coin) => {
    const figures = figuresOf(coin);
    addDistance(coin, figures.price_in_peg, { payload, list });
    if (SYMBOL.test(coin.symbol)) return [rowOf(coin, figures, payload)];
    list.skips.add(coin.id, 'a symbol that no row may have');
    return [];
  });
  const imported = list.imported();
  return unread > 0 ? imported : { ...imported, rows: new Map([['stable.coin' as const, rows]]) };
}

type Coin = z.infer<typeof coinSchema>;

/** Values in dollars of a coin that is pegged to it. A price of 0 is one that is missing. */
function figuresOf({ pegType, price, circulating }: Coin) {
  const peg = pegType.replace('pegged', '');
  const priced = amount.safeParse(price).data || null;
  const supply = amount.safeParse(circulating[pegType]).data ?? null;
  const isKnown = peg === 'USD' && priced !== null;
  return {
    price_in_peg: isKnown ? priced : null,
    market_cap_usd: isKnown && supply !== null ? Math.round(supply * priced) : null,
    peg,
  };
}

function addDistance(
  { id, name }: Coin,
  price: number | null,
  { payload, list }: { payload: Payload; list: ReadingList },
): void {
  if (price === null || price > YIELD_FROM) {
    list.skips.add(id, 'no price in dollars, or one of a coin that bears yield');
    return;
  }
  const stated = {
    entity: id,
    entity_name: name,
    at: Date.parse(payload.note.fetched_at),
    current: { peg_distance_pct: Math.round(Math.abs(price - 1) * 1e6) / 1e4, price_usd: price },
    scope: `coin ${id} of the list; a coin priced above ${YIELD_FROM} of its peg is taken to bear yield and left out (ours)`,
  };
  list.add('stablecoin.peg-distress', statedReading(ORIGIN, payload, stated));
}

function rowOf(
  { id, name, symbol }: Coin,
  current: StableCoinRow['current'],
  { note }: Payload,
): StableCoinRow {
  return {
    coin_id: id,
    symbol: symbol.toUpperCase(),
    ...(neutralFault(name) === null ? { name } : {}),
    capture_date: note.fetched_at.slice(0, 10),
    observed_at: note.fetched_at,
    collected_at: note.fetched_at,
    current,
    sources: [{ name: ORIGIN.name, weight: 1, role: ORIGIN.role, independent: false }],
    source_ref: ORIGIN.page,
    source_tier: ORIGIN.tier,
    scope: 'coins that DefiLlama lists; values in dollars only of coins that are pegged to it',
  };
}

function addPrices(payload: Payload, list: ReadingList): void {
  const { coins } = jsonOf(payload, pricesSchema, 'current prices');
  for (const [id, { price, timestamp }] of Object.entries(coins)) {
    const entity = COINS[id];
    if (entity === undefined) continue;
    if (timestamp * 1000 > Date.parse(payload.note.fetched_at)) {
      list.skips.add(entity, 'a price of after the fetch');
      continue;
    }
    const scope = 'price that DefiLlama collects from markets, at the time that it gives';
    const stated = { entity, at: timestamp * 1000, current: { price_usd: price }, scope };
    list.add('crypto.spot', statedReading(ORIGIN, payload, stated));
  }
}

export const defillama: Source = { ...registered('defillama'), version: 1, read };

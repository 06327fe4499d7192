import { encodeSegment } from '../products/shapes/path.ts';
import type { Spoken } from '../products/shapes/say.ts';

// What the page for people is made of. Everything here is free anyway: names, places, times, the last seven readings, prices.

/** Folder of the page in a release; `/site/` serves it, and `/` its index. */
export const SITE_FOLDER = 'site';
export const SITE_INDEX_PATH = `${SITE_FOLDER}/index.html`;
/** `GET /docs`. */
export const SITE_DOCS_PATH = `${SITE_FOLDER}/docs.html`;
/** Folder of what the browser program asks for. */
export const SITE_DATA = `${SITE_FOLDER}/data`;

/** One thing that is sold, as price lists show it. */
export interface SitePrice {
  readonly path: string;
  /** Decimal USD. */
  readonly price_usd: string;
  /** Signals that cost something else, as words after the price; absent where all cost the same. */
  readonly other_prices?: string;
  /** Names of the parameters that it needs. */
  readonly asks: readonly string[];
  readonly summary: string;
}

/** One signal of `/site/data/signals.json`. */
export interface SiteSignal extends Spoken {
  readonly signal_id: string;
  readonly industry: string;
  /** Id of the line, which names the bundle. */
  readonly line: string;
  readonly line_title: string;
  readonly measures: string;
  readonly entities: number;
  /** Paths of what is sold about an entity of it now, or about all of them; `prices` says the rest. */
  readonly sells: readonly string[];
  /** Decimal USD by path, where it is not that of `prices`; '0' for what is free. */
  readonly prices?: Readonly<Record<string, string>>;
  /** URL path of its SiteEntities. */
  readonly list: string;
  /** URL path of a SiteMap; null where no entity has a position. */
  readonly map: string | null;
  /** `/gauge/raw` gives the whole bare record. */
  readonly raw: boolean;
  /** Entity of the whole free record at `/gauge/sample?signal_id=`; null for none. */
  readonly sample: string | null;
}

/** A line whose legs are sold together. */
export interface SiteBundle {
  readonly line: string;
  readonly title: string;
  readonly path: string;
  readonly param: 'loc' | 'entity';
  readonly price_usd: string;
  /** In causal order. */
  readonly legs: readonly { readonly name: string; readonly signals: readonly string[] }[];
  /** Where the entity of a leg differs from the subject: signal -> subject -> entity. */
  readonly entity_of: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Subjects with at least one leg that has a reading, at most SITE_SUBJECTS_MAX. */
  readonly subjects: readonly string[];
}
export const SITE_SUBJECTS_MAX = 500;

/** `/site/data/signals.json`: everything but the entities. Changes when something new is sold, not with each reading. */
export const SITE_SIGNALS_URL = '/site/data/signals.json';
export interface SiteSignals {
  readonly signals: readonly SiteSignal[];
  readonly bundles: readonly SiteBundle[];
  readonly prices: readonly SitePrice[];
  /** Whom at least one reading is about, each counted once. */
  readonly entities: number;
  /** Time zones by line and entity, of lines of at most SITE_SUBJECTS_MAX. */
  readonly zones: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** What is sold about a signal, at its own prices. */
export function offersIn({ prices }: SiteSignals): (signal: SiteSignal) => SitePrice[] {
  const byPath = new Map(prices.map((price) => [price.path, price]));
  return ({ sells, prices: own = {} }) =>
    sells.flatMap((path) => {
      const price = byPath.get(path);
      return price === undefined ? [] : [{ ...price, price_usd: own[path] ?? price.price_usd }];
    });
}

/** `[entity, name or null, observed_at, last_looked_at]`. */
export type SiteEntityRow = readonly [
  entity: string,
  name: string | null,
  observed_at: string,
  last_looked_at: string,
];
/** The entities of one signal in order: all of them in `rows`, or, where there are many, in pieces. */
export interface SiteEntities {
  readonly signal_id: string;
  readonly rows: readonly SiteEntityRow[] | null;
  /** In order; empty where `rows` holds all. */
  readonly pieces: readonly SitePieceRef[];
}
/** Most entities that a list holds in itself. */
export const SITE_ROWS_MAX = 512;
/** A piece of a long list: entities in order, from `first` on. */
export interface SitePieceRef {
  readonly url: string;
  readonly first: string;
  readonly entities: number;
}
export interface SitePiece {
  readonly signal_id: string;
  readonly rows: readonly SiteEntityRow[];
}

/**
 * The free last seven, oldest first: `[observed_at, main metric]`, null where the reading has no such number. The class that
 * its publisher gave stands behind them, where it gave one.
 */
export type SitePoint = readonly [observed_at: string, value: number | null, band?: string];
/** `[entity, name, latitude, longitude, points]`. */
export type SiteMapRow = readonly [
  entity: string,
  name: string | null,
  latitude: number,
  longitude: number,
  points: readonly SitePoint[],
];
/** Entities of one signal that have a position. */
export interface SiteMap {
  readonly signal_id: string;
  readonly metric: string;
  readonly rows: readonly SiteMapRow[];
}

/** A reading of the free last seven, and how it stands on the official scale of its day. */
export interface SiteWorstRow {
  readonly entity: string;
  readonly entity_name: string | null;
  readonly observed_at: string;
  readonly current: Readonly<Record<string, unknown>>;
  /** Classes above the one from which the agency advises action, 0 for that one itself; below it less than 0. */
  readonly above: number;
  /** The first of the readings that reach the action class without a break; null where this one does not. */
  readonly since: string | null;
  /** It reaches as far back as the free ones do: it may stand so for longer. */
  readonly is_at_least: boolean;
}
/** The entities of one signal that stand worst on its official scale, worst first, at most SITE_WORST_MAX. */
export interface SiteWorst {
  readonly signal_id: string;
  /** How many reach the action class. */
  readonly total: number;
  readonly rows: readonly SiteWorstRow[];
}
export const SITE_WORST_MAX = 12;

/** `/site/data/find.json`: how the words of all entities are cut into pieces. */
export const SITE_FIND_URL = '/site/data/find.json';
export interface SiteFind {
  /** Beginnings of words, sorted; each has a piece, see `findUrl`. */
  readonly keys: readonly string[];
}
/** Most entities that a piece of words holds: more of them share one word, and another word tells them apart. */
export const FOUND_MAX = 2000;
/** Entities that have a word which begins with the key, by signal: `[entity, name or null]`. */
export interface SiteFound {
  readonly key: string;
  /** How many there are; at most FOUND_MAX of them are listed. */
  readonly total: number;
  readonly signals: Readonly<Record<string, readonly (readonly [string, string | null])[]>>;
}

/** The words under which an entity is found: lower case, without accents, cut at everything but letters and digits. */
export function siteWords(...texts: readonly (string | null)[]): string[] {
  const words = texts.flatMap((text) => {
    const lower = (text ?? '').toLowerCase();
    // The usual text, several times as fast.
    if (/^[ -~]*$/.test(lower)) return lower.match(/[a-z0-9]+/g) ?? [];
    const plain = lower.normalize('NFKD').replace(/\p{M}/gu, '');
    return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  });
  return [...new Set(words)];
}

/** The keys whose pieces hold every entity with a word that begins with `word`. */
export function findKeys(word: string, keys: readonly string[]): string[] {
  const longer = keys.filter((key) => key.startsWith(word));
  const shorter = keys.filter((key) => word.startsWith(key) && key !== word);
  // A word stands in the piece of its longest key alone.
  const longest = shorter.reduce((best, key) => (key.length > best.length ? key : best), '');
  return longer.length > 0 ? longer : longest === '' ? [] : [longest];
}

/** URL path of the piece of a key. */
export function findUrl(key: string): string {
  return `/site/data/find/${encodeSegment(key)}.json`;
}

/** One entity whose latest reading is another one than in the release before. */
export interface SiteChange {
  readonly change: 'new' | 'newer' | 'revised' | 'older' | 'gone';
  readonly signal_id: string;
  readonly entity: string;
  readonly entity_name: string | null;
  readonly observed_at: string;
  readonly record_hash: string;
  /** Where the price is asked; null for what is gone. */
  readonly url: string | null;
  /** The free last seven. */
  readonly preview_url: string | null;
}
/**
 * `/changes.json`: what this release brought that the one before did not have. With the feed it is all of the page that
 * depends on that release.
 */
export const SITE_CHANGES_PATH = `${SITE_FOLDER}/changes.json`;
export const SITE_FEED_PATH = `${SITE_FOLDER}/changes.atom`;
export const SITE_CHANGES_MAX = 200;
export interface SiteChanges {
  readonly as_of: string;
  /** Entities by what became of their latest reading; null where the release before cannot be read. */
  readonly counts: Readonly<Record<SiteChange['change'], number>> | null;
  /** The newest by the time of observation, at most SITE_CHANGES_MAX. */
  readonly changes: readonly SiteChange[];
}

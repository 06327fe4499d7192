import { findKeys, type SiteFound, siteWords } from '../contract/site.ts';
import type { PageSignal } from './page-data.ts';

/** One thing found: a signal, or an entity of a signal. */
export interface Hit {
  readonly signal: PageSignal;
  readonly entity: string | null;
  readonly name: string | null;
}

export interface Hits {
  readonly hits: readonly Hit[];
  /** More than are listed. */
  readonly isCut: boolean;
}

const HITS_MAX = 40;
/** Pieces of the index that one search reads. */
const PIECES_MAX = 8;

/** Signals by id, with the words under which each is found. */
export interface SignalIndex {
  readonly byId: ReadonlyMap<string, PageSignal>;
  readonly words: ReadonlyMap<string, readonly string[]>;
}

export function signalIndex(signals: readonly PageSignal[]): SignalIndex {
  const wordsOf = ({ signal_id, industry, measures, line_title, metrics }: PageSignal): string[] =>
    siteWords(signal_id, industry, measures, line_title, ...metrics.map(({ name }) => name));
  return {
    byId: new Map(signals.map((signal) => [signal.signal_id, signal])),
    words: new Map(signals.map((signal) => [signal.signal_id, wordsOf(signal)])),
  };
}

/**
 * The pieces that hold every entity which a query may find. An entity stands in the piece of each of its words, so one word
 * would do; a word that very many have is listed in part only, so the pieces of others are read too. A word of what is
 * measured, as in "denver aqi", need not stand in a name.
 */
export function piecesFor(query: string, keys: readonly string[], index: SignalIndex): string[] {
  const choices = siteWords(query).map((word) => ({
    keys: findKeys(word, keys),
    isMeasured: [...index.words.values()].some((words) => matches(word, words)),
  }));
  if (choices.some((one) => !one.isMeasured && one.keys.length === 0)) return [];
  const names = choices.filter(({ isMeasured }) => !isMeasured);
  const ranked = (names.length > 0 ? names : choices).sort((one, other) => {
    return one.keys.length - other.keys.length;
  });
  return [...new Set(ranked.flatMap((one) => one.keys))].slice(0, PIECES_MAX);
}

/** What the words of a query find: signals first, then entities, better matches first. */
export function findIn(query: string, found: readonly SiteFound[], index: SignalIndex): Hits {
  const asked = siteWords(query);
  if (asked.length === 0) return { hits: [], isCut: false };
  const hits = [...index.byId.values()].flatMap((signal) =>
    hitsOf(signal, asked, { found, index }),
  );
  hits.sort(byRank);
  return {
    hits: hits.slice(0, HITS_MAX).map(({ rank: _, ...hit }) => hit),
    isCut: hits.length > HITS_MAX || (found.length > 0 && found.every(isPartial)),
  };
}

interface Searched {
  readonly found: readonly SiteFound[];
  readonly index: SignalIndex;
}

/** The signal itself, if all words are of what it measures; of its entities those that have the other words. */
function hitsOf(
  signal: PageSignal,
  asked: readonly string[],
  { found, index }: Searched,
): Ranked[] {
  const id = signal.signal_id;
  const words = index.words.get(id) ?? [];
  const left = asked.filter((word) => !matches(word, words));
  const sought = left.length === 0 ? asked : left;
  const own: Ranked[] = left.length === 0 ? [{ signal, entity: null, name: null, rank: 0 }] : [];
  const entities = entitiesOf(id, found).flatMap(([entity, name]): Ranked[] => {
    const own = siteWords(entity, name);
    // A name that has all words itself comes before one that leaves some to what is measured.
    const whole = rankOf(asked, own);
    const rank = whole ?? rankOf(sought, own);
    return rank === null ? [] : [{ signal, entity, name, rank: whole === null ? rank + 2 : rank }];
  });
  return [...own, ...entities];
}

/** A word that very many have is listed in part. */
function isPartial({ total, signals }: SiteFound): boolean {
  return Object.values(signals).reduce((sum, rows) => sum + rows.length, 0) < total;
}

interface Ranked extends Hit {
  readonly rank: number;
}

function byRank(one: Ranked, other: Ranked): number {
  if (one.rank !== other.rank) return one.rank - other.rank;
  const name = (hit: Hit): string => hit.name ?? hit.entity ?? '';
  return name(one).localeCompare(name(other), 'en');
}

function entitiesOf(id: string, found: readonly SiteFound[]): (readonly [string, string | null])[] {
  const rows = found.flatMap(({ signals }) =>
    Object.hasOwn(signals, id) ? (signals[id] ?? []) : [],
  );
  // An entity stands in the piece of each of its words.
  return found.length < 2 ? rows : [...new Map(rows.map((row) => [row[0], row])).values()];
}

/** 1 where all words are whole, 2 where some are beginnings; null where one is missing. */
function rankOf(asked: readonly string[], words: readonly string[]): number | null {
  if (!asked.every((word) => matches(word, words))) return null;
  return asked.every((word) => words.includes(word)) ? 1 : 2;
}

function matches(word: string, words: readonly string[]): boolean {
  return words.some((one) => one.startsWith(word));
}

import type { CatalogRow } from '../../../contract/release.ts';
import {
  FOUND_MAX,
  findUrl,
  SITE_FIND_URL,
  type SiteFind,
  type SiteFound,
  siteWords,
} from '../../../contract/site.ts';
import type { SiteFile } from './entity-pieces.ts';

/** Entities of a piece before it is cut by the next letter. */
const PIECE_ROWS_MAX = 1000;
/** Longest beginning of a word that is told apart. */
const KEY_CHARS_MAX = 12;

/** A word with the entity that it finds. */
type Entry = readonly [word: string, row: CatalogRow];

/** Every word of every entity, in pieces by how it begins. */
export function findFiles(rows: Iterable<CatalogRow>): SiteFile[] {
  const entries: Entry[] = [];
  for (const row of rows) {
    for (const word of siteWords(row.entity, row.entity_name)) entries.push([word, row]);
  }
  const pieces = [...byKey(entries, 1)].flatMap(([key, list]) => cut(key, list));
  pieces.sort(([a], [b]) => (a < b ? -1 : 1));
  const find: SiteFind = { keys: pieces.map(([key]) => key) };
  const files = pieces.map(([key, list]): SiteFile => [findUrl(key).slice(1), found(key, list)]);
  return [[SITE_FIND_URL.slice(1), find], ...files];
}

/** The beginning of a word, of so many UTF-16 units, or one more where that would halve a character. */
function keyOf(word: string, chars: number): string {
  const key = word.slice(0, chars);
  return key.isWellFormed() ? key : word.slice(0, chars + 1);
}

function byKey(entries: readonly Entry[], chars: number): Map<string, Entry[]> {
  const byStart = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = keyOf(entry[0], chars);
    const known = byStart.get(key);
    if (known === undefined) byStart.set(key, [entry]);
    else known.push(entry);
  }
  return byStart;
}

/** One piece, or one for each next letter; words that are the key itself stay in the piece of the key. */
function cut(key: string, entries: readonly Entry[]): [string, readonly Entry[]][] {
  const chars = key.length;
  if (entries.length <= PIECE_ROWS_MAX || chars >= KEY_CHARS_MAX) return [[key, entries]];
  const parts = byKey(entries, chars + 1);
  // All of them are the same word.
  if (parts.size === 1 && parts.has(key)) return [[key, entries]];
  return [...parts].flatMap(([longer, list]): [string, readonly Entry[]][] => {
    return longer === key ? [[key, list]] : cut(longer, list);
  });
}

function found(key: string, entries: readonly Entry[]): SiteFound {
  const signals: Record<string, (readonly [string, string | null])[]> = {};
  const seen = new Set<CatalogRow>();
  for (const [, row] of entries) {
    if (seen.has(row)) continue;
    seen.add(row);
    if (seen.size > FOUND_MAX) continue;
    signals[row.signal_id] ??= [];
    signals[row.signal_id]?.push([row.entity, row.entity_name]);
  }
  return { key, total: seen.size, signals };
}

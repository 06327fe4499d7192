import type { Catalog } from '../catalog/catalog.ts';
import {
  formatTermRow,
  POSTED_PLACES_MAX,
  type Posting,
  postedDocument,
  posting,
  SEARCH_DOCUMENTS_PATH,
  SEARCH_TERMS_PATH,
  type SearchDocument,
  type SearchHead,
  searchWords,
  type TermRow,
} from '../catalog/search-index.ts';
import { defined } from '../format/errors.ts';
import { firstWhere } from '../format/lists.ts';
import { CATALOG_PATH, parseCatalogRow } from '../format/release.ts';
import type { Line, Signal } from '../products/shapes/line.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import type { Press } from '../release/press.ts';
import type { Shelf } from './examples.ts';
import { type ManifestEntry, rowOf } from './manifest.ts';
import { NAMES, otherNames, otherSubjects } from './other-names.ts';

/** How much a word says by where it stands; an alias is written for the search, a name is what people say. */
const WEIGHT = {
  alias: 9,
  name: 9,
  measures: 7,
  id: 6,
  summary: 5,
  line: 3,
  metric: 3,
  band: 2,
} as const;

/** Words by where they stand; of a word that stands twice the place that says more counts. */
type Texts = readonly (readonly [weight: number, text: string])[];

interface Indexed {
  readonly document: SearchDocument;
  readonly texts: Texts;
}

interface IndexedPlace {
  readonly line: Line;
  readonly entity: string;
  readonly name: string | null;
}

interface SearchMaterial {
  readonly catalog: Catalog;
  readonly table: Uint8Array;
  readonly entries: readonly ManifestEntry[];
}

/**
 * Writes the index of the search over everything that this release can answer. To make it of 100,000 entities takes a second,
 * so that of the previous release stays where no entity came, went or got another name, and no operation differs.
 */
export function writeSearchIndex(
  press: Press,
  shelf: Shelf,
  { entries, hasOtherNames }: { entries: readonly ManifestEntry[]; hasOtherNames: boolean },
): void {
  const { catalog } = press;
  if (!hasOtherNames && isSameOffer(shelf, operationTopics(catalog, entries))) return;
  const table = shelf.has(CATALOG_PATH) ? shelf.read(CATALOG_PATH) : new Uint8Array();
  for (const [path, text] of searchIndexFiles({ catalog, table, entries })) press.file(path, text);
}

/** Whether the stored index is about these operations; what their words are follows from the catalogue. */
function isSameOffer(shelf: Shelf, operations: readonly Indexed[]): boolean {
  if (!shelf.has(SEARCH_DOCUMENTS_PATH) || !shelf.has(SEARCH_TERMS_PATH)) return false;
  // What is kept is read, so that a damaged file is a fault now and not at the first question.
  shelf.read(SEARCH_TERMS_PATH);
  const stored = new TextDecoder().decode(shelf.read(SEARCH_DOCUMENTS_PATH));
  if (!stored.endsWith(NAME_LINES)) return false;
  const lines = operations.map(documentLine).join('');
  const from = Math.max(0, stored.indexOf('["operation",'));
  const end = stored.slice(from).search(/^\["(?:place|name)",/m);
  return stored.slice(from, end < 0 ? stored.length : from + end) === lines;
}

const NAME_LINES = NAMES.map((names) => `${JSON.stringify(['name', names])}\n`).join('');

function documentLine({ document }: Indexed): string {
  return `${JSON.stringify(document)}\n`;
}

/** Whether a path is a file of the index, which stays until another takes its place. */
export function isSearchIndex(path: string): boolean {
  return path === SEARCH_DOCUMENTS_PATH || path === SEARCH_TERMS_PATH;
}

export function searchIndexFiles(material: SearchMaterial): ReadonlyMap<string, string> {
  const { catalog, table, entries } = material;
  const { stored, places } = storedReadings(table, catalog);
  const topics = [...signalTopics(catalog, stored), ...operationTopics(catalog, entries)];
  const head: SearchHead = {
    topics: topics.length,
    documents: topics.length + places.length,
    lines: firstPlaces(places, topics.length),
  };
  const terms: Terms = new Map();
  const lines: string[] = [];
  const add = (one: Indexed): void => {
    addTerms(terms, lines.length, one.texts);
    lines.push(documentLine(one));
  };
  for (const topic of topics) add(topic);
  const shortNames = shortNamesOf(catalog);
  for (const place of places) add(placeDocument(place, catalog, shortNames));
  return new Map([
    [SEARCH_DOCUMENTS_PATH, lines.join('') + NAME_LINES],
    [SEARCH_TERMS_PATH, `${JSON.stringify(head)}\n${termLines(terms, topics.length)}`],
  ]);
}

/** Signals that have a reading, and whom the readings of each line are about, by line and entity. */
function storedReadings(
  table: Uint8Array,
  { entryById }: Catalog,
): { readonly stored: ReadonlySet<string>; readonly places: readonly IndexedPlace[] } {
  const stored = new Set<string>();
  const byLine = new Map<string, Map<string, IndexedPlace>>();
  const text = new TextDecoder().decode(table);
  for (const row of text.split('\n').slice(0, -1)) {
    const { signal_id: id, entity, entity_name: name } = parseCatalogRow(row);
    const { line } = defined(entryById.get(id), `the signal "${id}"`);
    stored.add(id);
    const own = byLine.get(line.id) ?? new Map<string, IndexedPlace>();
    if (!own.has(entity)) own.set(entity, { line, entity, name });
    byLine.set(line.id, own);
  }
  const places = inOrder(byLine).flatMap(([, own]) => inOrder(own).map(([, place]) => place));
  return { stored, places };
}

function inOrder<Value>(rows: ReadonlyMap<string, Value>): [string, Value][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}

function firstPlaces(places: readonly IndexedPlace[], topics: number): SearchHead['lines'] {
  const first = new Map<string, number>();
  for (const [at, { line }] of places.entries()) {
    if (!first.has(line.id)) first.set(line.id, topics + at);
  }
  return [...first];
}

function signalTopics(catalog: Catalog, stored: ReadonlySet<string>): Indexed[] {
  const known = catalog.lines.flatMap((line) => line.signals.map((signal) => ({ line, signal })));
  return known
    .filter(({ signal }) => stored.has(signal.id))
    .map(({ line, signal }) => ({
      document: ['signal', signal.id],
      texts: [
        ...signalTexts(signal),
        ...aliasesOf(signal.id, catalog),
        ...lineTexts(line, catalog),
      ],
    }));
}

function signalTexts({ id, measures, metrics, bands = [], rulers = [] }: Signal): Texts {
  return [
    [WEIGHT.id, id],
    [WEIGHT.measures, measures],
    ...metrics.map((metric) => [WEIGHT.metric, metric] as const),
    ...bands.map((band) => [WEIGHT.band, band] as const),
    ...rulers.map(({ scale }) => [WEIGHT.band, scale] as const),
  ];
}

function lineTexts({ id, title, industry }: Line, catalog: Catalog): Texts {
  const words = aliasesOf(id, catalog).map(([, alias]) => alias);
  return [id, title, industry, ...words].map((text) => [WEIGHT.line, text]);
}

/** Further words for something, in all languages; most things have none. */
function aliasesOf(id: string, { aliases }: Catalog): Texts {
  const own = aliases.get(id) ?? [];
  return [...own, ...own.flatMap(otherSubjects)].map((alias) => [WEIGHT.alias, alias]);
}

/** The operations that answer now, except that which every pair of a signal and a place stands for. */
function operationTopics(catalog: Catalog, entries: readonly ManifestEntry[]): Indexed[] {
  const rows = entries
    .filter((entry) => entry.sells_now && entry.path !== '/gauge')
    .map((entry) => rowOf(entry, catalog));
  return rows.map((row) => {
    const line = catalog.lines.find(({ bundle }) => bundle?.path === row.path);
    const ofLine = line === undefined ? [] : lineTexts(line, catalog);
    return {
      document: ['operation', row.path],
      texts: [...operationTexts(row), ...aliasesOf(row.path, catalog), ...ofLine],
    };
  });
}

function operationTexts({ path, summary, params }: Endpoint): Texts {
  return [
    [WEIGHT.id, path],
    [WEIGHT.summary, summary],
    ...Object.keys(params).map((name) => [1, name] as const),
  ];
}

/** Other names of the entities of a line, by the words of their name without what follows its first comma. */
interface ShortNames {
  readonly byWords: ReadonlyMap<string, Texts>;
  /** The first word of each: most words of most names begin none. */
  readonly firstWords: ReadonlySet<string>;
}

function shortNamesOf(catalog: Catalog): ReadonlyMap<string, ShortNames> {
  const byLine = [...catalog.namedByLine].map(([line, named]) => {
    const names = Object.entries(named).flatMap(([entity, { name }]) => {
      const aliases = aliasesOf(`${line}/${entity}`, catalog);
      if (aliases.length === 0) return [];
      const end = name.indexOf(',');
      return [{ words: searchWords(end < 0 ? name : name.slice(0, end)), aliases }];
    });
    const byWords = new Map(names.map(({ words, aliases }) => [words.join(' '), aliases]));
    const firstWords = new Set(names.flatMap(({ words }) => words.slice(0, 1)));
    return [line, { byWords, firstWords }] as const;
  });
  return new Map(byLine);
}

/** Longest name that another one is looked for in, in words. */
const NAME_WORDS_MAX = 4;

/** The other names of every entity of the line whose name stands in a name: `LA` of `Los Angeles River at Sepulveda Dam`. */
function borrowedNames(name: string, { byWords, firstWords }: ShortNames): Texts {
  if (byWords.size === 0) return [];
  const words = searchWords(name);
  const borrowed: (readonly [number, string])[] = [];
  for (const [from, word] of words.entries()) {
    if (!firstWords.has(word)) continue;
    const last = Math.min(words.length, from + NAME_WORDS_MAX);
    for (let end = from + 1; end <= last; end += 1) {
      borrowed.push(...(byWords.get(words.slice(from, end).join(' ')) ?? []));
    }
  }
  return borrowed;
}

function placeDocument(
  { line, entity, name: given }: IndexedPlace,
  catalog: Catalog,
  shortNames: ReadonlyMap<string, ShortNames>,
): Indexed {
  const name = catalog.namedByLine.get(line.id)?.[entity]?.name ?? given;
  const short = shortNames.get(line.id);
  const aliases = aliasesOf(`${line.id}/${entity}`, catalog);
  const called = [...(name === null ? [] : [name]), ...aliases.map(([, alias]) => alias)];
  return {
    document: ['place', line.id, entity, name],
    texts: [
      [WEIGHT.id, withoutNumbers(entity)],
      ...(name === null ? [] : nameTexts(withoutNumbers(name), catalog)),
      ...(name === null || short === undefined ? [] : borrowedNames(name, short)),
      ...aliases,
      ...otherNames(entity, called, line).map((other) => [WEIGHT.alias, other] as const),
    ],
  };
}

/** Long numbers tell one entity from all others: whoever knows one finds it by its id. */
function withoutNumbers(text: string): string {
  return text.replace(/\b[a-z]{0,3}\d{4,}\b/gi, ' ');
}

function nameTexts(name: string, { abbreviations }: Catalog): Texts {
  const short = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const long = short.flatMap((word) => abbreviations.get(word) ?? []);
  return [[WEIGHT.name, name], ...long.map((word) => [WEIGHT.name, word] as const)];
}

/** Term -> its postings, in the order of documents. */
type Terms = Map<string, Posting[]>;

/** Of a term that stands twice in a document the place that says more counts. */
function addTerms(terms: Terms, document: number, texts: Texts): void {
  for (const [weight, text] of texts) {
    const one = posting(document, weight);
    for (const term of searchWords(text)) {
      const postings = terms.get(term);
      if (postings === undefined) terms.set(term, [one]);
      else addPosting(postings, one);
    }
  }
}

function addPosting(postings: Posting[], one: Posting): void {
  const last = postings.length - 1;
  const before = defined(postings[last], 'the posting before');
  if (postedDocument(before) < postedDocument(one)) postings.push(one);
  else postings[last] = Math.max(before, one);
}

function termLines(terms: Terms, topics: number): string {
  const rows = [...terms].map(([term, all]): TermRow => {
    const ofTopics = firstWhere(
      all.length,
      (at) => postedDocument(defined(all[at], 'a posting')) >= topics,
    );
    const places = all.length - ofTopics;
    const postings = places > POSTED_PLACES_MAX ? all.slice(0, ofTopics) : all;
    return { term, topics: ofTopics, places, postings };
  });
  return rows.sort(byTerm).map(formatTermRow).join('');
}

function byTerm({ term: a }: TermRow, { term: b }: TermRow): number {
  return a < b ? -1 : Number(a > b);
}

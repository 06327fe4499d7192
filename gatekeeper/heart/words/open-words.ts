import SearchableMap from 'minisearch/SearchableMap';
import {
  CAPITAL_MARK,
  CODE_MARK,
  MEASURE_MARK,
  parseTermRow,
  SEARCH_DOCUMENTS_PATH,
  SEARCH_TERMS_PATH,
  type SearchDocument,
  type SearchHead,
  searchWords,
  type TermRow,
} from '../../../compiler/catalog/search-index.ts';
import { FOR_EVERYBODY } from '../../wire/cost.ts';
import { lineOf, lineStarts } from '../release/listed-files.ts';
import { perRelease, type ReleaseIndex } from '../release/release-index.ts';

export type WordIndex = NonNullable<Awaited<ReturnType<typeof wordIndex>>>;

/** How a name has to be written where it is meant. */
export type NameForm = 'any' | 'capital' | 'code' | 'measure';

/** The index of a release, read at its first question; null where the release has none. */
export const wordIndex = perRelease(async (release: ReleaseIndex) => {
  if (!release.has(SEARCH_TERMS_PATH)) return null;
  const terms = new TermTable((await release.body(SEARCH_TERMS_PATH, FOR_EVERYBODY)).bytes);
  const { bytes } = await release.body(SEARCH_DOCUMENTS_PATH, FOR_EVERYBODY);
  const starts = lineStarts(bytes);
  // Each is parsed when it is asked for.
  const document = (number: number): SearchDocument => JSON.parse(lineOf(bytes, starts, number));
  const { topics, documents } = terms.head;
  const listed = Array.from({ length: topics }, (_, at) => document(at));
  const names = new Map<string, NameForm>();
  for (let at = documents; at < starts.length - 1; at += 1) noteNames(document(at)[1], names);
  const { entryById, lines } = release.catalog;
  const bundles = new Map<string, string>(
    lines.flatMap(({ id, bundle }) => (bundle === undefined ? [] : [[bundle.path, id] as const])),
  );
  // The line of a signal or bundle; null for any other operation.
  const lineOfTopic = listed.map(([kind, name]) =>
    kind === 'signal' ? (entryById.get(name)?.line.id ?? null) : (bundles.get(name) ?? null),
  );
  // By the id of a signal or the path of an operation.
  const topicOf = new Map<string, number>(listed.map(([, name], at) => [name, at]));
  return { terms, document, names, topicOf, lineOfTopic };
});

function noteNames(row: string, names: Map<string, NameForm>): void {
  for (const name of row.split('|')) {
    if (name.startsWith(CODE_MARK)) names.set(name, 'code');
    else {
      const key = searchWords(name).join(' ');
      const own = name.startsWith(CAPITAL_MARK) ? 'capital' : 'any';
      const form = row.startsWith(MEASURE_MARK) ? 'measure' : own;
      if (key !== '' && names.get(key) !== 'any') names.set(key, form);
    }
  }
}

/** The terms in a tree of letters; a row of one is parsed when it is asked for. */
export class TermTable {
  readonly head: SearchHead;
  readonly #bytes: Buffer;
  readonly #starts: Uint32Array;
  readonly #tree = new SearchableMap<number>();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#starts = lineStarts(bytes);
    this.head = JSON.parse(lineOf(bytes, this.#starts, 0)) as SearchHead;
    for (let line = 1; line < this.#starts.length - 1; line += 1) {
      const start = this.#starts[line] ?? 0;
      this.#tree.set(bytes.toString('utf8', start, bytes.indexOf(TAB, start)), line);
    }
  }

  find(term: string): TermRow | null {
    const line = this.#tree.get(term);
    return line === undefined ? null : this.#row(line);
  }

  /** Terms that begin with a text, the shortest first, at most so many. */
  beginningWith(text: string, max: number): TermRow[] {
    const found: [string, number][] = [];
    // A prefix of many terms tells little; so few are looked at that a search stays short.
    for (const one of this.#tree.atPrefix(text).entries())
      if (found.push(one) === PREFIXED_MAX) break;
    found.sort(([a], [b]) => a.length - b.length);
    return found.slice(0, max).map(([, line]) => this.#row(line));
  }

  /** Terms that differ from a word by so many letters more, less or other, the nearest first. */
  nearTo(word: string, edits: number, max: number): TermRow[] {
    const found = [...this.#tree.fuzzyGet(word, edits).values()];
    const nearest = found.sort(([, a], [, b]) => a - b).slice(0, max);
    return nearest.map(([line]) => this.#row(line));
  }

  #row(line: number): TermRow {
    return parseTermRow(lineOf(this.#bytes, this.#starts, line));
  }
}

const TAB = 0x09;
const PREFIXED_MAX = 64;

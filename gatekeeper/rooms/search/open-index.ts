import {
  parseTermRow,
  SEARCH_DOCUMENTS_PATH,
  SEARCH_TERMS_PATH,
  type SearchDocument,
  type SearchHead,
  type TermRow,
} from '../../../compiler/catalog/search-index.ts';
import { firstWhere } from '../../../compiler/format/lists.ts';
import { perRelease } from '../../heart/release/per-release.ts';
import type { ReleaseIndex } from '../../heart/release/release-index.ts';
import { FOR_EVERYBODY } from '../../wire/cost.ts';
import { lineOf, lineStarts } from '../catalog.ts';

export type SearchIndex = NonNullable<Awaited<ReturnType<typeof searchIndex>>>;

/** The index of a release, read at its first question; null where the release has none. */
export const searchIndex = perRelease(async (release: ReleaseIndex) => {
  if (!release.has(SEARCH_TERMS_PATH)) return null;
  const terms = new TermTable((await release.body(SEARCH_TERMS_PATH, FOR_EVERYBODY)).bytes);
  const { bytes } = await release.body(SEARCH_DOCUMENTS_PATH, FOR_EVERYBODY);
  const starts = lineStarts(bytes);
  // Each is parsed when it is asked for.
  const document = (number: number): SearchDocument => JSON.parse(lineOf(bytes, starts, number));
  const topics = Array.from({ length: terms.head.topics }, (_, at) => document(at));
  const { entryById, lines } = release.catalog;
  const bundles = new Map<string, string>(
    lines.flatMap(({ id, bundle }) => (bundle === undefined ? [] : [[bundle.path, id] as const])),
  );
  // The line of a signal or bundle; null for any other operation.
  const lineOfTopic = topics.map(([kind, name]) =>
    kind === 'signal' ? (entryById.get(name)?.line.id ?? null) : (bundles.get(name) ?? null),
  );
  // By the id of a signal or the path of an operation.
  const topicOf = new Map<string, number>(topics.map(([, name], at) => [name, at]));
  return { terms, document, topicOf, lineOfTopic };
});

const TAB = 0x09;
/** FNV-1a with 32 bits. */
const [HASH_BASIS, HASH_PRIME] = [0x811c9dc5, 0x01000193];

/** Looked up where the bytes lie. Arrays are read with defaults, not guards: a question does it tens of thousands of times. */
export class TermTable {
  readonly head: SearchHead;
  readonly #bytes: Buffer;
  /** Where each line begins, and where one more would; the first one is the head. */
  readonly #starts: Uint32Array;
  /** Numbers of lines by the hash of their term; the next free slot where it is taken. */
  readonly #slots: Uint32Array;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#starts = lineStarts(bytes);
    this.head = JSON.parse(bytes.toString('utf8', 0, this.#starts[1])) as SearchHead;
    this.#slots = this.#filledSlots();
  }

  find(term: string): TermRow | null {
    const line = this.#lineOf(Buffer.from(term).toString('latin1'));
    return line === 0 ? null : this.#row(line);
  }

  /** Terms that begin with a text, the shortest first, at most so many. */
  beginningWith(text: string, max: number): TermRow[] {
    const bytes = Buffer.from(text, 'utf8');
    const found: number[] = [];
    // A prefix of many terms tells little; so few are looked at that a search stays short.
    const before = firstWhere(this.#count - 1, (at) => this.#compare(at + 1, bytes) >= 0);
    for (let line = before + 1; found.length < PREFIXED_MAX; line += 1) {
      if (line >= this.#count || this.#compare(line, bytes) !== 0) break;
      found.push(line);
    }
    found.sort((a, b) => this.#termLength(a) - this.#termLength(b));
    return found.slice(0, max).map((line) => this.#row(line));
  }

  /** Terms that differ from an ASCII word by one letter more, less or other, or by two neighbours that are swapped. */
  nearTo(word: string, max: number): TermRow[] {
    const lines = new Set<number>();
    for (const text of edited(word)) {
      const line = this.#lineOf(text);
      if (line !== 0) lines.add(line);
      if (lines.size === max) break;
    }
    return [...lines].map((line) => this.#row(line));
  }

  /** Lines with the head. */
  get #count(): number {
    return this.#starts.length - 1;
  }

  #row(line: number): TermRow {
    return parseTermRow(lineOf(this.#bytes, this.#starts, line));
  }

  #termLength(line: number): number {
    const start = this.#starts[line] ?? 0;
    return this.#bytes.indexOf(TAB, start) - start;
  }

  /** The line of a term, given its bytes as characters; 0 where there is none. */
  #lineOf(term: string): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(term) & mask; ; slot = (slot + 1) & mask) {
      const line = this.#slots[slot] ?? 0;
      if (line === 0 || this.#isTerm(line, term)) return line;
    }
  }

  #isTerm(line: number, term: string): boolean {
    const start = this.#starts[line] ?? 0;
    for (let at = 0; at < term.length; at += 1)
      if (this.#bytes[start + at] !== term.charCodeAt(at)) return false;
    return this.#bytes[start + term.length] === TAB;
  }

  /** At most half of the slots are taken, so a search soon ends. */
  #filledSlots(): Uint32Array {
    const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * this.#count + 1)));
    const mask = slots.length - 1;
    for (let line = 1; line < this.#count; line += 1) {
      const start = this.#starts[line] ?? 0;
      const term = this.#bytes.toString('latin1', start, start + this.#termLength(line));
      let slot = hashOf(term) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = line;
    }
    return slots;
  }

  /** Compares as many bytes of a term as a text has; 0 where it begins with it. */
  #compare(line: number, text: Buffer): number {
    const start = this.#starts[line] ?? 0;
    return this.#bytes.compare(text, 0, text.length, start, start + text.length);
  }
}

const PREFIXED_MAX = 64;

function hashOf(text: string): number {
  let hash = HASH_BASIS;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), HASH_PRIME);
  return hash >>> 0;
}

/** A figure that is misspelt means another thing, so digits are never put in. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Every word that is one edit away. */
function* edited(word: string): Generator<string> {
  const cuts = Array.from(`${word} `, (_, at) => [word.slice(0, at), word.slice(at)] as const);
  for (const [before, [one = '', other = '', ...rest]] of cuts)
    if (other !== '') yield `${before}${other}${one}${rest.join('')}`;
  for (const [before, after] of cuts) if (after !== '') yield before + after.slice(1);
  for (const [before, after] of cuts)
    for (const letter of LETTERS) yield `${before}${letter}${after}`;
  for (const [before, after] of cuts)
    if (after !== '') for (const letter of LETTERS) yield `${before}${letter}${after.slice(1)}`;
}

import {
  parseTermRow,
  SEARCH_DOCUMENTS_PATH,
  SEARCH_TERMS_PATH,
  type SearchDocument,
  type SearchHead,
  type TermRow,
} from '../../compiler/contract/search-index.ts';
import { FOR_EVERYBODY } from '../http/cost.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { lineStarts } from '../rooms/catalog.ts';

export interface SearchIndex {
  readonly terms: TermTable;
  readonly documents: DocumentTable;
  /** Numbers of topics by the id of a signal or the path of an operation. */
  readonly topicOf: ReadonlyMap<string, number>;
  /** By number, the line of a signal or bundle; null for any other operation. */
  readonly lineOfTopic: readonly (string | null)[];
}

/** The index of a release, read at its first question; null where the release has none. */
export const searchIndex = perRelease(
  async (release: ReleaseIndex): Promise<SearchIndex | null> => {
    if (!release.has(SEARCH_TERMS_PATH)) return null;
    const terms = new TermTable((await release.body(SEARCH_TERMS_PATH, FOR_EVERYBODY)).bytes);
    const { bytes } = await release.body(SEARCH_DOCUMENTS_PATH, FOR_EVERYBODY);
    const documents = new DocumentTable(bytes);
    const topics = Array.from({ length: terms.head.topics }, (_, at) => documents.row(at));
    const { entryById, lines } = release.catalog;
    const bundles = new Map<string, string>(
      lines.flatMap(({ id, bundle }) => (bundle === undefined ? [] : [[bundle.path, id] as const])),
    );
    const lineOfTopic = topics.map(([kind, name]) =>
      kind === 'signal' ? (entryById.get(name)?.line.id ?? null) : (bundles.get(name) ?? null),
    );
    const topicOf = new Map(topics.map(([, name], at) => [name, at]));
    return { terms, documents, topicOf, lineOfTopic };
  },
);

/** The documents of a compiled index, each parsed when it is asked for. */
class DocumentTable {
  readonly #bytes: Buffer;
  readonly #starts: Uint32Array;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#starts = lineStarts(bytes);
  }

  row(number: number): SearchDocument {
    const [start = 0, next = 1] = this.#starts.subarray(number, number + 2);
    return JSON.parse(this.#bytes.toString('utf8', start, next - 1)) as SearchDocument;
  }
}

const TAB = 0x09;
/** FNV-1a with 32 bits. */
const [HASH_BASIS, HASH_PRIME] = [0x811c9dc5, 0x01000193];
const [LETTER_A, LETTER_Z] = [0x61, 0x7a];
const DIGIT_9 = 0x39;

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
    const bytes = Buffer.from(term, 'utf8');
    const line = this.#lineOf(bytes, bytes.length);
    return line === 0 ? null : this.#row(line);
  }

  /** Terms that begin with a text, the shortest first, at most so many. */
  beginningWith(text: string, max: number): TermRow[] {
    const bytes = Buffer.from(text, 'utf8');
    const found: number[] = [];
    // A prefix of many terms tells little; so few are looked at that a search stays short.
    for (let line = this.#firstFrom(bytes); found.length < PREFIXED_MAX; line += 1) {
      if (line >= this.#count || this.#compare(line, bytes) !== 0) break;
      found.push(line);
    }
    found.sort((a, b) => this.#termLength(a) - this.#termLength(b));
    return found.slice(0, max).map((line) => this.#row(line));
  }

  /** Terms that differ from an ASCII word by one letter more, less or other, or by two neighbours that are swapped. */
  nearTo(word: string, max: number): TermRow[] {
    const lines = new Set<number>();
    for (const [bytes, length] of edited(Buffer.from(word, 'latin1'))) {
      const line = this.#lineOf(bytes, length);
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
    const [start = 0, next = 1] = this.#starts.subarray(line, line + 2);
    return parseTermRow(this.#bytes.toString('utf8', start, next - 1));
  }

  #termLength(line: number): number {
    const start = this.#starts[line] ?? 0;
    return this.#bytes.indexOf(TAB, start) - start;
  }

  /** The line of a term, 0 where there is none. */
  #lineOf(term: Uint8Array, length: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(term, 0, length) & mask; ; slot = (slot + 1) & mask) {
      const line = this.#slots[slot] ?? 0;
      if (line === 0 || this.#isTerm(line, term, length)) return line;
    }
  }

  #isTerm(line: number, term: Uint8Array, length: number): boolean {
    const start = this.#starts[line] ?? 0;
    for (let at = 0; at < length; at += 1) if (this.#bytes[start + at] !== term[at]) return false;
    return this.#bytes[start + length] === TAB;
  }

  /** At most half of the slots are taken, so a search soon ends. */
  #filledSlots(): Uint32Array {
    const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * this.#count + 1)));
    const mask = slots.length - 1;
    for (let line = 1; line < this.#count; line += 1) {
      const start = this.#starts[line] ?? 0;
      let slot = hashOf(this.#bytes, start, start + this.#termLength(line)) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = line;
    }
    return slots;
  }

  /** The first line whose term is not before a text. */
  #firstFrom(text: Buffer): number {
    let [low, high] = [1, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, text) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Compares as many bytes of a term as a text has; 0 where it begins with it. */
  #compare(line: number, text: Buffer): number {
    const start = this.#starts[line] ?? 0;
    return this.#bytes.compare(text, 0, text.length, start, start + text.length);
  }
}

const PREFIXED_MAX = 64;

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = HASH_BASIS;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), HASH_PRIME);
  return hash >>> 0;
}

/** Every word that is one edit away, in one buffer that is written again for the next. */
function* edited(word: Uint8Array): Generator<readonly [bytes: Uint8Array, length: number]> {
  const { length } = word;
  const made = new Uint8Array(length + 1);
  for (let at = 0; at + 1 < length; at += 1) {
    made.set(word);
    made[at] = word[at + 1] ?? 0;
    made[at + 1] = word[at] ?? 0;
    yield [made, length];
  }
  for (let at = 0; at < length; at += 1) {
    made.set(word.subarray(0, at));
    made.set(word.subarray(at + 1), at);
    yield [made, length - 1];
  }
  for (let at = 0; at <= length; at += 1) {
    made.set(word.subarray(0, at));
    made.set(word.subarray(at), at + 1);
    for (const letter of LETTERS) {
      made[at] = letter;
      yield [made, length + 1];
    }
  }
  for (let at = 0; at < length; at += 1) {
    made.set(word);
    for (const letter of LETTERS) {
      made[at] = letter;
      yield [made, length];
    }
  }
}

/** A figure that is misspelt means another thing, so digits are never put in. */
const LETTERS: readonly number[] = Array.from(
  { length: LETTER_Z - LETTER_A + 1 },
  (_, at) => LETTER_A + at,
);

/** Whether a word has a digit: ids and figures are never taken for others. */
export function hasDigit(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (word.charCodeAt(at) <= DIGIT_9) return true;
  return false;
}

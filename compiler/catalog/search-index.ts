// The compiled index of the words that people use. It has three kinds of documents. Topics are what can be asked for: signals
// and operations. Places are whom it is asked of: the entities of each line that have a reading. A question is answered by a
// topic, a place, or both. Names are those that things in the world have, sold here or not.
//
// It lies in two internal files of the release, so that 100,000 entities cost some megabytes and little heap.
//
// - documents: one JSON array a line. Topics come first, then the places, by line and entity, then the names.
// - terms: the first line is the head. Each other one is a term with its postings: the term, the number of topics and of
//   places that have it, and the postings, which are the distance to the document before in base 36 and the weight of the
//   term there, one digit. Postings of places are left out where a term has too many.

/** Where a release holds the documents and the terms. */
export const SEARCH_DOCUMENTS_PATH = 'index/search-documents.txt';
export const SEARCH_TERMS_PATH = 'index/search-terms.txt';

/** A term of more places tells none from another, and its postings are not stored. */
export const POSTED_PLACES_MAX = 2000;

/** One document. */
export type SearchDocument =
  | readonly [kind: 'signal', id: string]
  | readonly [kind: 'operation', path: string]
  | readonly [kind: 'place', line: string, entity: string, name: string | null]
  | readonly [kind: 'name', names: string];

/** The first line of the terms. */
export interface SearchHead {
  readonly topics: number;
  /** Topics and places. */
  readonly documents: number;
  /** The first place of each line, in their order. */
  readonly lines: readonly (readonly [line: string, first: number])[];
}

/** The most that a term can say of a document; the least is 1. */
export const SEARCH_WEIGHT_MAX = 9;

/** A term in one document as one number (ten times the document, plus the weight), so that a list of many thousands stays small. */
export type Posting = number;
const WEIGHTS = 10;

export function posting(document: number, weight: number): Posting {
  return document * WEIGHTS + weight;
}
export function postedDocument(one: Posting): number {
  return Math.floor(one / WEIGHTS);
}
export function postedWeight(one: Posting): number {
  return one % WEIGHTS;
}

/** A term with its postings. */
export interface TermRow {
  readonly term: string;
  readonly topics: number;
  readonly places: number;
  /** In the order of documents. */
  readonly postings: readonly Posting[];
}

const COMMA = 0x2c;
const RADIX = 36;

/** One line of the terms, with its line end. */
export function formatTermRow({ term, topics, places, postings }: TermRow): string {
  let before = 0;
  const texts = postings.map((one) => {
    const document = postedDocument(one);
    const text = (document - before).toString(RADIX) + postedWeight(one);
    before = document;
    return text;
  });
  return `${term}\t${topics}\t${places}\t${texts.join(',')}\n`;
}

/** The inverse of formatTermRow, of one line without its line end. */
export function parseTermRow(line: string): TermRow {
  const [term = '', topics, places, texts = ''] = line.split('\t');
  const postings: Posting[] = [];
  let [document, from] = [0, 0];
  while (from < texts.length) {
    let end = from;
    while (end < texts.length && texts.charCodeAt(end) !== COMMA) end += 1;
    document += Number.parseInt(texts.slice(from, end - 1), RADIX);
    postings.push(posting(document, Number(texts[end - 1])));
    from = end + 1;
  }
  return { term, topics: Number(topics), places: Number(places), postings };
}

/**
 * A name as tables of names have it: `#` begins a code, `^` a word that means the name only where it begins with a capital.
 * `=` begins a row of what is measured of many, such as a price, in place of one that is.
 */
export const [CODE_MARK, CAPITAL_MARK, MEASURE_MARK] = ['#', '^', '='];

// How a text becomes the words that the search compares: the compiler does it to names, the gatekeeper to questions.

const SEARCH_WORDS_MAX = 64;
const WORD_CHARS_MAX = 40;

const ASCII = /^[ -~]*$/;
const MARKS = /\p{M}+/gu;
/** What is written without blanks between its words: a name of it is one word. */
const UNSPACED = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}ー';
const LETTER = `(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])`;
/** `O'Hare` is one word, `2.5` one figure, and `PM2.5` one word. */
const WORD = new RegExp(
  `[${UNSPACED}]+|${LETTER}+(?:(?:['’‘\`´]|(?<=\\d)[.,](?=\\d))${LETTER}+)*`,
  'gu',
);
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
/** `l'air`, `d'Or` */
const ARTICLE = /^(?:[ldjnscm]|qu)['’‘`´](?=..)/i;
const INNER = /['’‘`´.,]/g;
/** What an ending may be taken off. */
const PLAIN = /^[a-z]{4,}$/;
const VOWEL = /[aeiouy]/;
const STEM_CHARS_MIN = 4;

/** A word as it is spelt, and as the search compares it. */
export interface SpokenWord {
  readonly said: string;
  readonly word: string;
}

/** The words of a text with their spelling, in their order. */
export function spokenWords(text: string): SpokenWord[] {
  const words: SpokenWord[] = [];
  for (const [said] of text.matchAll(WORD)) {
    const word = stem(plain(said.replace(ARTICLE, '').replace(INNER, '')).slice(0, WORD_CHARS_MAX));
    if (word !== '') words.push({ said, word });
    if (words.length === SEARCH_WORDS_MAX) break;
  }
  return words;
}

/** The words of a text without case, accents and common English endings, in their order. */
export function searchWords(text: string): string[] {
  return spokenWords(text).map(({ word }) => word);
}

/** Whether a word is written in a script without blanks. */
export function isUnspaced(word: string): boolean {
  return IS_UNSPACED.test(word);
}

function plain(word: string): string {
  // The marks of kana tell letters apart.
  if (isUnspaced(word)) return word.normalize('NFKC');
  const letters = ASCII.test(word) ? word : word.normalize('NFKD').replace(MARKS, '');
  return letters.toLowerCase().replaceAll('ß', 'ss');
}

/** A word without the ending of a plural, of `-ing` and `-ed`, and without a last `e`, so that both forms are one. */
export function stem(word: string): string {
  if (!PLAIN.test(word)) return word;
  const one = singular(word);
  const root = one.replace(/(ing|ed)$/, '');
  const isWord = root !== one && root.length >= STEM_CHARS_MIN && VOWEL.test(root);
  // `shipping` and `ship`, `stopped` and `stop`.
  const known = isWord ? root.replace(/([^aeiouls])\1$/, '$1') : one;
  return known.length > STEM_CHARS_MIN && known.endsWith('e') ? known.slice(0, -1) : known;
}

function singular(word: string): string {
  if (/ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(s|x|z|ch|sh|o)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

// The compiled index of `GET /gauge/search`: an inverted index over two kinds of documents. Topics are what can be asked
// for: signals and operations. Places are whom it is asked of: the entities of each line that have a reading. A question is
// answered by a topic, a place, or both.
//
// It lies in two internal files of the release. Both are read as bytes and never parsed as a whole, so that 100,000 entities
// cost some megabytes and no heap.
//
// - documents: one JSON array a line. Topics come first, then the places, by line and entity.
// - terms: the first line is the head. Each other one is a term with its postings, in the order of UTF-8 bytes: the term, the
//   number of topics and of places that have it, and the postings, which are the distance to the document before in base 36
//   and the weight of the term there, one digit. Postings of places are left out where a term has too many.

/** Where a release holds the documents and the terms. */
export const SEARCH_DOCUMENTS_PATH = 'index/search-documents.txt';
export const SEARCH_TERMS_PATH = 'index/search-terms.txt';

/** A term of more places tells none from another, and its postings are not stored. */
export const POSTED_PLACES_MAX = 2000;

/** One document. */
export type SearchDocument =
  | readonly [kind: 'signal', id: string]
  | readonly [kind: 'operation', path: string]
  | readonly [kind: 'place', line: string, entity: string, name: string | null];

/** The first line of the terms. */
export interface SearchHead {
  readonly topics: number;
  readonly documents: number;
  /** The first place of each line, in their order. */
  readonly lines: readonly (readonly [line: string, first: number])[];
}

/** How much a term says of a document, 1 to 9. */
export type SearchWeight = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
/** The most that a term can say. */
export const SEARCH_WEIGHT_MAX: SearchWeight = 9;

/** A term in one document. */
export interface Posting {
  readonly document: number;
  readonly weight: SearchWeight;
}

/** A term with its postings. */
export interface TermRow {
  readonly term: string;
  readonly topics: number;
  readonly places: number;
  /** In the order of documents. */
  readonly postings: readonly Posting[];
}

/** One line of the terms, with its line end. */
export function formatTermRow({ term, topics, places, postings }: TermRow): string {
  let before = 0;
  const texts = postings.map(({ document, weight }) => {
    const text = (document - before).toString(36) + weight;
    before = document;
    return text;
  });
  return `${term}\t${topics}\t${places}\t${texts.join(',')}\n`;
}

const COMMA = 0x2c;
const RADIX = 36;

/** The inverse of formatTermRow, of one line without its line end. */
export function parseTermRow(line: string): TermRow {
  const [term = '', topics, places, texts = ''] = line.split('\t');
  const postings: Posting[] = [];
  let [document, from] = [0, 0];
  while (from < texts.length) {
    let end = from;
    while (end < texts.length && texts.charCodeAt(end) !== COMMA) end += 1;
    document += Number.parseInt(texts.slice(from, end - 1), RADIX);
    postings.push({ document, weight: Number(texts[end - 1]) as SearchWeight });
    from = end + 1;
  }
  return { term, topics: Number(topics), places: Number(places), postings };
}

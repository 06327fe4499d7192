// How a text becomes the words that the search compares: the compiler does it to names, the gatekeeper to questions.

/** Words of one text that are looked at. */
const SEARCH_WORDS_MAX = 64;
/** Letters of one word. */
const WORD_CHARS_MAX = 40;

const ASCII = /^[ -~]*$/;
const MARKS = /\p{M}+/gu;
const APOSTROPHES = /['’`´]/g;
/** `2.5` is one figure, and `PM2.5` one word. */
const POINT_OF_FIGURE = /(\d)[.,](?=\d)/g;
const WORD = /[\p{L}\p{N}]+/gu;
/** What an ending may be taken off. */
const PLAIN = /^[a-z]{4,}$/;
const VOWEL = /[aeiouy]/;
const STEM_CHARS_MIN = 4;

/** The words of a text without case, accents and common English endings, in their order. */
export function searchWords(text: string): string[] {
  const letters = ASCII.test(text) ? text : text.normalize('NFKD').replace(MARKS, '');
  const plain = letters.toLowerCase().replace(APOSTROPHES, '').replace(POINT_OF_FIGURE, '$1');
  const words: string[] = [];
  for (const [word] of plain.matchAll(WORD)) {
    words.push(stem(word.slice(0, WORD_CHARS_MAX)));
    if (words.length === SEARCH_WORDS_MAX) break;
  }
  return words;
}

/** A word without the ending of a plural, of `-ing` and `-ed`, and without a last `e`, so that both forms are one. */
export function stem(word: string): string {
  if (!PLAIN.test(word)) return word;
  return withoutE(withoutEnding(singular(word)));
}

function singular(word: string): string {
  if (/ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(s|x|z|ch|sh|o)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutEnding(word: string): string {
  const root = word.replace(/(ing|ed)$/, '');
  if (root.length < STEM_CHARS_MIN || !VOWEL.test(root)) return word;
  // `shipping` and `ship`, `stopped` and `stop`.
  return root !== word && /([^aeiouls])\1$/.test(root) ? root.slice(0, -1) : root;
}

function withoutE(word: string): string {
  return word.length > STEM_CHARS_MIN && word.endsWith('e') ? word.slice(0, -1) : word;
}

import { defined } from '../../compiler/contract/defined.ts';
import type { SearchHead, TermRow } from '../../compiler/contract/search-index.ts';
import { searchWords, stem } from '../../compiler/contract/search-index.ts';
import { hasDigit, type TermTable } from './term-table.ts';

/** Longest text that is searched for, in UTF-16 units. */
export const QUESTION_CHARS_MAX = 200;
/** Words of a question that are looked up; the others are left out. */
const QUESTION_WORDS_MAX = 12;
/** Words of one question that are taken for misspelt or shortened: each costs hundreds of look-ups. */
const CORRECTED_WORDS_MAX = 4;
/** Terms that one word may stand for. */
const TERMS_A_WORD_MAX = 8;

/** How sure it is that a term is meant, by the way in which it was found. */
const SURE = { same: 1, joined: 1, beginning: 0.8, misspelt: 0.75 } as const;
const BEGINNING_CHARS_MIN = 3;
const MISSPELT_CHARS_MIN = 5;
const ASCII = /^[a-z]+$/;

/** Words that ask, or that say when, and say nothing of what is asked about. */
const FILLERS = new Set(
  (
    'a about all am an and any are as at be been by can could current currently data did do does find for from get ' +
    'give has have how i if in into is it its latest like live me more most much my near need nor not now of ' +
    'off official on or our out over per please quite reading readings really recent recently record right see should show ' +
    'signal so some tell than that the their them there these they this those to today tonight was we were what whats ' +
    'when where which while ' +
    'who will with would yesterday you your value values'
  )
    .split(' ')
    .map(stem),
);

/** Verbs, adjectives and adverbs of everyday English: where nothing here is called by one, it says how something is asked. */
const ORDINARY = new Set(
  (
    'able across affect afraid again ago ahead allow almost already also always another anyone anything around ask avoid away ' +
    'bad badly become been before begin being below best better between big bring came cause change check come compare ' +
    'decrease did different down during early either else end enough ever every everyone exact exactly exist expect fall far ' +
    'fast few find follow further gave go going gone good got great grow hand happen hard hear help here high hit hold hope ' +
    'idea increase inside instead just keep know large last later learn least leave less let like little long look lost lot ' +
    'low made main make mean measure miss move need never new next nice normal nothing occur often okay old only open other ' +
    'outside own possible quick quickly raise reach reported rise run safe said same say seem send several short show ' +
    'since slow small someone something soon start stay still stop such sure take talk tell thank then thing think though ' +
    'through together too try turn type under until up usual usually very want way well went whether why without won work ' +
    'worry worse worst wrong yet use used user using useful unsafe dangerous deep heavy strong weak bigger higher lower'
  )
    .split(' ')
    .map(stem),
);

/** Words that fit any measure; they count only where at most one other word is left. */
const QUANTITIES = new Set(['amount', 'level']);

/** A term that a word may stand for. */
interface Meaning {
  readonly row: TermRow;
  /** 0 to 1. */
  readonly sure: number;
}

/** A word of a question. */
export interface QuestionWord {
  readonly text: string;
  /** Empty for a word that the index does not know. */
  readonly meanings: readonly Meaning[];
  /** How much it says; a rare word says more. */
  readonly weight: number;
  /** The same where nothing answers it. To leave a name open is worse than to leave a subject open. */
  readonly openWeight: number;
}

/** The words of a question that say something, each with the terms it stands for. */
export function questionWords(question: string, table: TermTable): readonly QuestionWord[] {
  const said = searchWords(question.slice(0, QUESTION_CHARS_MAX));
  const isTelling = (word: string): boolean =>
    !FILLERS.has(word) && (!ORDINARY.has(word) || table.find(word) !== null);
  const telling = said.filter((word) => said.length === 1 || isTelling(word));
  const named = telling.filter((word) => !QUANTITIES.has(word));
  const kept = named.length > 1 ? named : telling;
  const words = (kept.length > 0 ? kept : said).slice(0, QUESTION_WORDS_MAX);
  const joined = joinedTerms(words, table);
  let corrections = CORRECTED_WORDS_MAX;
  return words.map((text, at) => {
    const same = table.find(text);
    const known = [
      ...(same === null ? [] : [{ row: same, sure: SURE.same }]),
      ...defined(joined[at], 'the joined terms of the word'),
    ];
    if (known.length > 0 || corrections === 0) return weighed(text, known, table.head);
    corrections -= 1;
    return weighed(text, corrected(text, table), table.head);
  });
}

/** Terms that are written in two words: `st louis`, `pm 25`, `10 k`. */
function joinedTerms(words: readonly string[], table: TermTable): Meaning[][] {
  const found: Meaning[][] = words.map(() => []);
  for (let at = 0; at + 1 < words.length; at += 1) {
    const row = table.find(`${words[at]}${words[at + 1]}`);
    if (row === null) continue;
    for (const one of [at, at + 1]) found[one]?.push({ row, sure: SURE.joined });
  }
  return found;
}

function corrected(word: string, table: TermTable): Meaning[] {
  const begun =
    word.length < BEGINNING_CHARS_MIN ? [] : table.beginningWith(word, TERMS_A_WORD_MAX);
  const near =
    word.length < MISSPELT_CHARS_MIN || hasDigit(word) || !ASCII.test(word)
      ? []
      : table.nearTo(word, TERMS_A_WORD_MAX);
  return [
    ...begun.map((row) => ({ row, sure: SURE.beginning })),
    ...near.map((row) => ({ row, sure: SURE.misspelt })),
  ];
}

/** How much more a name weighs that is left open: one that nothing here has, or a place. */
const OPEN_NAME = 1.3;

function weighed(text: string, meanings: readonly Meaning[], head: SearchHead): QuestionWord {
  const places = head.documents - head.topics;
  if (meanings.length === 0) {
    const rarest = Math.log(1 + Math.max(places, head.topics));
    return { text, meanings, weight: rarest, openWeight: OPEN_NAME * rarest };
  }
  const weights = meanings.map(({ row }) => {
    const both = [rarity(row.topics, head.topics), rarity(row.places, places)];
    return Math.min(...both.filter((one) => one > 0));
  });
  const weight = Math.max(...weights);
  const isName = meanings.every(({ row }) => row.topics === 0);
  return { text, meanings, weight, openWeight: isName ? OPEN_NAME * weight : weight };
}

/** The less documents have a term, the more it says. */
function rarity(having: number, all: number): number {
  return having === 0 ? 0 : Math.log(1 + all / having);
}

import type { Catalog } from '../catalog/catalog.ts';
import { assertingWord } from '../catalog/neutral-text.ts';
import { siteWords } from '../catalog/site.ts';
import { productOf } from '../products/products.ts';
import { type Line, legMember } from '../products/shapes/line.ts';
import type { Endpoint } from '../products/shapes/product.ts';

/** Characters of the words of one operation: they stand in the header of its challenge. */
const SUBJECT_CHARS_MAX = 330;

/** Other names of one thing that are told, the usual ones first: those in further languages stand at the end. */
const ALIASES_MAX = 8;
/** What every directory can index, and every header can hold. */
const ASCII = /^[ -~]+$/;
/** Words of each line without a bundle, before those of the others. */
const SINGLE_WORDS_MAX = 5;
/** Entities by which a line without a bundle is known, such as a coin. */
const NAMED_MAX = 2;

interface Stocked {
  readonly catalog: Catalog;
  /** Whether a reading of the signal is stored. */
  readonly has: (signalId: string) => boolean;
}

/**
 * What an operation is about, in the words by which people search a directory: those of its line, of its signals, or of
 * itself. A directory lists a path once, whatever is asked of it, so what sells every line names first those that no bundle
 * lists under a path of its own.
 */
export function subjectsOf(row: Endpoint, { catalog, has }: Stocked): readonly string[] {
  const aliases = (id: string): readonly string[] =>
    (catalog.aliases.get(id) ?? []).slice(0, ALIASES_MAX).filter((word) => ASCII.test(word));
  const ofSignal = (id: string): string[] => [
    legMember(id).replaceAll(/[-_]/g, ' '),
    ...aliases(id),
  ];
  const ofLine = ({ id, title, signals, entities, bundle }: Line): string[] => {
    const stored = signals.filter((signal) => has(signal.id));
    if (stored.length === 0) return [];
    const named = entities
      .slice(0, NAMED_MAX)
      .flatMap((entity) => aliases(`${id}/${entity}`)[0] ?? []);
    const whom = bundle === undefined ? [named] : [];
    const what = stored.map((signal) => ofSignal(signal.id));
    return inTurns([[...aliases(id), title], ...whom, ...what]);
  };
  const { signals = [] } = productOf(row, catalog.lines);
  const own = catalog.lines.filter(({ bundle }) => bundle?.path === row.path);
  const all = row.params.signal_id === undefined ? [] : catalog.lines;
  const single = all.filter(({ bundle }) => bundle === undefined);
  const bundled = all.filter(({ bundle }) => bundle !== undefined);
  return fitting([
    ...inTurns([aliases(row.path), ...signals.filter(has).map(ofSignal), ...own.map(ofLine)]),
    ...inTurns(single.map((line) => ofLine(line).slice(0, SINGLE_WORDS_MAX))),
    ...inTurns(bundled.map(ofLine)),
  ]);
}

/** The first of each list, then the second of each, and so on. */
function inTurns(lists: readonly (readonly string[])[]): string[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat();
}

/** As many as there is room for, without those that bring no new word, and those that sound like a forecast of ours. */
function fitting(words: readonly string[]): string[] {
  const known = new Set<string>();
  let room = SUBJECT_CHARS_MAX;
  return words.filter((word) => {
    const parts = siteWords(word);
    const isNew = parts.some((part) => !known.has(part)) && word.length + 2 <= room;
    if (!isNew || assertingWord(word) !== null) return false;
    for (const part of parts) known.add(part);
    room -= word.length + 2;
    return true;
  });
}

import { NAME_FILES, SUBJECT_FILES } from '../catalog/name-files.ts';
import { CAPITAL_MARK, CODE_MARK, MEASURE_MARK, searchWords } from '../catalog/search-index.ts';
import type { Line } from '../products/shapes/line.ts';

interface NameFile {
  readonly kind: 'airport' | 'coin' | 'company' | 'drug' | 'measure' | 'place' | 'translated';
  /** Each row has all names of one thing, parted by `|`, the English one first. */
  readonly names: readonly string[];
}

const FILES = NAME_FILES as readonly NameFile[];

/** Names that things in the world have, one row each. */
export const NAMES: readonly string[] = FILES.flatMap(({ names }) => names);

/** Longest name that another one is looked for in, in words. */
const NAME_WORDS_MAX = 4;

interface NamedThing {
  readonly kind: NameFile['kind'];
  readonly spelt: readonly string[];
  readonly codes: readonly string[];
}

/** Things by the words of each of their names and by each code. */
const things = once(() => {
  const [byWords, byCode] = [new Map<string, NamedThing[]>(), new Map<string, NamedThing[]>()];
  for (const { kind, names } of FILES) {
    for (const row of names) {
      const parts = row.split('|');
      const codes = parts.flatMap((one) => (one.startsWith(CODE_MARK) ? [one.slice(1)] : []));
      const spelt = parts
        .filter((one) => !one.startsWith(CODE_MARK))
        .map((one) => ([CAPITAL_MARK, MEASURE_MARK].includes(one[0] ?? '') ? one.slice(1) : one));
      const thing = { kind, spelt, codes };
      for (const name of spelt) put(byWords, searchWords(name).join(' '), thing);
      for (const code of codes) put(byCode, code, thing);
    }
  }
  return { byWords, byCode };
});

function put(map: Map<string, NamedThing[]>, key: string, thing: NamedThing): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [thing]);
  else known.push(thing);
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Words of other languages by the words of the English one. */
const subjects = once(
  () =>
    new Map(
      (SUBJECT_FILES as readonly NameFile[])
        .flatMap(({ names }) => names)
        .map((row) => {
          const [english = '', ...others] = row.split('|');
          return [searchWords(english).join(' '), others] as const;
        }),
    ),
);

/** What a topic is called in other languages, by an alias that it has. */
export function otherSubjects(alias: string): readonly string[] {
  return subjects().get(searchWords(alias).join(' ')) ?? [];
}

/** By what else an entity is called that has an id and some names: in other languages, by brand, by code. */
export function otherNames(entity: string, called: readonly string[], line: Line): string[] {
  const { byWords, byCode } = things();
  const names = called.map((name) => name.split(',')[0] ?? name);
  const keys = names.map((name) => searchWords(name).join(' '));
  const ofCode = (byCode.get(entity.toUpperCase()) ?? []).filter(({ kind, spelt, codes }) => {
    // A code alone is short: another thing may have it, too.
    if (kind === 'airport')
      return called.some((name) => sharesWord(name, spelt) || isOtherCode(name, entity, codes));
    return called.length === 0 || line.upperCase === true
      ? (kind === 'company') === (line.upperCase === true)
      : spelt.some((name) => keys.includes(searchWords(name).join(' ')));
  });
  const whole = keys.flatMap((key) =>
    (byWords.get(key) ?? []).filter(({ kind }) => kind !== 'airport'),
  );
  const within = called.flatMap(placesIn);
  return [
    ...[...ofCode, ...whole].flatMap(({ spelt, codes }) => [...spelt, ...codes]),
    ...within.flatMap(({ spelt }) => spelt),
  ];
}

/** `KBOS` beside `BOS` */
function isOtherCode(name: string, entity: string, codes: readonly string[]): boolean {
  return name !== entity.toUpperCase() && codes.includes(name);
}

function sharesWord(name: string, names: readonly string[]): boolean {
  const words = new Set(searchWords(name));
  return names.some((other) => searchWords(other).some((word) => words.has(word)));
}

/** Places whose name stands in a name: `Japan` in `Japan and the Kurils`. */
function placesIn(name: string): NamedThing[] {
  const { byWords } = things();
  const words = searchWords(name);
  return words.flatMap((_, from) =>
    Array.from({ length: NAME_WORDS_MAX }, (_each, more) => words.slice(from, from + more + 1))
      .filter((run, more) => run.length === more + 1)
      .flatMap((run) => byWords.get(run.join(' ')) ?? [])
      .filter(({ kind }) => kind === 'place' || kind === 'translated'),
  );
}

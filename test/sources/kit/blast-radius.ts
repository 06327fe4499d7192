import { readPayload } from '../../../compiler/sources/import-command.ts';
import { ImportError, type Imported } from '../../../compiler/sources/kit/payload.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { falseStatements, type Mutated, type Statements } from './statements.ts';

type Path = readonly (string | number)[];

/** A word that no agency uses. */
const UNKNOWN = 'zzyzx';
/** Codes for "nothing there" that agencies use; each source declares its own besides. */
const SENTINELS: readonly (string | number | null)[] = ['', 'N/A', '-999999', -999999, 'M', null];
/** An entry may be about an entity of which nothing changes without it: a nested area, a warning that another one repeats. */
const HIDDEN_MAX = 2;
/** Members that say how many of something there are. */
const COUNTS: readonly string[] = ['count', 'numberReturned', 'total'];

/** One entry of a payload: the payload without it, and with each of its values in turn replaced. */
interface Entry {
  readonly without: unknown;
  readonly spoiled: Iterable<{ readonly name: string; readonly payload: unknown }>;
}

interface BlastReport {
  /** Payloads with one value replaced. */
  tried: number;
  /** Of them refused as a whole, though the entry is about some entities only. */
  readonly wholesale: string[];
  /** Statements about entities that the entry is not about, and that were there before. */
  readonly beyond: string[];
  readonly lies: string[];
}

/**
 * Puts an unknown word and every sentinel into each value of each entry of a payload. An entry touches the entities of
 * which anything else is said without it; `anywhere` names the values that say whom it is about.
 */
export function blastReport(
  { source, payload, note, says, honest }: Mutated,
  anywhere: RegExp | null,
): BlastReport {
  const read = (value: unknown): Imported => {
    const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
    const sent = { ...note, bytes: bytes.length };
    return readPayload(sourceOf(source), { bytes, note: sent, subject: 'payload' });
  };
  const statedBy = (value: unknown): Statements | string => {
    try {
      return says(read(value));
    } catch (error) {
      if (error instanceof ImportError) return error.message;
      throw error;
    }
  };
  const truth = says(read(payload));
  const report: BlastReport = { tried: 0, wholesale: [], beyond: [], lies: [] };
  // What is about one subject alone touches no other; of one entity, its signals are told apart.
  const isOfMany = new Set([...truth.keys()].map(entityOf)).size > 1;
  const aboutOf = isOfMany ? entityOf : signalOf;
  if (new Set([...truth.keys()].map(aboutOf)).size === 1) return report;
  const sentinels = [...SENTINELS, ...(sourceOf(source).sentinels ?? [])];
  for (const { without, spoiled } of entriesOf(payload, sentinels)) {
    const other = statedBy(without);
    if (typeof other === 'string') continue;
    const changes = [...truth].filter(([fact, value]) => !same(other.get(fact), value));
    const touched = new Set(changes.map(([fact]) => aboutOf(fact)));
    const rest = [...truth].filter(([fact]) => !touched.has(aboutOf(fact)));
    for (const { name, payload: mutant } of spoiled) {
      report.tried += 1;
      if (honest?.test(name) === true) continue;
      // Where it cannot be told whom an entry is about, it may be about any of those of whom nothing is said then.
      const isAnyones = anywhere?.test(name) === true;
      // Without any other subject there is nothing that a refusal could take along.
      if (rest.length === 0 && !isAnyones) continue;
      const spared = isAnyones ? [] : rest;
      judge(name, statedBy(mutant), { truth, rest: spared, report, aboutOf });
    }
  }
  return report;
}

function judge(
  name: string,
  stated: Statements | string,
  {
    truth,
    rest,
    report,
    aboutOf,
  }: {
    truth: Statements;
    rest: readonly (readonly [string, unknown])[];
    report: BlastReport;
    aboutOf: (fact: string) => string;
  },
): void {
  if (typeof stated === 'string') {
    report.wholesale.push(`${name}: ${stated}`);
    return;
  }
  report.lies.push(...falseStatements(stated, truth).map((lie) => `${name} -> ${lie}`));
  const lost = rest.filter(([fact, value]) => !same(stated.get(fact), value));
  const entities = new Set(lost.map(([fact]) => aboutOf(fact)));
  if (entities.size > HIDDEN_MAX) report.beyond.push(`${name} -> ${[...entities].join(', ')}`);
}

/** What a statement is about: an entity of a signal, or a row of a roster. */
function entityOf(fact: string): string {
  const [first = '', entity = first] = fact.split(' ');
  return entity;
}

function signalOf(fact: string): string {
  return fact.split(' ')[0] ?? '';
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function* entriesOf(payload: unknown, sentinels: readonly (string | number | null)[]) {
  if (typeof payload === 'string') yield* textEntries(payload, sentinels);
  else for (const path of listsIn(payload, [])) yield* listEntries(payload, path, sentinels);
}

/** The outermost lists of more than one object. */
function* listsIn(value: unknown, path: Path): Generator<Path> {
  if (Array.isArray(value)) {
    const objects = value.filter((one) => typeof one === 'object' && one !== null);
    if (objects.length > 1) yield path;
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) yield* listsIn(member, [...path, name]);
  }
}

function* listEntries(
  payload: unknown,
  path: Path,
  sentinels: readonly (string | number | null)[],
): Generator<Entry> {
  const list = at(payload, path) as readonly unknown[];
  for (const index of list.keys()) {
    const entry = [...path, index];
    yield {
      without: recounted(changed(payload, entry, undefined), list.length),
      spoiled: spoiledValues(payload, entry, sentinels),
    };
  }
}

function* spoiledValues(
  payload: unknown,
  entry: Path,
  sentinels: readonly (string | number | null)[],
) {
  for (const leaf of leaves(at(payload, entry), entry)) {
    const value = at(payload, leaf);
    // Agencies write their codes as text where values are text, and as numbers where they are numbers.
    const words = typeof value === 'string' ? [UNKNOWN] : [];
    for (const other of new Set([...words, ...sentinels])) {
      if (other === value || (other !== null && typeof other !== typeof value)) continue;
      const name = `${leaf.join('.')} = ${JSON.stringify(other)}`;
      yield { name, payload: changed(payload, leaf, other) };
    }
  }
}

function* leaves(value: unknown, path: Path): Generator<Path> {
  if (typeof value !== 'object' || value === null) yield path;
  else for (const [name, member] of Object.entries(value)) yield* leaves(member, [...path, name]);
}

/** Counts of the payload that were right before an entry went. */
function recounted(payload: unknown, before: number): unknown {
  if (Array.isArray(payload) || typeof payload !== 'object' || payload === null) return payload;
  const members = Object.entries(payload).map(([name, value]) => {
    return [
      name,
      COUNTS.includes(name) && value === before ? before - 1 : recounted(value, before),
    ];
  });
  return Object.fromEntries(members);
}

const XML_ENTRY = /<(Program|Ground_Delay|Delay|Airport)>[\s\S]*?<\/\1>/g;
const XML_LEAF = />([^<>]+)</g;

/** Entries of a document of markup, or lines of a table under its header. */
function* textEntries(
  text: string,
  sentinels: readonly (string | number | null)[],
): Generator<Entry> {
  const words = [UNKNOWN, ...new Set(sentinels.map((one) => String(one ?? '')))];
  const spots = text.startsWith('<')
    ? [...text.matchAll(XML_ENTRY)].map(({ 0: whole, index }) => ({ whole, index }))
    : linesOf(text);
  for (const { whole, index } of spots) {
    const put = (other: string) => text.slice(0, index) + other + text.slice(index + whole.length);
    const cells = text.startsWith('<')
      ? [...whole.matchAll(XML_LEAF)]
      : [...whole.matchAll(/"[^"\n]*"|[^,\n]+/g)];
    const spoiled = cells.flatMap((cell) => {
      const value = cell[1] ?? cell[0];
      const from = cell.index + cell[0].indexOf(value);
      return words.map((word) => ({
        name: `"${whole.slice(Math.max(0, from - 24), from)}" = ${JSON.stringify(word)}`,
        payload: put(whole.slice(0, from) + word + whole.slice(from + value.length)),
      }));
    });
    yield { without: withoutEmpty(put('')), spoiled };
  }
}

/** A document without the lists that have lost their only entry. */
function withoutEmpty(text: string): string {
  return text.replaceAll(/<Delay_type>[\s\S]*?<\/Delay_type>/g, (kind) =>
    /<ARPT>/.test(kind) || !/<ARPT>/.test(text) ? kind : '',
  );
}

function linesOf(text: string): { whole: string; index: number }[] {
  let index = 0;
  const lines = text.split('\n').map((line) => {
    const spot = { whole: `${line}\n`, index };
    index += line.length + 1;
    return spot;
  });
  return lines.slice(1).filter(({ whole }) => whole.includes(','));
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], value);
}

/** A copy with another value at one place; undefined takes the entry away. */
function changed(value: unknown, [name, ...rest]: Path, to: unknown): unknown {
  if (name === undefined) return to;
  if (Array.isArray(value)) {
    const place = Number(name);
    if (rest.length === 0 && to === undefined) return value.filter((_, index) => index !== place);
    return value.map((item, index) => (index === place ? changed(item, rest, to) : item));
  }
  const members = value as Record<string, unknown>;
  return { ...members, [String(name)]: changed(members[String(name)], rest, to) };
}

import { parseCutoff } from '../../../compiler/format/cutoff.ts';
import { settleFilings } from '../../../compiler/products/shapes/settle-filings.ts';
import { coverageOf, newestListing } from '../../../compiler/publish/assemble/filings.ts';
import {
  type StoredFilingRow,
  storedFilingRowSchema,
} from '../../../compiler/readings/collection-rows.ts';
import { readPayload } from '../../../compiler/sources/import-command.ts';
import {
  type FetchNote,
  ImportError,
  type Imported,
} from '../../../compiler/sources/kit/payload.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { jsonIn, noteOf, PLAYED, playedPayloads } from './cases.ts';

/** What can be said after an import: a name of the statement, and its value; null says nothing. */
export type Statements = ReadonlyMap<string, unknown>;

/** Each value of each reading, once for each time. */
export function readingStatements({ readings }: Imported): Statements {
  return new Map(
    [...readings].flatMap(([signal, list]) =>
      list.flatMap(({ entity, observed_at, current }) =>
        Object.entries(current).map(
          ([metric, value]) => [`${signal} ${entity} ${observed_at} ${metric}`, value] as const,
        ),
      ),
    ),
  );
}

/** The same without the time, for readings that say what there is now. */
export function currentStatements({ readings }: Imported): Statements {
  return new Map(
    [...readings].flatMap(([signal, list]) =>
      list.flatMap(({ entity, current }) =>
        Object.entries(current).map(
          ([metric, value]) => [`${signal} ${entity} ${metric}`, value] as const,
        ),
      ),
    ),
  );
}

/** The word of each row of a roster, and whether it is all of it. */
export function rosterStatements({ rows, isPart }: Imported): Statements {
  const stored = [...(rows?.values() ?? [])].flat() as Record<string, unknown>[];
  return new Map<string, unknown>([
    ['is a part', isPart ?? false],
    // What cannot be read of a listed server says nothing.
    ...stored.map(
      (row) => [String(row.server_id), row.status === 'unknown' ? null : row.status] as const,
    ),
  ]);
}

export interface Question {
  readonly form: string;
  readonly eventClass: string | null;
  readonly cutoff: string;
}

/** What settlement answers say of one filer after its list and its pages were imported. */
export function filingStatements(
  payloads: readonly Imported[],
  questions: readonly Question[],
): Statements {
  const rows = payloads
    .flatMap(({ rows }) => [...(rows?.values() ?? [])].flat())
    .map((row): StoredFilingRow => storedFilingRowSchema.parse(row));
  const listings = rows.filter((row) => row.kind === 'listing');
  const pages = rows.filter((row) => row.kind === 'page');
  const newest = newestListing(listings);
  if (newest === undefined) throw new RangeError('Cannot answer: no list');
  const coverage = coverageOf(newest, { listings, pages });
  const filings = rows.filter((row) => row.kind === 'filing');
  const verdicts = questions.map(({ form, eventClass, cutoff: text }) => {
    const cutoff = parseCutoff(text);
    if (cutoff === null) throw new RangeError(`Cannot ask until "${text}": no cutoff`);
    const { filed_by_cutoff } = settleFilings(filings, coverage, { form, eventClass, cutoff });
    return [`${form} ${eventClass ?? ''} until ${text}`, filed_by_cutoff] as const;
  });
  const counts = payloads
    .flatMap(({ readings }) => [...readings])
    .flatMap(([signal, list]) =>
      list
        .flatMap(({ current }) => Object.entries(current))
        .map(([metric, value]) => [`${signal} ${metric}`, value] as const),
    );
  return new Map([...verdicts, ...counts]);
}

/** Statements that do not stand in what is true; one that says nothing is never false. */
export function falseStatements(stated: Statements, truth: Statements): string[] {
  return [...stated]
    .filter(([name, value]) => value !== null && !isSame(value, truth.get(name)))
    .map(([name, value]) => `${name}: ${String(value)}, not ${String(truth.get(name))}`);
}

/** Lists are the same when their members are. */
function isSame(a: unknown, b: unknown): boolean {
  return Array.isArray(a) ? JSON.stringify(a) === JSON.stringify(b) : a === b;
}

export interface Mutated {
  readonly source: string;
  /** JSON, or the text of a payload of another format. */
  readonly payload: unknown;
  readonly note: FetchNote;
  /** What is said once the payload was imported. */
  readonly says: (imported: Imported) => Statements;
  /** Mutations that the source makes itself to say that nothing was reported. */
  readonly honest?: RegExp;
}

/** How many mutations were refused, read, and read to say less; and every false statement among them. */
export function mutationReport({ source, payload, note, says, honest }: Mutated) {
  const read = (value: unknown): Imported => {
    const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
    // It came as it was sent: what is wrong with it is not its length.
    const sent = { ...note, bytes: bytes.length };
    return readPayload(sourceOf(source), { bytes, note: sent, subject: 'payload' });
  };
  const truth = says(read(payload));
  const report = { refused: 0, read: 0, weakened: 0, lies: [] as string[], statements: truth.size };
  for (const { name, payload: mutant } of mutantsOf(payload)) {
    if (honest?.test(name) === true) continue;
    const imported = orRefused(() => read(mutant));
    if (imported === null) {
      report.refused += 1;
      continue;
    }
    report.read += 1;
    const stated = says(imported);
    if ([...truth].some(([fact, value]) => value !== null && (stated.get(fact) ?? null) === null)) {
      report.weakened += 1;
    }
    report.lies.push(...falseStatements(stated, truth).map((lie) => `${name} -> ${lie}`));
  }
  return report;
}

function mutantsOf(payload: unknown): Iterable<Mutation> {
  if (typeof payload !== 'string') return mutations(payload);
  return payload.startsWith('<') ? markupMutations(payload) : textMutations(payload);
}

function orRefused<Read>(read: () => Read): Read | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof ImportError) return null;
    throw error;
  }
}

/** A payload with one thing wrong in it. */
export interface Mutation {
  /** Where, and what stands there now. */
  readonly name: string;
  readonly payload: unknown;
}

type Path = readonly (string | number)[];

const DAY = /^(\d{4})-(\d{2})-(\d{2})/;
/** Members that say how many of something there are. */
const COUNTS: ReadonlySet<string> = new Set(['count', 'filingCount', 'numberReturned']);
/** Instants in milliseconds are this large, and nothing else of a payload is. */
const EPOCH_MS = 100_000_000_000;

/**
 * A payload with every member in turn of another type, absent, null, empty, in another unit or another format of its days,
 * counts that are off by one, and lists with an entry too many or too few. Of a long list the first, the middle and the last
 * entry are taken.
 */
export function* mutations(payload: unknown): Generator<Mutation> {
  for (const path of paths(payload, [])) {
    const value = at(payload, path);
    const last = String(path.at(-1) ?? '');
    yield { name: `${path.join('.')} absent`, payload: changed(payload, path, undefined) };
    for (const other of others(value, last)) {
      const name = `${path.join('.')} = ${JSON.stringify(other)?.slice(0, 60)}`;
      yield { name, payload: changed(payload, path, other) };
    }
  }
}

function* paths(value: unknown, path: Path): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(value)) {
    const places = new Set([0, value.length >> 1, value.length - 1]);
    for (const place of places) {
      if (place in value) yield* paths(value[place], [...path, place]);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) yield* paths(member, [...path, name]);
  }
}

function others(value: unknown, name: string): unknown[] {
  if (typeof value === 'number') return numbers(value, name);
  if (typeof value === 'string') return texts(value);
  if (Array.isArray(value)) {
    const [first] = value;
    return [null, {}, 'n/a', [], ...(value.length > 0 ? [[first, ...value], value.slice(1)] : [])];
  }
  if (value === null) return ['n/a', true, [], {}];
  return typeof value === 'object' ? [null, [], 'n/a'] : [null, String(value)];
}

function numbers(value: number, name: string): unknown[] {
  const units = Math.abs(value) >= EPOCH_MS ? [Math.floor(value / 1000), value * 1000] : [];
  const counts = COUNTS.has(name) ? [value + 1, value - 1] : [];
  return [String(value), 'high', true, null, [value], ...units, ...counts];
}

function texts(value: string): unknown[] {
  const [, year = '', month = '', day = ''] = DAY.exec(value) ?? [];
  const days = [
    `${day}/${month}/${year}`,
    `${year}${month}${day}`,
    `${year}-13-45`,
    `${year}-02-30`,
  ];
  const formats = days.map((written) => value.replace(DAY, written));
  const isNumber = value !== '' && !Number.isNaN(Number(value));
  const spelled = isNumber ? [`${value} ft`, value.replace('.', ',').concat(',0'), 'high'] : [];
  return ['', 'n/a', 7, null, true, [value], ...(year === '' ? [] : formats), ...spelled];
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], value);
}

/** A copy with another value at one place; undefined takes the member or the entry away. */
function changed(value: unknown, [name, ...rest]: Path, to: unknown): unknown {
  if (name === undefined) return to;
  if (Array.isArray(value)) {
    const place = Number(name);
    if (rest.length === 0 && to === undefined) return value.filter((_, index) => index !== place);
    return value.map((item, index) => (index === place ? changed(item, rest, to) : item));
  }
  const { [String(name)]: old, ...others } = value as Record<string, unknown>;
  const put = changed(old, rest, to);
  return put === undefined ? others : { ...(value as object), [String(name)]: put };
}

const PAGE = '<html><body>Service unavailable</body></html>';
/** An element that holds text or nothing. */
const LEAF = /<(\w+)([^>]*)>([^<]*)<\/\1>/g;
/** An element with all that it holds. */
const WHOLE = (name: string) => new RegExp(`<${name}[ >].*?</${name}>`, 's');

/**
 * A document of markup with one thing wrong in it: cut off, a page in its place, a document type; each element with text in
 * turn absent, twice, empty, of another name, format or unit; each attribute absent or of another value; each element that
 * holds others twice or empty.
 */
export function* markupMutations(text: string): Generator<Mutation> {
  for (const part of [0.25, 0.5, 0.9]) {
    yield { name: `cut off at ${part}`, payload: text.slice(0, Math.floor(text.length * part)) };
  }
  yield { name: 'a page of markup', payload: PAGE };
  yield { name: 'a document type', payload: `<!DOCTYPE x>${text}` };
  yield { name: 'two documents', payload: text + text };
  yield { name: 'another root', payload: `<x>${text}</x>` };
  for (const { index, 0: whole, 1: name = '', 2: attributes = '', 3: value = '' } of text.matchAll(
    LEAF,
  )) {
    const put = (other: string) => text.slice(0, index) + other + text.slice(index + whole.length);
    const at = `${name} at ${index}`;
    yield { name: `${at} absent`, payload: put('') };
    yield { name: `${at} twice`, payload: put(whole + whole) };
    yield { name: `${at} renamed`, payload: put(`<x${attributes}>${value}</x>`) };
    yield { name: `${at} nested`, payload: put(`<${name}><x>${value}</x></${name}>`) };
    for (const other of otherMarkup(value)) {
      const payload = put(`<${name}${attributes}>${other}</${name}>`);
      yield { name: `${at} = ${JSON.stringify(other)}`, payload };
    }
  }
  for (const [attribute, name = '', value = ''] of text.matchAll(/ (\w+)="([^"]*)"/g)) {
    for (const other of ['', ` ${name}=""`, ` ${name}="n/a"`, ` x="${value}"`]) {
      yield { name: `${attribute} as "${other}"`, payload: text.replace(attribute, other) };
    }
  }
  yield* containers(text);
}

function* containers(text: string): Generator<Mutation> {
  const names = new Set([...text.matchAll(/<(\w+)[^>]*><\w/g)].map(([, name = '']) => name));
  for (const name of names) {
    const [whole = ''] = WHOLE(name).exec(text) ?? [];
    yield { name: `${name} twice`, payload: text.replace(whole, () => whole + whole) };
    yield { name: `${name} empty`, payload: text.replace(whole, `<${name}></${name}>`) };
    const other = whole.replaceAll(`<${name}`, '<x').replaceAll(`</${name}>`, '</x>');
    yield { name: `${name} renamed`, payload: text.replace(whole, () => other) };
  }
}

function otherMarkup(value: string): readonly string[] {
  const bare = value.replace(/ ?(hours?|minutes?)\b/g, '');
  const month = value.replace(/\b[JFMASOND][a-z]{2}\b/g, '13');
  const variants = [bare, value.replace(/\d+/, '99999'), value.replace(/\d+/, 'x'), month];
  return ['', 'n/a', '-1', `${value} x`, ...variants.filter((other) => other !== value)];
}

/**
 * A table as text with one thing wrong in it: cut off, a page of markup in its place, a line absent or twice, a column absent
 * or in another place with its header, and each value of three lines in turn empty, of another type, unit or format.
 */
export function* textMutations(text: string): Generator<Mutation> {
  const lines = text.split('\n').filter((line) => line !== '');
  const rows = lines.map((line) => line.split(separatorOf(text)));
  const joined = (cells: readonly (readonly string[])[]) =>
    `${cells.map((row) => row.join(separatorOf(text))).join('\n')}\n`;
  for (const part of [0.5, 0.9]) {
    yield { name: `cut off at ${part}`, payload: text.slice(0, Math.floor(text.length * part)) };
  }
  yield { name: 'a page of markup', payload: PAGE };
  yield { name: 'cut off, with a page of markup', payload: text.slice(0, text.length >> 1) + PAGE };
  for (const at of new Set([0, 1, rows.length >> 1, rows.length - 1])) {
    const row = rows[at] ?? [];
    yield { name: `line ${at} absent`, payload: joined(rows.filter((_, index) => index !== at)) };
    yield { name: `line ${at} twice`, payload: joined(rows.toSpliced(at, 0, row)) };
    for (const [column, value] of row.entries()) {
      for (const other of otherTexts(value)) {
        const name = `line ${at} column ${column} = ${JSON.stringify(other)}`;
        yield { name, payload: joined(rows.with(at, row.with(column, other))) };
      }
    }
  }
  for (const column of (rows[0] ?? []).keys()) {
    yield {
      name: `column ${column} absent`,
      payload: joined(rows.map((row) => row.toSpliced(column, 1))),
    };
    const last = rows.map((row) => [...row.toSpliced(column, 1), row[column] ?? '']);
    yield { name: `column ${column} last`, payload: joined(last) };
  }
}

function separatorOf(text: string): string {
  return ['\t', ','].find((one) => text.includes(one)) ?? ' ';
}

function otherTexts(value: string): readonly string[] {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})/.exec(value) ?? [];
  const days =
    year === undefined ? [] : [`${day}/${month}/${year}`, `${year}-13-45`, `${year}-02-30`];
  const isNumber = value !== '' && !Number.isNaN(Number(value));
  const written = isNumber ? [`${value} ft`, value.replace('.', ';'), `${value}e9`, '-999999'] : [];
  return ['', 'n/a', 'null', ...days, ...written];
}

const SAYS = {
  readings: readingStatements,
  current: currentStatements,
  roster: rosterStatements,
} as const;

/**
 * Every payload of the cases that says by `spoil` what it is held to, by `honest` which changes an agency makes itself, and by
 * `anywhere` which values say whom an entry is about.
 */
export const SPOILED = PLAYED.flatMap((source) =>
  playedPayloads(source).flatMap(({ name, heads, text }) => {
    const says = SAYS[heads.spoil as keyof typeof SAYS];
    if (says === undefined) return [];
    const honest = heads.honest === undefined ? {} : { honest: new RegExp(heads.honest) };
    const payload = jsonIn(text) ?? text;
    const note = noteOf(heads, text.length);
    const mutated: Mutated = { source, payload, note, says, ...honest };
    const anywhere = heads.anywhere === undefined ? null : new RegExp(heads.anywhere);
    return [{ name, mutated, anywhere }];
  }),
);

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { grouped } from '../../../compiler/format/lists.ts';
import { isObject } from '../../../compiler/format/strict-json.ts';
import { readPayload } from '../../../compiler/sources/import-command.ts';
import {
  type FetchNote,
  ImportError,
  type Imported,
} from '../../../compiler/sources/kit/payload.ts';
import { addressesAt } from '../../../compiler/sources/kit/source.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';

/**
 * A file `cases/SOURCE.txt` holds what a source answers, and what becomes of it:
 *
 *     === payload NAME        `url:`, `fetched:` and other heads, an empty line, and the bytes
 *     === gives               what the importer makes of it
 *     === case TITLE          heads that differ, one change a line, `---`, and what is another line then
 *     === members             what each reading says besides its values, by the mark at its end
 *
 * A change is `PATH = JSON`, `PATH absent`, `PATH cut to N`, `PATH like PATH with {"PATH": JSON}` of a JSON payload,
 * `"text" -> "text"` or `cut to N` of any, and `is JSON` for another payload altogether. `vitest -u` writes what is given now.
 */
export interface PlayedPayload {
  readonly name: string;
  readonly heads: Heads;
  readonly text: string;
  readonly cases: readonly PlayedCase[];
}
export interface PlayedCase {
  readonly title: string;
  readonly heads: Heads;
  readonly changes: readonly string[];
}
type Heads = Readonly<Record<string, string>>;

const FOLDER = new URL('./cases/', import.meta.url).pathname;
const HEAD = /^(url|fetched|bytes|recorded|spoil|honest|anywhere|whole|asks|now|asked): (.*)$/;
const WORDS: ReadonlySet<string> = new Set(['scope', 'validation_status', 'uncertainty', 'kind']);
/** Of a longer outcome the first lines are shown, and the rest by its mark. */
const LINES_SHOWN = 4;
const GIVEN_SHOWN = 12;
/** A line of a reading: signal, entity, time with values, mark. */
const READING = /^((?:[+-] )?\S+) (\S+) (\d{4}-\S+Z \{.*\}) (#\w{5})$/;
/** So many new marks of a signal are written out. */
const NEW_MARKS_MAX = 2;
/** Stands for an end of line behind which nothing follows. */
const LAST_LINE_END = '␊';

/** Every source that has cases. */
export const PLAYED: readonly string[] = readdirSync(FOLDER)
  .map((name) => name.replace(/\.txt$/, ''))
  .sort();

export function casesFile(source: string): string {
  return `${FOLDER}${source}.txt`;
}

/** The payloads of a source, each with the cases that are made of it. */
export function playedPayloads(source: string): PlayedPayload[] {
  const payloads: { name: string; heads: Heads; text: string; cases: PlayedCase[] }[] = [];
  for (const section of `\n${readFileSync(casesFile(source), 'utf8')}`.split('\n=== ').slice(1)) {
    const [first = '', ...lines] = section.split('\n');
    const [, kind, title = ''] = /^(\w+) ?(.*)$/.exec(first) ?? [];
    const end = lines.findIndex((line) => line === '' || line === '---');
    const heads: Record<string, string> = {};
    for (const line of lines.slice(0, end)) {
      const [, name, value = ''] = HEAD.exec(line) ?? [];
      if (name !== undefined) heads[name] = value;
    }
    if (kind === 'payload') {
      const text = unescaped(lines.slice(lines.indexOf('') + 1).join('\n'));
      payloads.push({ name: title, heads, text, cases: [] });
    } else if (kind === 'case') {
      const changes = lines.slice(0, lines.indexOf('---')).filter((line) => !HEAD.test(line));
      payloads.at(-1)?.cases.push({ title, heads, changes });
    }
  }
  return payloads;
}

/** Control characters stand as their pictures. */
export function escaped(text: string): string {
  const shown = text.replace(/\p{Cc}/gu, (one) =>
    one === '\n' || one === '\t' ? one : String.fromCharCode(0x2400 + one.charCodeAt(0)),
  );
  return shown.endsWith('\n') ? `${shown.slice(0, -1)}${LAST_LINE_END}` : shown;
}

function unescaped(text: string): string {
  const ended = text.endsWith(LAST_LINE_END) ? `${text.slice(0, -1)}\n` : text;
  return ended.replace(/[\u2400-\u241f]/g, (one) =>
    String.fromCharCode(one.charCodeAt(0) - 0x2400),
  );
}

export function noteOf(heads: Heads, length: number): FetchNote {
  const { url = 'https://example.gov/', fetched = '2026-11-20T11:05:00Z', bytes } = heads;
  const note = { url, fetched_at: fetched, http_status: 200 };
  return bytes === undefined || bytes === 'none'
    ? note
    : { ...note, bytes: bytes === 'all' ? length : Number(bytes) };
}

/** The payload of a case: text where a change is about the text, else JSON. */
export function changedText(text: string, changes: readonly string[]): string {
  let changed = text;
  let value: unknown;
  for (const change of changes) {
    const [, from, to] = /^("(?:[^"\\]|\\.)*") -> (".*")$/.exec(change) ?? [];
    const cut = /^cut to (\d+)$/.exec(change)?.[1];
    if (change.startsWith('is ')) {
      const other: unknown = JSON.parse(change.slice(3));
      changed = typeof other === 'string' ? other : JSON.stringify(other);
    } else if (cut !== undefined) changed = changed.slice(0, Number(cut));
    else if (from !== undefined && to !== undefined) {
      const old = JSON.parse(from);
      if (!changed.includes(old)) throw new RangeError(`Cannot change ${from}: it is not there`);
      changed = changed.replace(old, () => JSON.parse(to));
    } else {
      value = changedValue(value ?? JSON.parse(changed), change);
      changed = JSON.stringify(value);
    }
  }
  return changed;
}

function changedValue(value: unknown, change: string): unknown {
  const [, path = '', verb, rest = ''] = /^(\S+) (=|absent|cut to|like) ?(.*)$/.exec(change) ?? [];
  const names = path.split('/').map((name) => name.replaceAll('~', ' '));
  if (verb === '=') return put(value, names, JSON.parse(rest));
  if (verb === 'absent') return put(value, names, undefined);
  if (verb === 'cut to') {
    return put(value, names, (at(value, names) as unknown[]).slice(0, Number(rest)));
  }
  const [, like = '', over = '{}'] = /^(\S+)(?: with (.*))?$/.exec(rest) ?? [];
  if (verb !== 'like') throw new RangeError(`Cannot read the change "${change}"`);
  const overs: [string, unknown][] = Object.entries(JSON.parse(over));
  const item = overs.reduce(
    (part: unknown, [name, one]) =>
      put(part, name.split('/'), one === '(absent)' ? undefined : one),
    at(value, like.split('/')),
  );
  return put(value, names, item);
}

function at(value: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (part, name) => (name === '' ? part : (part as Record<string, unknown>)[name]),
    value,
  );
}

/** A copy with another value at one place; undefined takes the member or the entry away. */
function put(value: unknown, [name = '', ...rest]: readonly string[], to: unknown): unknown {
  if (name === '') return to;
  const list = Array.isArray(value) ? [...value] : { ...(value as object) };
  const members = list as Record<string, unknown>;
  const inner = rest.length === 0 ? to : put(members[name], rest, to);
  if (inner !== undefined) members[name] = inner;
  else if (Array.isArray(list)) list.splice(Number(name), 1);
  else delete members[name];
  return list;
}

/** What a source makes of bytes, or the refusal. */
export function played(source: string, bytes: Uint8Array, heads: Heads): Imported | string {
  try {
    const note = noteOf(heads, bytes.length);
    return readPayload(sourceOf(source), { bytes, note, subject: 'payload' });
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return `refused: ${error.message.replace('Cannot import "payload": ', '')}`;
  }
}

/** Plays all cases of a source; the text is that of its file where nothing has changed. */
export function playedText(source: string): string {
  const members = new Map<string, string>();
  const sections = playedPayloads(source).flatMap(({ name, heads, text, cases }) => {
    const base = outcomeLines(played(source, Buffer.from(text), heads), members);
    const head = [`=== payload ${name}`, ...headLines(heads), '', escaped(text)];
    return [
      ...(name === 'none'
        ? ['=== payload none', '']
        : [...head, '=== gives', ...shortened(base, GIVEN_SHOWN)]),
      ...cases.flatMap((one) => [
        `=== case ${one.title}`,
        ...headLines(one.heads),
        ...one.changes,
        '---',
        ...caseLines(source, { text, heads, base }, one, members),
      ]),
    ];
  });
  const said = [...members].map(([mark, text]) => `${mark} ${text}`);
  return [...sections, ...(said.length === 0 ? [] : ['=== members', ...said]), ''].join('\n');
}

function headLines(heads: Heads): string[] {
  return Object.entries(heads).map(([name, value]) => `${name}: ${value}`);
}

function caseLines(
  source: string,
  { text, heads, base }: { text: string; heads: Heads; base: readonly string[] },
  one: PlayedCase,
  members: Map<string, string>,
): readonly string[] {
  const all = { ...heads, ...one.heads };
  const { ownNote, nextCursor } = sourceOf(source);
  if (all.asks !== undefined) {
    const entities = all.asks.split(',').filter(Boolean);
    const now = Date.parse(all.now ?? '1970-01-01');
    try {
      const lists = addressesAt(sourceOf(source), { entities, now });
      return shortened(lists.map((list) => list.map(({ url }) => url).join(' else ')));
    } catch (error) {
      return [`refused: ${(error as Error).message}`];
    }
  }
  const bytes = Buffer.from(changedText(text, one.changes));
  if (all.asked === 'own note') {
    return orRefused(() => JSON.stringify(ownNote?.(bytes, 'payload')));
  }
  if (all.asked === 'next page') {
    const note = noteOf(all, bytes.length);
    return orRefused(() => String(nextCursor?.({ bytes, note, subject: 'payload' })));
  }
  const seen = new Map(members);
  const own = outcomeLines(played(source, bytes, all), seen);
  for (const [mark, text] of seen.size - members.size === 1 ? seen : []) members.set(mark, text);
  const added = own.filter((line) => !base.includes(line));
  const replaced = new Set(added.map(aboutOf));
  const other = [
    ...base
      .filter((line) => !own.includes(line) && !replaced.has(aboutOf(line)))
      .map((line) => `- ${line}`),
    ...added.map((line) => `+ ${line}`),
  ];
  if (other.length === 0) return ['the same'];
  return shortened(other.length < own.length ? other : own);
}

/** One line for all entities of which a signal says the same at a time. */
function together(lines: readonly string[]): readonly string[] {
  return [...grouped(lines, (line) => line.replace(READING, '$1 $3'))].flatMap(([, own]) => {
    const found = own.map((line) => READING.exec(line) ?? []);
    const [[, signal, , said] = []] = found;
    if (signal === undefined) return own;
    const marks = [...new Set(found.map(([, , , , mark]) => mark))];
    const mark = marks.length === 1 ? marks[0] : markOf(marks.join());
    return [`${signal} ${found.map(([, , entity]) => entity).join(', ')} ${said} ${mark}`];
  });
}

/** Signal, entity and time of a reading: another line about the same takes its place. */
function aboutOf(line: string): string {
  return /^\S+ \S+ \d{4}-\S+Z(?= \{)/.exec(line)?.[0] ?? line;
}

/** The first lines, and a mark of those behind them. */
function shortened(given: readonly string[], shown = LINES_SHOWN): readonly string[] {
  const lines = together(given);
  if (lines.length <= 2 * shown) return lines;
  const rest = lines.slice(shown);
  return [...lines.slice(0, shown), `… ${rest.length} lines more ${markOf(rest.join('\n'))}`];
}

function markOf(text: string): string {
  return `#${createHash('sha256').update(text).digest('hex').slice(0, 5)}`;
}

function orRefused(ask: () => string): string[] {
  try {
    return [ask()];
  } catch (error) {
    if (error instanceof ImportError) return [`refused: ${error.message}`];
    throw error;
  }
}

/** What was imported, a line for each reading, row, skipped subject and remark. */
export function outcomeLines(outcome: Imported | string, members: Map<string, string>): string[] {
  if (typeof outcome === 'string') return [outcome];
  const { readings, rows = new Map(), isPart, skipped, remarks } = outcome;
  const lines = [
    ...[...readings].flatMap(([signal, list]) =>
      readingLines(signal, list as unknown as Row[], members),
    ),
    ...[...rows].flatMap(([collection, list]: [string, readonly object[]]) =>
      rowLines(collection, list as Row[], members),
    ),
    ...(isPart === true ? ['a part of a list'] : []),
    ...skipped.map(({ count, subject, reason }) => `skipped ${count} × ${subject}: ${reason}`),
    ...remarks.map((remark) => `remark: ${remark}`),
  ];
  return lines.length === 0 ? ['nothing'] : lines;
}

type Row = Readonly<Record<string, unknown>>;

function readingLines(signal: string, list: readonly Row[], members: Map<string, string>) {
  const known = members.size;
  return list.map((reading) => {
    const { entity, observed_at, current, collected_at: _at, evidence: _, ...rest } = reading;
    const [main] = Object.values(current as Row);
    const value = typeof main === 'number' ? main : null;
    const sources = (reading.sources as Row[]).map((source) => ({
      ...source,
      ...(source.value === value ? { value: 'main' } : {}),
      ...(source.as_of === observed_at ? { as_of: 'then' } : {}),
    }));
    const text = JSON.stringify({ ...rest, sources });
    const mark = markOf(text);
    if (members.size < known + NEW_MARKS_MAX) members.set(mark, text);
    return `${signal} ${entity} ${observed_at} ${JSON.stringify(current)} ${mark}`;
  });
}

/** A row says what is its own; what all of a list share stands by its mark. */
function rowLines(collection: string, list: readonly Row[], members: Map<string, string>) {
  const known = members.size;
  return list.map((row) => {
    const { evidence: _, collected_at: _at, ...said } = row;
    const isShared = ([name]: [string, unknown]) => name.startsWith('source') || WORDS.has(name);
    const shared = Object.entries(said).filter(isShared);
    const own = Object.entries(said).filter((member) => !isShared(member));
    const text = JSON.stringify(Object.fromEntries(shared));
    const mark = markOf(text);
    if (members.size < known + NEW_MARKS_MAX) members.set(mark, text);
    return `${collection} ${JSON.stringify(Object.fromEntries(own))} ${mark}`;
  });
}

/** A payload of the cases by its name, as its agency answered. */
export function payloadText(source: string, name: string): string {
  const found = playedPayloads(source).find((one) => one.name === name);
  if (found === undefined) throw new RangeError(`No payload "${name}" in the cases of ${source}`);
  return found.text;
}

/** Whether a payload is JSON, and its value. */
export function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value as never) || Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

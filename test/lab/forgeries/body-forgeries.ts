import { REQUEST_TIME_FIELDS } from '../../../compiler/format/citation.ts';
import { type JsonValue, parseJson } from '../../../compiler/format/strict-json.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import { wrongWords } from '../../verify/alterations.ts';
import { reseal } from '../../verify/resign.ts';

export type Open = Record<string, JsonValue>;

/** A genuine body: the bytes that a request was answered with. */
export interface Delivery {
  /** Canonical `path?query`. */
  readonly target: string;
  readonly body: Open;
}

/** What somebody without the key can hand on in place of a body; made only when it is judged. */
export interface Forgery {
  /** Which way of forging made it. */
  readonly kind: string;
  /** Request that it is handed out for. */
  readonly target: string;
  /** What was done to which member. */
  readonly where: string;
  /** True for what the issuer signed: it is no lie of a stranger, and only what the judges say of it is compared. */
  readonly isOfIssuer?: boolean;
  /** Its text. */
  make(): string;
}

/** Whom a judge believes, and when. */
export interface Trusted {
  readonly did: string;
  readonly service: Service;
  /** Clock of the reader, epoch milliseconds. */
  readonly now: number;
}

/** A text, and the request that it is handed out for; what its issuer signed again is taken without a proof. */
export interface Handed extends Pick<Forgery, 'target' | 'isOfIssuer'> {
  readonly text: string;
}

export type Path = readonly (string | number)[];

/** A copy of a value with another one at a path; without the member where the new value is undefined. */
export function withAt(value: JsonValue, path: Path, other: JsonValue | undefined): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined) return other ?? null;
  if (Array.isArray(value)) {
    const at = Number(key);
    const isRemoved = other === undefined && rest.length === 0;
    return isRemoved
      ? value.toSpliced(at, 1)
      : value.with(at, withAt(value[at] ?? null, rest, other));
  }
  const { [key]: inner = null, ...others } = value as Open;
  if (other === undefined && rest.length === 0) return others;
  return { ...(value as Open), [key]: withAt(inner, rest, other) };
}

/** What stands at a path; undefined where nothing does. */
export function valueAt(value: JsonValue, path: Path): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.hasOwn(at, key) ? (at as Open)[key] : undefined;
  }
  return at;
}

/** Every value inside of a value with its path, the value itself first. */
export function* valuesIn(value: JsonValue, path: Path = []): Generator<[Path, JsonValue]> {
  yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries<JsonValue>(value as Open)) {
    yield* valuesIn(item, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** Bodies of all operations, each as it was served at several moments, in their order. */
export type Moments = ReadonlyMap<string, readonly Delivery[]>;

/** What a shop answers to a request at a moment, epoch milliseconds; null where it sells nothing. */
export type Ask = (target: string, now: number) => Promise<string | null>;

/**
 * Whether a text says nothing but what a genuine answer says: the answer to the request that it was handed out for (`asked`),
 * or to whatever request it repeats itself.
 */
export type IsTrue = (text: string, target: string, asked: boolean) => Promise<boolean>;

/** Numbers from 0 up to a limit. */
export type Random = (below: number) => number;

const DAY_MS = 86_400_000;
const TIME = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/;
/** Looks like the Latin letter that it replaces. */
const LOOKALIKES: Readonly<Record<string, string>> = { a: 'а', e: 'е', o: 'о', p: 'р', c: 'с' };

/** Every value of a body replaced by each thing that could stand there instead, removed, doubled, moved or wrapped. */
export function* editedValues({ target, body }: Delivery): Generator<Forgery> {
  for (const [path, value] of valuesIn(body)) {
    const where = path.join('.');
    for (const [name, other] of othersOf(value)) {
      const make = (): string => JSON.stringify(withAt(body, path, other));
      yield { kind: 'edited value', target, where: `${where} ${name}`, make };
    }
    if (path.length > 0) yield removed({ target, body }, path);
  }
}

function removed({ target, body }: Delivery, path: Path): Forgery {
  const make = (): string => JSON.stringify(withAt(body, path, undefined));
  return { kind: 'edited value', target, where: `${path.join('.')} removed`, make };
}

type Named = readonly [name: string, other: JsonValue];

function othersOf(value: JsonValue): Named[] {
  if (value === null) return othersOfNull();
  if (typeof value === 'string') return othersOfText(value);
  if (typeof value === 'number') return othersOfNumber(value);
  if (typeof value === 'boolean') {
    return [
      ['turned round', !value],
      ['null', null],
      ['as text', String(value)],
      ['as a number', Number(value)],
    ];
  }
  return Array.isArray(value) ? othersOfList(value) : othersOfObject(value as Open);
}

function othersOfNull(): Named[] {
  const others: JsonValue[] = [false, 0, '', '2026-01-01', [], {}];
  return others.map((other) => [`null as ${JSON.stringify(other)}`, other]);
}

function othersOfNumber(value: number): Named[] {
  return [
    ['one more', value + 1],
    ['one less', value - 1],
    ['a tenth more', Math.round((value + 0.1) * 10) / 10],
    ['negative', value === 0 ? -1 : -value],
    ['as text', String(value)],
    ['null', null],
    ['in a list', [value]],
  ];
}

function othersOfText(value: string): Named[] {
  const middle = Math.floor(value.length / 2);
  const swapped = value.toUpperCase() === value ? value.toLowerCase() : value.toUpperCase();
  const others: Named[] = [
    ['empty', ''],
    ['longer', `${value}x`],
    ['with a space', `${value} `],
    ['shorter', value.slice(0, -1)],
    ['in another case', swapped],
    ['with a lookalike', value.replace(/[aeopc]/, (letter) => LOOKALIKES[letter] ?? letter)],
    ['with a zero-width space', `${value.slice(0, middle)}\u200b${value.slice(middle)}`],
    ['another digit', value.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10))],
    ['null', null],
    ['in an object', { value }],
    ...otherTimes(value),
  ];
  return others.filter(([, other]) => other !== value);
}

function otherTimes(value: string): Named[] {
  if (!TIME.test(value)) return [];
  const moved = (days: number): string => {
    const text = new Date(Date.parse(value) + days * DAY_MS).toISOString().replace('.000Z', 'Z');
    return value.includes('T') ? text : text.slice(0, 10);
  };
  const spelled: Named[] = value.includes('T')
    ? [['with an offset', value.replace('Z', '+00:00')]]
    : [['as an instant', `${value}T00:00:00Z`]];
  return [['a day later', moved(1)], ['a day earlier', moved(-1)], ...spelled];
}

function othersOfList(list: readonly JsonValue[]): Named[] {
  const [first = null] = list;
  const others: Named[] = [
    ['emptied', []],
    ['with null behind', [...list, null]],
    ['null', null],
    ['first twice', [first, ...list]],
    ['last twice', [...list, list.at(-1) ?? null]],
    ['reversed', list.toReversed()],
    ['as an object', Object.fromEntries(list.entries()) as Open],
  ];
  return others.filter(([, other]) => JSON.stringify(other) !== JSON.stringify(list));
}

function othersOfObject(object: Open): Named[] {
  return [
    ['null', null],
    ['emptied', {}],
    ['in a list', [object]],
    ['with a member more', { ...object, verdict: 'certain' }],
    ['with a member of request time more', { ...object, freshness: 'fresh', age_hours_now: 0 }],
    ['with a citation more', { ...object, _citation: object._citation ?? {} }],
    ['with a hash more', { ...object, record_hash: object.record_hash ?? null }],
  ];
}

/** A body as another text: the same value in another spelling, or what two parsers may read differently. */
export function* otherSpellings({ target, body }: Delivery): Generator<Forgery> {
  const text = JSON.stringify(body);
  for (const [where, make] of Object.entries(SPELLINGS)) {
    yield { kind: 'other spelling', target, where, make: () => make(text) };
  }
}

/** Spellings that say the same; every other one has to be refused. */
export const SAME_VALUE: ReadonlySet<string> = new Set([
  'as it is',
  'with white space',
  'with its members in another order',
  'with an escaped letter',
  'with an exponent',
  'with exponents',
  'with fractions',
]);

const SPELLINGS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'with white space': (text) => JSON.stringify(JSON.parse(text), null, 1).replaceAll('\n', ' '),
  'with its members in another order': (text) =>
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).toReversed())),
  'with an escaped letter': (text) => text.replace('"_citation"', '"\\u005fcitation"'),
  'with an exponent': (text) => text.replace(/:(\d+)([,}])/, ':$1e0$2'),
  'with exponents': (text) => spelled(JSON.parse(text), (whole) => `${whole}e0`),
  'with fractions': (text) => spelled(JSON.parse(text), (whole) => `${whole}.0`),
  'with a member twice': (text) => `{${text.slice(1, -1)},${text.slice(1)}`,
  'with a contradicting member in front': (text) =>
    text.replace(/^\{"(\w+)":/, '{"$1":"other","$1":'),
  'with the member __proto__': (text) => `{"__proto__":{},${text.slice(1)}`,
  'with a byte order mark': (text) => `\ufeff${text}`,
  'with text behind it': (text) => `${text}x`,
  'with a second body behind it': (text) => `${text}${text}`,
  'with a comma more': (text) => `${text.slice(0, -1)},}`,
  'with a comment': (text) => `/**/${text}`,
  'with NaN': (text) => text.replace(/:(\d+(\.\d+)?|null)([,}])/, ':NaN$3'),
  'with a number beyond a double': (text) => text.replace(/:(\d+(\.\d+)?|null)([,}])/, ':1e999$3'),
  'with a number that a double cannot keep': (text) =>
    text.replace(/:(\d+(\.\d+)?|null)([,}])/, ':0.10000000000000000001$3'),
  'with an integer beyond 2^53': (text) =>
    text.replace(/:(\d+(\.\d+)?|null)([,}])/, ':9007199254740993$3'),
  'with half of a surrogate pair': (text) => text.replace(/":"/, '":"\\ud800'),
  'with a NUL': (text) => text.replace(/":"/, '":"\\u0000'),
  'in a list': (text) => `[${text}]`,
  'as a text': (text) => JSON.stringify(text),
  'in a sample': (text) => `{"sample":${text}}`,
  'in a sample beside a lie': (text) => `{"sample":${text},"note":"of another filer"}`,
  'in a record': (text) => `{"record":${text},"note":"of another filer"}`,
  'deep inside': (text) => `${'{"a":'.repeat(70)}${text}${'}'.repeat(70)}`,
  'with itself inside': (text) => `{${text.slice(1, -1)},"copy":${text}}`,
  'cut off': (text) => text.slice(0, -1),
};

/** JSON with every whole number in a spelling of its own. */
function spelled(value: JsonValue, write: (whole: number) => string): string {
  if (typeof value === 'number' && Number.isInteger(value)) return write(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((item: JsonValue) => spelled(item, write)).join()}]`;
  }
  const members = Object.entries<JsonValue>(value as Open);
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${spelled(item, write)}`).join()}}`;
}

/** Deeper values stand inside of signed parts. */
const DEPTH_MAX = 4;

/** One value of a genuine answer in the place of that of another one, at every path that both have. */
export function* transplants(into: Delivery, from: Delivery): Generator<Forgery> {
  for (const [path, value] of valuesIn(into.body)) {
    if (path.length === 0 || path.length > DEPTH_MAX) continue;
    const other = valueAt(from.body, path);
    if (other === undefined || JSON.stringify(other) === JSON.stringify(value)) continue;
    yield transplant(into, { path, other, from: from.target });
  }
}

interface Graft {
  readonly path: Path;
  readonly other: JsonValue;
  readonly from: string;
}

function transplant({ target, body }: Delivery, { path, other, from }: Graft): Forgery {
  const make = (): string => JSON.stringify(withAt(body, path, other));
  return {
    kind: 'one value of another answer',
    target,
    where: `${path.join('.')} of ${from}`,
    make,
  };
}

/** A genuine body with the proof of another one, or with a proof put together of both. */
export function* otherProofs({ target, body }: Delivery, from: Delivery): Generator<Forgery> {
  const [own, other] = [body._proof, from.body._proof].map((text) =>
    String(text ?? '').split('\n'),
  );
  if (own === undefined || other === undefined || own.length + other.length < 4) return;
  const kind = 'proof of another body';
  const made = (where: string, lines: readonly string[]): Forgery => {
    const make = (): string => JSON.stringify({ ...body, _proof: lines.join('\n') });
    return { kind, target, where: `${where} of ${from.target}`, make };
  };
  yield made('the proof', other);
  for (const at of own.keys()) {
    yield made(`line ${at}`, own.with(at, other[at] ?? ''));
    yield made(`the lines from ${at}`, [...own.slice(0, at), ...other.slice(at)]);
    yield made(`one line more at ${at}`, own.toSpliced(at, 0, other[at] ?? ''));
    yield made(`one line less at ${at}, proof`, own.toSpliced(at, 1));
  }
}

/** Some members of a genuine answer in the place of those of another one. */
export function spliced(into: Delivery, from: Delivery, random: Random): Forgery | null {
  const names = Object.keys({ ...into.body, ...from.body }).filter(
    (name) => JSON.stringify(into.body[name]) !== JSON.stringify(from.body[name]),
  );
  const taken = names.filter(() => random(2) === 1);
  if (taken.length === 0 || taken.length === names.length) return null;
  const make = (): string => {
    const body: Open = { ...into.body };
    for (const name of taken) {
      const value = from.body[name];
      if (value === undefined) delete body[name];
      else body[name] = value;
    }
    return JSON.stringify(body);
  };
  const where = `${taken.join(', ')} of ${from.target}`;
  return { kind: 'members of another answer', target: into.target, where, make };
}

const FIELDS = Object.entries(REQUEST_TIME_FIELDS);

/** Words of request time that are true at no moment, one at a time. */
export function* wrongMoments({ target, body }: Delivery): Generator<Forgery> {
  for (const { where, body: wrong } of wrongWords(body)) {
    yield { kind: 'word of no moment', target, where, make: () => JSON.stringify(wrong) };
  }
}

/** Paths of the members of request time that either of two bodies has. */
function momentPaths(body: JsonValue): Path[] {
  const paths: Path[] = [];
  for (const [path, value] of valuesIn(body)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    for (const [basis, names] of FIELDS) {
      if (Object.hasOwn(value, basis)) paths.push(...names.map((name) => [...path, name]));
    }
  }
  return paths;
}

/** Some words of a body as it was served at one moment among those of another moment. */
export function mixedMoments(early: Delivery, late: Delivery, random: Random): Forgery | null {
  const { target } = early;
  const differing = momentPaths(early.body).filter(
    (path) =>
      JSON.stringify(valueAt(early.body, path)) !== JSON.stringify(valueAt(late.body, path)),
  );
  const taken = differing.filter(() => random(2) === 1);
  if (taken.length === 0 || taken.length === differing.length) return null;
  const make = (): string => {
    let body: JsonValue = early.body;
    for (const path of taken) body = withAt(body, path, valueAt(late.body, path));
    return JSON.stringify(body as Open);
  };
  const where = taken.map((path) => path.join('.')).join(', ');
  return { kind: 'words of two moments', target, where, make };
}

// What the issuer itself signed may contradict itself. No lie of a stranger is in it; but every judge has to find the same
// contradictions, and no other.

/** Every edit of a body, signed by the issuer of the tests. */
export function* signedAgain(delivery: Delivery): Generator<Forgery> {
  const { target, body } = delivery;
  const { _proof: _, ...rest } = body;
  if (body._citation === undefined) return;
  for (const edit of editedValues({ target, body: rest })) {
    if (edit.where.startsWith('_citation') || edit.where.startsWith(' ')) continue;
    yield { ...edit, kind: 'signed again', isOfIssuer: true, make: () => signed(edit.make()) };
  }
}

/** A text with its body signed; as it is where that cannot be hashed. */
function signed(text: string): string {
  try {
    return JSON.stringify(reseal(parseJson(text) as Open));
  } catch {
    return text;
  }
}

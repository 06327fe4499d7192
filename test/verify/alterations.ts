import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  type Citation,
  citationStatement,
  citedBase,
  REQUEST_TIME_FIELDS,
  verifyUrl,
} from '../../compiler/format/citation.ts';
import { HOUR_MS, isoTime } from '../../compiler/format/iso-time.ts';
import type { JsonObject, JsonValue } from '../../compiler/format/strict-json.ts';
import { CADENCES, UPDATE_STATES } from '../../compiler/products/shapes/freshness.ts';
import { issuerDid, signBytes, signingKey } from '../../compiler/system/sealer.ts';
import { canonicalHash } from '../../compiler/verify/body-check.ts';

type Open = Record<string, JsonValue>;

export interface Alteration {
  readonly path: string;
  readonly altered: JsonValue;
}

/** A body with one member changed, for every member at every depth: another value, none, one more. */
export function* alterations(body: JsonValue, path = ''): Generator<Alteration> {
  if (typeof body !== 'object' || body === null) {
    yield { path, altered: other(body) };
    return;
  }
  const join = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (Array.isArray(body)) {
    yield { path: join('+'), altered: [...body, null] };
    yield { path: join('-'), altered: body.slice(1) };
    for (const [i, item] of body.entries()) {
      for (const inner of alterations(item, join(String(i)))) {
        yield { path: inner.path, altered: body.with(i, inner.altered) };
      }
    }
    return;
  }
  yield { path: join('+'), altered: { ...body, additional: 'x' } };
  for (const [key, value] of Object.entries(body as Open)) {
    const { [key]: _, ...without } = body as Open;
    yield { path: join(key), altered: without };
    for (const inner of alterations(value, join(key))) {
      yield { path: inner.path, altered: { ...(body as Open), [key]: inner.altered } };
    }
  }
}

/** A body with one leaf changed to what could as well stand there, for every leaf; an empty list or object is one too. */
export function* leafChanges(body: JsonValue, path = ''): Generator<Alteration> {
  if (typeof body !== 'object' || body === null) {
    yield { path, altered: likely(body) };
    return;
  }
  const join = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const isList = Array.isArray(body);
  if (Object.keys(body).length === 0) yield { path, altered: isList ? [null] : { a: 1 } };
  for (const [key, value] of Object.entries<JsonValue>(body as Open)) {
    for (const { path: at, altered } of leafChanges(value, join(key))) {
      const whole = isList
        ? body.with(Number(key), altered)
        : { ...(body as Open), [key]: altered };
      yield { path: at, altered: whole };
    }
  }
}

function likely(value: string | number | boolean | null): JsonValue {
  return typeof value === 'string' ? otherText(value) : other(value);
}

/** A day later, another hash, or another text. */
function otherText(text: string): string {
  if (/^\d{4}-\d\d-\d\d(T.*Z)?$/.test(text)) {
    const later = new Date(Date.parse(text) + 86_400_000).toISOString();
    return text.includes('T') ? later.replace('.000Z', 'Z') : later.slice(0, 10);
  }
  if (/[0-9a-f]{64}$/.test(text)) return text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');
  return `${text}x`;
}

function other(value: string | number | boolean | null): JsonValue {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  return value === null ? 0 : !value;
}

/** A key of nobody, told apart by a number. */
export function keyOf(fill: number) {
  const seed = new Uint8Array(32).fill(fill);
  const secret = signingKey(seed);
  return { seed, secret, did: issuerDid(secret) };
}
export type Key = ReturnType<typeof keyOf>;

/** A body with a statement that has no claim, signed with this key. */
export function inOtherForm(body: JsonObject, { did, secret }: Pick<Key, 'did' | 'secret'>) {
  const cited = body._citation as unknown as Citation;
  const { claim: _, ...statement } = citationStatement(cited);
  const record_hash = canonicalHash(statement);
  const signature = signBytes(new TextEncoder().encode(canonicalJson(statement)), secret);
  const verify_url = verifyUrl(citedBase(cited), record_hash);
  const seal = { record_hash, signature, key_id: 'kid-1', issuer_DID: did, verify_url };
  return { ...body, _citation: { ...statement, ...seal } };
}

/** A body that says something of the moment of the request that does not follow from the instant that it names. */
export interface WrongWord {
  readonly where: string;
  readonly body: Open;
}

/** Every member of request time of a body as it was served changed, removed, or added where it does not belong. */
export function* wrongWords(body: Open): Generator<WrongWord> {
  for (const { path, value } of holders(body)) {
    for (const [name, wrong] of wrongMembers(value)) {
      const where = [...path, name];
      if (JSON.stringify(value[name]) === JSON.stringify(wrong)) continue;
      yield {
        where: `${where.join('.')} ${JSON.stringify(wrong)}`,
        body: changed(body, where, wrong),
      };
    }
  }
}

interface Holder {
  readonly path: readonly string[];
  readonly value: Open;
}

/** Objects with a member that those of request time follow from. */
function* holders(value: JsonValue, path: readonly string[] = []): Generator<Holder> {
  if (typeof value !== 'object' || value === null) return;
  const bases = Object.keys(REQUEST_TIME_FIELDS);
  if (bases.some((basis) => Object.hasOwn(value, basis))) yield { path, value: value as Open };
  for (const [key, member] of Object.entries<JsonValue>(value as Open)) {
    yield* holders(member, [...path, key]);
  }
}

type Wrong = readonly [name: string, value: JsonValue | undefined];

function wrongMembers(holder: Open): Wrong[] {
  if (holder.last_looked_at !== undefined) return wrongStatuses(holder.update_status as Open);
  const words = ['fresh', 'recent', 'stale', 'unknown', null, undefined];
  const legs = ['aqi', 'drought', 'airquality.aqi', 'no-such-leg', '', 1, undefined];
  const dead = [
    'no official reading since 2018-01-01T00:00:00Z',
    '',
    'dead',
    true,
    null,
    undefined,
  ];
  const { answered_at: text } = holder;
  const instants =
    typeof text === 'string'
      ? [undefined, null, `${text} `, text.replace('Z', '.000Z'), later(text)]
      : [text ?? later('2026-01-01T00:00:00Z')];
  return [
    ...instants.map((instant): Wrong => ['answered_at', instant]),
    ...words.map((word): Wrong => ['freshness', word]),
    ...legs.map((leg): Wrong => ['freshness_leg', leg]),
    ...dead.map((text): Wrong => ['dead_source', text]),
    ...wrongAges(holder).map((age): Wrong => ['age_hours_now', age]),
  ].filter(([name, value]) => name !== 'freshness_leg' || value !== holder.freshness_leg);
}

/** An hour later, where the age is another. */
function later(instant: string): string {
  return isoTime(Date.parse(instant) + HOUR_MS);
}

function wrongAges({ age_hours_now: age }: Open): (JsonValue | undefined)[] {
  if (typeof age !== 'number') return [1.5, 0];
  return [-1, age + 0.05, `${age}`, null, true, undefined, age + 1, age + 0.1];
}

function wrongStatuses(status: Open): Wrong[] {
  const { state, official_cadence, overdue_days, text } = status;
  const days =
    typeof overdue_days === 'number' ? [overdue_days + 1, overdue_days - 1, null] : [0, 7];
  const edits: readonly (readonly [string, JsonValue | undefined])[] = [
    ...UPDATE_STATES.filter((other) => other !== state).map((other) => ['state', other] as const),
    ...CADENCES.filter((other) => other !== official_cadence).map(
      (other) => ['official_cadence', other] as const,
    ),
    ...[...days, '1', undefined].map((other) => ['overdue_days', other] as const),
    ['text', `${String(text)} `],
    ['text', 'on schedule'],
    ['text', undefined],
    ['state', undefined],
    ['more', 'x'],
  ];
  const whole = [undefined, null, 'on_schedule', {}].map(
    (other): Wrong => ['update_status', other],
  );
  return [...whole, ...edits.map((edit): Wrong => ['update_status', withMember(status, edit)])];
}

function withMember(object: Open, [name, value]: Wrong): Open {
  const { [name]: _, ...rest } = object;
  return value === undefined ? rest : { ...rest, [name]: value };
}

function changed(body: Open, path: readonly string[], value: JsonValue | undefined): Open {
  const copy = structuredClone(body);
  const keys = [...path];
  const last = keys.pop() ?? '';
  let at: Open = copy;
  for (const key of keys) at = at[key] as Open;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

import { REQUEST_TIME_FIELDS } from '../../compiler/format/citation.ts';
import { HOUR_MS, isoTime } from '../../compiler/format/iso-time.ts';
import type { JsonValue } from '../../compiler/format/strict-json.ts';
import { CADENCES, UPDATE_STATES } from '../../compiler/products/shapes/freshness.ts';

type Open = Record<string, JsonValue>;

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

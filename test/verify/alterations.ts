import type { JsonValue } from '../../compiler/format/strict-json.ts';

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

import type { JsonValue } from '../../compiler/contract/strict-json.ts';

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

function other(value: string | number | boolean | null): JsonValue {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  return value === null ? 0 : !value;
}

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

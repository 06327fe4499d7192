import type { JsonValue } from '../../../compiler/contract/strict-json.ts';
import {
  type Delivery,
  type Forgery,
  type Open,
  type Path,
  valueAt,
  valuesIn,
  withAt,
} from './forgery.ts';

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

/** Numbers from 0 up to a limit. */
export type Random = (below: number) => number;

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

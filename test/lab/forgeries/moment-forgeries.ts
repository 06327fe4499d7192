import { REQUEST_TIME_FIELDS } from '../../../compiler/contract/citation.ts';
import type { JsonValue } from '../../../compiler/contract/strict-json.ts';
import { wrongWords } from '../../verify/wrong-words.ts';
import {
  type Delivery,
  type Forgery,
  type Open,
  type Path,
  valueAt,
  valuesIn,
  withAt,
} from './forgery.ts';
import type { Random } from './spliced-answers.ts';

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

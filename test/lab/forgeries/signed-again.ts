// What the issuer itself signed may contradict itself. No lie of a stranger is in it; but every judge has to find the same
// contradictions, and no other.

import { isObject, parseJson } from '../../../compiler/contract/strict-json.ts';
import { isSame } from '../../../compiler/verify/relation.ts';
import { reseal } from '../../verify/reseal.ts';
import { editedValues } from './edited-values.ts';
import { type Delivery, type Forgery, type Open, type Path, valueAt, withAt } from './forgery.ts';

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

/** Every edit of a signed part of a settlement answer, signed again, with the citation that the answer repeats. */
export function* partSignedAgain({ target, body }: Delivery): Generator<Forgery> {
  for (const path of [['coverage'], ['candidate_sources', 0], ['evidence']] as const) {
    const part = valueAt(body, path);
    if (!isObject(part)) continue;
    for (const edit of editedValues({ target, body: part })) {
      if (edit.where.startsWith('_citation') || edit.where.startsWith(' ')) continue;
      const make = (): string => withSigned(body, path, signed(edit.make()));
      const where = `${path.join('.')} ${edit.where}`;
      yield { kind: 'part signed again', isOfIssuer: true, target, where, make };
    }
  }
}

function withSigned(body: Open, path: Path, text: string): string {
  const part = JSON.parse(text) as Open;
  const whole = withAt(body, path, part) as Open;
  const isQuoted = isSame(valueAt(body, [...path, '_citation']), body._citation);
  return JSON.stringify(isQuoted ? { ...whole, _citation: part._citation ?? null } : whole);
}

/** A text with its body signed; as it is where that cannot be hashed. */
export function signed(text: string): string {
  try {
    return JSON.stringify(reseal(parseJson(text) as Open));
  } catch {
    return text;
  }
}

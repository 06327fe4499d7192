import { SWAPPABLE_MAX } from '../../contract/decision-points.ts';
import type { Endpoint } from '../../contract/endpoints.ts';
import type { Values } from '../../contract/path.ts';
import type { DecisionPoints } from '../../contract/record.ts';
import { jcs } from '../seal/jcs.ts';

const NOTE = 'one swapped tag is one call; only values that a document is stored for are listed';

/** Values of each parameter that a document is stored for beside the same other parameters, by paramKey. */
export type StoredValues = ReadonlyMap<string, ReadonlySet<string>>;

/** Key of StoredValues: the operation, the parameter, and what the others are. */
export function paramKey(operation: string, param: string, params: Values): string {
  const { [param]: _swapped, ...others } = params;
  return `${operation} ${param} ${jcs(others)}`;
}

/** Which stored documents one more call answers, by swapping one parameter and keeping the others. */
export function storedDecisions(
  { path }: Endpoint,
  params: Values,
  stored: StoredValues,
): DecisionPoints {
  const points = Object.entries(params).flatMap(([tag, current]) => {
    const values = [...(stored.get(paramKey(path, tag, params)) ?? [])].sort();
    const swappable = values.filter((value) => value !== current).slice(0, SWAPPABLE_MAX);
    const [first] = swappable;
    if (first === undefined) return [];
    return [{ tag, current, swappable, how: callOf(path, { ...params, [tag]: first }) }];
  });
  return { count: points.length, points, note: NOTE };
}

function callOf(path: string, params: Values): string {
  const query = Object.entries(params).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  );
  return `GET ${path}?${query.join('&')}`;
}

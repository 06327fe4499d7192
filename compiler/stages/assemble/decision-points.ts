import { endpointAt } from '../../contract/endpoints.ts';
import { type Line, lineOf, type Signal } from '../../contract/lines.ts';
import type { DecisionPoints } from '../../contract/record.ts';

/** Most values listed under `swappable`; the rest is in the catalogue. */
export const SWAPPABLE_MAX = 8;
const NOTE = 'one swapped tag is one call; legal values are in the free /gauge/catalog';

type Point = DecisionPoints['points'][number];

/** Which neighbouring facts one more call answers, by swapping one tag of this record. */
export function recordDecisions(signal: Signal, entity: string, dims: readonly string[]) {
  const call = `GET /gauge?signal_id=${signal.id}&entity=${encodeURIComponent(entity)}`;
  const siblings = (lineOf(signal.id)?.signals ?? []).filter(
    (other) => other.id !== signal.id && other.entities === signal.entities,
  );
  const points: Point[] = [
    {
      tag: 'entity',
      current: entity,
      swappable: otherEntities(lineOf(signal.id), entity),
      how: `GET /gauge?signal_id=${signal.id}&entity=<other>`,
    },
    {
      tag: 'signal_id',
      current: signal.id,
      swappable: siblings.map((other) => other.id).slice(0, SWAPPABLE_MAX),
      how: `GET /gauge?signal_id=<other>&entity=${encodeURIComponent(entity)}`,
    },
    { tag: 'dim', current: 'gauge', swappable: [...dims], how: `${call}&dim=<other>` },
  ];
  return decisions(points);
}

/** The same for a bundle: another subject, or the thin form. */
export function bundleDecisions(line: Line, subject: string): DecisionPoints {
  const { path, param } = line.bundle ?? { path: '', param: 'entity' };
  const here = `GET ${path}?${param}=${encodeURIComponent(subject)}`;
  return decisions([
    {
      tag: param,
      current: subject,
      swappable: otherEntities(line, subject),
      how: `GET ${path}?${param}=<other>`,
    },
    { tag: 'format', current: 'json', swappable: ['thin'], how: `${here}&format=thin` },
  ]);
}

/** The same for the readings of a city. */
export function cityDecisions(addon: 'air' | 'precip', loc: string): DecisionPoints {
  const path = addon === 'air' ? '/gauge/air' : '/gauge/precip';
  const cities = endpointAt(path).params.loc?.enum ?? [];
  const others = cities.filter((other) => other !== loc).slice(0, SWAPPABLE_MAX);
  return decisions([
    { tag: 'loc', current: loc, swappable: others, how: `GET ${path}?loc=<other>` },
  ]);
}

function otherEntities(line: Line | undefined, entity: string): string[] {
  const listed = line?.entities ?? [];
  return listed.filter((other) => other !== entity).slice(0, SWAPPABLE_MAX);
}

function decisions(points: readonly Point[]): DecisionPoints {
  const useful = points.filter((point) => point.swappable.length > 0);
  return { count: useful.length, points: useful, note: NOTE };
}

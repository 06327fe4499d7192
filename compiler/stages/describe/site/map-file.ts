import { endpointAt } from '../../../contract/endpoints.ts';
import type { Line, Signal } from '../../../contract/lines.ts';
import { knownFilePath } from '../../../contract/path.ts';
import { type Place, placesOf } from '../../../contract/places.ts';
import type { SiteMap, SiteMapRow, SitePoint } from '../../../contract/site.ts';
import type { Shelf } from '../stored-bodies.ts';
import type { SiteFile } from './entity-pieces.ts';
import { mapPath } from './site-paths.ts';

/** The free preview of a series, as far as the map shows it. */
interface Preview {
  readonly entity_name: string | null;
  readonly rows: readonly {
    readonly observed_at: string;
    readonly current: Readonly<Record<string, unknown>>;
  }[];
}

/** The free last seven of every entity that has a position; null where none has. */
export function mapFile(signal: Signal, line: Line, shelf: Shelf): SiteFile | null {
  const [metric] = signal.metrics;
  const rows = [...placesOf(line.id)].flatMap(([entity, place]): SiteMapRow[] => {
    const path = knownFilePath(endpointAt('/gauge/history-preview'), {
      signal_id: signal.id,
      entity,
    });
    if (!shelf.has(path)) return [];
    const preview = JSON.parse(new TextDecoder().decode(shelf.read(path))) as Preview;
    return [rowOf(entity, place, { preview, metric })];
  });
  const body: SiteMap = { signal_id: signal.id, metric, rows };
  return rows.length === 0 ? null : [mapPath(signal.id), body];
}

function rowOf(
  entity: string,
  { name, latitude, longitude }: Place,
  { preview, metric }: { readonly preview: Preview; readonly metric: string },
): SiteMapRow {
  const points = preview.rows.map(({ observed_at, current }): SitePoint => {
    const { [metric]: value, band } = current;
    const number = typeof value === 'number' ? value : null;
    return typeof band === 'string' ? [observed_at, number, band] : [observed_at, number];
  });
  return [entity, preview.entity_name ?? name, latitude, longitude, points];
}

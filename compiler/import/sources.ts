import { nearest } from '../contract/nearest.ts';
import type { Source } from './source.ts';
import { eia } from './sources/eia/eia.ts';
import { nasaFirms } from './sources/nasa-firms/nasa-firms.ts';
import { secEdgar } from './sources/sec-edgar/sec-edgar.ts';
import { usdm } from './sources/usdm/usdm.ts';
import { usgsEarthquakes } from './sources/usgs-earthquakes/usgs-earthquakes.ts';
import { usgsNwis } from './sources/usgs-nwis/usgs-nwis.ts';

/** Every official source, by name. */
export const SOURCES: readonly Source[] = [
  eia,
  nasaFirms,
  secEdgar,
  usdm,
  usgsEarthquakes,
  usgsNwis,
];

/** Throws a RangeError for an unknown name. */
export function sourceOf(id: string): Source {
  const found = SOURCES.find((source) => source.id === id);
  if (found !== undefined) return found;
  const known = SOURCES.map((source) => source.id);
  const meant = nearest(id, known);
  const hint = meant === null ? `known are ${known.join(', ')}` : `did you mean "${meant}"?`;
  throw new RangeError(`Cannot use source "${id}": no such source; ${hint}`);
}

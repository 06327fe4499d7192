/** Small feeds of our own in the shape of a USGS GeoJSON summary. */
export const GENERATED = Date.parse('2026-11-20T11:00:00Z');
export const HOUR = 3_600_000;

export function quake(id: string, over: Record<string, unknown> = {}) {
  const { at = [120.5, 23.5, 10], ...properties } = over;
  return {
    type: 'Feature',
    id,
    properties: {
      mag: 3,
      time: GENERATED - HOUR,
      updated: GENERATED - HOUR / 2,
      felt: null,
      cdi: null,
      mmi: null,
      alert: null,
      status: 'reviewed',
      type: 'earthquake',
      ids: `,${id},`,
      ...properties,
    },
    geometry: { type: 'Point', coordinates: at },
  };
}

export function feed(features: readonly unknown[], metadata: Record<string, unknown> = {}) {
  const url = 'https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/all_week.geojson';
  return {
    type: 'FeatureCollection',
    metadata: { generated: GENERATED, url, status: 200, count: features.length, ...metadata },
    features,
  };
}

/** The detail of one quake, with the products that its values come from. */
export function detail(id: string, over: Record<string, unknown> = {}) {
  const one = quake(id, { mag: 6.4, mmi: 7.64, cdi: 7.5, felt: 337, alert: 'yellow', ...over });
  const product = (properties: object, status = 'UPDATE') => ({ status, properties });
  const products = {
    origin: [product({ eventtime: new Date(one.properties.time).toISOString() })],
    shakemap: [product({ maxmmi: '9.10' }, 'DELETE'), product({ maxmmi: '7.64' })],
    dyfi: [product({ maxmmi: '7.5', 'num-responses': '337' })],
    losspager: [product({ alertlevel: 'yellow', maxmmi: '8' })],
  };
  return { ...one, properties: { products, ...one.properties } };
}

export const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

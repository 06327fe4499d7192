/** One report as the relay gives it, at Toluca, Illinois unless it says another place. */
export function report(typetext: string, over: Readonly<Record<string, unknown>> = {}) {
  const { lon = -89.13, lat = 41, magf = null } = over;
  const codes = new Map([
    ['TORNADO', 'T'],
    ['HAIL', 'H'],
    ['TSTM WND GST', 'G'],
    ['TSTM WND DMG', 'D'],
    ['TSTM WIND', 'G'],
    ['MRN TSTM WIND', 'G'],
    ['TREES DOWN', 'D'],
    ['RAIN', 'R'],
    ['FUNNEL CLOUD', 'C'],
    ['WATERSPOUT', 'W'],
    ['NON-TSTM WND GST', 'N'],
  ]);
  const units = new Map([
    ['HAIL', 'Inch'],
    ['TSTM WND GST', 'MPH'],
    ['TSTM WIND', 'MPH'],
  ]);
  return {
    type: 'Feature',
    properties: {
      type: codes.get(typetext),
      typetext,
      magf,
      magnitude: magf === null ? '' : String(magf),
      unit: units.get(typetext) ?? null,
      valid: '2026-05-20T20:35:00Z',
      lon,
      lat,
      state: 'IL',
      city: '3 SE Toluca',
      remark: null,
      product_id: '202605202042-KILX-NWUS53-LSRILX',
      ...over,
    },
    geometry: { type: 'Point', coordinates: [lon, lat] },
  };
}

export function reports(...features: readonly object[]) {
  return { type: 'FeatureCollection', features };
}

/** Columns of a report in a text: time, kind and place, then date, magnitude and remark. */
export type TextReport = readonly [
  time: string,
  kind: string,
  place: string,
  date: string,
  size: string,
  remark?: string,
];

/** A local storm report of the office at Des Moines, issued 2013-07-23T23:53Z. */
export function reportText(...rows: readonly TextReport[]): string {
  const blocks = rows.flatMap(([time, kind, place, date, size, remark = 'QUARTER SIZED HAIL.']) => [
    `${time.padEnd(12)}${kind.padEnd(17)}${'2 NW EXAMPLE'.padEnd(24)}${place} `,
    `${date.padEnd(12)}${size.padEnd(17)}${'STORY'.padEnd(19)}IA   TRAINED SPOTTER `,
    '',
    ...remark.split('\n').map((line) => `            ${line} `),
    '',
  ]);
  return [
    '692 ',
    'NWUS53 KDMX 232354',
    'LSRDMX',
    '',
    'PRELIMINARY LOCAL STORM REPORT...SUMMARY',
    'NATIONAL WEATHER SERVICE DES MOINES IA',
    '653 PM CDT TUE JUL 23 2013',
    '',
    '..TIME...   ...EVENT...      ...CITY LOCATION...     ...LAT.LON...',
    '..DATE...   ....MAG....      ..COUNTY LOCATION..ST.. ...SOURCE....',
    '            ..REMARKS..',
    '',
    ...blocks,
    '&&',
    '',
    '$$',
  ].join('\n');
}

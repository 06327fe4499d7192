/** An area of an outlook: its category, and lines of points written as `LLLLOOOO`. */
export type DrawnArea = readonly [category: string, ...lines: (readonly string[])[]];

/** Points of a box, clockwise and closed. */
export function boxPoints(
  [south, north]: readonly [number, number],
  [west, east]: readonly [number, number],
): string[] {
  const corners = [
    [south, west],
    [north, west],
    [north, east],
    [south, east],
    [south, west],
  ] as const;
  return corners.map(([latitude, longitude]) => point(latitude, longitude));
}

/** A point as the product writes it: a longitude of 100 degrees and more loses its first digit. */
export function point(latitude: number, longitude: number): string {
  const digits = (value: number): string => String(Math.round(value * 100)).padStart(4, '0');
  return `${digits(latitude)}${digits(Math.abs(longitude)).slice(-4)}`;
}

/** Outlook points of the first day, which name every point once more in words. */
export function pointsText(areas: readonly DrawnArea[]): string {
  const rows = areas.flatMap(([category, ...lines]) => {
    const codes = lines.flatMap((line, at) => (at === 0 ? line : ['99999999', ...line]));
    const sixes = Array.from({ length: Math.ceil(codes.length / 6) }, (_, at) =>
      codes.slice(6 * at, 6 * at + 6).join(' '),
    );
    return sixes.map((six, at) => `${at === 0 ? category.padEnd(7) : '       '}${six}`);
  });
  const words = areas.flatMap(([category, ...lines]) => [
    category === 'TSTM'
      ? 'GEN TSTMS ARE FCST TO THE RIGHT OF A LINE FROM'
      : `THERE IS A ${category} RISK OF SVR TSTMS TO THE RIGHT OF A LINE FROM`,
    `${lines.map((line) => line.map((_, at) => `${10 + at} NNW ABC`).join('\n')).join('\n...CONT...\n')}.`,
    '',
  ]);
  return [
    '000 ',
    'WUUS01 KWNS 171637',
    'PTSDY1',
    '',
    'DAY 1 CONVECTIVE OUTLOOK AREAL OUTLINE',
    'NWS STORM PREDICTION CENTER NORMAN OK',
    '1135 AM CDT FRI APR 17 2026',
    '',
    'VALID TIME 171630Z - 181200Z',
    '',
    'CATEGORICAL OUTLOOK POINTS DAY 1',
    '',
    '... CATEGORICAL ...',
    '',
    ...rows,
    '',
    '&&',
    ...words,
  ].join('\n');
}

type Ring = readonly (readonly [number, number])[];

/** One area of a map of categories, with properties in place of the usual ones. */
export function mapArea(
  label: string,
  rings: readonly Ring[],
  over: Readonly<Record<string, unknown>> = {},
) {
  const numbers = new Map([
    ['TSTM', 2],
    ['MRGL', 3],
    ['SLGT', 4],
    ['ENH', 5],
    ['MDT', 6],
    ['HIGH', 8],
  ]);
  return {
    type: 'Feature',
    geometry: { type: 'MultiPolygon', coordinates: [rings] },
    properties: {
      DN: numbers.get(label),
      VALID: '202604171630',
      EXPIRE: '202604181200',
      ISSUE: '202604171635',
      EXPIRE_ISO: '2026-04-18T12:00:00+00:00',
      ISSUE_ISO: '2026-04-17T16:35:00+00:00',
      LABEL: label,
      ...over,
    },
  };
}

/** A box as a ring of a map, counterclockwise as the format asks. */
export function boxRing(
  [south, north]: readonly [number, number],
  [west, east]: readonly [number, number],
): Ring {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

export function outlookMap(...features: readonly object[]) {
  return { type: 'FeatureCollection', features };
}

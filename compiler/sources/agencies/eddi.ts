import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import { originOf, plainDay } from '../kit/entries.ts';
import { fetchAgain, type Imported, type Payload, textOf } from '../kit/payload.ts';
import { nameOf, ReadingList, statedReading } from '../kit/readings.ts';
import { regionBox as box, boxText, inBox, type RegionBox } from '../kit/regions.ts';
import { registered, type Source } from '../kit/source.ts';

// Evaporative demand drought index, an ESRI grid: https://psl.noaa.gov/eddi/. Shape, extent and names of the files were read in
// the documentation of public packages that fetch them.

/** Our boxes of the line's entities: no agency publishes any. */
const BOXES: Readonly<Record<string, RegionBox>> = {
  'us-california': box([32.5, 42], [-124.5, -114]),
  'us-southwest': box([31.3, 42], [-120, -103]),
  'us-southernplains': box([26, 40], [-106.6, -93.5]),
  'us-northernplains': box([40, 49], [-104.1, -95.3]),
  'us-cornbelt': box([36, 43.5], [-96.6, -80.5]),
  'us-southeast': box([25, 39.5], [-88.5, -75.2]),
  'us-pacificnw': box([42, 49], [-124.8, -111]),
  'us-lowermississippi': box([29, 36.5], [-94.6, -88.1]),
  'us-northeast': box([37.2, 47.5], [-82.6, -67]),
  'us-rockies': box([37, 49], [-116, -102]),
};
const ORIGIN = originOf('NOAA Physical Sciences Laboratory, EDDI', 'https://psl.noaa.gov/eddi/', {
  role: 'model',
  status: 'experimental, as published by NOAA PSL',
});
/** Percentiles from which demand is of a class, mildest first; the line has no ED4, from 98. */
const CLASSES = [
  ['nominal', 0],
  ['ED0', 70],
  ['ED1', 80],
  ['ED2', 90],
  ['ED3', 95],
] as const;
/** The grid of a day is out five days later. */
const LAG_DAYS = 6;
const HEAD = ['ncols', 'nrows', 'xllcorner', 'yllcorner', 'cellsize', 'nodata_value'] as const;
/** Values of a grid may have an exponent, or no digit before the point. */
const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?$/i;
/** An index of more is none: it is a normal quantile of a rank among some forty years. */
const INDEX_MAX = 5;

/** The mean percentile of each region. The grid names no day: its file does. */
function read(payload: Payload): Imported {
  const named =
    /\/EDDI_ETrs_01mn_(\d{8})\.asc$/.exec(new URL(payload.note.url).pathname)?.[1] ?? '';
  const at = plainDay(named);
  if (at === null)
    throw fetchAgain(payload, 'its address names no grid of one month, EDDI_ETrs_01mn_…');
  const grid = gridIn(payload);
  const list = new ReadingList();
  for (const [entity, region] of Object.entries(BOXES)) {
    const values = grid
      .filter(([east, north]) => inBox(region, east, north))
      .map(([, , value]) => value);
    if (values.length === 0 || values.includes(null)) {
      list.skips.add(entity, 'no cells, or one that is no index');
      continue;
    }
    const sum = values.reduce<number>((total, value) => total + 100 * normalShare(value ?? 0), 0);
    const percentile = Math.round((10 * sum) / values.length) / 10;
    const stated = {
      entity,
      ...nameOf('drought', entity),
      at,
      current: {
        eddi_percentile_pct: percentile,
        band: CLASSES.findLast(([, from]) => percentile >= from)?.[0] ?? 'nominal',
      },
      scope: `mean percentile of the cells of the one-month index; ${boxText(region)}; box, mean and its class are ours`,
    };
    list.add('drought.onset-pressure', statedReading(ORIGIN, payload, stated));
  }
  return list.someOf(payload);
}

type Cell = readonly [east: number, north: number, value: number | null];

/** Cells by their middle, without those that the grid leaves out; null for one that is no index. */
function gridIn(payload: Payload): Cell[] {
  const lines = textOf(payload).trimEnd().split('\n');
  const head = lines.slice(0, HEAD.length).map((line) => line.trim().split(/\s+/));
  const [columns, rows, west, south, size, none] = HEAD.map((name, at) =>
    head[at]?.[0]?.toLowerCase() === name ? Number(head[at]?.[1]) : Number.NaN,
  );
  const values = lines.slice(HEAD.length).map((line) => line.trim().split(/\s+/));
  if (
    [columns, rows, west, south, size, none].some((one) => one === undefined || Number.isNaN(one))
  )
    throw fetchAgain(payload, `it does not begin with ${HEAD.join(', ')}`);
  if (values.length !== rows || values.some((row) => row.length !== columns))
    throw fetchAgain(payload, `not ${rows} rows of ${columns} values`);
  return values.flatMap((row, down) =>
    row.flatMap((text, along): Cell[] => {
      const value = NUMBER.test(text) ? Number(text) : null;
      if (value === none) return [];
      const east = Number(west) + (along + 0.5) * Number(size);
      const north = Number(south) + (values.length - down - 0.5) * Number(size);
      return [[east, north, value !== null && Math.abs(value) <= INDEX_MAX ? value : null]];
    }),
  );
}

/** Share of a normal distribution below a quantile (Abramowitz and Stegun, 26.2.17; error below 1e-7). */
function normalShare(quantile: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(quantile));
  const poly =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-quantile * quantile) / 2) / Math.sqrt(2 * Math.PI)) * poly;
  return quantile >= 0 ? 1 - tail : tail;
}

export const eddi: Source = {
  ...registered('eddi'),
  version: 1,
  read,
  asks: ({ now }) => {
    const day = isoTime(now - LAG_DAYS * DAY_MS)
      .slice(0, 10)
      .replaceAll('-', '');
    return [{ with: { year: day.slice(0, 4), day } }];
  },
};

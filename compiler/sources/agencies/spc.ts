import { z } from 'zod';
import { defined } from '../../format/errors.ts';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import type { Reading } from '../../readings/reading.ts';
import { fetchAgain, type Imported, jsonOf, type Payload, readable } from '../kit/payload.ts';
import { nameOf, observedAt, ReadingList } from '../kit/readings.ts';
import {
  CONVECTION_AREAS,
  type ConvectionRegion,
  clockwiseArea,
  convectionScope,
  type Position,
  ringInBox,
} from '../kit/regions.ts';
import { registered, type Source } from '../kit/source.ts';
import {
  instantAfter,
  issueOf,
  productIn,
  refuseProduct,
  type TextProduct,
} from '../kit/text-product.ts';

/**
 * The border of the 48 states in short, clockwise from the north-west corner: longitude and latitude (ours; about a quarter of a degree exact). The
 * lines of an outlook end at it or a little beyond.
 */
const BORDER: readonly Position[] = `
  -124.7 48.4, -123 49, -95.2 49, -94.6 48.7, -91.5 48.1, -89.5 48, -88.4 48.3, -84.9 46.9,
  -83.5 45.8, -82.5 45.3, -82.4 43, -83.1 42.1, -82.4 41.7, -79 42.7, -79.1 43.4, -76.8 43.6,
  -75 45, -71.5 45, -70.3 46, -69.2 47.5, -68.3 47.3, -67.8 45.7, -67 44.8, -69 43.9, -70.6 43,
  -69.9 41.6, -71.9 41.1, -74 40.5, -74.9 38.9, -75.9 36.9, -75.5 35.2, -77.8 33.9, -79.2 33.1,
  -81.2 31.5, -81.3 30, -80 27, -80.2 25.3, -81.2 25.1, -82.8 27.8, -82.8 29, -84 30,
  -85.3 29.6, -86.5 30.3, -88.5 30.3, -89.2 29, -91.3 29.3, -93.8 29.7, -95.2 28.9, -97.2 27.6,
  -97.2 25.9, -99.1 26.4, -99.5 27.5, -101.4 29.8, -102.7 29.7, -103.2 29, -104.5 29.6,
  -106.5 31.8, -108.2 31.8, -108.2 31.3, -111.1 31.3, -114.8 32.5, -117.1 32.5, -118.4 33.8,
  -120.6 34.5, -122.5 37.5, -124.4 40.4, -124.2 42, -124 46.2`
  .split(',')
  .map((corner) => corner.trim().split(' ').map(Number) as [number, number]);
/** A line that ends further inside than this ends nowhere, in degrees. */
const INSIDE_MAX = 1;

interface OpenLine {
  readonly points: readonly Position[];
  readonly from: number;
  readonly to: number;
}

/**
 * Closes lines that end at the border, where the area is to the right of each line: from the end of one the way goes
 * clockwise along the border to the nearest begin of one, until it is back. Throws a RangeError for a line that ends
 * inside.
 */
export function closeAtBorder(lines: readonly (readonly Position[])[]): Position[][] {
  const open = new Set(lines.map(openLine));
  const rings: Position[][] = [];
  for (const first of open) {
    const ring: Position[] = [];
    for (let line: OpenLine | undefined = first; line !== undefined && open.delete(line); ) {
      const { to } = line;
      const next: OpenLine = [first, ...open].reduce((a, b) =>
        way(to, b.from) < way(to, a.from) ? b : a,
      );
      ring.push(...line.points, ...cornersBetween(to, next.from));
      line = next;
    }
    rings.push(ring);
  }
  return rings;
}

function openLine(points: readonly Position[]): OpenLine {
  const from = borderPlace(defined(points[0], 'where the line begins')).along;
  const to = borderPlace(defined(points.at(-1), 'where the line ends')).along;
  return { points, from, to };
}

function borderPlace(point: Position) {
  const nearest = BORDER.map((_, side) => onSide(point, side)).reduce((a, b) =>
    b.distance < a.distance ? b : a,
  );
  if (nearest.distance <= INSIDE_MAX || !isOnLand(point)) return nearest;
  const [longitude, latitude] = point;
  throw new RangeError(`a line ends at ${latitude} ${longitude}, far from the border`);
}

/** The nearest place of one side of the border: how far along it, in corners and parts of a side, and how far away. */
function onSide([x, y]: Position, side: number) {
  const [a, b] = [corner(side), corner(side + 1)];
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const part = ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy);
  const held = Math.min(1, Math.max(0, part));
  const distance = Math.hypot(x - a[0] - held * dx, y - a[1] - held * dy);
  return { along: (side + held) % BORDER.length, distance };
}

function corner(at: number): Position {
  return defined(BORDER[at % BORDER.length], 'the corner');
}

/** Length of the way clockwise from one place of the border to another. */
function way(from: number, to: number): number {
  return (to - from + BORDER.length) % BORDER.length;
}

function cornersBetween(from: number, to: number): Position[] {
  const first = Math.floor(from) + 1;
  const count = Math.floor(from + way(from, to)) - Math.floor(from);
  return Array.from({ length: count }, (_, index) => corner(first + index));
}

/** Whether a point lies within the border: a line to the east of it crosses the border an odd number of times. */
function isOnLand([x, y]: Position): boolean {
  const crossed = BORDER.filter((a, side) => {
    const b = corner(side + 1);
    if (a[1] > y === b[1] > y) return false;
    return x < a[0] + ((y - a[1]) / (b[1] - a[1])) * (b[0] - a[0]);
  });
  return crossed.length % 2 === 1;
}

/** Categories of the outlook, mildest first, by their short names. */
const CATEGORIES = ['TSTM', 'MRGL', 'SLGT', 'ENH', 'MDT', 'HIGH'] as const;
type Category = (typeof CATEGORIES)[number];

/** West of it a longitude has four digits, and one of 100 degrees and more loses its first. */
const WEST_MIN = 50;

const SYNTHETIC = /^IOWA MESONET SYNTHETIC PRODUCT/;
const VALID = /^VALID TIME (\d{6})Z - (\d{6})Z$/;
const ROW = /^(?:([A-Z]+) +)?(\d{8}(?: \d{8})*)$/;
const BREAK = '99999999';
/** A ring may end this far from where it began, in degrees (seen: 0.03). */
const CLOSED_MAX = 0.1;
/** From issue to end: the outlook of 06Z holds for 30 hours, and is out up to an hour before. */
const HOURS_MAX = 31;
/** Categories as the sentences below the table spell them; "GEN TSTMS" stands for the mildest one. */
const SPELLED: ReadonlyMap<string, Category> = new Map([
  ...CATEGORIES.map((category) => [category, category] as const),
  ['MARGINAL', 'MRGL'],
  ['SLIGHT', 'SLGT'],
  ['ENHANCED', 'ENH'],
  ['MODERATE', 'MDT'],
]);
const SENTENCE =
  /(?:THERE IS AN? ([A-Z]+) RISK|GEN TSTMS ARE).*?(?:LINE FROM|LN FM)(.*?)(?=THERE IS AN? [A-Z]+ RISK|GEN TSTMS ARE|$)/g;
/** A point in words: `35 WSW MCK`, `0 - MAF` or `MCK`. */
const SPOKEN = /(?:\d+ +(?:[NSEW]{1,3}|-) +)?\b[A-Z0-9]{3}\b/g;

/**
 * The outlook points of the first day (PTSDY1). Its sentences name every point once more: a table that lost a line does not
 * fit them, and is refused with an ImportError like everything else that cannot be read.
 */
function pointsOutlook(product: TextProduct, payload: Payload): Outlook {
  const { at: issuedAt } = issueOf(product, payload);
  const { lines } = product;
  return readable(payload, () => {
    const [table, words] = parts(lines);
    const drawn = drawnLines(table);
    compareWithWords(drawn, words);
    const relay = lines.some((line) => SYNTHETIC.test(line)) ? 'Iowa Environmental Mesonet' : null;
    const areas = new Map([...drawn].map(([category, own]) => [category, rings(own)] as const));
    return { issuedAt, expiresAt: expiryOf(lines, issuedAt), relay, areas, unread: [] };
  });
}

function expiryOf(lines: readonly string[], issuedAt: number): number {
  const [, begin = '', end = ''] =
    VALID.exec(lines.find((line) => line.startsWith('VALID')) ?? '') ?? [];
  const [from, to] = [instantAfter(issuedAt - HOUR_MS, begin), instantAfter(issuedAt, end)];
  const isOrdered = from !== null && to !== null && from < to;
  if (isOrdered && to - issuedAt <= HOURS_MAX * HOUR_MS) return to;
  throw new RangeError(`no VALID TIME that fits the time of issue`);
}

function parts(lines: readonly string[]): [table: readonly string[], words: string] {
  const title = lines.indexOf('CATEGORICAL OUTLOOK POINTS DAY 1');
  const from = lines.indexOf('... CATEGORICAL ...', title);
  const to = lines.indexOf('&&', from);
  if (title < 0 || from < 0 || to < 0) throw new RangeError('no whole table of categories');
  const table = lines.slice(from + 1, to).filter((line) => line !== '');
  return [
    table,
    lines
      .slice(to + 1)
      .join(' ')
      .toUpperCase(),
  ];
}

type Drawn = ReadonlyMap<Category, readonly (readonly Position[])[]>;

function drawnLines(table: readonly string[]): Drawn {
  const codes = new Map<Category, string[]>();
  let category: Category | null = null;
  for (const row of table) {
    const [, label, points = ''] = ROW.exec(row.trimStart()) ?? [];
    // Rows of one name are separate areas, as parts of one row are.
    if (label !== undefined) category = CATEGORIES.find((category) => category === label) ?? null;
    if (points === '' || category === null) throw new RangeError(`row "${row}" is not known`);
    const own = codes.get(category) ?? [];
    codes.set(category, own);
    own.push(...(label === undefined ? [] : [BREAK]), ...points.split(' '));
  }
  return new Map([...codes].map(([name, own]) => [name, split(own)] as const));
}

function split(codes: readonly string[]): Position[][] {
  const lines: Position[][] = [];
  for (const code of codes) {
    if (code === BREAK) lines.push([]);
    else lines.at(-1)?.push(pointOf(code));
  }
  const line = lines.filter((points) => points.length > 0);
  if (line.some((points) => points.length < 2)) throw new RangeError('a line of one point');
  return line;
}

function pointOf(code: string): Position {
  const [latitude, west] = [Number(code.slice(0, 4)) / 100, Number(code.slice(4)) / 100];
  return [-(west < WEST_MIN ? west + 100 : west), latitude];
}

function rings(lines: readonly (readonly Position[])[]): (readonly Position[])[] {
  // A line may be given twice: it bounds its area once.
  const once = [...new Map(lines.map((line) => [line.join(' '), line])).values()];
  const closed = once.filter(endsWhereItBegan);
  return [...closed, ...closeAtBorder(once.filter((line) => !endsWhereItBegan(line)))];
}

function endsWhereItBegan(line: readonly Position[]): boolean {
  const [from, to] = [line[0], line.at(-1)];
  if (from === undefined || to === undefined || line.length < 4) return false;
  return Math.hypot(from[0] - to[0], from[1] - to[1]) <= CLOSED_MAX;
}

function compareWithWords(drawn: Drawn, words: string): void {
  const spoken = spokenPoints(words);
  for (const category of CATEGORIES) {
    const held = drawn.get(category)?.flat().length ?? 0;
    const named = spoken.get(category) ?? 0;
    if (held !== named) {
      throw new RangeError(`${category} has ${held} points, its sentences name ${named}`);
    }
  }
  if (spoken.size === 0) throw new RangeError('no category is drawn');
}

function spokenPoints(words: string): ReadonlyMap<Category, number> {
  const counts = new Map<Category, number>();
  for (const [, name, points = ''] of words.matchAll(SENTENCE)) {
    const category = name === undefined ? 'TSTM' : SPELLED.get(name);
    if (category === undefined) throw new RangeError(`a sentence on "${name} RISK" is not known`);
    counts.set(category, (counts.get(category) ?? 0) + (points.match(SPOKEN)?.length ?? 0));
  }
  return counts;
}

/** One convective outlook; times in epoch milliseconds. */
interface Outlook {
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Who made the payload, where that is not the agency. */
  readonly relay: string | null;
  /** Rings of each category that is drawn: clockwise around an area, the other way around a hole. */
  readonly areas: ReadonlyMap<Category, readonly (readonly Position[])[]>;
  /** Areas that cannot be read, of any category, with their rings; null where these cannot be read either. */
  readonly unread: readonly {
    readonly why: string;
    readonly rings: readonly (readonly Position[])[] | null;
  }[];
}

/** A category counts in a region from this share of its box on (ours): borders are drawn to a tenth of a degree. */
const SHARE_MIN = 0.01;
/** The band of each category, and its number in the maps of the agency. */
const LEVELS: Readonly<Record<Category, { band: string; number: number }>> = {
  TSTM: { band: 'tstm', number: 2 },
  MRGL: { band: 'marginal', number: 3 },
  SLGT: { band: 'slight', number: 4 },
  ENH: { band: 'enhanced', number: 5 },
  MDT: { band: 'moderate', number: 6 },
  HIGH: { band: 'high', number: 8 },
};

function readOutlook(payload: Payload): Imported {
  const product = productIn(payload);
  if (product !== null && product.name !== 'PTSDY1') {
    const instead = product.name.startsWith('PTS') ? 'PTSDY1, of the first day' : 'PTSDY1';
    refuseProduct(payload.subject, product, `${instead}, or day1otlk_cat.nolyr.geojson`);
  }
  const outlook = product === null ? mapOutlook(payload) : pointsOutlook(product, payload);
  const list = new ReadingList();
  for (const [entity, region] of CONVECTION_AREAS) {
    const doubt = outlook.unread.find(({ rings }) => rings === null || covers(rings, region));
    if (doubt !== undefined) list.skips.unread(entity, doubt.why);
    const reading = readingOf({ entity, region, why: doubt?.why ?? null }, outlook, payload);
    list.add('severe-convection.forecast-risk-env', reading);
  }
  const highest = CATEGORIES.findLast((category) => outlook.areas.has(category));
  return list.imported([
    `highest category anywhere ${highest}, valid until ${isoTime(outlook.expiresAt)}`,
  ]);
}

/** Whether rings cover enough of a region to count. */
function covers(rings: readonly (readonly Position[])[], { box }: ConvectionRegion): boolean {
  const shares = rings.map((ring) => ringInBox(ring, box));
  return shares.reduce((sum, share) => sum + share, 0) >= SHARE_MIN;
}

function categoryIn(region: ConvectionRegion, { areas }: Outlook): Category | null {
  return CATEGORIES.findLast((category) => covers(areas.get(category) ?? [], region)) ?? null;
}

function readingOf(
  { entity, region, why }: { entity: string; region: ConvectionRegion; why: string | null },
  outlook: Outlook,
  payload: Payload,
): Reading {
  const category = why === null ? categoryIn(region, outlook) : null;
  const index = category === null ? null : CATEGORIES.indexOf(category);
  const observed_at = observedAt(outlook.issuedAt, payload);
  const agency = 'NOAA Storm Prediction Center';
  const { relay } = outlook;
  return {
    entity,
    ...nameOf('severe-convection', entity),
    observed_at,
    collected_at: payload.note.fetched_at,
    current: {
      outlook_category_index: index,
      band: category === null ? null : LEVELS[category].band,
      category: why === null ? (category ?? 'none') : null,
      expires_at: isoTime(outlook.expiresAt),
    },
    sources: [
      {
        name: relay ?? agency,
        value: index,
        weight: 1,
        as_of: observed_at,
        role: 'Convective Outlook',
        independent: relay === null,
        ...(relay === null ? {} : { relay_of: agency }),
      },
    ],
    ...(why === null ? {} : { qualifiers: [why] }),
    source_ref: 'https://www.spc.noaa.gov/products/outlook/day1otlk.html',
    source_tier: relay === null ? 'T1' : 'T2',
    scope: `Convective Outlook of the first day; highest category on 1 percent or more of the region; ${convectionScope(region)}`,
    validation_status: relay === null ? 'as published by SPC' : `as rebuilt by ${relay}`,
    uncertainty: 'not stated in the payload',
  };
}

/** Convective outlooks of the first day: https://www.spc.noaa.gov/products/outlook/ and https://www.spc.noaa.gov/gis/ */
export const spc: Source = {
  ...registered('spc'),
  version: 2,
  read: readOutlook,
};

const stamp = z.string().regex(/^\d{12}$/);
const instant = z.iso.datetime({ offset: true });
const position = z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)]);
const ring = z.array(position).min(4).refine(isClosed, 'a ring that does not end where it begins');
const polygon = z.array(ring).min(1);
const featureSchema = z.looseObject({
  type: z.literal('Feature'),
  geometry: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('Polygon'), coordinates: polygon }),
    z.looseObject({ type: z.literal('MultiPolygon'), coordinates: z.array(polygon).min(1) }),
  ]),
  properties: z.looseObject({
    DN: z.int(),
    LABEL: z.enum(CATEGORIES),
    ISSUE: stamp,
    EXPIRE: stamp,
    ISSUE_ISO: instant,
    EXPIRE_ISO: instant,
  }),
});
type OutlookFeature = z.infer<typeof featureSchema>;
const drawnSchema = featureSchema.pick({ geometry: true });
const outlookSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  features: z
    .array(z.unknown())
    .min(1, 'no area is drawn, so nothing says when this was issued')
    .max(CATEGORIES.length, 'a category is drawn twice'),
});

/** The map of the first day (`day1otlk_cat`); throws an ImportError for anything else. */
function mapOutlook(payload: Payload): Outlook {
  const given = jsonOf(payload, outlookSchema, 'a map of outlook categories');
  const features: OutlookFeature[] = [];
  const unread: Outlook['unread'][number][] = [];
  for (const [at, one] of given.features.entries()) {
    const { data, error } = featureSchema.safeParse(one);
    const fault = data === undefined ? error.issues[0]?.path.join('.') : faultOf(data, features);
    if (data !== undefined && fault === null) features.push(data);
    else {
      const drawn = drawnSchema.safeParse(one).data;
      const why = `an area that cannot be read (${at}.${fault})`;
      unread.push({ why, rings: drawn === undefined ? null : ringsOf(drawn) });
    }
  }
  const [first] = features;
  if (first === undefined) throw fetchAgain(payload, `${unread[0]?.why}`);
  return {
    issuedAt: Date.parse(first.properties.ISSUE_ISO),
    expiresAt: Date.parse(first.properties.EXPIRE_ISO),
    relay: null,
    unread,
    areas: new Map(features.map((one) => [one.properties.LABEL, ringsOf(one)] as const)),
  };
}

function isClosed(points: readonly Position[]): boolean {
  return points[0]?.join() === points.at(-1)?.join();
}

/** What does not fit in an area, by itself or beside those before it; null for nothing. */
function faultOf({ properties }: OutlookFeature, before: readonly OutlookFeature[]): string | null {
  const { DN, LABEL, ISSUE, ISSUE_ISO, EXPIRE, EXPIRE_ISO } = properties;
  const { number } = LEVELS[LABEL];
  if (number !== DN) return `${LABEL} has the number ${DN}, not ${number}`;
  if (digits(ISSUE_ISO) !== ISSUE || digits(EXPIRE_ISO) !== EXPIRE) {
    return `the times of ${LABEL} differ from each other`;
  }
  if (Date.parse(EXPIRE_ISO) <= Date.parse(ISSUE_ISO)) return `${LABEL} expires before its issue`;
  if (before.some((one) => one.properties.LABEL === LABEL)) return `${LABEL} is drawn twice`;
  const isOther = before.some(
    (one) => one.properties.ISSUE !== ISSUE || one.properties.EXPIRE !== EXPIRE,
  );
  return isOther ? `${LABEL} is of another issue than the areas before it` : null;
}

/** `YYYYMMDDHHMM` in UTC. */
function digits(iso: string): string {
  return isoTime(Date.parse(iso)).replaceAll(/\D/g, '').slice(0, 12);
}

/** The first ring of a polygon bounds it, the others are holes. */
function ringsOf({ geometry }: Pick<OutlookFeature, 'geometry'>): (readonly Position[])[] {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  return polygons.flatMap((rings) =>
    rings.map((ring, at) => (clockwiseArea(ring) > 0 === (at === 0) ? ring : ring.toReversed())),
  );
}

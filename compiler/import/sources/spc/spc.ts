import { z } from 'zod';
import { isoTime } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import {
  CONVECTION_AREAS,
  type ConvectionRegion,
  convectionScope,
} from '../../convection-regions.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../../payload.ts';
import { nameOf, observedAt, ReadingList } from '../../readings.ts';
import { clockwiseArea, type Position, ringInBox } from '../../region-box.ts';
import type { Source } from '../../source.ts';
import { productIn, refuseProduct } from '../../text-product.ts';
import { CATEGORIES, type Category, type Outlook, pointsOutlook } from './spc-points.ts';

const MAP = 'https://www.spc.noaa.gov/products/outlook/day1otlk_cat.nolyr.geojson';
/** A category counts in a region from this share of its box on (ours): borders are drawn to a tenth of a degree. */
const SHARE_MIN = 0.01;
/** Bands of the signal, in the order of the categories. */
const BANDS: Readonly<Record<Category, string>> = {
  TSTM: 'tstm',
  MRGL: 'marginal',
  SLGT: 'slight',
  ENH: 'enhanced',
  MDT: 'moderate',
  HIGH: 'high',
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
    const reading = readingOf({ entity, region }, outlook, payload);
    list.add('severe-convection.forecast-risk-env', reading);
  }
  const highest = CATEGORIES.findLast((category) => outlook.areas.has(category));
  return list.imported([
    `highest category anywhere ${highest}, valid until ${isoTime(outlook.expiresAt)}`,
  ]);
}

/** The highest category that covers a part of a region, or null for none. */
function categoryIn({ box }: ConvectionRegion, { areas }: Outlook): Category | null {
  const covers = (category: Category): boolean => {
    const shares = (areas.get(category) ?? []).map((ring) => ringInBox(ring, box));
    return shares.reduce((sum, share) => sum + share, 0) >= SHARE_MIN;
  };
  return CATEGORIES.findLast(covers) ?? null;
}

interface OutlookSubject {
  readonly entity: string;
  readonly region: ConvectionRegion;
}

function readingOf(
  { entity, region }: OutlookSubject,
  outlook: Outlook,
  payload: Payload,
): Reading {
  const category = categoryIn(region, outlook);
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
      band: category === null ? null : BANDS[category],
      category: category ?? 'none',
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
    source_ref: 'https://www.spc.noaa.gov/products/outlook/day1otlk.html',
    source_tier: relay === null ? 'T1' : 'T2',
    scope: `Convective Outlook of the first day; highest category on 1 percent or more of the region; ${convectionScope(region)}`,
    validation_status: relay === null ? 'as published by SPC' : `as rebuilt by ${relay}`,
    uncertainty: 'not stated in the payload',
  };
}

/** Convective outlooks of the first day: https://www.spc.noaa.gov/products/outlook/ and https://www.spc.noaa.gov/gis/ */
export const spc: Source = {
  id: 'spc',
  agency: 'NOAA Storm Prediction Center',
  version: 1,
  format: 'json',
  feeds: ['severe-convection.forecast-risk-env'],
  read: readOutlook,
  fetch: {
    hosts: ['www.spc.noaa.gov'],
    addresses: () => [MAP],
    everyMinutes: 60,
    perMinute: 6,
  },
};

/** The number of each category in the maps of the agency. */
const NUMBERS: Readonly<Record<Category, number>> = {
  TSTM: 2,
  MRGL: 3,
  SLGT: 4,
  ENH: 5,
  MDT: 6,
  HIGH: 8,
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
const outlookSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  features: z
    .array(featureSchema)
    .min(1, 'no area is drawn, so nothing says when this was issued')
    .max(CATEGORIES.length, 'a category is drawn twice'),
});

/** The map of the first day (`day1otlk_cat`); throws an ImportError for anything else. */
function mapOutlook(payload: Payload): Outlook {
  const { features } = jsonOf(payload, outlookSchema, 'a map of outlook categories');
  const [first] = features;
  const fault = features.map((one, at) => faultOf(one, features.slice(0, at))).find(Boolean);
  if (first === undefined || fault != null) throw fetchAgain(payload, `${fault}`);
  return {
    issuedAt: Date.parse(first.properties.ISSUE_ISO),
    expiresAt: Date.parse(first.properties.EXPIRE_ISO),
    relay: null,
    areas: new Map(features.map((one) => [one.properties.LABEL, ringsOf(one)] as const)),
  };
}

function isClosed(points: readonly Position[]): boolean {
  return points[0]?.join() === points.at(-1)?.join();
}

/** What does not fit in an area, by itself or beside those before it; null for nothing. */
function faultOf({ properties }: OutlookFeature, before: readonly OutlookFeature[]): string | null {
  const { DN, LABEL, ISSUE, ISSUE_ISO, EXPIRE, EXPIRE_ISO } = properties;
  if (NUMBERS[LABEL] !== DN) return `${LABEL} has the number ${DN}, not ${NUMBERS[LABEL]}`;
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
function ringsOf({ geometry }: OutlookFeature): (readonly Position[])[] {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  return polygons.flatMap((rings) => rings.map((ring, at) => turned(ring, at === 0)));
}

function turned(ring: readonly Position[], isClockwise: boolean): readonly Position[] {
  return clockwiseArea(ring) > 0 === isClockwise ? ring : ring.toReversed();
}

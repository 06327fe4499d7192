import { z } from 'zod';
import { isoTime } from '../../../contract/iso-time.ts';
import { ImportError } from '../../import-error.ts';
import { type Payload, parsePayload } from '../../payload.ts';
import { clockwiseArea, type Position } from '../../ring-in-box.ts';
import { shaped } from '../../shape.ts';
import { CATEGORIES, type Category, type Outlook } from './spc-outlook.ts';

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
type Feature = z.infer<typeof featureSchema>;
const outlookSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  features: z
    .array(featureSchema)
    .min(1, 'no area is drawn, so nothing says when this was issued')
    .max(CATEGORIES.length, 'a category is drawn twice'),
});

/** The map of the first day (`day1otlk_cat`); throws an ImportError for anything else. */
export function mapOutlook(payload: Payload): Outlook {
  const { bytes, subject } = payload;
  const is = 'a map of outlook categories';
  const { features } = shaped(outlookSchema, parsePayload(bytes, subject), { subject, is });
  const [first] = features;
  const fault = features
    .map((feature, at) => faultOf(feature, features.slice(0, at)))
    .find(Boolean);
  if (first === undefined || fault != null) {
    throw new ImportError({ subject, state: `${fault}; fetch it again` });
  }
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
function faultOf({ properties }: Feature, before: readonly Feature[]): string | null {
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
function ringsOf({ geometry }: Feature): (readonly Position[])[] {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  return polygons.flatMap((rings) => rings.map((ring, at) => turned(ring, at === 0)));
}

function turned(ring: readonly Position[], isClockwise: boolean): readonly Position[] {
  return clockwiseArea(ring) > 0 === isClockwise ? ring : ring.toReversed();
}

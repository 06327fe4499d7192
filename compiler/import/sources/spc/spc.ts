import { isoTime } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import {
  CONVECTION_AREAS,
  type ConvectionRegion,
  convectionScope,
} from '../../convection-regions.ts';
import { nameOf, observedAt } from '../../measured.ts';
import type { Imported, Payload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import { ringInBox } from '../../ring-in-box.ts';
import type { Source } from '../../source.ts';
import { productIn, refuseProduct } from '../../text-product.ts';
import { mapOutlook } from './spc-geojson.ts';
import { CATEGORIES, type Category, type Outlook } from './spc-outlook.ts';
import { pointsOutlook } from './spc-points.ts';

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

interface Subject {
  readonly entity: string;
  readonly region: ConvectionRegion;
}

function readingOf({ entity, region }: Subject, outlook: Outlook, payload: Payload): Reading {
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
    accept: 'application/json',
    everyMinutes: 60,
    perMinute: 6,
  },
};

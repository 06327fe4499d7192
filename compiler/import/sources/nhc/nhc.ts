import { SAFFIR_SIMPSON } from '../../../contract/rulers.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { measuredBy, nameOf, observedAt } from '../../measured.ts';
import type { Imported, Payload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import type { Source } from '../../source.ts';
import { productIn, refuseProduct } from '../../text-product.ts';
import { CYCLONES, newest, type Storm, stormsOf } from './storm-list.ts';

const CURRENT_STORMS = 'https://www.nhc.noaa.gov/CurrentStorms.json';
/** Basins by the bin of a storm: it keeps its id when it crosses into another basin, and changes its bin. */
const BASINS: ReadonlyMap<string, string> = new Map([
  ['AT', 'atlantic'],
  ['EP', 'epacific'],
  ['CP', 'cpacific'],
]);
/** Storms that are in one basin. */
interface Basin {
  readonly entity: string;
  readonly own: readonly Storm[];
  readonly payload: Payload;
}

interface Facts {
  readonly current: Reading['current'];
  readonly scope: string;
}

function readStorms(payload: Payload): Imported {
  const product = productIn(payload);
  if (product !== null) refuseProduct(payload.subject, product, `${CURRENT_STORMS} in its place`);
  const storms = stormsOf(payload);
  const list = new ReadingList();
  for (const [bin, entity] of BASINS) {
    const own = storms.filter(({ binNumber }) => binNumber.startsWith(bin));
    const basin = { entity, own, payload };
    list.add('hurricane.active-storms', reading(basin, activity(own)));
    list.add('hurricane.impact-cascade', reading(basin, impact(own)));
  }
  return list.imported();
}

function activity(own: readonly Storm[]): Facts {
  const cyclones = own
    .filter(({ classification }) => CYCLONES.includes(classification))
    .sort((a, b) => Number(b.intensity) - Number(a.intensity) || (a.id < b.id ? -1 : 1));
  const [strongest] = cyclones;
  const wind = strongest === undefined ? null : Number(strongest.intensity);
  const current = {
    max_wind_kt: wind,
    band: wind === null ? 'none' : bandOf(wind),
    storm_count: cyclones.length,
    min_pressure_hpa:
      wind === null ? null : Math.min(...cyclones.map(({ pressure }) => Number(pressure))),
    strongest: strongest?.name ?? null,
    storms: cyclones.map((one) => `${one.name} ${one.classification} ${Number(one.intensity)} kt`),
    potential_or_remnant_count: own.length - cyclones.length,
  };
  const scope =
    'cyclones that the agency lists as active in the basin; potential, post-tropical and remnant ones are counted apart';
  return { current, scope };
}

function bandOf(wind: number): string | null {
  return SAFFIR_SIMPSON.steps.findLast(({ at }) => wind >= at)?.band ?? null;
}

/** The list says whether a storm has watches or warnings, and not which: only "none" can be told from it. */
function impact(own: readonly Storm[]): Facts {
  const under = own.filter(
    (one) => one.windWatchesWarnings !== null || one.stormSurgeWatchWarningGIS !== null,
  ).length;
  const none = under === 0;
  const current = {
    warnings_count: none ? 0 : null,
    band: none ? 'none' : null,
    storms_with_watch_or_warning_count: under,
  };
  const scope =
    'wind and storm surge watches and warnings of the listed storms; the list says whether there are any, not how many';
  return { current, scope };
}

function reading(basin: Basin, { current, scope }: Facts): Reading {
  const { entity, own, payload } = basin;
  const observed_at = observedAt(newest(own, payload.note.fetched_at), payload);
  const [value] = Object.values(current);
  const main = typeof value === 'number' ? value : null;
  return {
    entity,
    ...nameOf('hurricane', entity),
    observed_at,
    collected_at: payload.note.fetched_at,
    current,
    sources: measuredBy('NOAA National Hurricane Center', main, observed_at),
    source_ref: 'https://www.nhc.noaa.gov/',
    source_tier: 'T1',
    scope,
    grade: 'operational, revised after the season',
    validation_status: 'as published by NHC',
    uncertainty: 'not stated in the payload',
  };
}

/** The list of active storms: https://www.nhc.noaa.gov/CurrentStorms.json */
export const nhc: Source = {
  id: 'nhc',
  agency: 'NOAA National Hurricane Center',
  version: 1,
  format: 'json',
  feeds: ['hurricane.active-storms', 'hurricane.impact-cascade'],
  read: readStorms,
  fetch: {
    hosts: ['www.nhc.noaa.gov'],
    addresses: () => [CURRENT_STORMS],
    accept: 'application/json',
    everyMinutes: 60,
    perMinute: 6,
  },
};

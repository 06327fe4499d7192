import { z } from 'zod';
import { builtinRuler } from '../../catalog/builtin.ts';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { firstTwice } from '../../format/lists.ts';
import type { Reading } from '../../readings/reading.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { mainValue, measuredBy, nameOf, observedAt, ReadingList } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';
import { productIn, refuseProduct } from '../kit/text-product.ts';

const SAFFIR_SIMPSON = builtinRuler('saffir-simpson');

const CURRENT_STORMS = 'https://www.nhc.noaa.gov/CurrentStorms.json';
/** Basins by the bin of a storm: it keeps its id when it crosses into another basin, and changes its bin. */
const BASINS: ReadonlyMap<string, string> = new Map([
  ['AT', 'atlantic'],
  ['EP', 'epacific'],
  ['CP', 'cpacific'],
]);
interface StormFacts {
  readonly current: Reading['current'];
  readonly scope: string;
}

function readStorms(payload: Payload): Imported {
  const product = productIn(payload);
  if (product !== null) refuseProduct(payload.subject, product, `${CURRENT_STORMS} in its place`);
  // Active storms of all basins; throws an ImportError for another payload, and for a list that was stale when it was fetched.
  const { note } = payload;
  const { activeStorms } = jsonOf(payload, listSchema, 'the list of active storms');
  const storms: Storm[] = [];
  const unread: { readonly bins: readonly string[]; readonly why: string }[] = [];
  for (const [at, given] of activeStorms.entries()) {
    const { data, error } = storm.safeParse(given);
    if (data !== undefined) storms.push(data);
    else {
      const why = `a storm that cannot be read (${at}.${error.issues[0]?.path.join('.')})`;
      unread.push({ bins: binsOf(given), why });
    }
  }
  const twice = firstTwice(storms.map(({ id }) => id));
  for (const { binNumber } of storms.filter(({ id }) => id === twice)) {
    unread.push({ bins: [binNumber.slice(0, 2)], why: `storm ${twice} is listed twice` });
  }
  const updated = newest(storms, note.fetched_at);
  if (Date.parse(note.fetched_at) - updated > LIST_AGE_HOURS_MAX * HOUR_MS) {
    throw fetchAgain(payload, `last updated at ${isoTime(updated)}, stale when it was fetched`);
  }
  const list = new ReadingList();
  for (const [bin, entity] of BASINS) {
    const own = storms.filter(({ binNumber }) => binNumber.startsWith(bin));
    const doubts = unread.filter(({ bins }) => bins.includes(bin));
    for (const { why } of doubts) list.skips.unread(entity, why);
    // A reading that says nothing because of a storm elsewhere would take the place of an older one that is true.
    if (doubts.length > 0 && doubts.every(({ bins }) => bins.length > 1)) continue;
    const basin = { entity, own, payload, why: doubts[0]?.why ?? null };
    list.add('hurricane.active-storms', reading(basin, activity(own)));
    list.add('hurricane.impact-cascade', reading(basin, impact(own)));
  }
  return list.imported();
}

/** The basins that a storm may be in: of one whose bin cannot be read, those that storms of its number move to. */
function binsOf(given: unknown): readonly string[] {
  const bin = binnedSchema.safeParse(given).data?.binNumber.slice(0, 2);
  if (bin !== undefined) return [bin];
  const number = numberedSchema.safeParse(given).data?.id.slice(0, 2);
  return [...BASINS.keys()].filter((one) => number !== 'al' || one !== 'CP');
}

function activity(own: readonly Storm[]): StormFacts {
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
function impact(own: readonly Storm[]): StormFacts {
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

function reading(
  {
    entity,
    own,
    payload,
    why,
  }: { entity: string; own: readonly Storm[]; payload: Payload; why: string | null },
  { current: known, scope }: StormFacts,
): Reading {
  // A storm that cannot be read may be the strongest, and under warnings.
  const current =
    why === null ? known : Object.fromEntries(Object.keys(known).map((name) => [name, null]));
  const observed_at = observedAt(newest(own, payload.note.fetched_at), payload);
  return {
    entity,
    ...nameOf('hurricane', entity),
    observed_at,
    collected_at: payload.note.fetched_at,
    current,
    sources: measuredBy('NOAA National Hurricane Center', mainValue(current), observed_at),
    source_ref: 'https://www.nhc.noaa.gov/',
    source_tier: 'T1',
    scope,
    ...(why === null ? {} : { qualifiers: [why] }),
    grade: 'operational, revised after the season',
    validation_status: 'as published by NHC',
    uncertainty: 'not stated in the payload',
  };
}

export const nhc: Source = {
  ...registered('nhc'),
  version: 2,
  read: readStorms,
};

/** A storm is described every six hours: an older list does not say what there is now. */
const LIST_AGE_HOURS_MAX = 12;
/** An update is called after the hour that it is made for, and may be out before. */
const AHEAD_HOURS_MAX = 1;
/** Depression, storm and hurricane, tropical or subtropical; a typhoon is a hurricane of another ocean. */
const CYCLONES: readonly string[] = ['TD', 'STD', 'TS', 'STS', 'HU', 'TY', 'TYP'];
/** Potential, post-tropical or remnants: listed with a wind, but no tropical cyclone (yet or any longer). */
const OTHERS: readonly string[] = ['PTC', 'PC'];

const time = z.iso.datetime();
/** A product of a storm, or null where there is none. */
const storedProduct = z.looseObject({ issuance: time }).nullable();
const storm = z.looseObject({
  id: z.string().regex(/^(al|ep|cp)\d{6}$/),
  binNumber: z.string().regex(/^(AT|EP|CP)\d$/),
  name: z.string().regex(/^[A-Za-z][A-Za-z' -]{0,39}$/),
  classification: z.enum([...CYCLONES, ...OTHERS]),
  intensity: z.string().regex(/^\d{2,3}$/),
  pressure: z.string().regex(/^(8|9|10)\d{2}$/),
  lastUpdate: time,
  windWatchesWarnings: storedProduct,
  stormSurgeWatchWarningGIS: storedProduct,
});
type Storm = z.infer<typeof storm>;
const listSchema = z.looseObject({ activeStorms: z.array(z.unknown()) });
const binnedSchema = storm.pick({ binNumber: true });
const numberedSchema = storm.pick({ id: true });

/** Latest update of storms, no later than the fetch; what a list without any says holds when it is fetched. */
function newest(storms: readonly Storm[], fetchedAt: string): number {
  const fetched = Date.parse(fetchedAt);
  if (storms.length === 0) return fetched;
  const latest = Math.max(...storms.map(({ lastUpdate }) => Date.parse(lastUpdate)));
  const isAhead = latest > fetched && latest <= fetched + AHEAD_HOURS_MAX * HOUR_MS;
  return isAhead ? fetched : latest;
}

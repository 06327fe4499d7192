import { z } from 'zod';
import { builtinLine } from '../../catalog/builtin.ts';
import { originOf } from '../kit/entries.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { ReadingList, statedReading } from '../kit/readings.ts';
import { isWanted, registered, type Source } from '../kit/source.ts';

// One gauge of the National Water Prediction Service with its flood stages: https://api.water.noaa.gov/nwps/v1/docs/. Members
// and codes for "nothing there" were read in tests of public programs.

const ORIGIN = originOf(
  'National Weather Service, as the owner of the gauge measured',
  'https://water.noaa.gov/',
  {
    role: 'relay',
    independent: false,
    relay_of: 'owner of the gauge',
    tier: 'T2',
    status: 'as published by NWS',
  },
);
const AGENCY = 'National Weather Service';
/** A stage of nothing, and the categories of a gauge that measures nothing now. */
const NOTHING_AT_MOST = -900;
const SILENT: readonly string[] = ['obs_not_current', 'out_of_service'];
const CLASSES = ['action', 'minor', 'moderate', 'major'] as const;

const number = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d{1,6}(\.\d{1,4})?$/)
    .transform(Number),
]);
const stage = z.looseObject({ stage: number.nullish() }).nullish();
const gaugeSchema = z.looseObject({
  lid: z.string().regex(/^[A-Z0-9]{4,6}$/),
  name: z.string().min(1),
  pedts: z.looseObject({ observed: z.string().nullish() }),
  status: z.looseObject({
    observed: z.looseObject({
      primary: number,
      primaryUnit: z.string(),
      floodCategory: z.string(),
      validTime: z.iso.datetime({ offset: true }),
    }),
  }),
  flood: z
    .looseObject({
      stageUnits: z.string().nullish(),
      categories: z
        .looseObject({ action: stage, minor: stage, moderate: stage, major: stage })
        .nullish(),
    })
    .nullish(),
});

/** Stage of a gauge, by its location id, with the stages at which each flood category begins. */
function read(payload: Payload): Imported {
  const { lid, name, pedts, status, flood } = jsonOf(
    payload,
    gaugeSchema,
    'a gauge with its status',
  );
  const { primary, primaryUnit, floodCategory, validTime } = status.observed;
  const isStage = pedts.observed?.startsWith('HG') === true && primaryUnit === 'ft';
  if (!isStage)
    throw fetchAgain(
      payload,
      `it measures ${pedts.observed} in "${primaryUnit}", not a stage in ft`,
    );
  if (primary <= NOTHING_AT_MOST || SILENT.includes(floodCategory) || validTime.startsWith('0001'))
    throw fetchAgain(payload, `the gauge measures nothing now (${floodCategory.slice(0, 40)})`);
  const begins = CLASSES.flatMap((one) => {
    const at = flood?.categories?.[one]?.stage ?? NOTHING_AT_MOST;
    return at <= NOTHING_AT_MOST ? [] : [[one, at] as const];
  });
  const isOrdered = begins.every(([, at], index) => at >= (begins[index - 1]?.[1] ?? at));
  const list = new ReadingList();
  if (!isOrdered) list.skips.add(lid, 'flood stages that are not in order');
  const hasRuler = isOrdered && begins.length > 0 && flood?.stageUnits === 'ft';
  const stated = statedReading(ORIGIN, payload, {
    entity: lid,
    entity_name: name,
    at: Date.parse(validTime),
    current: { stage_ft: primary },
    scope: 'instantaneous stage at one gauge, by its location id of the National Weather Service',
    grade: 'preliminary',
  });
  const thresholds = { thresholds: Object.fromEntries(begins), thresholds_agency: AGENCY };
  list.add('hydrology.river-level', { ...stated, ...(hasRuler ? thresholds : {}) });
  return list.imported();
}

/** The gauges of our cities, by the number of their site; any other by its location id. */
const CITY_SITES = Object.values(
  builtinLine('environment').entityOf?.['hydrology.river-level'] ?? {},
);

export const nwps: Source = {
  ...registered('nwps'),
  version: 1,
  read,
  asks: (asked) => {
    const sites = CITY_SITES.filter((site) => isWanted(asked, site));
    const named = asked.entities.filter(
      (entity) => /^[A-Z0-9]{4,6}$/.test(entity) && !/^\d+$/.test(entity),
    );
    return [...sites, ...named].map((gauge) => ({ with: { gauge }, about: gauge }));
  },
};

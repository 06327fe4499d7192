import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import type { Reading } from '../../readings/reading.ts';
import { zoneOffset } from '../kit/local-time.ts';
import { ImportError, type Imported, type Payload } from '../kit/payload.ts';
import { measuredBy, ReadingList } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';
import {
  type Issue,
  issueOf,
  minutesOfDay,
  productIn,
  refuseProduct,
  WEEKDAYS,
} from '../kit/text-product.ts';

const AGENCY = 'NOAA National Weather Service';
/** Where a segment says which gauge it is of: `/JAMS1.1.ER.…/`; its digit is the worst of the event, not of today. */
const GAUGE = /^\/([A-Z]{4}\d)\.[0-3NU]\.[A-Z]{2}\.(?:\d{6}T\d{4}Z\.){3}[A-Z]{2}\/$/;
const STAGE =
  /\bAt (\d{1,2})(?::?(\d{2}))? ([AP]M)(?: ([A-Z]{3,4}))? ([A-Z]+day) the stage was(?: |\.{3})(-?\d{1,3}(?:\.\d{1,2})?) feet(?: and (?:rising|falling|steady))?\./gi;
const ANY_STAGE = /\bthe stage was\b/gi;
const FLOOD_STAGE = /\bFlood stage is (\d{1,3}(?:\.\d{1,2})?) feet\./gi;
const CATEGORY = /\b(Minor|Moderate|Major) flooding is occurring\b/i;
const NAME =
  /(?:Flood Warning(?: continues)? for|\* WHERE\.\.\.) ?(?:The )?([A-Z][A-Za-z .'-]{3,79}?)\. ?\*/;

function readStages(payload: Payload): Imported {
  const { subject } = payload;
  const product = productIn(payload);
  if (product === null) {
    const state = 'no flood warning or statement (FLW, FLS); fetch the text of one';
    throw new ImportError({ subject, state });
  }
  if (!/^FL[WS]/.test(product.name))
    refuseProduct(subject, product, 'a flood warning or statement (FLW, FLS)');
  const issue = issueOf(product, payload);
  const list = new ReadingList();
  for (const segment of segmentsOf(product.lines, subject)) {
    const gauges = segment.flatMap((line) => GAUGE.exec(line)?.[1] ?? []);
    const text = segment.join(' ').replaceAll(/\s+/g, ' ');
    const [entity = 'segment', ...others] = gauges;
    const other = others.length > 0 ? 'several gauges' : 'a product of an area, without a gauge';
    const stage = gauges.length === 1 ? stageIn(text, issue) : other;
    if (typeof stage === 'string') list.skips.add(entity, stage);
    else list.add('hydrology.river-level', readingOf({ entity, text, ...stage }, payload));
  }
  return list.someOf(payload);
}

/** Each segment ends with "$$"; what is left behind the last one is the name of its author. */
function segmentsOf(lines: readonly string[], subject: string): (readonly string[])[] {
  const ends = lines.flatMap((line, at) => (line === '$$' ? [at] : []));
  if (ends.length === 0) throw new ImportError({ subject, state: 'it is cut off; fetch it again' });
  return ends.map((end, index) => lines.slice((ends[index - 1] ?? -1) + 1, end));
}

interface Stage {
  readonly stageFt: number;
  readonly at: number;
  /** Null where the text names none. */
  readonly floodFt: number | null;
}

function stageIn(text: string, issue: Issue): Stage | string {
  const [stage] = text.matchAll(STAGE);
  const floods = new Set([...text.matchAll(FLOOD_STAGE)].map(([, height]) => Number(height)));
  if (stage === undefined || text.match(ANY_STAGE)?.length !== 1) {
    return 'not one sentence "At … the stage was … feet."';
  }
  if (floods.size > 1) return 'two flood stages';
  const at = instantOf(stage, issue);
  if (at === null) return `no such time: "${stage[0]}"`;
  const [floodFt = null] = floods;
  return { stageFt: Number(stage[6]), at, floodFt };
}

/** The newest instant before the issue with that weekday and local time. */
function instantOf(stage: RegExpExecArray, issue: Issue): number | null {
  const [, hour, minute = '00', half, zone, weekday = ''] = stage;
  const offset = zone === undefined ? issue.offset : zoneOffset(zone);
  const minutes = minutesOfDay({ hour, minute, half });
  const day = WEEKDAYS.indexOf(weekday.slice(0, 3).toUpperCase());
  if (offset === null || minutes === null || day < 0) return null;
  const midnight = Math.floor((issue.at + offset) / DAY_MS) * DAY_MS;
  const back = (new Date(midnight).getUTCDay() - day + 7) % 7;
  const at = midnight - back * DAY_MS + minutes * 60_000 - offset;
  return at > issue.at ? at - 7 * DAY_MS : at;
}

function readingOf(
  { entity, text, stageFt, at, floodFt }: Stage & { entity: string; text: string },
  { note }: Payload,
): Reading {
  const observed_at = isoTime(at);
  const name = NAME.exec(text)?.[1];
  const category = CATEGORY.exec(text)?.[1]?.toLowerCase();
  return {
    entity,
    ...(name === undefined ? {} : { entity_name: name }),
    observed_at,
    collected_at: note.fetched_at,
    current: {
      stage_ft: stageFt,
      ...(category === undefined ? {} : { flooding_occurring: category }),
    },
    sources: measuredBy(AGENCY, stageFt, observed_at),
    ...(floodFt === null ? {} : { thresholds: { flood: floodFt }, thresholds_agency: AGENCY }),
    source_ref: `https://water.noaa.gov/gauges/${entity.toLowerCase()}`,
    source_tier: 'T1',
    scope: 'instantaneous stage at one gauge of the National Weather Service, by its location id',
    grade: 'preliminary',
    validation_status: 'as published by NWS',
    uncertainty: 'not stated in the payload; stages are given to a tenth of a foot',
  };
}

/** Flood warnings and statements: NWS Directive 10-922. They are imported from files: no address answers with all of them. */
export const nwsRiverFlood: Source = {
  ...registered('nws-river-flood'),
  version: 2,
  read: readStages,
};

import type { Reading } from '../../../stages/intake/reading.ts';
import { CONVECTION_AREAS } from '../../convection-regions.ts';
import { ImportError, type Payload } from '../../payload.ts';
import { mainValue, measuredBy, nameOf, type ReadingList } from '../../readings.ts';

export const AGENCY = 'NOAA National Weather Service';
export const ALERT_HOST = 'api.weather.gov';
export const REPORT_HOST = 'mesonet.agron.iastate.edu';
export const WARNINGS = 'severe-convection.active-warning-state';
export const REALIZED = 'severe-convection.realized-severe-reports';

interface About {
  readonly entity: string;
  /** Time of the reading. */
  readonly at: string;
  readonly collectedAt: string;
}

/** What all readings of a region have; its scope and where it comes from are added. */
export function regionReading({ entity, at, collectedAt }: About, current: Reading['current']) {
  return {
    entity,
    ...nameOf('severe-convection', entity),
    observed_at: at,
    collected_at: collectedAt,
    current,
    sources: measuredBy(AGENCY, mainValue(current), at),
    grade: 'preliminary',
    validation_status: 'as published by NWS',
    uncertainty: 'not stated in the payload',
  };
}

/** A region says nothing where a part of it was not asked for. */
export function skipOthers(list: ReadingList, read: readonly string[]): void {
  for (const entity of CONVECTION_AREAS.keys()) {
    if (!read.includes(entity)) list.skips.add(entity, 'a part of it was not asked for');
  }
}

/** Names of the events that are read. */
export const EVENTS: readonly string[] = [
  'Tornado Warning',
  'Severe Thunderstorm Warning',
  'Tornado Watch',
  'Severe Thunderstorm Watch',
];
/** Parameters of an address that leave the four events of the asked states whole, with what they must name. */
const WHOLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['area', []],
  ['event', EVENTS],
  ['status', ['actual']],
  ['message_type', ['alert', 'update']],
]);
const PATH = /^\/alerts\/active(?:\/area\/([A-Z]{2}))?$/;

/** The states that an address asks for; null for all. Throws an ImportError where it leaves out some of them. */
export function askedStates({ note, subject }: Payload): readonly string[] | null {
  const { pathname, searchParams } = new URL(note.url);
  const path = PATH.exec(pathname);
  const named = [...searchParams].map(([name, value]) => ({ name, values: value.split(',') }));
  const narrow = named.find(({ name, values }) => {
    const needed = WHOLE.get(name);
    return needed === undefined || !needed.every((word) => values.includes(word));
  });
  if (path === null || narrow !== undefined) {
    const what = path === null ? pathname : `"${narrow?.name}"`;
    const state = `its address does not ask for all alerts (${what}); fetch /alerts/active, with "area" at most`;
    throw new ImportError({ subject, state });
  }
  const areas = named.flatMap(({ name, values }) => (name === 'area' ? values : []));
  const states = [...areas, ...(path[1] === undefined ? [] : [path[1]])];
  return states.length === 0 ? null : states;
}

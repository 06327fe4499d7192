import type { Reading } from '../../../stages/intake/reading.ts';
import { CONVECTION_AREAS } from '../../convection-regions.ts';
import { measuredBy, nameOf } from '../../measured.ts';
import type { ReadingList } from '../../reading-list.ts';

export const AGENCY = 'NOAA National Weather Service';
export const ALERT_HOST = 'api.weather.gov';
export const REPORT_HOST = 'mesonet.agron.iastate.edu';
export const WARNINGS = 'severe-convection.active-warning-state';
export const REALIZED = 'severe-convection.realized-severe-reports';

export interface About {
  readonly entity: string;
  /** Time of the reading. */
  readonly at: string;
  readonly collectedAt: string;
}

/** What all readings of a region have; its scope and where it comes from are added. */
export function regionReading({ entity, at, collectedAt }: About, current: Reading['current']) {
  const [value = null] = Object.values(current);
  return {
    entity,
    ...nameOf('severe-convection', entity),
    observed_at: at,
    collected_at: collectedAt,
    current,
    sources: measuredBy(AGENCY, typeof value === 'number' ? value : null, at),
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

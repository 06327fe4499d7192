import { isoTime } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { mainValue, measuredBy } from '../../readings.ts';
import type { RegionBox } from '../../region-box.ts';
import { FELT_REPORTS_MIN, type Quake } from './earthquake-events.ts';
import { EARTHQUAKE_BOXES, impactBand, regionScope } from './earthquake-regions.ts';

/** What is said of a region. */
export interface RegionFacts extends Pick<Reading, 'observed_at' | 'current' | 'source_ref'> {
  /** The quakes that the reading is of. */
  readonly quakes: string;
  readonly grade?: string;
}

/** Every region with its box, by name. */
export function regions(): readonly (readonly [entity: string, box: RegionBox])[] {
  return Object.entries(EARTHQUAKE_BOXES).sort(([a], [b]) => (a < b ? -1 : 1));
}

export function regionReading(entity: string, facts: RegionFacts, collected_at: string): Reading {
  const { observed_at, current, source_ref, quakes, grade } = facts;
  const box = EARTHQUAKE_BOXES[entity];
  if (box === undefined) throw new RangeError(`Cannot read a region "${entity}": no such region`);
  return {
    entity,
    observed_at,
    collected_at,
    current,
    sources: measuredBy('USGS Earthquake Hazards Program', mainValue(current), observed_at),
    source_ref,
    source_tier: 'T1',
    ...(grade === undefined ? {} : { grade }),
    scope: `${quakes}; ${regionScope(box)}; reported intensity counts from ${FELT_REPORTS_MIN} reports up`,
    validation_status: 'as published by USGS',
    uncertainty: 'not stated in the feed; magnitudes and intensities are revised',
  };
}

/** How one quake shook, known at `asOf` in epoch milliseconds; `quakes` says which ones it stands for. */
export function impactFacts(quake: Quake, asOf: number, quakes: string): RegionFacts {
  return {
    observed_at: isoTime(Math.min(quake.updated, asOf)),
    current: {
      intensity_mmi: quake.intensity,
      band: impactBand(quake),
      felt_reports_count: quake.felt,
      alert: quake.alert,
      event_mag: quake.magnitude,
      event_id: quake.id,
      event_at: isoTime(quake.time),
    },
    source_ref: `https://earthquake.usgs.gov/earthquakes/eventpage/${quake.id}`,
    quakes,
    grade: `${quake.status} solution`,
  };
}

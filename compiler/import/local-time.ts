import { HOUR_MS } from '../contract/iso-time.ts';
import { isUsSummer } from '../contract/new-york-time.ts';

/** Hours from UTC by the abbreviations that US agencies write. */
const ZONE_HOURS: ReadonlyMap<string, number> = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['Z', 0],
  ['AST', -4],
  ['EST', -5],
  ['CST', -6],
  ['MST', -7],
  ['PST', -8],
  ['AKST', -9],
  ['HST', -10],
  ['ADT', -3],
  ['EDT', -4],
  ['CDT', -5],
  ['MDT', -6],
  ['PDT', -7],
  ['AKDT', -8],
]);

/** Milliseconds to add to UTC for a zone abbreviation, in any case; null for one that is not known. */
export function zoneOffset(abbreviation: string): number | null {
  const hours = ZONE_HOURS.get(abbreviation.trim().toUpperCase());
  return hours === undefined ? null : hours * HOUR_MS;
}

/** US zones by IANA name: hours of standard time from UTC, and whether clocks change in summer. */
const US_ZONES: ReadonlyMap<string, readonly [hours: number, hasSummer: boolean]> = new Map([
  ['America/New_York', [-5, true]],
  ['America/Detroit', [-5, true]],
  ['America/Chicago', [-6, true]],
  ['America/Denver', [-7, true]],
  ['America/Phoenix', [-7, false]],
  ['America/Los_Angeles', [-8, true]],
]);

/** The UTC instant of a wall-clock time of a US zone; both in epoch milliseconds, the first written as if it were UTC. */
export function usInstant(wallClockMs: number, zone: string): number {
  const { standardMs, hasSummer } = usZone(zone);
  const isSummer = hasSummer && isUsSummer(wallClockMs);
  return wallClockMs - standardMs - (isSummer ? HOUR_MS : 0);
}

/** What clocks of a US zone show at an instant: the other way round. */
export function usWallClock(epochMs: number, zone: string): number {
  const { standardMs, hasSummer } = usZone(zone);
  const standard = epochMs + standardMs;
  const isSummer = hasSummer && isUsSummer(standard) && isUsSummer(standard + HOUR_MS);
  return isSummer ? standard + HOUR_MS : standard;
}

function usZone(zone: string): { readonly standardMs: number; readonly hasSummer: boolean } {
  const found = US_ZONES.get(zone);
  if (found === undefined) throw new RangeError(`Cannot tell the time in "${zone}": unknown zone`);
  const [hours, hasSummer] = found;
  return { standardMs: hours * HOUR_MS, hasSummer };
}

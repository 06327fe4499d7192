import { isRealDay } from '../../format/cutoff.ts';
import { DAY_MS, HOUR_MS, isUsSummer } from '../../format/iso-time.ts';

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

const OFFSET = /^([+-])(\d{2}):([0-5]\d)$/;

export function isZone(zone: string): boolean {
  return fixedOffset(zone) !== null || clockOf(zone) !== null;
}

/**
 * The instants, in epoch milliseconds, at which clocks of a zone show a time that is written as if it were UTC. None in the
 * hour that is left out in spring, two in the hour that comes twice in autumn, none for an unknown zone.
 */
export function zoneInstants(wallClockMs: number, zone: string): readonly number[] {
  const fixed = fixedOffset(zone);
  if (fixed !== null) return [wallClockMs - fixed];
  const clock = clockOf(zone);
  if (clock === null) return [];
  const offsets = [wallClockMs - DAY_MS, wallClockMs + DAY_MS].map((at) => offsetAt(at, clock));
  return [...new Set(offsets)]
    .map((offset) => wallClockMs - offset)
    .filter((instant) => instant + offsetAt(instant, clock) === wallClockMs)
    .sort((a, b) => a - b);
}

/** Milliseconds to add to UTC where a zone names them itself; null for a place. */
function fixedOffset(zone: string): number | null {
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (sign === undefined) return zoneOffset(zone);
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

function clockOf(zone: string): Intl.DateTimeFormat | null {
  if (!/^[A-Za-z_]+\/[A-Za-z_/+-]+\d*$/.test(zone)) return null;
  try {
    return new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
  } catch (cause) {
    if (cause instanceof RangeError) return null;
    throw cause;
  }
}

/** Swedish writes `2026-03-29 03:00:00`, which is read back as if it were UTC. */
function offsetAt(instant: number, clock: Intl.DateTimeFormat): number {
  const second = Math.floor(instant / 1000) * 1000;
  return Date.parse(`${clock.format(second).replace(' ', 'T')}Z`) - second;
}

/** Epoch milliseconds of a day `2026-03-31` at 00:00Z, which stands for the whole day (ours); null for no such day. */
export function dayTime(day: string): number | null {
  return isRealDay(day) ? Date.parse(day) : null;
}

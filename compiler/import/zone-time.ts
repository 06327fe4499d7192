import { DAY_MS } from '../contract/iso-time.ts';
import { zoneOffset } from './local-time.ts';

const OFFSET = /^([+-])(\d{2}):([0-5]\d)$/;

/** Whether a zone is known: `UTC`, `EST`, `+05:30` or `America/Chicago`. */
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

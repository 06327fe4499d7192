import { isRealDay } from '../../contract/cutoff.ts';
import { hasIsoYear } from '../../contract/iso-time.ts';
import { zoneInstants } from '../local-time.ts';

/** Ways to write a time that need no pattern. */
const TIME_WORDS = ['iso', 'epoch-seconds', 'epoch-milliseconds'] as const;

const PARTS: ReadonlyMap<string, string> = new Map([
  ['YYYY', String.raw`(?<year>\d{4})`],
  ['MM', String.raw`(?<month>\d{2})`],
  ['DD', String.raw`(?<day>\d{2})`],
  ['HH', String.raw`(?<hour>\d{2})`],
  ['mm', String.raw`(?<minute>\d{2})`],
  ['ss', String.raw`(?<second>\d{2})`],
]);
const PART = /YYYY|MM|DD|HH|mm|ss/g;
const ISO = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Why a format cannot be read by; null for one of TIME_WORDS, or a pattern with each part once such as `DD.MM.YYYY HH:mm`. */
export function formatFault(format: string): string | null {
  if (TIME_WORDS.some((word) => word === format)) return null;
  const parts: readonly string[] = format.match(PART) ?? [];
  const lacks = ['YYYY', 'MM', 'DD'].find((part) => !parts.includes(part));
  if (lacks !== undefined) return `has no ${lacks}; write it like "YYYY-MM-DD HH:mm" or "iso"`;
  if (new Set(parts).size < parts.length) return 'has a part twice';
  if (/[A-Za-z]/.test(format.replace(PART, '').replace('T', '')))
    return 'has letters that are no part of a time; the parts are YYYY, MM, DD, HH, mm and ss';
  return parts.includes('HH') || !(parts.includes('mm') || parts.includes('ss'))
    ? null
    : 'has no HH';
}

/** Whether a time by this format is a wall clock's, so that its zone must be known. */
export function needsZone(format: string): boolean {
  return formatFault(format) === null && format.includes('HH');
}

/** Epoch milliseconds of a time, or why it cannot be read. A day alone stands at 00:00Z (ours). */
export function timeOf(text: string, format: string, zone: string | null): number | string {
  const shown = `"${text.slice(0, 40)}"`;
  const wall = wallClock(text, format);
  if (wall === null) return `${shown} is not a time that is written as "${format}"`;
  if (!needsZone(format)) return wall;
  if (zone === null) return `${shown} has no zone`;
  const [instant, ...others] = zoneInstants(wall, zone);
  if (instant === undefined) return `${shown} does not exist in the zone "${zone}"`;
  return others.length === 0 ? instant : `${shown} comes twice in the zone "${zone}"`;
}

/** What is written, as if it were UTC. */
function wallClock(text: string, format: string): number | null {
  const epochMs =
    format === 'iso' ? isoMs(text) : (epochOf(text, format) ?? patternMs(text, format));
  return epochMs === null || Number.isNaN(epochMs) || !hasIsoYear(epochMs) ? null : epochMs;
}

function isoMs(text: string): number | null {
  const day = ISO.exec(text)?.[1];
  return day !== undefined && isRealDay(day) ? Date.parse(text) : null;
}

/** Seconds have ten digits since 2001, milliseconds thirteen: one in place of the other is not read. */
function epochOf(text: string, format: string): number | null {
  if (format === 'epoch-seconds') return /^\d{9,10}$/.test(text) ? Number(text) * 1000 : Number.NaN;
  if (format === 'epoch-milliseconds') return /^\d{12,13}$/.test(text) ? Number(text) : Number.NaN;
  return null;
}

function patternMs(text: string, format: string): number | null {
  const pattern = format
    .split(/(YYYY|MM|DD|HH|mm|ss)/)
    .map((piece) => PARTS.get(piece) ?? piece.replace(/[^\w\s]/g, String.raw`\$&`))
    .join('');
  const found = new RegExp(`^${pattern}$`).exec(text)?.groups;
  if (found === undefined) return null;
  const { year, month, day, hour = '00', minute = '00', second = '00' } = found;
  const date = `${year}-${month}-${day}`;
  const isClock = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  return isRealDay(date) && isClock ? Date.parse(`${date}T${hour}:${minute}:${second}Z`) : null;
}

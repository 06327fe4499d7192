import { shownText } from '../format/html.ts';

/** Characters of one text that a page shows. */
const TEXT_MAX = 400;

/** Text of a source as it may stand on a page: nothing in it steers the page, and it is no wall of text. */
export function shown(text: string): string {
  const cut = text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} …` : text;
  return shownText(cut);
}

/** A class as people read it: `unhealthy-sensitive` is "unhealthy sensitive". */
export function words(id: string): string {
  return shown(id.replaceAll(/[-_]/g, ' '));
}

/** A number as people read it; digits are never rounded away. */
export function figure(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 20 });
}

/** `2026-11-20T10:45:00Z` as "20 Nov 2026, 10:45 UTC"; the text itself where it is no time. */
export function timeText(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return shown(iso);
  const day = at.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  return `${day}, ${at.toISOString().slice(11, 16)} UTC`;
}

/** Hours as people say them: "42 minutes", "5 hours", "3 days", "2 years". */
export function ageText(hours: number): string {
  const [count, unit] = AGE_STEPS.find(([limit]) => hours < limit)?.slice(1) ?? [8766, 'year'];
  const many = Math.max(count === 1 / 60 ? 0 : 1, Math.round(hours / Number(count)));
  return `${many.toLocaleString('en')} ${unit}${many === 1 ? '' : 's'}`;
}

/** Up to how many hours, how many hours one of it has, and its name. */
const AGE_STEPS: readonly (readonly [limit: number, hours: number, unit: string])[] = [
  [1.5, 1 / 60, 'minute'],
  [48, 1, 'hour'],
  [24 * 90, 24, 'day'],
  [24 * 730, 730.5, 'month'],
];

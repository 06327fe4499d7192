import { type Html, html } from '../../../compiler/format/html.ts';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';

/** Units of the drawing; the page scrolls it where it is narrower, so that its text stays readable. */
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [800, 220, 70, 20, 24, 28] as const;
const PLOT_WIDTH = WIDTH - LEFT - RIGHT;
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;
const STEPS_MAX = 5;
const DATES_MAX = 8;

/** Bars of dollars by day, with a scale of money, dates and a line at each step; the table beside it says the same in text. */
export function dayChart(
  microUsdByDay: ReadonlyMap<string, bigint>,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): Html {
  const count = Math.floor((lastMs - firstMs) / DAY_MS) + 1;
  const days = Array.from({ length: count }, (_, at) => dayOf(firstMs + at * DAY_MS));
  const values = days.map((day) => Number(microUsdByDay.get(day) ?? 0n) / 1e6);
  const step = roundStep(Math.max(...values, 0.01));
  const top = step * Math.ceil(Math.max(...values, 0.01) / step - 1e-9);
  const yOf = (value: number): string => (TOP + PLOT_HEIGHT * (1 - value / top)).toFixed(1);
  const dayWidth = PLOT_WIDTH / count;
  const grid = Array.from({ length: Math.round(top / step) + 1 }, (_, at) => {
    const y = yOf(at * step);
    return html`<path d="M${LEFT} ${y}H${WIDTH - RIGHT}"/><text class="end" x="${LEFT - 6}" y="${y}" dy="4">${moneyTick(at * step, step)}</text>`;
  });
  const bars = values.flatMap((value, at) => {
    if (value === 0) return [];
    // A sale is never invisible.
    const y = Math.min(Number(yOf(value)), TOP + PLOT_HEIGHT - 1);
    const x = (LEFT + (at + 0.1) * dayWidth).toFixed(1);
    const height = (TOP + PLOT_HEIGHT - y).toFixed(1);
    return [
      html`<rect x="${x}" y="${y}" width="${(0.8 * dayWidth).toFixed(1)}" height="${height}"/>`,
    ];
  });
  const every = Math.ceil(count / DATES_MAX);
  const dates = days.flatMap((day, at) => {
    const x = (LEFT + (at + 0.5) * dayWidth).toFixed(1);
    // The last day always has its date.
    if ((count - 1 - at) % every !== 0) return [];
    return [html`<text class="middle" x="${x}" y="${HEIGHT - 8}">${day.slice(5)}</text>`];
  });
  return html`<svg aria-hidden="true" viewBox="0 0 ${WIDTH} ${HEIGHT}"><text x="0" y="12">US dollars a day</text>${grid}${bars}${dates}</svg>`;
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The least of 1, 2 and 5 times a power of ten that divides a scale into at most STEPS_MAX steps. */
function roundStep(most: number): number {
  const least = most / STEPS_MAX;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
}

function moneyTick(value: number, step: number): string {
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const isLong = step >= 1000;
  return `$${value.toLocaleString('en-US', isLong ? { notation: 'compact' } : { minimumFractionDigits: places, maximumFractionDigits: places })}`;
}

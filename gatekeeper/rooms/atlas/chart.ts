import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale';
import { defined } from '../../../compiler/format/errors.ts';
import { type Html, html } from '../../../compiler/format/html.ts';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import { CLASS, type Ruler } from '../../../compiler/products/shapes/rulers.ts';
import {
  type Classable,
  classColour,
  className,
  figure,
  isOfficial,
  MONTHS,
  type Spoken,
  sayTime,
  scaleFor,
  shadeOf,
  valueIn,
} from '../../../compiler/products/shapes/say.ts';
import { capital } from './parts.ts';

// The free last seven as a drawing with axes, units, dates and the thresholds of the scale with their numbers. D3 finds the
// round numbers and the days; the drawing is text, so it stands in a page and in a file alike.

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 64;
const RIGHT = 168;
const TOP = 34;
const BOTTOM = 40;

/** Values whose largest is so many times the smallest are drawn on a log scale. */
const LOG_FROM = 100;
/** A threshold is shown while it lies within so many times the range of the values. */
const REACH = 1.5;

interface Point {
  readonly time: number;
  readonly value: number | null;
  readonly text: string;
}

/** Draws the numbers of readings, oldest first; null where fewer than two have one. */
export function chart(spoken: Spoken, rows: readonly Classable[], zone?: string): Html | null {
  const [metric] = spoken.metrics;
  const last = rows.at(-1);
  if (metric === undefined || last === undefined) return null;
  const points = rows.map((row): Point => {
    const value = row.current[metric.name];
    const when = sayTime(row.observed_at, spoken.cadence, zone);
    const text = `${valueIn(spoken, row.current)}, ${when}`;
    return {
      time: Date.parse(row.observed_at),
      value: typeof value === 'number' ? value : null,
      text,
    };
  });
  const values = points.flatMap(({ value }) => (value === null ? [] : value));
  if (values.length < 2) return null;
  const scale = scaleFor(spoken, last);
  const own = scale !== null && scale.metric === metric.name && scale.metric !== CLASS;
  const steps = own ? stepsNear(scale, values) : [];
  const shapes = placesOf(points, [...values, ...steps.map(({ at }) => at)]);
  const unit = metric.unit === '' ? '' : `, in ${metric.unit}`;
  const title = `${capital(metric.label)}${unit}`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: ${points.length} readings, the newest ${points.at(-1)?.text ?? ''}">
<text class="chart-title" x="${LEFT}" y="18">${title}</text>
${valueAxis(shapes)}${timeAxis(shapes)}${own ? thresholds(spoken, steps, { scale, shapes }) : null}
${lines(points, shapes)}${points.map((point) => mark(point, shapes))}
${slices(points, shapes)}</svg>`;
}

type Shapes = ReturnType<typeof placesOf>;

function placesOf(points: readonly Point[], shown: readonly number[]) {
  const times = points.map(({ time }) => time);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const room = to === from ? DAY_MS / 2 : (to - from) * 0.03;
  const x = scaleUtc([from - room, to + room], [LEFT, WIDTH - RIGHT]);
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const isLog = low > 0 && high / low >= LOG_FROM;
  const pad = high === low ? Math.abs(high) * 0.1 || 1 : (high - low) * 0.12;
  // Nothing that is never negative is drawn as if it could be.
  const floor = low >= 0 ? Math.max(0, low - pad) : low - pad;
  const range = [HEIGHT - BOTTOM, TOP];
  const y = isLog
    ? scaleLog([low / 1.2, high * 1.2], range)
    : scaleLinear([floor, high + pad], range);
  return { x, y, isLog, from, to };
}

/** Thresholds that are near the values; the beginning of the mildest class is none. */
function stepsNear({ steps }: Ruler, values: readonly number[]): { band: string; at: number }[] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const reach = Math.max(high - low, Math.abs(high) * 0.2) * REACH;
  return steps
    .slice(1)
    .filter(({ at }) => Number.isFinite(at) && at >= low - reach && at <= high + reach);
}

const round = (number: number): number => Math.round(number * 10) / 10;

function valueAxis({ y, isLog }: Shapes): Html {
  const ticks = y.ticks(4).filter((_, at, all) => all.length <= 6 || at % 3 === 0);
  const rows = ticks.map(
    (tick) =>
      html`<path class="grid" d="M${LEFT} ${round(y(tick))}H${WIDTH - RIGHT}"/><text class="tick end" x="${LEFT - 8}" y="${round(y(tick)) + 4}">${figure(tick)}</text>`,
  );
  const note = isLog ? html`<text class="tick" x="${LEFT}" y="${TOP - 3}">log scale</text>` : null;
  return html`${rows}${note}`;
}

const TICKS = 5;

function timeAxis({ x, from, to }: Shapes): Html {
  const span = to - from;
  const ticks = x.ticks(TICKS).filter((tick) => +tick >= from - span * 0.02);
  const text = (tick: Date): string => {
    const month = defined(MONTHS[tick.getUTCMonth()], 'a month').slice(0, 3);
    const day = `${tick.getUTCDate()} ${month}`;
    if (span < 2 * DAY_MS) return tick.toISOString().slice(11, 16);
    if (span < 300 * DAY_MS) return day;
    const year = `${tick.getUTCFullYear()}`;
    return span < 1500 * DAY_MS ? `${month} ${year}` : year;
  };
  const base = HEIGHT - BOTTOM;
  const day = new Date(to).toISOString().slice(0, 10);
  const unit = span < 2 * DAY_MS ? `UTC, to ${day}` : `UTC, to ${day.slice(0, 4)}`;
  return html`<path class="axis" d="M${LEFT} ${base}H${WIDTH - RIGHT}"/>${ticks.map(
    (tick) =>
      html`<text class="tick middle" x="${round(x(tick))}" y="${base + 18}">${text(tick)}</text>`,
  )}<text class="tick end" x="${WIDTH - RIGHT}" y="${HEIGHT - 4}">${unit}</text>`;
}

/** A line for each threshold, named by the class that begins there, whose names keep apart from each other. */
function thresholds(
  spoken: Spoken,
  steps: readonly { band: string; at: number }[],
  { scale, shapes: { y } }: { scale: Ruler; shapes: Shapes },
): Html {
  const word = scale.direction === 'up' ? 'from' : 'up to';
  let free = Number.POSITIVE_INFINITY;
  const rows = [...steps]
    .sort((one, other) => one.at - other.at)
    .map(({ band, at }) => {
      const place = round(y(at));
      const text = wrapped(`${className(spoken, band)}, ${word} ${figure(at)}`);
      const name = Math.min(place + 4, free - (text.length - 1) * LINE);
      free = name - LINE - 2;
      const colour = classColour(spoken, band);
      const style = `threshold shade-${shadeOf(spoken, band) ?? 0}`;
      const line =
        colour === null
          ? html`<path class="${style}" d="M${LEFT} ${place}H${WIDTH - RIGHT}"/>`
          : html`<path class="threshold" stroke="${colour}" d="M${LEFT} ${place}H${WIDTH - RIGHT}"/>`;
      return html`${line}${text.map((part, row) => label(part, name + row * LINE))}`;
    });
  const whose = isOfficial(scale) ? (scale.agency ?? '') : 'no official scale';
  return html`${rows}${label(whose, 18)}`;
}

/** Pixels from a line of a name to the next, and letters that one holds. */
const LINE = 13;
const LINE_CHARS = 27;

function label(text: string, y: number): Html {
  return html`<text class="tick" x="${WIDTH - RIGHT + 8}" y="${y}">${text}</text>`;
}

/** A text in lines that fit beside the drawing. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= LINE_CHARS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Neighbours that have a value are joined; a missing one leaves a gap. */
function lines(points: readonly Point[], { x, y }: Shapes): Html {
  let joined = false;
  const path = points.map(({ time, value }) => {
    if (value === null) {
      joined = false;
      return '';
    }
    const step = `${joined ? 'L' : 'M'}${round(x(time))} ${round(y(value))}`;
    joined = true;
    return step;
  });
  return html`<path class="line" d="${path.join('')}"/>`;
}

function mark({ time, value }: Point, { x, y }: Shapes): Html {
  const at = round(x(time));
  if (value === null) {
    return html`<text class="tick middle" x="${at}" y="${HEIGHT - BOTTOM - 4}">×</text>`;
  }
  return html`<circle class="dot" cx="${at}" cy="${round(y(value))}" r="4"/>`;
}

/** Wherever a pointer is, the nearest reading is told. */
function slices(points: readonly Point[], { x }: Shapes): Html[] {
  return points.map(({ time, text }, at) => {
    const middle = (other: Point | undefined, edge: number): number =>
      other === undefined ? edge : (x(other.time) + x(time)) / 2;
    const left = middle(points[at - 1], LEFT);
    const right = middle(points[at + 1], WIDTH - RIGHT);
    const place = round(x(time));
    return html`<g class="slice"><rect x="${round(left)}" y="${TOP}" width="${round(Math.max(0, right - left))}" height="${HEIGHT - TOP - BOTTOM}"/><path d="M${place} ${TOP}V${HEIGHT - BOTTOM}"/><text class="told end" x="${WIDTH - 6}" y="${HEIGHT - 4}">${text}</text><title>${text}</title></g>`;
  });
}

/** How the drawing looks where no page has styles for it. */
const STYLES = `svg{font:12px system-ui,sans-serif;color-scheme:light dark;--text:#14222c;--soft:#4a5a66;--line:#d9d6cb;--card:#fff;--shade-0:#2f8f5b;--shade-1:#b59a00;--shade-2:#d9730d;--shade-3:#cc3b2f;--shade-4:#8f2d8f;--shade-5:#5c1a2e}
@media(prefers-color-scheme:dark){svg{--text:#e8eef2;--soft:#a9bac6;--line:#2c3d49;--card:#16242e;--shade-0:#58c68a;--shade-1:#e6cf4e;--shade-2:#f5a04d;--shade-3:#f4786c;--shade-4:#d58ae0;--shade-5:#f0a3bd}}
.back{fill:var(--card)}`;

const shades = [0, 1, 2, 3, 4, 5].map((at) => `.chart .shade-${at}{stroke:var(--shade-${at})}`);

/** Styles of the drawing, in a page and in a file. */
export const CHART_STYLES = `.chart text{fill:var(--text)}.chart .chart-title{font-size:13px;font-weight:600}.chart .tick{font-size:11px;fill:var(--soft)}.chart .end{text-anchor:end}.chart .middle{text-anchor:middle}
.chart .grid{stroke:var(--line);fill:none}.chart .axis{stroke:var(--soft);fill:none}.chart .threshold{fill:none;stroke-width:1.5;stroke-dasharray:5 3}
.chart .line{fill:none;stroke:var(--text);stroke-width:2}.chart .dot{fill:var(--card);stroke:var(--text);stroke-width:2}
.chart .slice rect{fill:transparent}.chart .slice path{stroke:var(--soft);opacity:0}.chart .told{font-size:11px;font-weight:600;opacity:0}.chart .slice:hover path,.chart .slice:hover .told{opacity:1}
${shades.join('')}
`;

/** The same as a file of its own. */
export function chartFile(drawing: Html): string {
  const head = /(<svg [^>]*>)/;
  const styles = `<style>${STYLES}${CHART_STYLES}</style><rect class="back" width="${WIDTH}" height="${HEIGHT}"/>`;
  return drawing.toString().replace(head, (start) => start + styles);
}

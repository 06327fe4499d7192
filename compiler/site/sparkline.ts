import { el, svg } from './dom.ts';
import type { PageSignal, PreviewRow } from './page-data.ts';
import { figure, timeText, words } from './page-words.ts';
import { bandFor, scaleFor, shadeOf } from './scale-place.ts';
import { type SparkPoint, sparkShape } from './sparkline-shape.ts';

const BOX = { width: 560, height: 150 };
const EDGE = 8;

/**
 * The free last seven on the official classes, with the same as a table. Seven points need no library: as a drawing they
 * follow the colours of the page, print, and can be enlarged.
 */
export function sparkline(signal: PageSignal, rows: readonly PreviewRow[]): HTMLElement {
  const [metric] = signal.metrics;
  const points = rows.flatMap(({ observed_at, current }): SparkPoint[] => {
    const value = metric === undefined ? null : current[metric.name];
    return typeof value === 'number' ? [{ observed_at, value }] : [];
  });
  return el(
    'figure',
    { class: 'spark' },
    points.length > 1 ? drawing(signal, points, rows) : null,
    el('figcaption', {}, caption(signal, points)),
    table(signal, rows),
  );
}

function drawing(signal: PageSignal, points: readonly SparkPoint[], rows: readonly PreviewRow[]) {
  const last = rows.at(-1);
  const scale = last === undefined ? null : scaleFor(signal, last);
  const isSame = scale?.metric === signal.metrics[0]?.name;
  const shape = sparkShape(points, isSame ? scale : null, BOX);
  const stripes = shape.stripes.map(({ band, y, height }) =>
    svg(
      'g',
      {},
      svg('rect', {
        class: `stripe shade-${shadeOf(signal, band) ?? 0}`,
        x: 0,
        y,
        width: BOX.width,
        height,
      }),
      height > 14 ? svg('text', { class: 'stripe-name', x: 6, y: y + 13 }, words(band)) : null,
    ),
  );
  const path = shape.points.map(({ x, y }) => `${x},${y}`).join(' ');
  const dots = shape.points.map(({ x, y }) => svg('circle', { class: 'dot', cx: x, cy: y, r: 4 }));
  const view = `${-EDGE} ${-EDGE} ${BOX.width + 2 * EDGE} ${BOX.height + 2 * EDGE}`;
  return svg(
    'svg',
    { viewBox: view, 'aria-hidden': 'true', class: 'spark-drawing' },
    ...stripes,
    svg('polyline', { class: 'line', points: path }),
    ...dots,
  );
}

function caption({ measures, metrics, scales }: PageSignal, points: readonly SparkPoint[]): string {
  const unit = metrics[0]?.label ? `, in ${metrics[0].label}` : '';
  const scale = scales.at(-1);
  const on = scale === undefined ? '' : `, on the ${scale.scale} (${scale.provenance})`;
  return points.length === 0
    ? `The last readings: ${measures}`
    : `The last ${points.length} readings: ${measures}${unit}${on}.`;
}

function table(signal: PageSignal, rows: readonly PreviewRow[]): HTMLElement {
  const body = [...rows].reverse().map((row) => {
    const band = bandFor(signal, row);
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, timeText(row.observed_at)),
      el('td', { class: 'figure' }, valueText(signal, row.current)),
      el('td', {}, band === null ? '' : words(band)),
    );
  });
  const head = ['Observed', 'Value', 'Class'].map((text) => el('th', { scope: 'col' }, text));
  return el(
    'details',
    {},
    el('summary', {}, 'As a table'),
    el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body)),
  );
}

/** The main metric as people write it: `13.6 ft`. */
export function valueText(
  { metrics }: Pick<PageSignal, 'metrics'>,
  current: PreviewRow['current'],
): string {
  const [metric] = metrics;
  const value = metric === undefined ? undefined : current[metric.name];
  if (value === null || value === undefined) return 'no value';
  const text = typeof value === 'number' ? figure(value) : words(String(value));
  return metric?.label ? `${text} ${metric.label}` : text;
}

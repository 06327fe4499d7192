import { howToBuy } from '../catalog/how-to-buy.ts';
import type { SitePrice } from '../catalog/site.ts';
import { messageOf } from '../format/errors.ts';
import {
  bandFor,
  classColour,
  className,
  sayAge,
  sayTime,
  scaleFor,
  scaleText,
  shown,
  valueIn,
} from '../products/shapes/say.ts';
import { addressOf, type PageSignal, type PreviewRow, previewUrl } from './page-data.ts';
import { type PageRoute, routeHash } from './page-route.ts';
import { type SparkPoint, shadeOf, sparkShape } from './shapes.ts';

export function routeLink(route: PageRoute, text: string): HTMLAnchorElement {
  return el('a', { href: routeHash(route) }, el('bdi', {}, shown(text)));
}

/** What people call an entity; its id stands beside it where it is another. */
export function entityLink(signal: string, entity: string, name: string | null): HTMLElement {
  const link = routeLink({ view: 'record', signal, entity }, name ?? entity);
  const isNamed = name !== null && name !== entity;
  return el('span', {}, link, isNamed ? ' ' : null, isNamed ? el('code', {}, shown(entity)) : null);
}

/** How old a reading is; only one that has a value is fresh. */
export function freshBadge(signal: PageSignal, observedAt: string, hasValue = true): HTMLElement {
  const { style, text } = sayAge(signal, observedAt, { now: Date.now(), hasValue });
  const title = `cadence of the source: ${signal.cadence}`;
  return el('span', { class: `badge ${style}`, title }, text);
}

export function bandBadge(signal: PageSignal, band: string): HTMLElement {
  const shade = shadeOf(signal, band);
  const style = `class ${shade === null ? 'plain' : `shade-${shade}`}`;
  return coloured(el('span', { class: style }, className(signal, band)), signal, band);
}

/** In the colour that the agency gives the class, where it gives one. */
export function coloured<Made extends HTMLElement | SVGElement>(
  made: Made,
  signal: PageSignal,
  band: string,
): Made {
  const colour = classColour(signal, band);
  if (colour !== null) made.style.setProperty('--shade', colour);
  return made;
}

export function priceText(priceUsd: string): string {
  return priceUsd === '0' ? 'free' : `$${shown(priceUsd)}`;
}

/** Everything that is sold about an entity, with the address that asks its price. */
export function priceTable({ offers, signal_id }: PageSignal, entity: string): HTMLElement {
  const rows = offers.map((one) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, buyLink(one, signal_id, entity)),
      el('td', {}, shown(one.summary)),
      el('td', { class: 'figure' }, priceText(one.price_usd)),
    ),
  );
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What is sold' },
    tableOf(['Ask for', 'What it holds', 'USD'], rows),
  );
}

export function tableOf(headings: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  const head = headings.map((text) => el('th', { scope: 'col' }, text));
  return el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows));
}

/** The address that asks its price; of an operation that takes something else only its path is known here. */
function buyLink({ path, asks }: SitePrice, signal_id: string, entity: string): HTMLElement {
  const known = new Map([
    ['signal_id', signal_id],
    ['entity', entity],
  ]);
  if (!asks.every((name) => known.has(name))) return el('code', {}, path);
  const values = Object.fromEntries(asks.map((name) => [name, known.get(name) ?? '']));
  return el('a', { href: addressOf(path, values) }, path);
}

export function freeLinks({ signal_id, raw }: PageSignal, entity: string): HTMLElement {
  const links = [
    el('a', { href: previewUrl(signal_id, entity) }, 'the last seven readings'),
    ...(raw
      ? [el('a', { href: addressOf('/gauge/raw', { signal_id, entity }) }, 'the bare record')]
      : []),
    el('a', { href: addressOf('/gauge/sample', { signal_id }) }, 'a whole sample of this signal'),
  ];
  return el(
    'p',
    {},
    'Free: ',
    ...links.flatMap((link, at) => (at === 0 ? [link] : [', ', link])),
    '.',
  );
}

export function failureNote(error: unknown): HTMLElement {
  return el('p', { class: 'trouble', role: 'alert' }, shown(messageOf(error)));
}

type ElementChild = Node | string | null;

type Attributes = Readonly<Record<string, string | boolean | ((event: Event) => void)>>;

/** Makes an element. Text becomes text, never markup; a function is a listener; `false` leaves an attribute out. */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly ElementChild[]
): HTMLElementTagNameMap[Name] {
  return filled(document.createElement(name), attributes, children);
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(
  name: string,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: readonly ElementChild[]
): SVGElement {
  const texts = Object.entries(attributes).map(([key, value]) => [key, String(value)]);
  return filled(document.createElementNS(SVG, name), Object.fromEntries(texts), children);
}

function filled<Made extends Element>(
  made: Made,
  attributes: Attributes,
  children: readonly ElementChild[],
): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function mount(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new RangeError(`Cannot fill the page: it has no element "${id}"`);
  return found;
}

/** Fills the examples of how to buy with what is on screen; the chosen language stays chosen. */
export function fillBuyTabs(onScreen: {
  /** Canonical `path?query`. */
  target: string;
  pair: { signal_id: string; entity: string } | null;
}): void {
  const tabs = document.querySelector('#buy .tabs');
  if (tabs === null) return;
  const baseUrl = document.body.dataset.baseUrl ?? location.origin;
  const chosen = tabs.querySelector('input:checked')?.id;
  const template = el('template');
  // Markup of the compiler, by the same function, which escapes what it is given.
  template.innerHTML = howToBuy({ baseUrl, ...onScreen }).toString();
  const made = template.content.firstElementChild;
  if (made === null) return;
  tabs.replaceWith(made);
  const again = chosen === undefined ? null : document.getElementById(chosen);
  if (again instanceof HTMLInputElement) again.checked = true;
}

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
  const what = metric === undefined ? signal.title : metric.label;
  const unit = metric?.unit ? `, in ${metric.unit}` : '';
  const scale = signal.scales.at(-1);
  const on = scale === undefined ? '' : `, on the ${scaleText(scale)}`;
  return el(
    'figure',
    { class: 'spark' },
    points.length > 1 ? drawing(signal, points, rows) : null,
    el(
      'figcaption',
      {},
      points.length === 0
        ? `The last readings: ${what}`
        : `The last ${points.length} readings: ${what}${unit}${on}.`,
    ),
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
      coloured(
        svg('rect', {
          class: `stripe shade-${shadeOf(signal, band) ?? 0}`,
          x: 0,
          y,
          width: BOX.width,
          height,
        }),
        signal,
        band,
      ),
      height > 14
        ? svg('text', { class: 'stripe-name', x: 6, y: y + 13 }, className(signal, band))
        : null,
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

function table(signal: PageSignal, rows: readonly PreviewRow[]): HTMLElement {
  const body = [...rows].reverse().map((row) => {
    const band = bandFor(signal, row);
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, sayTime(row.observed_at, signal.cadence)),
      el('td', { class: 'figure' }, shown(valueIn(signal, row.current))),
      el('td', {}, band === null ? '' : className(signal, band)),
    );
  });
  const readings = tableOf(['Observed', 'Value', 'Class'], body);
  return el('details', {}, el('summary', {}, 'As a table'), readings);
}

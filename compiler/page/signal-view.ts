import { lineUrl } from '../catalog/thing-urls.ts';
import { className, sayTime, scaleText, shadeOf, shown } from '../products/shapes/say.ts';
import { entityPage, type PageSignal } from './page-data.ts';
import {
  coloured,
  el,
  entityLink,
  freshBadge,
  priceText,
  routeLink,
  tableOf,
} from './page-parts.ts';

export async function signalView(signal: PageSignal): Promise<HTMLElement> {
  const { signal_id, title, measures, cadence, line_title } = signal;
  const list = el('div', { class: 'entity-list' });
  await showPage(list, signal, 0);
  const made = [
    ...(signal.map === null
      ? []
      : [routeLink({ view: 'map', signal: signal.signal_id }, 'On the map')]),
    el('a', { href: lineUrl(signal.line) }, 'Its line'),
  ];
  return el(
    'article',
    { class: 'signal' },
    el('p', { class: 'crumbs' }, routeLink({ view: 'home' }, 'Catalogue')),
    el('h2', { tabindex: '-1' }, shown(title)),
    el(
      'p',
      { class: 'lead' },
      shown(`${measures}, of ${line_title}, ${cadence}`),
      ' · ',
      el('code', {}, signal_id),
    ),
    scales(signal),
    el('p', { class: 'actions' }, ...made),
    el('h3', {}, `${signal.entities.toLocaleString('en')} entities`),
    list,
    el('h3', {}, 'What is sold'),
    prices(signal),
  );
}

function prices({ offers }: PageSignal): HTMLElement {
  const rows = offers.map(({ path, summary, price_usd }) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, el('code', {}, path)),
      el('td', {}, shown(summary)),
      el('td', { class: 'figure' }, priceText(price_usd)),
    ),
  );
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What is sold' },
    tableOf(['Address', 'What it holds', 'USD'], rows),
  );
}

function scales(signal: PageSignal): HTMLElement | null {
  const scale = signal.scales.at(-1);
  if (scale === undefined) return null;
  const steps = scale.steps.map(({ band, at }) =>
    coloured(
      el(
        'li',
        { class: `cell shade-${shadeOf(signal, band) ?? 0}` },
        el('span', { class: 'cell-name' }, className(signal, band)),
        el('span', { class: 'cell-from' }, Number.isFinite(at) ? String(at) : ''),
      ),
      signal,
      band,
    ),
  );
  return el(
    'figure',
    { class: 'scale' },
    el('ol', { class: 'scale-cells', 'aria-label': scale.scale }, ...steps),
    el('figcaption', { class: 'soft' }, `${scaleText(scale)}.`),
  );
}

async function showPage(list: HTMLElement, signal: PageSignal, page: number): Promise<void> {
  const { rows, pages } = await entityPage(signal, page);
  const body = rows.map(([entity, name, observed]) =>
    el(
      'tr',
      { 'data-entity': entity },
      el('th', { scope: 'row' }, entityLink(signal.signal_id, entity, name)),
      el('td', {}, sayTime(observed, signal.cadence, signal.zones[entity])),
      el('td', {}, freshBadge(signal, observed)),
    ),
  );
  list.replaceChildren(
    el(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Entities' },
      tableOf(['Entity', 'Observed', 'Freshness'], body),
    ),
    pages > 1 ? pager(list, signal, { page, pages }) : '',
  );
}

function pager(
  list: HTMLElement,
  signal: PageSignal,
  { page, pages }: { page: number; pages: number },
): HTMLElement {
  const button = (text: string, to: number) => {
    const disabled = to < 0 || to >= pages;
    const click = (): void => void showPage(list, signal, to);
    return el('button', { type: 'button', class: 'quiet', disabled, click }, text);
  };
  const at = ` Page ${page + 1} of ${pages} `;
  return el('p', { class: 'actions' }, button('Before', page - 1), at, button('Next', page + 1));
}

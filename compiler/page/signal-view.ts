import type { SiteBundle } from '../catalog/site.ts';
import { className, sayTime, scaleText, shown } from '../products/shapes/say.ts';
import { entityPage, type PageSignal } from './page-data.ts';
import {
  coloured,
  el,
  entityLink,
  freshBadge,
  priceTable,
  routeLink,
  tableOf,
} from './page-parts.ts';
import { shadeOf } from './shapes.ts';

export async function signalView(
  signal: PageSignal,
  bundle: SiteBundle | null,
): Promise<HTMLElement> {
  const { signal_id, title, measures, cadence, line_title } = signal;
  const list = el('div', { class: 'entity-list' });
  await showPage(list, signal, 0);
  const made = [
    ...(signal.map === null
      ? []
      : [routeLink({ view: 'map', signal: signal.signal_id }, 'On the map')]),
    ...(bundle === null
      ? []
      : [routeLink({ view: 'bundle', line: bundle.line, subject: null }, 'Its chain')]),
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
    made.length === 0 ? null : el('p', { class: 'actions' }, ...made),
    el('h3', {}, `${signal.entities.toLocaleString('en')} entities`),
    list,
    el('h3', {}, 'What is sold'),
    priceTable(signal, list.querySelector<HTMLElement>('[data-entity]')?.dataset.entity ?? ''),
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

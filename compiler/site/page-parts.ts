import { type Cadence, type Freshness, freshness } from '../contract/freshness.ts';
import type { SitePrice } from '../contract/site.ts';
import { el } from './dom.ts';
import { addressOf, type PageSignal, previewUrl } from './page-data.ts';
import { type PageRoute, routeHash } from './page-route.ts';
import { ageText, shown, words } from './page-words.ts';
import { type Classed, shadeOf } from './scale-place.ts';

/** A link inside the page. */
export function routeLink(route: PageRoute, text: string): HTMLAnchorElement {
  return el('a', { href: routeHash(route) }, el('bdi', {}, shown(text)));
}

/** What people call an entity; its id stands beside it where it is another. */
export function entityLink(signal: string, entity: string, name: string | null): HTMLElement {
  const link = routeLink({ view: 'record', signal, entity }, name ?? entity);
  const isNamed = name !== null && name !== entity;
  return el('span', {}, link, isNamed ? ' ' : null, isNamed ? el('code', {}, shown(entity)) : null);
}

const FRESH_WORDS: Readonly<Record<Freshness['freshness'], string>> = {
  fresh: 'fresh',
  recent: 'recent',
  stale: 'stale',
};

/** The freshness of a reading now, in a colour and in words. */
export function freshBadge(cadence: string, observedAt: string, now: number): HTMLElement {
  const { freshness: word, age_hours_now: age } = freshness(cadence as Cadence, observedAt, now);
  const title = `official cadence: ${cadence}`;
  return el(
    'span',
    { class: `badge ${word}`, title },
    FRESH_WORDS[word],
    el('span', { class: 'age' }, `, ${ageText(age)} old`),
  );
}

/** A class with its colour. */
export function bandBadge(signal: Classed, band: string): HTMLElement {
  const shade = shadeOf(signal, band);
  return el('span', { class: `class ${shade === null ? 'plain' : `shade-${shade}`}` }, words(band));
}

/** Decimal USD as people read it. */
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
  const head = ['Ask for', 'What it holds', 'USD'].map((text) => el('th', { scope: 'col' }, text));
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What is sold' },
    el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows)),
  );
}

/** Operations of signal and entity; others take another parameter, and only their path is known here. */
const PAIRED = /^\/gauge(\/(ruler|calibrated|strata|history|history-series))?$/;

function buyLink({ path }: SitePrice, signal_id: string, entity: string): HTMLElement {
  if (PAIRED.test(path)) return el('a', { href: addressOf(path, { signal_id, entity }) }, path);
  if (path === '/gauge/census') return el('a', { href: addressOf(path, { signal_id }) }, path);
  return el('code', {}, path);
}

/** Addresses that cost nothing. */
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

/** A message in place of something that could not be read. */
export function failureNote(error: unknown): HTMLElement {
  const text = error instanceof Error ? error.message : String(error);
  return el('p', { class: 'trouble', role: 'alert' }, shown(text));
}

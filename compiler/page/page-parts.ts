import { recordUrl } from '../catalog/thing-urls.ts';
import { messageOf } from '../format/errors.ts';
import { classColour, className, sayAge, shadeOf, shown } from '../products/shapes/say.ts';
import type { PageSignal } from './page-data.ts';
import { type PageRoute, routeHash } from './page-route.ts';

/** Pixels below the screen at which a part of the page is filled. */
const NEAR = '400px';

export function routeLink(route: PageRoute, text: string): HTMLAnchorElement {
  return el('a', { href: routeHash(route) }, el('bdi', {}, shown(text)));
}

/** What people call an entity; its id stands beside it where it is another. */
export function entityLink(signal: string, entity: string, name: string | null): HTMLElement {
  const text = el('bdi', {}, shown(name ?? entity));
  const link = el('a', { href: recordUrl(signal, entity) }, text);
  const isNamed = name !== null && name !== entity;
  return el('span', {}, link, isNamed ? ' ' : null, isNamed ? el('code', {}, shown(entity)) : null);
}

/** How old a reading is; only one that has a value is fresh. */
export function freshBadge(
  signal: Pick<PageSignal, 'cadence'>,
  observedAt: string,
  hasValue = true,
): HTMLElement {
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

export function tableOf(headings: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  const head = headings.map((text) => el('th', { scope: 'col' }, text));
  return el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows));
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

/** Runs once, when a reader comes near a part of the page. */
export function whenNear(place: HTMLElement, run: () => void): void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      run();
    },
    { rootMargin: NEAR },
  );
  observer.observe(place);
}

export function mount(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new RangeError(`Cannot fill the page: it has no element "${id}"`);
  return found;
}

import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import { type Html, html } from '../../../compiler/format/html.ts';
import {
  bandFor,
  type Classable,
  classColour,
  className,
  type Spoken,
  shadeOf,
  shown,
} from '../../../compiler/products/shapes/say.ts';

// What stands on several pages of things.

/** A page without the head and the foot that all have. */
export interface ThingPage {
  readonly title: string;
  readonly description: string;
  readonly main: Html;
  readonly jsonLd?: object;
  /** `data-` attributes of the body, for the program of the page; absent where it has none. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Whether it says more than its release knows, and is made anew each time. */
  readonly isOfNow?: true;
}

/** The name of a class in its colour, which is the agency's own where it has one; null without a class. */
export function badge(spoken: Spoken, reading: Classable): Html | null {
  const band = bandFor(spoken, reading);
  if (band === null) return null;
  return html`<span class="class ${shadeClass(spoken, band)}">${className(spoken, band)}</span>`;
}

export function shadeClass(spoken: Spoken, band: string): string {
  const colour = classColour(spoken, band);
  if (colour !== null) return ownShade(colour);
  const shade = shadeOf(spoken, band);
  return shade === null ? 'plain' : `shade-${shade}`;
}

const ownShade = (colour: string): string => `own-${colour.slice(1)}`;

/** Styles for the colours that agencies give their classes: no element may have a style of its own. */
export function ownShades({ signals }: Catalog): string {
  const colours = signals.flatMap(({ rulers = [] }) =>
    rulers.flatMap(({ steps }) => steps.flatMap(({ colour }) => colour ?? [])),
  );
  const rules = [...new Set(colours)].map((one) => `.${ownShade(one)}{--shade:${one}}`);
  return `${rules.join('')}\n`;
}

/** Where a page stands, as links from the start of the shop. */
export function crumbs(...steps: readonly (readonly [href: string, text: string])[]): Html {
  const all = [['/', 'Home'], ...steps] as const;
  const links = all.map(([href, text], at) => {
    const link = html`<a href="${href}"><bdi>${capital(shown(text))}</bdi></a>`;
    return at === 0 ? link : html` › ${link}`;
  });
  return html`<nav class="crumbs" aria-label="Where this is">${links}</nav>`;
}

export function tableOf(label: string, headings: readonly string[], rows: readonly Html[]): Html {
  const cells = headings.map((text) => html`<th scope="col">${text}</th>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${cells}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

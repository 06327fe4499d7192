import { escaped } from './shown-text.ts';

/** Markup. `html` makes it; the constructor takes a fixed text of our own as it stands, and never anybody else's. */
export class Html {
  readonly #markup: string;
  constructor(markup: string) {
    this.#markup = markup;
  }
  toString(): string {
    return this.#markup;
  }
}

/** What may stand in markup: text and numbers, which are escaped; markup; lists; nothing. */
export type HtmlPart = string | number | Html | null | readonly HtmlPart[];

/** Markup with all inserted text escaped, in elements and in quoted attributes alike. */
export function html(fixed: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const texts = fixed.map((text, at) => `${text}${markupOf(parts[at] ?? null)}`);
  return new Html(texts.join(''));
}

function markupOf(part: HtmlPart): string {
  if (part === null) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(markupOf).join('');
  return escaped(String(part));
}

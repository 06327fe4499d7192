/** What would be obeyed instead of shown: controls, marks of direction, what has no width, halves of a character. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu;

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

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text from outside as one line that people can read: a character that does something is written as its number. */
export function shownText(text: string): string {
  return text.replace(UNSHOWN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A character that is not printable ASCII, or that markup gives a meaning. Most texts have none, and are done at once. */
const TO_ESCAPE = /[^ -~]|[&<>"']/;

/** The same inside of HTML or XML, in an element or in a quoted attribute. */
export function escaped(text: string): string {
  if (!TO_ESCAPE.test(text)) return text;
  return shownText(text).replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}

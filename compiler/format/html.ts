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

/** What a page says beside its content. Texts are plain. */
export interface SitePage {
  readonly title: string;
  readonly description: string;
  readonly issuerName: string;
  readonly baseUrl: string;
  readonly path: string;
  readonly styles: readonly string[];
  /** URL path of the program; null where the page has none. */
  readonly script: string | null;
  /** Whether nothing is shown before the script has run, which is short. */
  readonly runsFirst?: true;
  /** `data-` attributes of the body. */
  readonly facts?: Readonly<Record<string, string>>;
  readonly isListed: boolean;
  /** What the page is about, in words of schema.org. */
  readonly jsonLd?: object;
  readonly main: Html;
}

/** Styles that the gatekeeper makes: they show what only it knows, see `SHOP_STYLES`. */
export const SHOP_STYLES_URL = '/site/shop.css';

/** What `SHOP_STYLES_URL` says of a shop with real payments, and of one without. */
export const SHOP_STYLES = {
  real: '.test-shop{display:none}\n',
  test: '.test-shop{display:block}\n',
} as const;

const LINKS: readonly (readonly [href: string, text: string])[] = [
  ['/#map', 'Map'],
  ['/#catalogue', 'Catalogue'],
  ['/#buy', 'How to buy'],
  ['/#verify', 'Is this genuine?'],
  ['/#trust', 'Trust'],
  ['/#changes', 'What changed'],
  ['/#/bought', 'What I bought'],
  ['/docs', 'Documents'],
];

/** A whole page: nothing inline and nothing from elsewhere, so that it can be served with a strict policy. */
export function sitePage(page: SitePage): string {
  const { issuerName, main, facts = {} } = page;
  const data = Object.entries(facts).map(([name, value]) => html` data-${name}="${value}"`);
  const links = LINKS.map(([href, text]) => html`<a href="${href}">${text}</a> `);
  return html`<!doctype html>
<html lang="en">
<head>
${headOf(page)}
</head>
<body${data}>
<a class="skip" href="#main">Skip to the content</a>
<aside class="band test-shop" aria-label="Test shop"><strong>Test shop.</strong> Payments are pretended here, and no money moves.</aside>
<header class="top"><div class="wide"><strong><a href="/"><bdi>${issuerName}</bdi></a></strong>
<nav aria-label="Page">${links}</nav></div></header>
<main id="main" class="wide" tabindex="-1">
${main}
</main>
<footer><div class="wide"><p>Stored snapshots of official readings. Descriptive only: no forecast, no advice.</p>
<p>For programs: <a href="/llms.txt">llms.txt</a>, <a href="/openapi.json">OpenAPI</a>, <a href="/manifest?all=1">manifest</a>, <a href="/changes.json">changes.json</a>, MCP at <code>/mcp</code>.</p></div></footer>
</body>
</html>
`.toString();
}

/** A block of data in a page: nothing in it ends the block or hides. */
function dataBlock(data: object): Html {
  const written = JSON.stringify({ '@context': 'https://schema.org', ...data });
  const safe = written.replace(/</g, '\\u003c').replace(UNSHOWN, (char) => {
    const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
  return new Html(`\n<script type="application/ld+json">${safe}</script>`);
}

function headOf(page: SitePage): Html {
  const { title, description, styles, script, runsFirst, isListed, jsonLd } = page;
  const waits = runsFirst === true ? html` blocking="render"` : null;
  const sheets = [...styles, SHOP_STYLES_URL].map(
    (href) => html`<link rel="stylesheet" href="${href}">\n`,
  );
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
${isListed ? listing(page) : html`<meta name="robots" content="noindex">`}
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="alternate" type="application/atom+xml" title="What changed" href="/changes.atom">
${sheets}${script === null ? null : html`<script type="module"${waits} src="${script}"><\/script>`}${jsonLd === undefined ? null : dataBlock(jsonLd)}`;
}

function listing({ title, description, baseUrl, path }: SitePage): Html {
  return html`<link rel="canonical" href="${baseUrl + path}">
<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${baseUrl + path}">
<meta property="og:image" content="${baseUrl}/og.png">
<meta property="og:image:alt" content="Official readings, signed. Check them yourself.">
<meta name="twitter:card" content="summary_large_image">`;
}

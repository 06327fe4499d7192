import { escaped } from './shown-text.ts';

/** What a page says beside its content. Texts are plain; they are escaped here. */
export interface SitePage {
  readonly title: string;
  readonly description: string;
  readonly issuerName: string;
  readonly baseUrl: string;
  /** Path of the page. */
  readonly path: string;
  /** URL paths of style sheets. */
  readonly styles: readonly string[];
  /** URL path of the program; null where the page has none. */
  readonly script: string | null;
  /** `data-` attributes of the body. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Whether search engines may list it. */
  readonly isListed: boolean;
  /** HTML of `main`. */
  readonly main: string;
}

/** Styles that the gatekeeper makes: they show what only it knows, see `SHOP_STYLES`. */
export const SHOP_STYLES_URL = '/site/shop.css';

/** What `SHOP_STYLES_URL` says of a shop with real payments, and of one without. */
export const SHOP_STYLES = {
  real: '.test-shop{display:none}\n',
  test: '.test-shop{display:block}\n',
} as const;

/** Links of the head of every page. */
const LINKS: readonly (readonly [href: string, text: string])[] = [
  ['/#catalogue', 'Catalogue'],
  ['/#buy', 'How to buy'],
  ['/#trust', 'Trust'],
  ['/#changes', 'What changed'],
  ['/docs', 'API'],
];

/** A whole page: nothing inline and nothing from elsewhere, so that it can be served with a strict policy. */
export function sitePage(page: SitePage): string {
  const { issuerName, main, facts = {} } = page;
  const data = Object.entries(facts).map(([name, value]) => ` data-${name}="${escaped(value)}"`);
  const links = LINKS.map(([href, text]) => `<a href="${href}">${text}</a>`);
  return `<!doctype html>
<html lang="en">
<head>
${headOf(page)}
</head>
<body${data.join('')}>
<a class="skip" href="#main">Skip to the content</a>
<p class="band test-shop" role="note"><strong>Test shop.</strong> Payments are pretended here, and no money moves.</p>
<header class="top"><div class="wide"><strong><a href="/"><bdi>${escaped(issuerName)}</bdi></a></strong>
<nav aria-label="Page">${links.join(' ')}</nav></div></header>
<main id="main" class="wide" tabindex="-1">
${main}
</main>
<footer><div class="wide"><p>Stored snapshots of official readings. Descriptive only: no forecast, no advice.</p>
<p>For programs: <a href="/llms.txt">llms.txt</a>, <a href="/openapi.json">OpenAPI</a>, <a href="/manifest?all=1">manifest</a>, MCP at <code>/mcp</code>, <a href="/changes.json">changes.json</a>.</p></div></footer>
</body>
</html>
`;
}

function headOf(page: SitePage): string {
  const { title, description, baseUrl, path, styles, script, isListed } = page;
  const url = escaped(baseUrl + path);
  const meta = (name: string, content: string): string =>
    `<meta property="og:${name}" content="${escaped(content)}">`;
  return [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title>`,
    `<meta name="description" content="${escaped(description)}">`,
    '<meta name="color-scheme" content="light dark">',
    ...(isListed
      ? [`<link rel="canonical" href="${url}">`]
      : ['<meta name="robots" content="noindex">']),
    '<link rel="icon" href="/favicon.svg" type="image/svg+xml">',
    '<link rel="alternate" type="application/atom+xml" title="What changed" href="/changes.atom">',
    ...(isListed
      ? [meta('type', 'website'), meta('title', title), meta('description', description)]
      : []),
    ...(isListed ? [meta('url', baseUrl + path), meta('image', `${baseUrl}/og.png`)] : []),
    ...[...styles, SHOP_STYLES_URL].map((href) => `<link rel="stylesheet" href="${href}">`),
    ...(script === null ? [] : [`<script type="module" src="${script}"></script>`]),
  ].join('\n');
}

import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { escaped } from '../compiler/format/html.ts';
import { isBuilt, noteBuilt, store } from './bundle-notes.ts';

// Renders the documents of this repository for `/docs/` of a shop: one JSON file of HTML and of what the search reads. A
// compile only puts them into pages of the shop.

const OUTPUT = 'build/compiler/page/docs.json';
const NOTES = 'build/compiler/page/docs-sources.json';

/** Name of each page, by section: where a reader begins, then what he does, then where he looks things up. */
const SECTIONS = {
  Start: { start: 'README.md' },
  Buy: {
    cite: 'compiler/client/CITE.md',
    client: 'compiler/client/README.md',
    python: 'compiler/client/python/README.md',
    discovery: 'gatekeeper/DISCOVERY.md',
    baskets: 'gatekeeper/BASKET.md',
    extensions: 'gatekeeper/EXTENSIONS.md',
  },
  Publish: {
    'first-week': 'compiler/FIRST-WEEK.md',
    snapshots: 'snapshots/README.md',
    sources: 'compiler/sources/README.md',
    fetch: 'compiler/sources/fetch/README.md',
    catalog: 'compiler/CATALOG.md',
    gatekeeper: 'gatekeeper/README.md',
    deploy: 'gatekeeper/deploy/README.md',
    wallets: 'gatekeeper/WALLETS.md',
    observing: 'gatekeeper/OBSERVING.md',
    signs: 'gatekeeper/SIGNS.md',
    books: 'gatekeeper/BOOKS.md',
    backup: 'compiler/BACKUP.md',
    keys: 'compiler/KEYS.md',
    upload: 'compiler/publish/upload/README.md',
    postgres: 'gatekeeper/POSTGRES.md',
    costs: 'gatekeeper/COSTS.md',
  },
  Trust: {
    verify: 'compiler/VERIFY.md',
    monitor: 'compiler/MONITOR.md',
    witnesses: 'compiler/WITNESSES.md',
    format: 'compiler/format/FORMAT.md',
    audit: 'compiler/format/AUDIT.md',
    security: 'SECURITY.md',
  },
  Reference: {
    products: 'compiler/format/PRODUCTS.md',
    settings: 'gatekeeper/SETTINGS.md',
    architecture: 'ARCHITECTURE.md',
    changelog: 'CHANGELOG.md',
  },
} as const;

const NAMES = new Map<string, string>(
  Object.values(SECTIONS).flatMap((pages) =>
    Object.entries(pages).map(([name, source]) => [source, name] as const),
  ),
);

/** A part of a page under one heading. */
interface Part {
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

function pageOf(name: string, source: string) {
  const parts: { id: string; heading: string; text: string }[] = [];
  const used = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const heading = plain(tokens);
        const slug = slugOf(heading);
        const count = used.get(slug) ?? 0;
        used.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-${count}`;
        parts.push({ id, heading, text: '' });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${text.split('\n').map(escaped).join('\n')}</code></pre>\n`;
      },
      table(token) {
        const cell = (one: Tokens.TableCell, tag: string): string =>
          `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`;
        const head = token.header.map((one) => cell(one, 'th'));
        const rows = token.rows.map(
          (row) => `<tr>${row.map((one) => cell(one, 'td')).join('')}</tr>\n`,
        );
        const label = escaped(parts.at(-1)?.heading ?? 'Table');
        return `<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const to = targetOf(href, source);
        return to === null ? text : `<a href="${escaped(to)}">${text}</a>`;
      },
      // Pictures of the repository are not part of a release.
      image: ({ text }) => `<em>${escaped(text)}</em>`,
      html: ({ text }) => escaped(text),
    },
  });
  const markdown = readFileSync(source, 'utf8');
  const html = marked.parse(markdown, { async: false });
  return { name, title: parts[0]?.heading ?? name, html, parts: withTexts(parts, html) };
}

/** What stands under each heading, without markup. */
function withTexts(parts: readonly Part[], html: string): Part[] {
  const pieces = html.split(/<h[1-6] id="[^"]*">.*?<\/h[1-6]>/).slice(1);
  return parts.map((part, at) => ({ ...part, text: textOf(pieces[at] ?? '') }));
}

function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(
      /&(amp|lt|gt|quot|#39);/g,
      (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'",
    )
    .replace(/\s+/g, ' ')
    .trim();
}

function plain(tokens: readonly { readonly raw: string }[]): string {
  return tokens
    .map(({ raw }) => raw)
    .join('')
    .replaceAll('`', '');
}

/** As links in the documents spell a heading. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

/** Where a link of a document leads on the site; null for a file that only the repository has. */
function targetOf(href: string, source: string): string | null {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href;
  const [path = '', hash] = href.split('#');
  const file = posix.normalize(posix.join(dirname(source), path));
  const name = NAMES.get(file) ?? NAMES.get(join(file, 'README.md'));
  if (name === undefined) return null;
  return `/docs/${name}${hash === undefined ? '' : `#${hash}`}`;
}

if (!isBuilt(NOTES)) {
  const sections = Object.entries(SECTIONS).map(([title, pages]) => ({
    title,
    pages: Object.entries(pages).map(([name, source]) => pageOf(name, source)),
  }));
  store(OUTPUT, `${JSON.stringify(sections)}\n`);
  noteBuilt(NOTES, [], ['scripts/build-docs.ts', 'package-lock.json', OUTPUT, ...NAMES.keys()]);
}

import MiniSearch from 'minisearch';
import { messageOf } from '../format/errors.ts';
import { shown } from '../products/shapes/say.ts';
import { textAt } from './page-data.ts';
import { el, mount } from './page-parts.ts';

// The program of the documents: words to the part of a page that has them. Without it every page is there all the same.

const DATA_URL = '/site/data/docs.json';
const FOUND_MAX = 8;
const SNIPPET_CHARS = 140;

/** A part of a document under one heading. */
interface DocPart {
  readonly href: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
}

let opened: Promise<MiniSearch<DocPart & { id: number }>> | null = null;

/** Read when somebody begins to search. */
function index() {
  opened ??= textAt(DATA_URL).then((text) => {
    const parts = JSON.parse(text) as DocPart[];
    const made = new MiniSearch<DocPart & { id: number }>({
      fields: ['title', 'page', 'text'],
      storeFields: ['href', 'title', 'page', 'text'],
      searchOptions: {
        boost: { title: 4, page: 2 },
        prefix: true,
        fuzzy: 0.15,
        combineWith: 'AND',
      },
    });
    made.addAll(parts.map((part, id) => ({ ...part, id })));
    return made;
  });
  return opened;
}

start(mount('docs-search'));

function start(place: HTMLElement): void {
  const list = el('ul', { class: 'hits', 'aria-live': 'polite' });
  const input = el('input', {
    type: 'search',
    id: 'docs-find',
    placeholder: 'Search the documents',
    'aria-label': 'Search the documents',
    autocomplete: 'off',
    input: () => void find(input.value, list),
  });
  place.append(input, list);
  place.hidden = false;
}

let asked = 0;

async function find(words: string, list: HTMLElement): Promise<void> {
  asked += 1;
  const own = asked;
  if (words.trim() === '') return list.replaceChildren();
  try {
    const found = (await index()).search(words).slice(0, FOUND_MAX);
    if (own !== asked) return;
    const items = found.map(({ href, title, page, text }) =>
      el(
        'li',
        {},
        el('a', { href: String(href) }, shown(String(title))),
        el(
          'span',
          { class: 'soft' },
          ` ${shown(String(page))}. ${shown(String(text).slice(0, SNIPPET_CHARS))}`,
        ),
      ),
    );
    list.replaceChildren(...(items.length === 0 ? [el('li', {}, 'Nothing found.')] : items));
  } catch (error) {
    if (own === asked) list.replaceChildren(el('li', { class: 'trouble' }, messageOf(error)));
  }
}

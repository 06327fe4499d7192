import { lineUrl } from '../catalog/thing-urls.ts';
import { plainWords, shown } from '../products/shapes/say.ts';
import {
  entityRow,
  findIn,
  findIndex,
  foundUnder,
  type Hit,
  type Hits,
  type PageShop,
  piecesFor,
  type SignalIndex,
} from './page-data.ts';
import {
  el,
  entityLink,
  failureNote,
  freshBadge,
  mount,
  priceText,
  routeLink,
} from './page-parts.ts';
import { routeHash } from './page-route.ts';

export interface Catalogue {
  /** Shows what a query finds, as if it had been typed. */
  find(query: string): void;
}

/** Lets the search of the page find, which the index holds without doing anything. */
export function catalogue(shop: PageShop, index: SignalIndex): Catalogue {
  const box = document.querySelector('.finder');
  const [input, list] = [box?.querySelector('input'), box?.querySelector('ul')];
  if (box == null || input == null || list == null) {
    throw new TypeError('Cannot search: the page has no field');
  }
  const status = mount('find-status');
  const view = { input, status, list };
  input.addEventListener('input', () => {
    history.replaceState(
      null,
      '',
      input.value.trim() === ''
        ? routeHash({ view: 'home' })
        : routeHash({ view: 'find', query: input.value }),
    );
    void search(view, index);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    list.querySelector('a')?.focus();
  });
  list.addEventListener('keydown', (event) => {
    // Arrows move through what was found; above the first one is the field.
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const links: (Element | null)[] = [...list.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement) + step;
    const next = at < 0 ? input : links[at];
    if (next instanceof HTMLElement) next.focus();
  });
  const section = mount('catalogue');
  section.querySelector('h2')?.after(chainList(shop));
  leadToViews(section);
  return {
    find(query) {
      input.value = query;
      void search(view, index);
    },
  };
}

function chainList({ bundles }: PageShop): HTMLElement | string {
  const chains = bundles.map(({ line, title, legs }) =>
    el(
      'li',
      {},
      el('a', { href: lineUrl(line) }, shown(title)),
      ` ${legs.map(({ name }) => plainWords(name)).join(' → ')}`,
    ),
  );
  if (chains.length === 0) return '';
  return el(
    'details',
    {},
    el('summary', {}, `${chains.length} chains in causal order`),
    el('ul', { class: 'hits' }, ...chains),
  );
}

/** The compiled list leads to free JSON; where this program runs, to the same on the page. */
function leadToViews(section: HTMLElement): void {
  for (const link of section.querySelectorAll<HTMLAnchorElement>('a[href^="/gauge/"]')) {
    const { pathname, searchParams } = new URL(link.href);
    const signal = searchParams.get('signal_id');
    if (signal !== null && pathname === '/gauge/catalog') {
      link.href = routeHash({ view: 'signal', signal });
      link.textContent = link.textContent?.replace(', as JSON', '') ?? '';
    }
  }
}

interface FinderView {
  input: HTMLInputElement;
  status: HTMLElement;
  list: HTMLElement;
}

let latest = 0;

async function search(view: FinderView, index: SignalIndex): Promise<void> {
  latest += 1;
  const own = latest;
  const query = view.input.value;
  try {
    // What is measured is known at once; names come with their pieces.
    show(view, query, findIn(query, [], index));
    const { keys } = await findIndex();
    const found = await Promise.all(piecesFor(query, keys, index).map(foundUnder));
    if (own !== latest) return;
    const shown = findIn(query, found, index);
    show(view, query, shown);
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    if (own === latest) {
      const items = [...view.list.children];
      const dated = shown.hits.slice(0, DATED_MAX).map(async ({ signal, entity }, at) => {
        const row = entity === null ? null : await entityRow(signal, entity);
        if (row !== null) items[at]?.append(' · ', freshBadge(signal, row[2]));
      });
      // A list that cannot be read leaves out a colour, no more.
      await Promise.allSettled(dated);
    }
  } catch (error) {
    if (own === latest) view.list.replaceChildren(el('li', {}, failureNote(error)));
  }
}

/** Hits whose freshness is looked up: their times stand in the lists of their signals, which a search need not read. */
const DATED_MAX = 12;
const PAUSE_MS = 250;

function show({ list, status }: FinderView, query: string, { hits, isCut }: Hits): void {
  list.replaceChildren(...hits.map(hitItem));
  status.textContent = query.trim() === '' ? '' : foundText(hits.length, isCut);
}

function foundText(count: number, isCut: boolean): string {
  if (count === 0 && isCut) return 'Very many have one of these words; add a part of an id.';
  if (count === 0) return 'Nothing found. Try fewer letters.';
  return isCut ? `The first ${count} of more; add a word.` : `${count} found.`;
}

function hitItem({ signal, entity, name }: Hit): HTMLElement {
  const { signal_id, title, entities } = signal;
  if (entity === null) {
    const count = `${entities.toLocaleString('en')} ${entities === 1 ? 'entity' : 'entities'}`;
    return el(
      'li',
      {},
      routeLink({ view: 'signal', signal: signal_id }, title),
      ` ${signal.line_title} · ${count}`,
    );
  }
  const record = signal.offers.find(({ path }) => path === '/gauge');
  return el(
    'li',
    {},
    entityLink(signal_id, entity, name),
    ` ${title}${record === undefined ? '' : ` · ${priceText(record.price_usd)}`}`,
  );
}

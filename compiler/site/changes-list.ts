import type { SiteChange, SiteChanges } from '../contract/site.ts';
import { el } from './dom.ts';
import { textAt } from './page-data.ts';
import { entityLink, failureNote } from './page-parts.ts';
import { timeText } from './page-words.ts';

/** Changes that the page lists; the feed has more. */
const LISTED_MAX = 12;

const WORDS: Readonly<Record<SiteChange['change'], string>> = {
  new: 'first reading',
  newer: 'new reading',
  revised: 'revised by its source',
  older: 'its source went back to an older reading',
  gone: 'no longer published here',
};

/** Lists what this release brought, once a reader comes near it. */
export function changesList(section: HTMLElement): void {
  const list = el('ul', { class: 'hits' });
  section.append(list);
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      void fill(list);
    },
    { rootMargin: '400px' },
  );
  observer.observe(section);
}

async function fill(list: HTMLElement): Promise<void> {
  try {
    const { changes } = JSON.parse(await textAt('/changes.json')) as SiteChanges;
    const items = changes.slice(0, LISTED_MAX).map(itemOf);
    list.replaceChildren(
      ...(items.length === 0 ? [el('li', {}, 'Nothing new since the release before.')] : items),
    );
  } catch (error) {
    list.replaceChildren(el('li', {}, failureNote(error)));
  }
}

function itemOf({ change, signal_id, entity, entity_name, observed_at }: SiteChange): HTMLElement {
  const what = ` ${signal_id}, ${timeText(observed_at)}: ${WORDS[change]}`;
  return el('li', {}, entityLink(signal_id, entity, entity_name), what);
}

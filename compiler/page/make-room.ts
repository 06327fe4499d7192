import type { PageRoute } from './page-route.ts';

/** Sections that show one thing at a time, under the address. */
const VIEWS = ['record', 'map', 'bought'] as const;

/** Opens the section of a route, which stays busy until it is filled, and closes the others; null for what home shows. */
export function makeRoom({ view }: PageRoute): (typeof VIEWS)[number] | null {
  const section = view === 'signal' ? 'record' : view === 'map' || view === 'bought' ? view : null;
  document.body.dataset.view = section ?? 'home';
  for (const id of VIEWS) {
    const place = document.getElementById(id);
    if (place === null) continue;
    // At home the map is a part of the page.
    const isHome = section === null && id === 'map' && place.dataset.signal !== undefined;
    place.hidden = id !== section && !isHome;
    if (id !== section) continue;
    place.setAttribute('aria-busy', 'true');
    place.textContent = 'Reading …';
  }
  return section;
}

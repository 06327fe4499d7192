import { chainUrl, lineUrl, recordUrl } from '../catalog/thing-urls.ts';

/** What is on screen, as the part of the address behind `#`. Deep links are promises: a change here breaks bookmarks. */
export type PageRoute =
  | { readonly view: 'home' }
  | { readonly view: 'find'; readonly query: string }
  | { readonly view: 'signal'; readonly signal: string }
  | { readonly view: 'map'; readonly signal: string | null }
  | { readonly view: 'hash'; readonly hash: string }
  | { readonly view: 'bought' };

/** What has a page of its own now, as its old address named it. */
interface Moved {
  readonly view: 'moved';
  readonly url: string;
}

/** Reads `#/airquality.aqi/us-denver`; null for anything else, such as `#prices`, which the browser follows itself. */
export function parseRoute(hash: string): PageRoute | Moved | null {
  if (hash === '' || hash === '#') return { view: 'home' };
  if (!hash.startsWith('#/')) return null;
  const parts = hash
    .slice(2)
    .split('/')
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return null;
      }
    });
  if (parts.some((part) => part === null)) return null;
  const [first = '', second = '', third = ''] = parts as string[];
  if (parts.length > 3) return null;
  switch (first) {
    case '':
      return second === '' ? { view: 'home' } : null;
    case 'find':
      return { view: 'find', query: second };
    case 'map':
      return { view: 'map', signal: second || null };
    case 'bundle':
      if (second === '') return null;
      return movedTo(() => (third === '' ? lineUrl(second) : chainUrl(second, third)));
    case 'hash':
      return second === '' ? null : { view: 'hash', hash: second };
    case 'bought':
      return second === '' ? { view: 'bought' } : null;
    default:
      // Ids of signals have a dot, so they never meet the words above.
      if (!first.includes('.')) return null;
      return second === ''
        ? { view: 'signal', signal: first }
        : movedTo(() => recordUrl(first, second));
  }
}

/** Null for a name that no address can hold. */
function movedTo(url: () => string): Moved | null {
  try {
    return { view: 'moved', url: url() };
  } catch {
    return null;
  }
}

export function routeHash(route: PageRoute): string {
  return `#/${partsOf(route).map(encodeURIComponent).join('/')}`;
}

function partsOf(route: PageRoute): string[] {
  switch (route.view) {
    case 'home':
      return [];
    case 'find':
      return ['find', route.query];
    case 'signal':
      return [route.signal];
    case 'map':
      return ['map', ...(route.signal === null ? [] : [route.signal])];
    case 'hash':
      return ['hash', route.hash];
    case 'bought':
      return ['bought'];
  }
}

/** What is on screen, as the part of the address behind `#`. Deep links are promises: a change here breaks bookmarks. */
export type PageRoute =
  | { readonly view: 'home' }
  | { readonly view: 'find'; readonly query: string }
  | { readonly view: 'signal'; readonly signal: string }
  | { readonly view: 'record'; readonly signal: string; readonly entity: string }
  | { readonly view: 'map'; readonly signal: string | null }
  | { readonly view: 'bundle'; readonly line: string; readonly subject: string | null }
  | { readonly view: 'hash'; readonly hash: string }
  | { readonly view: 'bought' };

/** Reads `#/airquality.aqi/us-denver`; null for anything else, such as `#prices`, which the browser follows itself. */
export function parseRoute(hash: string): PageRoute | null {
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
      return second === '' ? null : { view: 'bundle', line: second, subject: third || null };
    case 'hash':
      return second === '' ? null : { view: 'hash', hash: second };
    case 'bought':
      return second === '' ? { view: 'bought' } : null;
    default:
      // Ids of signals have a dot, so they never meet the words above.
      if (!first.includes('.')) return null;
      return second === ''
        ? { view: 'signal', signal: first }
        : { view: 'record', signal: first, entity: second };
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
    case 'record':
      return [route.signal, route.entity];
    case 'map':
      return ['map', ...(route.signal === null ? [] : [route.signal])];
    case 'bundle':
      return ['bundle', route.line, ...(route.subject === null ? [] : [route.subject])];
    case 'hash':
      return ['hash', route.hash];
    case 'bought':
      return ['bought'];
  }
}

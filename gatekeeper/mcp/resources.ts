import { FORMAT_URL } from '../../compiler/contract/static-files.ts';
import { SEARCH_OPERATION } from '../../compiler/contract/tools.ts';
import type { Shop } from './call-tool.ts';

/** A document that a client may read; `path` is the plain GET that answers it. */
interface Resource {
  name: string;
  description: string;
  mimeType: string;
  path: string;
}

/** What a stranger reads before buying; each is offered where the shop has it. */
const RESOURCES: readonly Resource[] = [
  {
    name: 'guide',
    description: 'What is sold, how to ask, pay and verify, for agents',
    mimeType: 'text/plain',
    path: '/llms.txt',
  },
  {
    name: 'catalogue',
    description: 'Signals with their entities, a page at a time',
    mimeType: 'application/json',
    path: '/gauge/catalog',
  },
  {
    name: 'prices',
    description: 'Price and parameters of every operation that sells now',
    mimeType: 'application/json',
    path: '/gauge/preview',
  },
  {
    name: 'terms',
    description: 'Ways to pay: networks, asset, payee, subscription',
    mimeType: 'application/json',
    path: '/gauge/channels',
  },
  {
    name: 'format',
    description: 'How bodies are hashed, signed and logged: verify one without this service',
    mimeType: 'text/markdown',
    path: FORMAT_URL,
  },
];

/** What a client is shown: the members of `resources/list`. */
export function resourceList(shop: Shop): object {
  const listed = offered(shop).map(({ path, ...rest }) => ({ uri: shop.baseUrl + path, ...rest }));
  return { resources: listed };
}

/** The addresses that words are put into: the members of `resources/templates/list`. */
export function resourceTemplates({ baseUrl, catalog }: Shop): object {
  if (!catalog.operationByPath.has(SEARCH_OPERATION)) return { resourceTemplates: [] };
  const search = {
    uriTemplate: `${baseUrl}${SEARCH_OPERATION}{?q}`,
    name: 'search',
    description: 'Words in, ids, prices and requests out',
    mimeType: 'application/json',
  };
  return { resourceTemplates: [search] };
}

/** The members of `resources/read`; null for an address that is not listed. */
export async function readResource(uri: string, shop: Shop): Promise<object | null> {
  const path = uri.startsWith(`${shop.baseUrl}/`) ? uri.slice(shop.baseUrl.length) : null;
  const mimeType = path === null ? null : mimeTypeOf(path, shop);
  if (path === null || mimeType === null) return null;
  const reply = await shop.ask(path);
  return reply.status === 200
    ? { contents: [{ uri, mimeType, text: reply.body.toString() }] }
    : null;
}

function offered({ catalog, hasFile }: Shop): readonly Resource[] {
  return RESOURCES.filter(({ path }) => catalog.operationByPath.has(path) || hasFile(path));
}

function mimeTypeOf(path: string, shop: Shop): string | null {
  if (path.startsWith(`${SEARCH_OPERATION}?`)) return 'application/json';
  // Of a list that has pages each page may be read.
  const [bare] = path.split('?');
  const isPaged = bare === '/gauge/catalog';
  const found = offered(shop).find((one) => one.path === path || (isPaged && one.path === bare));
  return found?.mimeType ?? null;
}

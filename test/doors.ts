import { expect } from 'vitest';
import { BUILTIN } from '../compiler/catalog/builtin.ts';
import type { ManifestEntry } from '../compiler/describe/manifest.ts';
import { atomicAmount } from '../compiler/products/shapes/price.ts';
import type { Endpoint } from '../compiler/products/shapes/product.ts';
import type { RequirementsV1 } from '../gatekeeper/settle/payment.ts';
import {
  keyOf,
  type Listed,
  llmsShown,
  openApiShown,
  paramNames,
  type Shown,
  skillsShown,
} from './projections.ts';

const ROWS: readonly Endpoint[] = BUILTIN.operations;

/** A service as its descriptions are read from outside. */
export interface Doors {
  /** Where it listens. */
  readonly url: string;
  /** The address that was compiled in. */
  readonly baseUrl: string;
  /** Entries of `/manifest?all=1` by `METHOD path`. */
  readonly entries: ReadonlyMap<string, ManifestEntry>;
}

export async function openDoors(url: string, baseUrl: string): Promise<Doors> {
  const listed = await json<{ entries: ManifestEntry[] }>(url, '/manifest?all=1');
  return { url, baseUrl, entries: new Map(listed.entries.map((entry) => [keyOf(entry), entry])) };
}

export async function json<T>(url: string, target: string): Promise<T> {
  return (await (await fetch(url + target)).json()) as T;
}

/** Example requests by operation, as the manifest names them; every other description must name the same. */
export function examplesOf({ entries }: Doors): ReadonlyMap<string, string> {
  return new Map([...entries].map(([key, entry]) => [key, entry.input_example_request]));
}

/** What a description says, by `METHOD path`. */
type Projection = Promise<ReadonlyMap<string, Shown>>;

/** Every description of operations, and which of those that are for sale belong into it. */
export const DOORS: Readonly<
  Record<string, { belongs(row: Endpoint): boolean; read(doors: Doors): Projection }>
> = {
  '/manifest': {
    belongs: () => true,
    async read({ url }) {
      return manifestShown((await json<{ entries: ManifestEntry[] }>(url, '/manifest')).entries);
    },
  },
  '/openapi.json': {
    belongs: () => true,
    async read(doors) {
      const { paths } = await json<{ paths: never }>(doors.url, '/openapi.json');
      return openApiShown(paths, examplesOf(doors));
    },
  },
  '/llms.txt': {
    belongs: () => true,
    async read({ url, baseUrl }) {
      return llmsShown(await (await fetch(`${url}/llms.txt`)).text(), baseUrl);
    },
  },
  '/llms-full.txt': {
    belongs: () => true,
    async read({ url, baseUrl }) {
      return llmsShown(await (await fetch(`${url}/llms-full.txt`)).text(), baseUrl);
    },
  },
  '/.well-known/agent-card.json': { belongs: isPaid, read: card('/.well-known/agent-card.json') },
  '/.well-known/agent.json': { belongs: isPaid, read: card('/.well-known/agent.json') },
  '/manifest?platform=a2a': { belongs: isPaid, read: card('/manifest?platform=a2a') },
  '/.well-known/x402': { belongs: isPaid, read: paymentManifestShown },
  'the menu of /gauge/preview': { belongs: isPaid, read: menuShown },
  'the 402': { belongs: isPaid, read: challengesShown },
};

export function isPaid({ priceUsd }: Endpoint): boolean {
  return priceUsd !== null;
}

export function manifestShown(listed: Iterable<ManifestEntry>): Map<string, Shown> {
  const shown = [...listed].map((entry): [string, Shown] => [
    keyOf(entry),
    {
      price: entry.price_atomic,
      params: paramNames(entry.params),
      example: entry.input_example_request,
    },
  ]);
  return new Map(shown);
}

function card(path: string): (doors: Doors) => Projection {
  return async ({ url, baseUrl }) => {
    const { skills } = await json<{ skills: [] }>(url, path);
    return skillsShown(skills, baseUrl);
  };
}

interface Item {
  readonly resource: string;
  readonly method: string;
  readonly price_usd: string;
  readonly input_example_request: string;
}

async function paymentManifestShown({ url, baseUrl }: Doors): Projection {
  const { items, resources } = await json<{ items: Item[]; resources: string[] }>(
    url,
    '/.well-known/x402',
  );
  expect(resources).toEqual(items.map(({ resource }) => resource));
  // A basket is sold at no price of its own.
  const priced = items.filter(({ method }) => method === 'GET');
  const shown = priced.map(({ resource, price_usd, ...item }): [string, Shown] => {
    const example = item.input_example_request;
    return [`GET ${resource.slice(baseUrl.length)}`, { price: atomicAmount(price_usd), example }];
  });
  return new Map(shown);
}

async function menuShown({ url }: Doors): Projection {
  const { prices } = await json<{ prices: { path: string; price_atomic: string }[] }>(
    url,
    '/gauge/preview',
  );
  return new Map(prices.map(({ path, price_atomic: price }) => [`GET ${path}`, { price }]));
}

/** Challenges that show a request, as discovery lists them; the price question of an empty row shows none. */
async function challengesShown({ url }: Doors): Projection {
  const shown = ROWS.filter(isPaid).map(async (row): Promise<[string, Shown][]> => {
    const response = await fetch(url + row.path);
    if (response.status !== 402) return [];
    const { accepts } = (await response.json()) as { accepts: [RequirementsV1] };
    const [terms] = accepts;
    const { input } = terms.outputSchema as { input: { discoverable: boolean } };
    if (!input.discoverable) return [];
    return [[keyOf(row), { price: terms.maxAmountRequired, params: asked(terms) }]];
  });
  return new Map((await Promise.all(shown)).flat());
}

/** Parameters that a challenge names. */
function asked({ outputSchema }: RequirementsV1): string[] {
  return paramNames((outputSchema as { input: { queryParams: Listed } }).input.queryParams);
}

/** Answers that name other requests: descriptions, lists, previews, and one refusal of each kind for each operation. */
export async function linksOf({ url, baseUrl, entries }: Doors): Promise<ReadonlySet<string>> {
  const listed = [...entries.values()].map((entry) => entry.input_example_request);
  const bare = ROWS.map(({ path }) => path).filter((path) => !path.includes(':'));
  const pages = [...new Set([...listed, ...bare, ...bare.map((path) => `${path}?x=1`), ...MORE])];
  const links = new Set<string>();
  for (const page of pages) {
    const text = await (await fetch(url + page)).text();
    for (const link of linksIn(text, baseUrl)) links.add(link);
  }
  return links;
}

const MORE = [
  '/llms.txt',
  '/llms-full.txt',
  '/.well-known/api-catalog',
  '/.well-known/mcp/server-card.json',
  '/server.json',
  '/openapi.json',
  '/manifest?all=1',
  '/manifest?platform=a2a',
  '/nowhere',
];

/** Whole paths and URLs of this service, alone in a text or behind `GET`; templates and usages are none. */
function linksIn(text: string, baseUrl: string): string[] {
  const strings = text.startsWith('{') ? leafTexts(JSON.parse(text)) : text.split(/[\s()]+/);
  return strings.flatMap((each) => {
    const named = /GET (\/\S+)/.exec(each)?.[1] ?? each;
    const whole = named.startsWith(`${baseUrl}/`) ? named.slice(baseUrl.length) : named;
    const path = whole.replace(/[.,;:`]+$/, '');
    const isLink = /^\/[a-z.][^\s<>"']*$/i.test(path) && !/\/:|\{/.test(path);
    return isLink ? [path] : [];
  });
}

function leafTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(leafTexts);
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { canonicalRequest, describedParams, route } from '../../../compiler/catalog/route.ts';
import { toolsOf } from '../../../compiler/catalog/tools.ts';
import type { ManifestEntry } from '../../../compiler/describe/manifest.ts';
import { canonicalTarget, filePath } from '../../../compiler/products/shapes/path.ts';
import { atomicAmount } from '../../../compiler/products/shapes/price.ts';
import {
  type Endpoint,
  type Params,
  requestForModel,
} from '../../../compiler/products/shapes/product.ts';
import type { RequirementsV1 } from '../../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { OPERATIONS, WITHOUT_DATA } from '../../conformance-table.ts';
import { type SampleSettings, sampleGate, sampleToken } from '../../gate.ts';
import { type CompiledSample, compiledSample } from '../../shop.ts';
import { smallSet } from '../../small-set.ts';
import { compileFolder, readJson, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';

const ROWS: readonly Endpoint[] = BUILTIN.operations;

/** A service as its descriptions are read from outside. */
interface Doors {
  /** Where it listens. */
  readonly url: string;
  /** The address that was compiled in. */
  readonly baseUrl: string;
  /** Entries of `/manifest?all=1` by `METHOD path`. */
  readonly entries: ReadonlyMap<string, ManifestEntry>;
}

async function openDoors(url: string, baseUrl: string): Promise<Doors> {
  const listed = await json<{ entries: ManifestEntry[] }>(url, '/manifest?all=1');
  return { url, baseUrl, entries: new Map(listed.entries.map((entry) => [keyOf(entry), entry])) };
}

async function json<T>(url: string, target: string): Promise<T> {
  return (await (await fetch(url + target)).json()) as T;
}

/** Example requests by operation, as the manifest names them; every other description must name the same. */
function examplesOf({ entries }: Doors): ReadonlyMap<string, string> {
  return new Map([...entries].map(([key, entry]) => [key, entry.input_example_request]));
}

/** What a description says, by `METHOD path`. */
type Projection = Promise<ReadonlyMap<string, Shown>>;

/** Every description of operations, and which of those that are for sale belong into it. */
const DOORS: Readonly<
  Record<
    string,
    { belongs(row: Endpoint): boolean; isForModel?: boolean; read(doors: Doors): Projection }
  >
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
    isForModel: true,
    async read({ url, baseUrl }) {
      return llmsShown(await (await fetch(`${url}/llms.txt`)).text(), baseUrl);
    },
  },
  '/llms-full.txt': {
    belongs: () => true,
    isForModel: true,
    async read({ url, baseUrl }) {
      return llmsShown(await (await fetch(`${url}/llms-full.txt`)).text(), baseUrl);
    },
  },
  '/.well-known/agent-card.json': {
    belongs: isPaid,
    isForModel: true,
    read: card('/.well-known/agent-card.json'),
  },
  '/.well-known/agent.json': {
    belongs: isPaid,
    isForModel: true,
    read: card('/.well-known/agent.json'),
  },
  '/manifest?platform=a2a': {
    belongs: isPaid,
    isForModel: true,
    read: card('/manifest?platform=a2a'),
  },
  '/.well-known/x402': { belongs: isPaid, read: paymentManifestShown },
  'the menu of /gauge/preview': { belongs: isPaid, read: menuShown },
  'the 402': { belongs: isPaid, read: challengesShown },
};

function isPaid({ priceUsd }: Endpoint): boolean {
  return priceUsd !== null;
}

function manifestShown(listed: Iterable<ManifestEntry>): Map<string, Shown> {
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
async function linksOf({ url, baseUrl, entries }: Doors): Promise<ReadonlySet<string>> {
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

const KEPT = ROWS.filter((row) => row.answer !== 'gone');
const TOKENS = [
  '/gauge/subscribe',
  /** What only a token secret opens, written down here and not asked of the code. */
  '/gauge/watch',
  '/gauge/watch-changes',
  '/gauge/manifest-sweep',
];

/** A page of memory: what many proxies give to all headers of an answer. */
const HEADER_BYTES_MAX = 4096;
/** What describes the service as a whole, written down here and not asked of the code. */
const LINKED = [
  '/openapi.json',
  '/docs',
  '/llms.txt',
  '/llms-full.txt',
  '/.well-known/api-catalog',
  '/.well-known/mcp/server-card.json',
];

let sample: CompiledSample;
let small: string;
/** The same without subscriptions. */
let plain: string;
beforeAll(async () => {
  sample = await compiledSample();
  const snapshots = writeSnapshots(smallSet());
  // No source of the set stands at the address of the service.
  const baseUrl = 'https://doors.example';
  ({ data: small } = await compileFolder(snapshots, { baseUrl }));
  ({ data: plain } = await compileFolder(snapshots, { baseUrl, subscriptions: false }));
});
afterAll(removeFolders);

/** Each choice of an operator taken and left, and a release that lacks rosters, filings and documents. */
const CONFIGURATIONS: readonly (readonly [
  string,
  SampleSettings & { isSmall: boolean; tokens: boolean; receipts: boolean },
])[] = [
  ['everything on', { tokens: true, receipts: true, isSmall: false }],
  ['no payment processor', { tokens: true, receipts: false, isSmall: false }],
  ['little stored', { tokens: true, receipts: true, isSmall: true }],
  ['little stored, no subscriptions', { tokens: false, receipts: true, isSmall: true }],
];

describe.each(CONFIGURATIONS)('I57: with %s', (_, settings) => {
  let gate: Gatekeeper;
  let doors: Doors;
  const entryOf = (row: Endpoint) => doors.entries.get(keyOf(row));
  const sellsNow = (row: Endpoint): boolean => entryOf(row)?.sells_now === true;
  const isOffered = ({ path }: Endpoint): boolean => settings.tokens || !TOKENS.includes(path);

  beforeAll(async () => {
    const little = settings.tokens ? small : plain;
    const data = settings.isSmall ? little : sample.data;
    gate = await sampleGate(data, settings);
    doors = await openDoors(gate.url, readJson(`${data}/current`, 'release.json').base_url);
  });
  afterAll(() => gate.close());

  it('/manifest?all=1 has everything but what the operator left out', () => {
    const belongs = (row: Endpoint): boolean => KEPT.includes(row) && isOffered(row);
    const projection = { name: 'all', belongs, shown: manifestShown(doors.entries.values()) };
    expect(gaps(ROWS, projection, examplesOf(doors))).toEqual([]);
    expect(doors.entries.size).toBe(KEPT.filter(isOffered).length);
  });

  it('what sells now is what answers', async () => {
    for (const row of KEPT.filter(isOffered).filter(sellsNow)) {
      const example = entryOf(row)?.input_example_request ?? '';
      const wanted = isPaid(row) || row.answer === 'basket' ? 402 : 200;
      expect([example, await ask(row, example)]).toEqual([example, wanted]);
    }
  });

  it('what does not sell has no answer: a price question needs no data, anything else is refused', async () => {
    const empty = KEPT.filter((row) => isOffered(row) && !sellsNow(row));
    for (const row of empty) {
      const query = OPERATIONS.find(({ path }) => path === row.path)?.valid || 'proof=1';
      expect([row.path, await ask(row, row.path)]).toEqual([row.path, isPaid(row) ? 402 : 422]);
      expect([row.path, await ask(row, `${row.path}?${query}`)]).toEqual([row.path, 422]);
    }
    const known = settings.isSmall ? empty.map(({ path }) => path) : Object.keys(WITHOUT_DATA);
    expect(empty.map(({ path }) => path)).toEqual(known);
    for (const path of TOKENS.filter(() => !settings.tokens)) {
      expect([path, (await fetch(gate.url + path)).status]).toEqual([path, 501]);
    }
  });

  it('every 422 names a request that answers, and a list that is there', async () => {
    const refused = OPERATIONS.flatMap(({ path, missing, illegal, none }) => {
      const queries = [missing?.[0] ?? null, illegal, none, 'x=1'].filter((one) => one !== null);
      return queries.map((query) => `${path}?${query}`);
    });
    let seen = 0;
    const [examples, previews] = [new Set<string>(), new Set<string>()];
    for (const target of refused) {
      const response = await fetch(gate.url + target, { headers: bearer() });
      if (response.status !== 422) continue;
      seen += 1;
      const body = (await response.json()) as { example_request: string; preview: string };
      examples.add(body.example_request);
      previews.add(body.preview);
    }
    expect(seen).toBeGreaterThan(60);
    for (const example of examples) {
      const { status } = await fetch(gate.url + example, { headers: bearer() });
      expect([example, [200, 402].includes(status)]).toEqual([example, true]);
    }
    for (const preview of previews) {
      expect([preview, (await fetch(gate.url + preview)).status]).toEqual([preview, 200]);
    }
  });

  const bearer = (): Record<string, string> => ({ authorization: `Bearer ${sampleToken()}` });

  async function ask(row: Endpoint, target: string): Promise<number> {
    const body = OPERATIONS.find(({ path }) => path === row.path)?.body;
    const headers = {
      ...(row.token ? bearer() : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const init = { method: row.method, headers, ...(body === undefined ? {} : { body }) };
    return (await fetch(gate.url + target, init)).status;
  }

  it.each(Object.keys(DOORS))(
    '%s names what sells now, and tells it as the table does',
    async (name) => {
      const door = DOORS[name];
      const shown = (await door?.read(doors)) ?? new Map<string, Shown>();
      const belongs = (row: Endpoint): boolean => sellsNow(row) && door?.belongs(row) === true;
      expect(shown.size).toBeGreaterThan(5);
      const projection = { name, belongs, shown, isForModel: door?.isForModel === true };
      expect(gaps(ROWS, projection, examplesOf(doors))).toEqual([]);
    },
  );

  it('whoever sends every example of OpenAPI sends a request that answers', async () => {
    type Sent = { name: string; in: string; example?: string | number };
    const { paths } = await json<{ paths: Record<string, Record<string, { parameters: Sent[] }>> }>(
      gate.url,
      '/openapi.json',
    );
    for (const row of KEPT.filter(isPaid).filter(sellsNow)) {
      const sent = paths[row.path]?.get?.parameters.filter(({ name }) => name !== 'event_class');
      const query = new URLSearchParams();
      for (const { name, example } of sent ?? []) query.set(name, String(example));
      const target = `${row.path}?${query}`;
      expect([target, (await fetch(gate.url + target)).status]).toEqual([target, 402]);
    }
  });

  it('all counts are equal', async () => {
    const { counts, prices } = await json<Counted>(gate.url, '/gauge/preview');
    const { count } = await json<{ count: number }>(gate.url, '/manifest');
    const { items } = await json<{ items: { method: string }[] }>(gate.url, '/.well-known/x402');
    const resources = items.filter(({ method }) => method === 'GET');
    const { skills } = await json<{ skills: [] }>(gate.url, '/.well-known/agent-card.json');
    const sold = KEPT.filter(sellsNow);
    const token = sold.filter((row) => row.token).length;
    expect(counts).toMatchObject({
      endpoints: count,
      paid_endpoints: resources.length,
      token_endpoints: token,
      free_endpoints: count - resources.length - token,
    });
    expect([count, prices.length, skills.length]).toEqual([
      sold.length,
      resources.length,
      resources.length,
    ]);
    const { totals } = await json<{ totals: object }>(gate.url, '/gauge/coverage?summary=1');
    const catalog = await json<Catalog>(gate.url, '/gauge/catalog?all=1');
    const { signal_ids, industries, distinct_entities, pairs } = counts;
    expect(totals).toMatchObject({ signal_ids, industries, distinct_entities });
    expect(catalog).toMatchObject({ total_signals: signal_ids, total_pairs: pairs });
  });

  it('no door names a link that does not answer', async () => {
    const links = await linksOf(doors);
    expect(links.size).toBeGreaterThan(100);
    const dead: [string, number][] = [];
    for (const link of links) {
      const { status } = await fetch(gate.url + link);
      if ([404, 410, 501].includes(status) || status >= 500) dead.push([link, status]);
    }
    expect(dead).toEqual([]);
  });

  it('the channels explain what is configured, and nothing else', async () => {
    const { subscription, fiat } = await json<Record<string, object>>(gate.url, '/gauge/channels');
    expect('path' in (subscription ?? {})).toBe(settings.tokens);
    expect('how_to' in (fiat ?? {})).toBe(settings.receipts);
  });

  it('nothing speaks of subscriptions where none are sold', async () => {
    const named = [...Object.keys(DOORS).filter((name) => name.startsWith('/')), '/manifest?all=1'];
    for (const name of named) {
      const text = await (await fetch(gate.url + name)).text();
      expect([name, /gauge\/(subscribe|watch|manifest-sweep)/.test(text)]).toEqual([
        name,
        settings.tokens,
      ]);
    }
  });

  it('every file that describes the service is in the catalogue of APIs, and answers with its type', async () => {
    const [api] = (
      await json<{ linkset: [Record<string, { href: string; type: string }[]>] }>(
        gate.url,
        '/.well-known/api-catalog',
      )
    ).linkset;
    const linked = Object.values(api).filter(Array.isArray).flat();
    expect(linked.map(({ href }) => href.slice(doors.baseUrl.length))).toEqual(
      expect.arrayContaining(LINKED.filter((path) => path !== '/.well-known/api-catalog')),
    );
    for (const { href, type } of linked) {
      const answer = await fetch(gate.url + href.slice(doors.baseUrl.length));
      // The tool server takes a POST alone.
      const status = href.endsWith('/mcp') ? 405 : 200;
      expect([href, answer.status, answer.headers.get('content-type')]).toEqual([
        href,
        status,
        type,
      ]);
    }
  });

  it('where a reader starts, the answer leads to what describes the service', async () => {
    for (const path of ['/', ...LINKED]) {
      for (const method of ['GET', 'HEAD']) {
        const link = (await fetch(gate.url + path, { method })).headers.get('link') ?? '';
        expect([path, link.split(', ').length]).toEqual([path, 5]);
        expect(link).toContain('/.well-known/api-catalog>; rel="api-catalog"');
        expect(link).toContain('/openapi.json>; rel="service-desc"');
      }
    }
    const quoted = (await fetch(`${gate.url}/gauge`)).headers.get('link');
    expect(quoted).toMatch(/^<[^<]+\/\.well-known\/api-catalog>; rel="api-catalog"$/);
    expect((await fetch(`${gate.url}/robots.txt`)).headers.get('link')).toBeNull();
  });

  it('the headers of a challenge fit what proxies take by default, all together', async () => {
    for (const row of KEPT.filter(isOffered).filter(isPaid).filter(sellsNow)) {
      const path = entryOf(row)?.input_example_request ?? '';
      const { status, headers } = await fetch(gate.url + path);
      const bytes = [...headers].reduce(
        (sum, [name, value]) => sum + name.length + value.length + 4,
        0,
      );
      expect([path, status, bytes < HEADER_BYTES_MAX]).toEqual([path, 402, true]);
    }
  });

  it('the card of the tool server is the same beside it, and names it', async () => {
    const card = await json<{ remotes: [{ url: string }] }>(gate.url, '/mcp/server-card');
    expect(await json(gate.url, '/.well-known/mcp/server-card.json')).toEqual(card);
    const { remotes } = await json<{ remotes: object[] }>(gate.url, '/server.json');
    expect(remotes).toEqual(card.remotes);
    expect(card.remotes[0].url).toBe(`${doors.baseUrl}/mcp`);
  });

  it('keys and log are named where a reader looks', async () => {
    for (const door of [
      '/manifest',
      '/llms.txt',
      '/openapi.json',
      '/.well-known/agent-card.json',
    ]) {
      const text = await (await fetch(gate.url + door)).text();
      for (const path of ['/.well-known/keys.json', '/log/checkpoint']) {
        expect([door, path, text.includes(path)]).toEqual([door, path, true]);
        expect((await fetch(gate.url + path)).status).toBe(200);
      }
    }
  });
});

interface Counted {
  readonly counts: Readonly<Record<string, number>>;
  readonly prices: readonly object[];
}
interface Catalog {
  readonly signals: readonly {
    readonly signal_id: string;
    readonly sells: readonly string[];
    readonly sells_now?: boolean;
    readonly entities: readonly { readonly entity: string }[];
  }[];
}

describe('every row of the table', () => {
  it.each(KEPT.filter((row) => row.file !== undefined))(
    '$path has a file exactly where it sells now',
    (row) => {
      const { entries } = readJson(sample.folder, 'all/well-known/manifest.json');
      const entry = entries.find((each: { path: string }) => each.path === row.path);
      const request = canonicalRequest(entry.input_example_request);
      const found = 'status' in request ? undefined : route(request, BUILTIN);
      expect(found?.endpoint.path).toBe(row.path);
      const path = filePath(row, found?.values ?? {});
      expect(sample.paths.includes(path ?? '')).toBe(entry.sells_now);
    },
  );
});

describe.each(['the sample', 'a small set'])('the catalog of %s', (name) => {
  let gate: Gatekeeper;
  beforeAll(async () => {
    gate = await sampleGate(name === 'the sample' ? sample.data : small);
  });
  afterAll(() => gate.close());

  /** Asks until one has a price. */
  async function isAnySold(targets: readonly string[]): Promise<boolean> {
    for (const target of targets) {
      if ((await fetch(gate.url + target)).status === 402) return true;
    }
    return false;
  }

  it('the catalog says of each signal what is sold for it', async () => {
    const { signals } = await json<Catalog>(gate.url, '/gauge/catalog?all=1');
    const coverage = await json<Catalog>(gate.url, '/gauge/coverage');
    const selling = coverage.signals.filter(({ sells_now }) => sells_now);
    expect(new Set(signals.map(({ signal_id }) => signal_id))).toEqual(
      new Set(selling.map(({ signal_id }) => signal_id)),
    );
    const pairs = [
      '/gauge',
      '/gauge/ruler',
      '/gauge/calibrated',
      '/gauge/strata',
      '/gauge/history',
    ];
    for (const { signal_id, entities, sells } of signals) {
      expect(sells).toContain('/gauge');
      for (const path of pairs) {
        const targets = entities.map(
          ({ entity }) => `${path}?${new URLSearchParams({ signal_id, entity })}`,
        );
        const sold = await isAnySold(targets);
        expect([signal_id, path, sells.includes(path)]).toEqual([signal_id, path, sold]);
      }
    }
  });
});

describe('the tools', () => {
  let gate: Gatekeeper;
  beforeAll(async () => {
    gate = await sampleGate(sample.data);
  });
  afterAll(() => gate.close());

  /** Which row a tool asks: its arguments are parameters of that row, its answer the one of that URL. */
  const ROW_OF = {
    search: '/gauge/search',
    quote: null,
    verify_citation: '/gauge/verify',
    find_signal: '/gauge/coverage',
    get_official_record: '/gauge',
  } as const;

  async function rpc<T>(method: string, params: object): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${gate.url}/mcp`, { method: 'POST', headers, body });
    return ((await response.json()) as { result: T }).result;
  }

  it('are the same in the table, in tools/list and in /manifest?platform=mcp', async () => {
    const { tools } = await rpc<{ tools: object[] }>('tools/list', {});
    expect(tools).toEqual(JSON.parse(JSON.stringify(toolsOf(BUILTIN))));
    expect(await json(gate.url, '/manifest?platform=mcp')).toEqual({ tools });
    expect(toolsOf(BUILTIN).map((tool) => tool.name)).toEqual(Object.keys(ROW_OF));
  });

  it.each(toolsOf(BUILTIN))('$name takes parameters of its row', ({ name, inputSchema }) => {
    if (ROW_OF[name] === null) return;
    const row = ROWS.find(({ path }) => path === ROW_OF[name]);
    const legal = Object.entries(row?.params ?? {}).flatMap(([param, { aliases = [] }]) => [
      param,
      ...aliases,
    ]);
    // `query` is the `q` of the search.
    const compact = { find_signal: ['full', 'query'], search: ['query'] }[name as string] ?? [];
    const given = Object.keys(inputSchema.properties);
    expect(given.filter((each) => ![...legal, ...compact].includes(each))).toEqual([]);
  });

  it('get_official_record answers the price of the table', async () => {
    const params = { signal_id: 'airquality.aqi', entity: 'us-denver' };
    const called = await rpc<{ structuredContent: { accepts: [RequirementsV1] } }>('tools/call', {
      name: 'get_official_record',
      arguments: params,
    });
    const [terms] = called.structuredContent.accepts;
    expect(terms.maxAmountRequired).toBe(atomicAmount(builtinOperation('/gauge').priceUsd ?? ''));
  });
});

describe('gaps()', () => {
  const row: Endpoint = builtinOperation('/gauge');
  const shown = {
    price: atomicAmount(row.priceUsd ?? ''),
    params: ['signal_id!', 'entity!', 'issuer', 'dim', 'format'],
  };
  const of = (told: [string, Shown][]): string[] =>
    gaps([row], { name: 'here', belongs: isPaid, shown: new Map(told) }, new Map());

  it('finds nothing where a description tells what the table tells', () => {
    expect(of([[keyOf(row), shown]])).toEqual([]);
  });

  it('names what is missing, what is added, and each member that differs', () => {
    expect(of([])).toEqual(['here: GET /gauge is missing']);
    const more: [string, Shown] = ['GET /nowhere', shown];
    expect(of([[keyOf(row), shown], more])).toEqual(['here: GET /nowhere does not belong there']);
    const other = { price: '1', params: ['signal_id!'], example: '/gauge?x=1' };
    expect(of([[keyOf(row), other]])).toHaveLength(3);
  });
});

/** What one description says of an operation; a member is left out where its format has no place for it. */
interface Shown {
  /** Atomic units, '0' for free. */
  readonly price?: string;
  /** `name!` for one that is required, `name` for any other, in order. */
  readonly params?: readonly string[];
  /** Target of the example, without the address. */
  readonly example?: string;
}

/** One description of the service, read back into the words of the table. */
interface ProjectionRow {
  readonly name: string;
  belongs(row: Endpoint): boolean;
  /** By `METHOD path`. */
  readonly shown: ReadonlyMap<string, Shown>;
  /** Whether a model reads it, and sends the examples as they stand. */
  readonly isForModel?: boolean;
}

const keyOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;

/** Everything that a description leaves out, adds, or says otherwise than the table; `examples` are by the same keys. */
function gaps(
  rows: readonly Endpoint[],
  { name, belongs, shown, isForModel }: ProjectionRow,
  examples: ReadonlyMap<string, string>,
): string[] {
  const wanted = new Map(rows.filter(belongs).map((row) => [keyOf(row), row]));
  const extra = [...shown.keys()].filter((key) => !wanted.has(key));
  const found = [...wanted].flatMap(([key, row]) => {
    const reported = shown.get(key);
    if (reported === undefined) return [`${name}: ${key} is missing`];
    const table: Required<Shown> = {
      price: atomicAmount(row.priceUsd ?? '0'),
      params: paramNames(describedParams(row)),
      example:
        isForModel === true
          ? requestForModel(row, examples.get(key) ?? '')
          : (examples.get(key) ?? ''),
    };
    return (Object.keys(reported) as (keyof Shown)[])
      .filter((member) => String(reported[member]) !== String(table[member]))
      .map((member) => `${name}: ${key} has ${member} ${reported[member]}, not ${table[member]}`);
  });
  return [...extra.map((key) => `${name}: ${key} does not belong there`), ...found];
}

/** Parameters as challenges and OpenAPI list them. */
type Listed = Readonly<Record<string, { readonly required?: boolean }>>;

/** Parameters as `Shown` spells them. */
function paramNames(params: Params | Listed): string[] {
  return Object.entries(params).map(([name, { required }]) => name + (required ? '!' : ''));
}

interface OpenApiParameter {
  readonly name: string;
  readonly required: boolean;
  readonly example?: string | number;
}
interface OpenApiOperation {
  readonly parameters: readonly OpenApiParameter[];
  readonly 'x-payment-info'?: { readonly price: { readonly amount: string } };
}

/** Operations of an OpenAPI document; `examples` say which parameters belong to the example request. */
function openApiShown(
  paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>,
  examples: ReadonlyMap<string, string>,
): Map<string, Shown> {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Shown] => {
      const own = path.replace(/\{([a-z_]+)\}$/, ':$1');
      const key = keyOf({ method: method.toUpperCase(), path: own });
      const { parameters } = operation;
      const price = atomicAmount(operation['x-payment-info']?.price.amount ?? '0');
      const params = paramNames(Object.fromEntries(parameters.map((each) => [each.name, each])));
      return [key, { price, params, example: exampleOf(own, parameters, examples.get(key) ?? '') }];
    }),
  );
  return new Map(operations);
}

function exampleOf(path: string, parameters: readonly OpenApiParameter[], asked: string): string {
  const named = new URL(asked, 'http://release').searchParams;
  const slot = parameters.find(({ name }) => path.endsWith(`/:${name}`));
  if (slot !== undefined) return path.replace(`:${slot.name}`, String(slot.example));
  const query = parameters.filter(({ name }) => named.has(name));
  const values = query.map(({ name, example }) => [name, String(example)]);
  return canonicalTarget(path, Object.fromEntries(values));
}

interface Skill {
  readonly name: string;
  readonly description: string;
  readonly examples: readonly string[];
}

/** Skills of an agent card. */
function skillsShown(skills: readonly Skill[], baseUrl: string): Map<string, Shown> {
  return new Map(
    skills.map(({ name, description, examples }) => {
      const price = atomicAmount(/ ([0-9.]+) USD a call/.exec(description)?.[1] ?? '0');
      return [name, { price, example: (examples[0] ?? '').slice(baseUrl.length) }];
    }),
  );
}

/** Lines of `/llms.txt` about operations: `- [path](url): [TAG] summary, 0.01 USD`, without a link for a POST. */
function llmsShown(text: string, baseUrl: string): Map<string, Shown> {
  const lines = text.split('\n').flatMap((line): (readonly [string, Shown])[] => {
    const price = atomicAmount(/, ([0-9.]+) USD$/.exec(line)?.[1] ?? '0');
    const [, posted] = /^- POST (\/\S*): \[/.exec(line) ?? [];
    if (posted !== undefined) return [[`POST ${posted}`, { price }] as const];
    const [, path, url] = /^- \[(\/[^\]]*)\]\((\S+)\): \[/.exec(line) ?? [];
    if (path === undefined || url === undefined) return [];
    return [[`GET ${path}`, { price, example: url.slice(baseUrl.length) }] as const];
  });
  return new Map(lines);
}

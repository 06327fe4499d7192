import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalRequest } from '../compiler/contract/canonical-request.ts';
import { ENDPOINTS, type Endpoint, endpointAt } from '../compiler/contract/endpoints.ts';
import { filePath } from '../compiler/contract/path.ts';
import { atomicAmount } from '../compiler/contract/price.ts';
import { route } from '../compiler/contract/route.ts';
import { TOOLS } from '../compiler/contract/tools.ts';
import type { ManifestEntry } from '../compiler/stages/describe/manifest.ts';
import type { RequirementsV1 } from '../gatekeeper/offer/challenge.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { type CompiledSample, compiledSample } from './compiled-sample.ts';
import { OPERATIONS } from './conformance-table.ts';
import {
  gaps,
  keyOf,
  type Listed,
  llmsShown,
  openApiShown,
  type Projection,
  paramNames,
  type Shown,
  skillsShown,
} from './projections.ts';
import { sampleGate, sampleToken } from './sample-gate.ts';
import { readJson, removeFolders } from './snapshot-folder.ts';

const ROWS: readonly Endpoint[] = ENDPOINTS;
const KEPT = ROWS.filter((row) => row.answer !== 'gone');
const isPaid = (row: Endpoint): boolean => row.priceUsd !== null;
const PAID = ROWS.filter(isPaid);

let sample: CompiledSample;
let gate: Gatekeeper;
/** The address that was compiled in. */
let baseUrl = '';
let entries: ReadonlyMap<string, ManifestEntry>;
/** Example requests by operation, as the manifest names them; all other descriptions must name the same. */
let examples: ReadonlyMap<string, string>;

beforeAll(async () => {
  sample = await compiledSample();
  gate = await sampleGate(sample.data);
  baseUrl = readJson(sample.folder, 'release.json').base_url;
  const listed = await json<{ entries: ManifestEntry[] }>('/manifest?all=1');
  entries = new Map(listed.entries.map((entry) => [keyOf(entry), entry]));
  examples = new Map([...entries].map(([key, entry]) => [key, entry.input_example_request]));
}, 60_000);
afterAll(async () => {
  await gate.close();
  removeFolders();
});

async function json<T>(target: string): Promise<T> {
  return (await (await fetch(gate.url + target)).json()) as T;
}

const sellsNow = (row: Endpoint): boolean => entries.get(keyOf(row))?.sells_now === true;

const manifestShown = (listed: Iterable<ManifestEntry>): Map<string, Shown> =>
  new Map(
    [...listed].map((entry) => [
      keyOf(entry),
      {
        price: entry.price_atomic,
        params: paramNames(entry.params),
        example: entry.input_example_request,
      },
    ]),
  );

/** Parameters that a challenge names. */
const asked = ({ outputSchema }: RequirementsV1): string[] =>
  paramNames((outputSchema as { input: { queryParams: Listed } }).input.queryParams);

interface Item {
  readonly resource: string;
  readonly accepts: readonly [RequirementsV1];
  readonly input_example_request: string;
}

/** Every description of the running service, and which rows belong into it. */
const PROJECTIONS: Readonly<Record<string, () => Promise<Omit<Projection, 'name'>>>> = {
  '/manifest?all=1': async () => ({
    belongs: (row) => KEPT.includes(row),
    shown: manifestShown(entries.values()),
  }),
  '/manifest': async () => ({
    belongs: (row) => KEPT.includes(row) && sellsNow(row),
    shown: manifestShown((await json<{ entries: ManifestEntry[] }>('/manifest')).entries),
  }),
  '/openapi.json': async () => ({
    belongs: (row) => KEPT.includes(row),
    shown: openApiShown((await json<{ paths: object }>('/openapi.json')).paths as never, examples),
  }),
  '/.well-known/agent-card.json': async () => card('/.well-known/agent-card.json'),
  '/.well-known/agent.json': async () => card('/.well-known/agent.json'),
  '/manifest?platform=a2a': async () => card('/manifest?platform=a2a'),
  '/.well-known/x402': async () => {
    const { items, resources } = await json<{ items: Item[]; resources: string[] }>(
      '/.well-known/x402',
    );
    expect(resources).toEqual(items.map(({ resource }) => resource));
    const shown = items.map(({ resource, accepts: [terms], ...item }): [string, Shown] => [
      `GET ${resource.slice(baseUrl.length)}`,
      {
        price: terms.maxAmountRequired,
        params: asked(terms),
        example: item.input_example_request,
      },
    ]);
    return { belongs: isPaid, shown: new Map(shown) };
  },
  '/llms.txt': async () => {
    const text = await (await fetch(`${gate.url}/llms.txt`)).text();
    return {
      belongs: (row) => KEPT.includes(row) && row.method === 'GET' && sellsNow(row),
      shown: llmsShown(text, baseUrl),
    };
  },
  'the menu of /gauge/preview': async () => {
    const { prices } = await json<{ prices: { path: string; price_atomic: string }[] }>(
      '/gauge/preview',
    );
    const shown = prices.map(
      ({ path, price_atomic: price }) => [`GET ${path}`, { price }] as const,
    );
    return { belongs: isPaid, shown: new Map(shown) };
  },
  'the 402': async () => {
    const shown = PAID.map(async (row): Promise<[string, Shown][]> => {
      const response = await fetch(gate.url + row.path);
      if (response.status !== 402) return [];
      const { accepts } = (await response.json()) as { accepts: [RequirementsV1] };
      const [terms] = accepts;
      return [[keyOf(row), { price: terms.maxAmountRequired, params: asked(terms) }]];
    });
    return { belongs: isPaid, shown: new Map((await Promise.all(shown)).flat()) };
  },
};

async function card(path: string): Promise<Omit<Projection, 'name'>> {
  const { skills } = await json<{ skills: [] }>(path);
  return { belongs: isPaid, shown: skillsShown(skills, baseUrl) };
}

describe('every row of the table', () => {
  it.each(Object.keys(PROJECTIONS))('is in %s, at its price and with its example', async (name) => {
    const projection = await PROJECTIONS[name]?.();
    expect(projection?.shown.size).toBeGreaterThan(50);
    expect(gaps(ROWS, { ...(projection as Projection), name }, examples)).toEqual([]);
  });

  it.each(KEPT)('$method $path has an example that answers', async (row) => {
    const entry = entries.get(keyOf(row));
    const body = OPERATIONS.find(({ path }) => path === row.path)?.body;
    const headers = {
      ...(row.token ? { authorization: `Bearer ${sampleToken()}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const init = { method: row.method, headers, ...(body === undefined ? {} : { body }) };
    const { status } = await fetch(gate.url + entry?.input_example_request, init);
    expect([row.path, status]).toEqual([row.path, isPaid(row) ? 402 : 200]);
  });

  it.each(KEPT.filter((row) => row.file !== undefined))(
    '$path has a file exactly where it sells now',
    (row) => {
      const request = canonicalRequest(examples.get(keyOf(row)) ?? '');
      const found = 'status' in request ? undefined : route(request);
      expect(found?.endpoint.path).toBe(row.path);
      const path = filePath(row, found?.values ?? {});
      expect(sample.paths.includes(path ?? '')).toBe(sellsNow(row));
    },
  );
});

describe('the tools', () => {
  /** Which row a tool asks: its arguments are parameters of that row, its answer the one of that URL. */
  const ROW_OF = {
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
    expect(tools).toEqual(JSON.parse(JSON.stringify(TOOLS)));
    expect(await json('/manifest?platform=mcp')).toEqual({ tools });
    expect(TOOLS.map((tool) => tool.name)).toEqual(Object.keys(ROW_OF));
  });

  it.each(TOOLS)('$name takes parameters of its row', ({ name, inputSchema }) => {
    const row = ROWS.find(({ path }) => path === ROW_OF[name]);
    const legal = Object.entries(row?.params ?? {}).flatMap(([param, { aliases = [] }]) => [
      param,
      ...aliases,
    ]);
    const compact = name === 'find_signal' ? ['full'] : [];
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
    expect(terms.maxAmountRequired).toBe(atomicAmount(endpointAt('/gauge').priceUsd ?? ''));
  });
});

describe('gaps()', () => {
  const row: Endpoint = endpointAt('/gauge');
  const shown = {
    price: atomicAmount(row.priceUsd ?? ''),
    params: ['signal_id!', 'entity!', 'dim'],
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

import { setTimeout as sleep } from 'node:timers/promises';
import { verifyAgentCardSignature } from '@a2a-js/sdk';
import { AgentCardResolver } from '@a2a-js/sdk/client';
import {
  AUDIT_CODES,
  checkEndpointSchema,
  checkL2ForOpenAPI,
  discoverOriginSchema,
  getOpenAPI,
  getWarningsForFavicon,
  getWarningsForL2,
  getWarningsForOpenAPI,
} from '@agentcash/discovery';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { importJWK } from 'jose';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSigner, wrapFetchWithPayment } from 'x402-fetch';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import type { ManifestEntry } from '../../compiler/describe/manifest.ts';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import type { Endpoint } from '../../compiler/products/shapes/product.ts';
import { openShop, type Shop } from './shop.ts';

/** Published readers of our descriptions: OpenAPI validators, the A2A SDK, the crawler of an x402 index. */
const PAID = BUILTIN.operations.filter((row) => row.priceUsd !== null);
/** The rows that a description may name: something is stored for them. */
const sold = (): Endpoint[] =>
  PAID.filter((row) => entries.some(({ path, sells_now }) => path === row.path && sells_now));
const HIGHEST_PRICE = 9_900_000n;
/** Anybody may have many routes; the crawler's own advice is fewer than 40. */
const ABOUT_SIZE = AUDIT_CODES.L2_ROUTE_COUNT_HIGH;

let shop: Shop;
let document: OpenApi;
let entries: readonly ManifestEntry[];
beforeAll(async () => {
  shop = await openShop();
  document = await json('/openapi.json');
  ({ entries } = await json<{ entries: readonly ManifestEntry[] }>('/manifest?all=1'));
});
afterAll(() => shop.close());
// The checkers block this process for so long that connections to the shop end, which its clients see only after a pause.
beforeEach(() => sleep(50));

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas: object };
}

async function json<T>(path: string): Promise<T> {
  const response = await fetch(shop.url + path);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as T;
}

describe('/openapi.json', () => {
  it('has no problem for redocly, and one once a response is missing', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = async (value: unknown) =>
      await lintFromString({ source: JSON.stringify(value), absoluteRef: 'openapi.json', config });
    expect(await problems(document)).toEqual([]);
    const gauge = { ...document.paths['/gauge']?.get, responses: undefined };
    const paths = { ...document.paths, '/gauge': { get: gauge } };
    expect(await problems({ ...document, paths })).not.toEqual([]);
  });

  it('is valid for seriousme, and not once a response is missing', async () => {
    const isValid = async (value: object): Promise<boolean> =>
      (await new Validator().validate(structuredClone({ ...value }))).valid;
    expect(await isValid(document)).toBe(true);
    expect(await isValid({ ...document, paths: { gauge: {} } })).toBe(false);
  });
});

describe('live answers meet their schema of /openapi.json', () => {
  const compiled = new Map<string, ValidateFunction>();
  function validatorOf(entry: ManifestEntry): ValidateFunction {
    const path = entry.path.replace(/:([a-z_]+)$/, '{$1}').replaceAll('/', '~1');
    const pointer = `#/paths/${path}/${entry.method.toLowerCase()}/responses/200/content/application~1json/schema`;
    const known = compiled.get(pointer);
    if (known !== undefined) return known;
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema(document, 'openapi');
    const validate = ajv.compile({
      $ref: `openapi${pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}`,
    });
    compiled.set(pointer, validate);
    return validate;
  }

  it('for every operation that sells or gives anything now', async () => {
    const signer = await createSigner('base', generatePrivateKey());
    const pay = wrapFetchWithPayment(fetch, signer, HIGHEST_PRICE) as typeof fetch;
    const open = entries.filter((entry) => entry.sells_now && entry.method === 'GET');
    const token = ((await (await pay(`${shop.url}/gauge/subscribe`)).json()) as { token: string })
      .token;
    expect(open.length).toBeGreaterThan(80);
    for (const entry of open) {
      const headers = { authorization: `Bearer ${token}` };
      const response = await pay(shop.url + entry.input_example_request, { headers });
      const body = await response.json();
      expect([entry.path, response.status]).toEqual([entry.path, 200]);
      const validate = validatorOf(entry);
      validate(body);
      expect([entry.path, validate.errors]).toEqual([entry.path, null]);
    }
  });

  it('for every form that a parameter chooses', async () => {
    const signer = await createSigner('base', generatePrivateKey());
    const pay = wrapFetchWithPayment(fetch, signer, HIGHEST_PRICE) as typeof fetch;
    const forms = entries.filter(({ sells_now }) => sells_now).flatMap(chosen);
    expect(forms.length).toBeGreaterThan(40);
    for (const { entry, target } of forms) {
      const response = await pay(shop.url + target);
      expect([target, response.status]).toEqual([target, 200]);
      const validate = validatorOf(entry);
      validate(await response.json());
      expect([target, validate.errors]).toEqual([target, null]);
    }
    const bundle = entries.find((entry) => entry.path === '/gauge/region');
    expect(validatorOf(bundle as ManifestEntry)({ nature: 'thin' })).toBe(false);
  });

  it('and a changed one does not', async () => {
    const gauge = entries.find((entry) => entry.path === '/gauge/sample');
    const { sample } = await json<{ sample: object }>('/gauge/sample');
    const validate = validatorOf(gauge as ManifestEntry);
    expect(validate({ sample })).toBe(true);
    expect(validate({ sample: { ...sample, observed_at: 'yesterday' } })).toBe(false);
  });
});

/** Requests for the other forms of an operation: thin, another product, another platform. */
function chosen(entry: ManifestEntry): { entry: ManifestEntry; target: string }[] {
  const { input_example_request: example, params } = entry;
  return Object.entries(params).flatMap(([name, { variant = {}, redirect = {} }]) =>
    [...Object.keys(variant), ...Object.keys(redirect)].map((value) => {
      const url = new URL(example, shop.url);
      url.searchParams.set(name, value);
      return { entry, target: url.pathname + url.search };
    }),
  );
}

describe('@a2a-js/sdk', () => {
  const jwkOf = async (kid: string) => {
    const x = Buffer.from(parseDidKey(kid.slice(0, kid.indexOf('#')))).toString('base64url');
    return await importJWK({ kty: 'OKP', crv: 'Ed25519', x }, 'EdDSA');
  };

  it('resolves the agent card and verifies its signature, and not of a changed card', async () => {
    const card = await AgentCardResolver.default.resolve(shop.url);
    expect(card.version).toBe('2.0');
    expect(card.skills).toHaveLength(sold().length);
    const verify = verifyAgentCardSignature(jwkOf as never);
    await expect(verify(card)).resolves.toBeUndefined();
    await expect(verify({ ...card, name: 'Somebody else' })).rejects.toThrow();
  });

  it('resolves the legacy card', async () => {
    const legacy = await json<{ preferredTransport: string }>('/.well-known/agent.json');
    expect(legacy.preferredTransport).toBe('HTTP+x402');
  });
});

describe('@agentcash/discovery', () => {
  it('finds every paid route with its price', async () => {
    const found = await discoverOriginSchema({ target: shop.url });
    if (!found.found) throw new Error(found.cause);
    const prices = new Map(found.endpoints.map((each) => [each.path, each]));
    for (const { path, priceUsd } of sold()) {
      expect(prices.get(path)).toMatchObject({ method: 'GET', authMode: 'paid' });
      expect(JSON.stringify(prices.get(path)?.price)).toContain(priceUsd);
    }
  });

  it('warns of nothing but the number of routes', async () => {
    const source = await getOpenAPI(shop.url);
    const openApi = source._unsafeUnwrap();
    if (openApi === null || !('routes' in openApi)) throw new Error('not found');
    const warnings = [
      ...getWarningsForOpenAPI(openApi),
      ...getWarningsForL2(checkL2ForOpenAPI(openApi)),
      ...(await getWarningsForFavicon(shop.url))._unsafeUnwrap(),
    ];
    expect(warnings.map(({ code }) => code).filter((code) => code !== ABOUT_SIZE)).toEqual([]);
  });

  it('reads price and terms off the live challenge of an operation', async () => {
    const target = `${shop.url}/gauge?signal_id=airquality.aqi&entity=us-denver`;
    const checked = await checkEndpointSchema({ url: target, probe: true });
    expect(checked).toMatchObject({ found: true });
    expect(JSON.stringify(checked)).toContain('"10000"');
  });
});

import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { firstHistory } from '../../../../compiler/format/key-history.ts';
import { canonicalTarget } from '../../../../compiler/products/shapes/path.ts';
import { atomicAmount } from '../../../../compiler/products/shapes/price.ts';
import type { Endpoint } from '../../../../compiler/products/shapes/product.ts';
import { challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import { formerEndpoint } from '../../../../gatekeeper/heart/payment/tender.ts';
import { EXTENSIONS } from '../../../../gatekeeper/settle/extensions.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { SIGN_IN } from '../../../../gatekeeper/settle/sign-in.ts';
import type { Reply } from '../../../../gatekeeper/wire/reply.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { listedSigner, listingKeys } from '../../payer.ts';
import { tinyOffers } from '../../tiny-service.ts';

type ChallengerOptions = Parameters<typeof challenger>[0];

const CHALLENGE_CACHE_MAX = 1000;
const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const options: ChallengerOptions = {
  baseUrl: 'https://api.example.com',
  payTo: PAY_TO,
  network: NETWORKS.base,
  serviceName: 'Example',
};
/** Every operation answers one request, but the retired chain of this path. */
const EMPTY = '/gauge/japan-region';
const requestOf = ({ path, params }: Endpoint): string | null => {
  const required = Object.entries(params).filter(([, param]) => param.required);
  const values = required.map(([name, param]) => [name, param.enum?.[0] ?? `${name} of it`]);
  return path === EMPTY ? null : canonicalTarget(path, Object.fromEntries(values));
};
const shop = challenger(options);
shop.show({ offers: tinyOffers(requestOf), catalog: BUILTIN });
const PAID = BUILTIN.operations.filter((row) => row.priceUsd !== null);
const decoded = (base64: string) => JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
/** The terms of v2. */
const requiredBy = ({ headers }: Reply): string => new Map(headers).get('payment-required') ?? '';
const both = (row: Endpoint, target: string, error?: string) => {
  const made = shop.challenge(row, target, error);
  return { v1: JSON.parse(made.body.toString('utf8')), v2: decoded(requiredBy(made)) };
};

// The rules of an x402 1.x client: one malformed entry makes it reject the whole challenge.
const entryV1 = z.object({
  scheme: z.literal('exact'),
  // As its published schema has them, of those that we have too.
  network: z.enum(Object.keys(NETWORKS) as [string, ...string[]]),
  maxAmountRequired: z.string().regex(/^[0-9]+$/),
  resource: z.url(),
  description: z.string(),
  mimeType: z.string(),
  outputSchema: z.record(z.string(), z.unknown()),
  payTo: z.string().regex(/^0x[a-fA-F0-9]{40}$/),
  maxTimeoutSeconds: z.int(),
  asset: z.string().regex(/^0x[a-fA-F0-9]{40}$/),
  extra: z.record(z.string(), z.unknown()),
});

describe('challenge()', () => {
  it('challenge() meets both client schemas on every paid row', () => {
    for (const row of PAID) {
      const { v1, v2 } = both(row, row.path);
      expect(() => PaymentRequiredV1Schema.parse(v1)).not.toThrow();
      expect(() => PaymentRequiredV2Schema.parse(v2)).not.toThrow();
      expect(entryV1.safeParse(v1.accepts[0]).error).toBeUndefined();
    }
  });

  it('challenge() shows what is sold now, also after a sale of the same path and price that a release took away', () => {
    const own = challenger(options);
    own.show({ offers: tinyOffers(requestOf), catalog: BUILTIN });
    for (const row of PAID) {
      const price = atomicAmount(row.priceUsd ?? '');
      const sale = { resource: `GET ${row.path}?entity=gone`, value: price };
      const [former] = own.terms(formerEndpoint(sale), row.path, 1);
      expect(former).toMatchObject({ description: '[SIGNAL+PROOF] no longer offered' });
      const { headers, body } = own.challenge(row, row.path);
      expect(body).toEqual(shop.challenge(row, row.path).body);
      expect(headers).toEqual(shop.challenge(row, row.path).headers);
    }
  });

  it('I13: challenge() asks the price of the table, in both versions and in requirements()', () => {
    for (const row of PAID) {
      const price = atomicAmount(row.priceUsd ?? '');
      const { v1, v2 } = both(row, row.path);
      expect(v1.accepts[0].maxAmountRequired).toBe(price);
      expect(v2.accepts[0].amount).toBe(price);
      expect(shop.terms(row, row.path, 1)[0]).toStrictEqual(v1.accepts[0]);
      expect(shop.terms(row, row.path, 2)[0]).toStrictEqual(v2.accepts[0]);
    }
    expect(
      both(builtinOperation('/gauge/ruler'), '/gauge/ruler').v1.accepts[0].maxAmountRequired,
    ).toBe('5000');
  });

  it('challenge() has the wire facts that clients enforce', () => {
    const { v1, v2 } = both(
      builtinOperation('/gauge'),
      '/gauge?entity=us-denver&signal_id=airquality.aqi',
    );
    expect(v1).toMatchObject({ x402Version: 1, error: 'X-PAYMENT header is required' });
    expect(v1.accepts).toHaveLength(1);
    expect(v1.accepts[0]).toMatchObject({
      scheme: 'exact',
      network: 'base',
      resource: 'https://api.example.com/gauge?entity=us-denver&signal_id=airquality.aqi',
      description: '[SIGNAL+PROOF] one signal record',
      payTo: PAY_TO,
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    });
    const { input, output } = v1.accepts[0].outputSchema;
    expect(input).toMatchObject({ type: 'http', method: 'GET', discoverable: true });
    expect(input.queryParams.signal_id).toMatchObject({ required: true, type: 'string' });
    expect(input.queryParams.dim.enum).toContain('ruler');
    expect(input.queryParams.signal_id).not.toHaveProperty('enum');
    expect(input.queryParams.signal_id.description).toContain('/gauge/catalog');
    expect(output).toHaveProperty('record_hash');
    expect(v2.resource).toMatchObject({ url: v1.accepts[0].resource, serviceName: 'Example' });
    expect(v2.accepts[0].network).toBe('eip155:8453');
  });

  it('challenge() describes discovery with an example that meets its own schema', () => {
    for (const row of PAID) {
      const { extensions } = both(row, row.path).v2;
      expect(extensions === undefined).toBe(row.path === EMPTY);
      if (extensions === undefined) continue;
      const { info, schema } = extensions.bazaar;
      const checked = z.fromJSONSchema(schema).safeParse(info);
      expect(checked.error, row.path).toBeUndefined();
      expect(Object.keys(info.output.example).length).toBeGreaterThan(0);
      expect(Object.keys(schema.properties.output.properties.example.properties)).not.toEqual([]);
      const wrong = { ...info, input: { ...info.input, method: 'POST' } };
      expect(z.fromJSONSchema(schema).safeParse(wrong).success).toBe(false);
    }
  });

  it('challenge() shows the requests of the release, and none of an operation without an answer', () => {
    const { v1, v2 } = both(builtinOperation('/gauge/region'), '/gauge/region');
    const { input } = v1.accepts[0].outputSchema;
    expect(input).toMatchObject({
      discoverable: true,
      queryParams: { loc: { examples: ['us-stlouis'] }, format: { examples: ['json', 'thin'] } },
    });
    expect(v2.extensions.bazaar.info.input.queryParams).toEqual({ loc: 'us-stlouis' });
    const empty = both(builtinOperation(EMPTY), EMPTY).v1.accepts[0].outputSchema.input;
    expect(empty.discoverable).toBe(false);
    expect(JSON.stringify(empty.queryParams)).not.toContain('examples');
  });

  it('challenge() shows other requests as soon as another release is served', () => {
    const other = challenger(options);
    const gauge = builtinOperation('/gauge');
    const shown = () => other.challenge(gauge, '/gauge').body.toString();
    expect(shown()).not.toContain('"examples":["a"]');
    for (const name of ['a', 'b']) {
      const offers = tinyOffers(({ path }) => `${path}?entity=${name}&signal_id=x`);
      other.show({ offers, catalog: BUILTIN });
      expect(shown()).toContain(`"examples":["${name}"]`);
    }
  });

  it.each([
    ['/gauge/history-series?entity=a&format=csv&signal_id=b', 'text/csv', 'csv'],
    ['/gauge/history-series?entity=a&format=json&signal_id=b', 'application/json', 'json'],
    ['/gauge/history-series', 'application/json', 'json'],
  ])(
    'challenge() names the type of what %s delivers, in both versions',
    (target, mimeType, type) => {
      const series = builtinOperation('/gauge/history-series');
      const { v1, v2 } = both(series, target);
      expect([v1.accepts[0].mimeType, v2.resource.mimeType]).toEqual([mimeType, mimeType]);
      expect(shop.terms(series, target, 1)[0]).toStrictEqual(v1.accepts[0]);
      const { info, schema } = v2.extensions.bazaar;
      expect([info.output.type, info.input.queryParams.format]).toEqual([
        type,
        type === 'csv' ? 'csv' : undefined,
      ]);
      expect(z.fromJSONSchema(schema).safeParse(info).error).toBeUndefined();
      expect('columns' in v1.accepts[0].outputSchema.output).toBe(type === 'csv');
    },
  );

  it('challenge() keeps its headers under half of 16 KB, even for the longest target', () => {
    for (const row of PAID) {
      const made = shop.challenge(row, `${row.path}?topic=${'x'.repeat(8000)}`, 'e'.repeat(300));
      expect(requiredBy(made).length).toBeLessThan(8192);
    }
  });

  it('challenge() leaves room for a client that repeats its extensions with its payment', () => {
    const [network, ...furtherNetworks] = Object.values(NETWORKS);
    if (network === undefined) throw new Error('no network');
    const signIn = { clock: () => 0, random: (bytes: number) => Buffer.alloc(bytes) };
    const on = { extensions: EXTENSIONS, signIn };
    const all = challenger({ ...options, ...on, network, furtherNetworks });
    all.show({ offers: tinyOffers(requestOf), catalog: BUILTIN });
    const payload = { signature: `0x${'a'.repeat(130)}`, authorization: 'a'.repeat(400) };
    for (const row of PAID) {
      for (const [chars, signsIn] of [
        [256, true],
        [257, false],
        [1024, false],
      ] as const) {
        const target = `${row.path}?topic=`.padEnd(chars, 'x');
        const made = all.challenge(row, target);
        const { resource, accepts, extensions } = decoded(requiredBy(made));
        expect([row.path, chars, SIGN_IN in extensions]).toEqual([row.path, chars, signsIn]);
        expect(made.isOnce === true).toBe(signsIn);
        const text = JSON.stringify({ payload, resource, accepted: accepts[0], extensions });
        expect(Buffer.from(text).toString('base64').length).toBeLessThan(8192);
      }
    }
  });

  it('challenge() keeps what holds a message for nobody else', () => {
    let random = 0;
    const signIn = { clock: () => 0, random: (bytes: number) => Buffer.alloc(bytes, random++) };
    const on = challenger({ ...options, extensions: EXTENSIONS, signIn });
    on.show({ offers: tinyOffers(requestOf), catalog: BUILTIN });
    const row = builtinOperation('/gauge');
    const nonces = [1, 2].map(() => {
      const { extensions } = decoded(requiredBy(on.challenge(row, '/gauge?entity=a')));
      return extensions[SIGN_IN].info.nonce;
    });
    expect(nonces).toEqual(['00'.repeat(16), '01'.repeat(16)]);
    expect(shop.challenge(row, '/gauge?entity=a')).toBe(shop.challenge(row, '/gauge?entity=a'));
  });

  it('challenge() offers every network in one challenge, within the headers of 16 KB', () => {
    const [network, ...furtherNetworks] = Object.values(NETWORKS);
    if (network === undefined) throw new Error('no network');
    const all = challenger({ ...options, network, furtherNetworks });
    all.show({ offers: tinyOffers(requestOf), catalog: BUILTIN });
    for (const row of PAID) {
      const target = `${row.path}?topic=${'x'.repeat(1000)}`;
      const made = all.challenge(row, target, 'e'.repeat(300));
      expect(requiredBy(made).length).toBeLessThan(12_288);
      const [v1, v2] = [JSON.parse(made.body.toString('utf8')), decoded(requiredBy(made))];
      expect(() => PaymentRequiredV1Schema.parse(v1)).not.toThrow();
      expect(() => PaymentRequiredV2Schema.parse(v2)).not.toThrow();
      expect(v1.accepts.map((one: { network: string }) => one.network)).toEqual(
        Object.keys(NETWORKS),
      );
      for (const [at, { asset, caip2, extra }] of Object.values(NETWORKS).entries()) {
        expect(entryV1.safeParse(v1.accepts[at]).error).toBeUndefined();
        expect(v1.accepts[at]).toMatchObject({ asset, extra, payTo: PAY_TO });
        expect(v1.accepts[at].resource).toBe(options.baseUrl + target);
        expect(v2.accepts[at]).toMatchObject({ network: caip2, asset, extra });
        expect(v1.accepts[at].maxAmountRequired).toBe(atomicAmount(row.priceUsd ?? ''));
        expect('output' in v1.accepts[at].outputSchema).toBe(at === 0);
      }
      expect(all.terms(row, target, 1)).toStrictEqual(v1.accepts);
      expect(all.terms(row, target, 2)).toStrictEqual(v2.accepts);
    }
  });

  it('challenge() hints above 0.10 USD and not at or below', () => {
    const hint = both(builtinOperation('/gauge/region'), '/gauge/region').v1.client_hint;
    expect(hint).toMatchObject({
      required_atomic: 250_000,
      required_usd: '0.25',
      client_default_cap_atomic: 100_000,
    });
    expect(hint.how_to).toContain('maxValue');
    expect(hint.example).toContain('250000n');
    for (const row of hint.within_your_budget) {
      expect(Number(row.price_usd)).toBeLessThanOrEqual(0.1);
      expect(row.example).toMatch(/^https:\/\/api\.example\.com\//);
    }
    expect(hint.within_your_budget.length).toBeGreaterThan(0);
    expect(both(builtinOperation('/pay/tier3'), '/pay/tier3').v1).not.toHaveProperty('client_hint');
    expect(both(builtinOperation('/gauge'), '/gauge').v1).not.toHaveProperty('client_hint');
  });

  it('challenge() hints at the request that was made, and at one of the release for a bare price question', () => {
    const called = (target: string): string =>
      /pay\('([^']*)'\)/.exec(
        both(builtinOperation('/gauge/region'), target).v1.client_hint.example,
      )?.[1] ?? '';
    for (const target of ['/gauge/region?loc=us-denver', '/gauge/region?loc=us-fresno&x=%22']) {
      expect(called(target)).toBe(options.baseUrl + target);
    }
    expect(called('/gauge/region')).toBe(
      options.baseUrl + requestOf(builtinOperation('/gauge/region')),
    );
    // Nothing that was asked for ends the text of the example.
    expect(called("/gauge/region?loc=a');evil('")).toBe(
      `${options.baseUrl}/gauge/region?loc=a%27);evil(%27`,
    );
  });

  it('challenge() gives back the same bytes for the same target, and others for others', () => {
    const gauge = builtinOperation('/gauge');
    const first = shop.challenge(gauge, '/gauge?entity=a');
    expect(shop.challenge(gauge, '/gauge?entity=a')).toBe(first);
    expect(shop.challenge(gauge, '/gauge?entity=b').body.equals(first.body)).toBe(false);
    expect(shop.challenge(builtinOperation('/gauge/ruler'), '/gauge?entity=a')).not.toBe(first);
    for (let at = 0; at <= CHALLENGE_CACHE_MAX; at++) shop.challenge(gauge, `/gauge?entity=${at}`);
    expect(shop.challenge(gauge, '/gauge?entity=a')).not.toBe(first);
    expect(shop.challenge(gauge, '/gauge?entity=a')).toStrictEqual(first);
  });

  it('challenge() carries an error and a target as data, whatever they hold', () => {
    const error = '"}]@@resource@@ $& \n';
    const target = '/gauge?entity=%22@@error@@';
    const { v1, v2 } = both(builtinOperation('/gauge'), target, error);
    expect(v1.error).toBe(error);
    expect(v2.error).toBe(error);
    expect(v1.accepts[0].resource).toBe(`https://api.example.com${target}`);
  });

  it('challenge() refuses a free endpoint', () => {
    expect(() => shop.challenge(builtinOperation('/gauge/preview'), '/gauge/preview')).toThrow(
      /is free/,
    );
  });
});

describe('challenger()', () => {
  it('challenger() writes the payee in checksum case', () => {
    for (const payTo of [PAY_TO, PAY_TO.toLowerCase(), `0x${PAY_TO.slice(2).toUpperCase()}`]) {
      const made = challenger({ ...options, payTo });
      expect(made.terms(builtinOperation('/gauge'), '/gauge', 2)[0].payTo).toBe(PAY_TO);
    }
  });

  it('challenger() refuses terms that nobody could pay', () => {
    const wrong: Partial<ChallengerOptions>[] = [
      { payTo: PAY_TO.replace('B', 'b') },
      { payTo: '0x1234' },
      { payTo: '' },
      { baseUrl: 'https://api.example.com/' },
      { baseUrl: 'api.example.com' },
      { baseUrl: 'https://api.example.com?x=1' },
      { serviceName: '' },
      { serviceName: 'x'.repeat(33) },
      { serviceName: 'naïve' },
    ];
    for (const part of wrong) expect(() => challenger({ ...options, ...part })).toThrow(RangeError);
  });
});

describe('listing()', () => {
  it('listing() is what the challenge of the same target says in v2 beside its terms', () => {
    for (const row of PAID) {
      for (const target of [row.path, `${row.path}?x=1`, `${row.path}?x=${'1'.repeat(2000)}`]) {
        const { resource, extensions } = both(row, target).v2;
        expect(shop.listing(row, target)).toStrictEqual(
          extensions === undefined ? { resource } : { resource, extensions },
        );
      }
    }
  });
});

describe('the reply of a challenge', () => {
  it('I12: is a 402 that no cache keeps, with the v2 header', () => {
    const { status, headers } = shop.challenge(builtinOperation('/gauge'), '/gauge');
    expect([status, headers]).toEqual([
      402,
      [
        ['content-type', 'application/json'],
        ['cache-control', 'no-store'],
        ['link', expect.stringContaining('/.well-known/api-catalog>; rel="api-catalog"')],
        ['payment-required', expect.stringMatching(/^[A-Za-z0-9+/=]{100,}$/)],
      ],
    ]);
  });
});

describe('a challenge of a service that signs receipts', () => {
  const extensionsOf = (signer?: ChallengerOptions['signer']): readonly string[] => {
    const made = challenger({ ...options, ...(signer === undefined ? {} : { signer }) });
    made.show({ offers: tinyOffers(requestOf), catalog: BUILTIN });
    const row = builtinOperation('/gauge');
    return Object.keys(decoded(requiredBy(made.challenge(row, requestOf(row) ?? ''))).extensions);
  };

  it('announces them, with no signed offer, while the key is listed', () => {
    expect(extensionsOf()).toEqual(['bazaar']);
    expect(extensionsOf(listedSigner())).toEqual(['bazaar', 'offer-receipt']);
  });

  it.each([
    ['that nobody lists', firstHistory(listingKeys().keys[0]?.did ?? '')],
    ['that ended', listingKeys({ until: '2026-11-20T00:00:00Z' })],
    ['that begins later', listingKeys({ since: '2026-12-01T00:00:00Z' })],
  ])('says nothing of them with a key %s', (_, keys) => {
    expect(extensionsOf(listedSigner(keys))).toEqual(['bazaar']);
  });
});

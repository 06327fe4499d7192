import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, describe, expect, it } from 'vitest';
import { siteWords } from '../../compiler/catalog/site.ts';
import type { Service } from '../../gatekeeper/heart/answers/service.ts';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { basket } from '../../gatekeeper/rooms/basket.ts';
import { paymentManifest } from '../../gatekeeper/rooms/channels.ts';
import { TEST_PAYEE } from '../../gatekeeper/settings/settings.ts';
import { EXTENSIONS } from '../../gatekeeper/settle/extensions.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { soldShop } from '../gate.ts';
import { jsonOf, question } from './tiny-service.ts';

// What directories of x402 know of a shop: its list, and the 402 of each resource in it, without any query.

/** 4 KB without what the server adds to every answer. */
const REPLY_HEADERS_MAX = 3700;

interface Item {
  readonly resource: string;
  readonly method: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly price_usd: string;
}
interface Resource {
  readonly url: string;
  readonly description: string;
  readonly serviceName: string;
  readonly tags?: readonly string[];
  readonly iconUrl: string;
}

let service: Service;
let items: readonly Item[];
let manifest: string;
beforeAll(async () => {
  const shop = await soldShop();
  // As a shop in service: with a message to sign in with, which takes room in the header.
  const challenging = challenger({
    baseUrl: shop.service.baseUrl,
    payTo: TEST_PAYEE,
    network: NETWORKS.base,
    serviceName: 'Example',
    extensions: EXTENSIONS,
    signIn: { clock: () => 0, random: (bytes) => Buffer.alloc(bytes) },
  });
  challenging.show(shop.service.release);
  service = { ...shop.service, challenger: challenging };
  const answered = paymentManifest(service);
  if (answered.kind !== 'content') throw new Error('no manifest');
  manifest = answered.content.body.toString('utf8');
  ({ items } = JSON.parse(manifest));
});

const pathOf = ({ resource }: Item): string => resource.slice(service.baseUrl.length);

async function challengeOf(item: Item) {
  const path = pathOf(item);
  const asked = question(path, '', Buffer.alloc(0));
  const answered =
    item.method === 'POST'
      ? await basket(asked, service)
      : { kind: 'reply', reply: service.challenger.challenge(asked.route.endpoint, path) };
  if (answered.kind !== 'reply' || !('reply' in answered)) throw new Error('no challenge');
  const { reply } = answered;
  const header = new Map(reply.headers).get('payment-required') ?? '';
  const chars = reply.headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    0,
  );
  const v2 = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  return { status: reply.status, chars, v2, v1: JSON.parse(String(reply.body)) };
}

/** A directory that finds a listing by whole words, a plural as its singular. */
async function directory(): Promise<(question: string) => readonly string[]> {
  const listings = await Promise.all(
    items.map(async (item) => {
      const { resource }: { resource: Resource } = (await challengeOf(item)).v2;
      const { url, description, serviceName, tags = [] } = resource;
      const words = stems(
        [
          item.resource,
          item.description,
          ...item.tags,
          url,
          description,
          serviceName,
          ...tags,
        ].join(' '),
      );
      return { url, words: new Set(words) };
    }),
  );
  return (asked) =>
    listings
      .filter(({ words }) => stems(asked).every((word) => words.has(word)))
      .map(({ url }) => url);
}

const stems = (text: string): string[] =>
  siteWords(text).map((word) => word.replace(/(?<=..)s$/, ''));

const EVERYDAY = [
  'AQI',
  'flood',
  'bitcoin',
  'unemployment',
  'gas price',
  'flight delay',
  'SEC',
  '8-K',
  'tornado',
  'drought',
  'river',
  'earthquake',
  'hurricane',
  'wildfire',
  'inflation',
  'mortgage rate',
  'stablecoin',
  'drug shortage',
  'recall',
  'airport',
  'border wait',
  'tide',
  'crop',
  'electricity',
  'rain',
  'smog',
  'company filing',
  'MCP server',
];

describe('a directory of x402', () => {
  it('finds the shop by what it sells, in everyday words, and by nothing else', async () => {
    const find = await directory();
    expect(EVERYDAY).toHaveLength(28);
    expect(EVERYDAY.filter((word) => find(word).length === 0)).toEqual(['mortgage rate', 'tide']);
    for (const other of ['football', 'horoscope', 'pizza delivery', 'lottery']) {
      expect([other, find(other)]).toEqual([other, []]);
    }
    // A line of business is found at a path of its own, and not behind one path for all.
    for (const [word, path] of [
      ['AQI', '/gauge/region'],
      ['8-K', '/gauge/filing-company'],
      ['tornado', '/gauge/severe-convection-region'],
    ] as const) {
      expect(find(word)).toContain(service.baseUrl + path);
    }
  });

  it('gets tags and a picture that it keeps, in headers that every proxy takes', async () => {
    for (const item of items) {
      const { status, chars, v2 } = await challengeOf(item);
      const { tags = [], iconUrl, serviceName }: Resource = v2.resource;
      expect([pathOf(item), status, iconUrl]).toEqual([
        pathOf(item),
        402,
        `${service.baseUrl}/og.png`,
      ]);
      expect(serviceName.length).toBeLessThanOrEqual(32);
      expect(tags.length).toBeLessThanOrEqual(5);
      expect(tags.filter((tag) => !/^[\x20-\x7e]{1,32}$/.test(tag))).toEqual([]);
      expect(tags).toEqual(item.tags);
      expect([pathOf(item), chars < REPLY_HEADERS_MAX]).toEqual([pathOf(item), true]);
      expect(Object.keys(v2.extensions.bazaar.info.output.example)).not.toEqual([]);
    }
    const tagged = items.filter(({ tags }) => tags.length > 0);
    expect(tagged.length).toBeGreaterThan(40);
  });

  it('reads all that is sold in fewer than 10,000 tokens', () => {
    expect(countTokens(manifest)).toBeLessThan(10_000);
    expect(items.length).toBeGreaterThan(50);
  });

  it('is told in v1 that the output is an example', async () => {
    const [first] = items;
    if (first === undefined) throw new Error('nothing is sold');
    const { accepts } = (await challengeOf(first)).v1;
    expect(accepts[0].outputSchema.note).toMatch(/^output is an example/);
  });
});

describe('a crawler at the basket', () => {
  const asked = async (body: string, paymentHeaders: readonly unknown[] = []) =>
    jsonOf(
      await basket(
        {
          ...question('/gauge/basket', '', Buffer.from(body)),
          paymentHeaders: paymentHeaders as never,
        },
        service,
      ),
    );

  it('learns without a body what a basket costs, and finds it in the list', async () => {
    const listed = items.find((item) => pathOf(item) === '/gauge/basket');
    expect(listed).toMatchObject({ method: 'POST', price_range_usd: { min: '0.005' } });
    const quote = await asked('');
    expect(quote).toMatchObject({ status: 402, accepts: [{ maxAmountRequired: '5000' }] });
    expect(String(quote.error)).toMatch(/^A basket costs the sum of its requests, 0\.005 to /);
    const { v2 } = await challengeOf(listed as Item);
    const { input } = v2.extensions.bazaar.info;
    expect(input).toMatchObject({ method: 'POST', bodyType: 'json' });
    expect(await asked(JSON.stringify(input.body))).toMatchObject({ status: 402 });
  });

  it('is refused with a body that is no basket, and where it pays for nothing', async () => {
    expect(await asked('{}')).toMatchObject({ status: 400, no_charge: true });
    const payment = { kind: 'payment', text: '', version: 1 };
    expect(await asked('', [payment])).toMatchObject({ status: 400, no_charge: true });
  });
});

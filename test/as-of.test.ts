import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { signalpressClient } from '../compiler/client/signalpress-client.ts';
import type { Catalog } from '../compiler/contract/catalog/catalog.ts';
import { defined } from '../compiler/contract/defined.ts';
import { loadCatalog } from '../compiler/stages/intake/load-catalog.ts';
import { removeReleases } from '../compiler/stages/publish/release-folders.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { AS_OF_CATALOG, asOfShop, asOfTarget, asOfTime, recordTarget } from './as-of-shop.ts';
import { payingFetch } from './client/paying-fetch.ts';
import { DOORS, openDoors } from './doors.ts';
import { NOW_MS } from './gatekeeper/payer.ts';
import { DOUBT, SETTLED, scripted } from './gatekeeper/scripted-facilitator.ts';
import { gaps } from './projections.ts';
import { type SampleSettings, sampleGate } from './sample-gate.ts';
import { readJson, removeFolders } from './snapshot-folder.ts';
import { HARBOUR_RULER } from './tide-catalog.ts';
import { askPrice, pay } from './tide-shop.ts';

// A shop that sells records of earlier times, seen from outside.

const RELEASES = 4;
const SIGNAL = { entity: 'pier-one', signal_id: 'tides.level' };

let shop: Awaited<ReturnType<typeof asOfShop>>;
let catalog: Catalog;
beforeAll(async () => {
  shop = await asOfShop(RELEASES);
  ({ catalog } = loadCatalog(shop.snapshots));
}, 120_000);
afterAll(removeFolders);

const open: Gatekeeper[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.close();
});
async function served(more: Partial<SampleSettings> = {}, { data } = shop): Promise<Gatekeeper> {
  const gate = await sampleGate(data, { tokens: false, receipts: false, ...more });
  open.push(gate);
  return gate;
}
const stateFolder = (): string => mkdtempSync(join(tmpdir(), 'signalpress-state-'));

/** A shop that answers another target in place of one that it is asked for, or changes what it sold. */
interface Swap {
  readonly path: string;
  readonly answered?: string;
  readonly change?: (sold: Basket) => Basket;
}
interface Basket {
  readonly parts: readonly { readonly answer: { readonly current: object } }[];
}

function client({ url }: Gatekeeper, swap?: Swap, { issuer } = shop) {
  return signalpressClient({
    baseUrl: url,
    issuer,
    pay: payingFetch,
    wait: async () => undefined,
    clock: () => NOW_MS,
    catalog: 'served',
    fetch: async (input, init) => {
      const sent = new Request(input, init);
      if (new URL(sent.url).pathname !== swap?.path) return fetch(sent);
      const { answered, change } = swap;
      const got = await fetch(answered === undefined ? sent : new Request(url + answered, sent));
      if (change === undefined || got.status !== 200) return got;
      return new Response(JSON.stringify(change((await got.json()) as Basket)), got);
    },
  });
}

/** Removes the oldest release with what it alone lists. */
function prune(data: string): void {
  removeReleases(data, readdirSync(join(data, 'releases')).sort().slice(0, 1));
}

const thresholds = (body: unknown) =>
  (body as { standard_ruler: { thresholds: unknown } }).standard_ruler.thresholds;

describe('a record as of an earlier time', () => {
  it('I67: costs what the record costs, and is the record of then with a proof in the log of now', async () => {
    const gate = await served();
    const url = gate.url + asOfTarget(asOfTime(1));
    const terms = await askPrice(url);
    expect(terms.maxAmountRequired).toBe(
      (await askPrice(gate.url + recordTarget())).maxAmountRequired,
    );
    const { status, text } = await pay(url, terms);
    expect(status).toBe(200);
    const body = JSON.parse(text);
    expect(body).toMatchObject({ current: { level_m: 1.1 }, observed_at: '2026-11-20T07:00:00Z' });
    // The age is that of the request, a day later.
    expect(body.provenance.age_hours_now).toBe(29);
    const { log_index } = readJson(join(shop.data, 'current'), 'release.json');
    expect(body._proof).toContain(`\n${log_index + 1}\n`);
    expect((await pay(url, terms, '19999')).status).toBe(402);
  });

  it('is bought and judged by the client, which takes no newer record for it', async () => {
    const gate = await served();
    const params = { ...SIGNAL, as_of: asOfTime(1) };
    const { body } = await client(gate).buy('/gauge/as-of', params);
    expect(body).toMatchObject({ current: { level_m: 1.1 } });
    await expect(
      client(gate, { path: '/gauge/as-of', answered: recordTarget() }).buy('/gauge/as-of', params),
    ).rejects.toThrow(
      /the body speaks of 2026-11-20T09:15:00Z, which is after as_of 2026-11-20T07:30:00Z/,
    );
  });

  it('is sold in baskets, beside the record of now', async () => {
    const gate = await served();
    const targets = [asOfTarget(asOfTime(0)), asOfTarget(asOfTime(2)), recordTarget()];
    const { body } = await client(gate).buyBasket(targets);
    const { parts } = body as unknown as Basket;
    expect(parts.map(({ answer }) => answer.current)).toEqual([
      { level_m: 1 },
      { level_m: 1.2 },
      { level_m: 1.3 },
    ]);
  });

  it('is judged whatever the catalogue became since, as no body says which one it was made by', async () => {
    const own = await asOfShop(1);
    const steps = [
      { band: 'normal', at: 0 },
      { band: 'flood', at: 1.05 },
    ];
    await own.publish({ ...AS_OF_CATALOG, rulers: { harbour: { ...HARBOUR_RULER, steps } } });
    const gate = await served({}, own);
    const params = { ...SIGNAL, as_of: asOfTime(0) };
    const then = await client(gate, undefined, own).buy('/gauge/as-of', params);
    expect(thresholds(then.body)).toEqual(HARBOUR_RULER.steps);
    expect(then.report?.checks).toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining('made under another catalogue') }),
    );
    const now = await client(gate, undefined, own).buy('/gauge', SIGNAL);
    expect(thresholds(now.body)).toEqual(steps);
    // What is sold as the record of now is of the catalogue of now, or it is refused.
    const older = client(gate, { path: '/gauge', answered: asOfTarget(asOfTime(0)) }, own);
    await expect(older.buy('/gauge', SIGNAL)).rejects.toThrow(
      /does not follow from the value and the official scale/,
    );
    const both = [asOfTarget(asOfTime(0)), recordTarget()];
    expect((await client(gate, undefined, own).buyBasket(both)).report?.verdict).toBe('verified');
    const change = ({ parts: [then, now], ...rest }: Basket): Basket => {
      const earlier = defined(then, 'the record of then');
      return { ...rest, parts: [earlier, { ...now, answer: earlier.answer }] };
    };
    const mixing = client(gate, { path: '/gauge/basket', change }, own);
    await expect(mixing.buyBasket(both)).rejects.toThrow(
      /does not follow from the value and the official scale/,
    );
  });

  it.each([
    ['settled', SETTLED, 200],
    ['in doubt', DOUBT, 503],
  ] as const)(
    '%s: its buyer gets it after its release was pruned, and a restart',
    async (_, outcome, status) => {
      const own = await asOfShop(3);
      const state = stateFolder();
      const first = await served({ state, ...scripted(outcome) }, own);
      const target = asOfTarget(asOfTime(0));
      const terms = await askPrice(first.url + target);
      const paid = await pay(first.url + target, terms);
      expect(paid.status).toBe(status);
      await first.close();
      prune(own.data);
      const { facilitator, calls } = scripted(SETTLED);
      const gate = await served({ state, facilitator }, own);
      const again = await fetch(gate.url + target, { headers: { 'x-payment': paid.header } });
      const text = await again.text();
      expect([again.status, JSON.parse(text).current]).toEqual([200, { level_m: 1 }]);
      if (status === 200) expect(text).toBe(paid.text);
      expect(calls).toHaveLength(status === 200 ? 0 : 1);
      // Nobody else is sold it, nor asked for money.
      expect([
        (await fetch(gate.url + target)).status,
        (await pay(gate.url + target, terms)).status,
      ]).toEqual([422, 422]);
      expect(calls).toHaveLength(status === 200 ? 0 : 1);
    },
  );

  it('is answered while the release changes, and a pruned one is no longer offered', async () => {
    const own = await asOfShop(2);
    const gate = await served({ pollMs: 20 }, own);
    const target = gate.url + asOfTarget(asOfTime(0));
    await askPrice(target);
    expect((await fetch(gate.url + asOfTarget(asOfTime(2)))).status).toBe(422);
    await own.publish();
    await expect
      .poll(async () => (await fetch(gate.url + asOfTarget(asOfTime(2)))).status)
      .toBe(402);
    await askPrice(target);
    prune(own.data);
    // The very target was asked before, so nothing of its 402 may have been kept.
    await expect.poll(async () => (await fetch(target)).status).toBe(422);
    expect(await (await fetch(target)).text()).toContain(`from ${asOfTime(1)} to ${asOfTime(2)}`);
  });

  it('is in every description, whose examples answer', async () => {
    const gate = await served();
    const row = defined(catalog.operationByPath.get('/gauge/as-of'), 'the operation');
    const key = 'GET /gauge/as-of';
    const doors = await openDoors(gate.url, 'https://example.org');
    const example = doors.entries.get(key)?.input_example_request ?? '';
    expect(example).toBe(asOfTarget(asOfTime(RELEASES - 1)));
    await askPrice(gate.url + example);
    const { 'the 402': _, ...described } = DOORS;
    for (const [name, door] of Object.entries(described)) {
      const shown = new Map([...(await door.read(doors))].filter(([one]) => one === key));
      expect(gaps([row], { name, belongs: () => true, shown }, new Map([[key, example]]))).toEqual(
        [],
      );
    }
    const listed = await fetch(`${gate.url}/gauge/catalog?signal_id=tides.level`);
    expect(await listed.text()).toContain('"/gauge/as-of"');
  });

  it.each([
    ['words', '/gauge/search?q=water%20level%20at%20an%20earlier%20time&limit=20'],
    ['a place', '/gauge/search?q=earlier%20release%20pier-one&limit=20'],
  ])('is found by %s, with requests that answer', async (_, target) => {
    const gate = await served();
    const { results } = (await (await fetch(gate.url + target)).json()) as {
      results: { path?: string; request: string }[];
    };
    const requests = results.map(({ request }) => new URL(request, gate.url));
    expect(requests.some(({ pathname }) => pathname === '/gauge/as-of')).toBe(true);
    for (const { pathname, search } of requests) {
      const { status } = await fetch(gate.url + pathname + search);
      expect([pathname + search, [200, 402].includes(status)]).toEqual([pathname + search, true]);
    }
  });

  it('names a request that answers in each refusal, also of a misspelt station', async () => {
    const gate = await served();
    for (const target of [
      '/gauge/as-of?x=1',
      asOfTarget(asOfTime(1), 'pier-won'),
      asOfTarget('2020-01-01'),
    ]) {
      const refused = await fetch(gate.url + target);
      const { example_request } = (await refused.json()) as { example_request: string };
      expect([target, refused.status]).toEqual([target, 422]);
      await askPrice(gate.url + example_request);
    }
  });
});

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { canonicalRequest } from '../../../compiler/catalog/route.ts';
import { CATALOG_PATH, formatCatalogRow } from '../../../compiler/format/release.ts';
import {
  subscriptionSchema,
  sweepSchema,
  WATCH_ITEMS_MAX,
  watchChangesSchema,
  watchSchema,
} from '../../../compiler/products/shapes/watch-bodies.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import { CatalogTable } from '../../../gatekeeper/rooms/catalog.ts';
import { tokenGate, watch } from '../../../gatekeeper/rooms/subscription.ts';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import type { TokenService } from '../../../gatekeeper/settle/token.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/wire/cost.ts';
import { headerFacts } from '../../../gatekeeper/wire/header-facts.ts';
import { builtinOperation, lineOf } from '../../builtin-rows.ts';
import { smallSet } from '../../small-set.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { payer } from '../payer.ts';
import { type TinyGate, tinyGate } from '../tiny-gate.ts';
import { TINY_NOW } from '../tiny-release.ts';
import {
  compiledService,
  jsonOf,
  question,
  SECRET,
  tinyService,
  tinyTokens,
} from '../tiny-service.ts';

interface Sent {
  readonly tokens?: TokenService | null;
  readonly query?: string;
  readonly headers?: readonly string[];
  readonly isOffered?: boolean;
}

async function gated(
  path: string,
  { tokens = tinyTokens(), query = '', headers = [], isOffered = true }: Sent = {},
): Promise<unknown> {
  const request = canonicalRequest(path + query);
  if ('status' in request) throw new Error(request.error);
  const { release, ...service } = await tinyService();
  if (!isOffered) vi.spyOn(release.offers, 'has').mockReturnValue(false);
  const operator = { ...service.operator, tokens };
  const caller = { facts: headerFacts(['Host', 'gate', ...headers]), request };
  const reply = tokenGate(builtinOperation(path), caller, { ...service, release, operator });
  return reply === null ? null : { status: reply.status, ...JSON.parse(reply.body.toString()) };
}

const { token } = tinyTokens().mint();
const GATED = ['/gauge/watch', '/gauge/watch-changes', '/gauge/manifest-sweep'] as const;
const bearer = (value: string) => ['Authorization', value];

describe('tokenGate()', () => {
  it('I45: takes a token of before for what the release no longer offers, and sells none', async () => {
    const off = { status: 501, code: 'not_configured' };
    expect(await gated('/gauge/subscribe', { isOffered: false })).toMatchObject(off);
    for (const path of GATED) {
      expect(await gated(path, { isOffered: false })).toMatchObject(off);
      expect(await gated(path, { isOffered: false, query: `?token=${token}` })).toBeNull();
    }
  });

  it('I45: turns only the subscription paths off where no secret is set', async () => {
    for (const path of [...GATED, '/gauge/subscribe'] as const) {
      const reply = await gated(path, { tokens: null, query: `?token=${token}` });
      expect(reply).toMatchObject({ status: 501, code: 'not_configured', no_charge: true });
    }
    for (const path of ['/gauge', '/gauge/coverage', '/resolve', '/verify'] as const) {
      expect(await gated(path, { tokens: null })).toBeNull();
    }
  });

  it.each(GATED)('I45: opens %s for a valid token, in either place', async (path) => {
    expect(await gated(path, { headers: bearer(`Bearer ${token}`) })).toBeNull();
    expect(await gated(path, { headers: bearer(`bearer  ${token} `) })).toBeNull();
    expect(await gated(path, { query: `?token=${token}` })).toBeNull();
    const both = { headers: bearer(`Bearer ${token}`), query: `?token=${token}` };
    expect(await gated(path, both)).toBeNull();
  });

  it.each(GATED)('answers 401 at %s with the reason', async (path) => {
    const mint = '/gauge/subscribe';
    expect(await gated(path)).toMatchObject({ status: 401, code: 'missing_token', mint });
    const late = tinyTokens({ clock: () => TINY_NOW + 31 * 86_400_000 });
    const expired = await gated(path, { tokens: late, query: `?token=${token}` });
    expect(expired).toMatchObject({ status: 401, code: 'expired_token', mint });
    const invalid: readonly Sent[] = [
      { query: '?token=' },
      { query: `?token=${token}x` },
      { headers: bearer(token) },
      { headers: bearer(`Basic ${token}`) },
      { headers: bearer(`Bearer ${token} ${token}`) },
      { headers: [...bearer(`Bearer ${token}`), ...bearer(`Bearer ${token}`)] },
      { headers: bearer('Bearer'), query: `?token=${token}` },
      { headers: bearer(`Bearer ${token}`), query: '?token=x' },
    ];
    for (const sent of invalid) {
      expect([sent, await gated(path, sent)]).toMatchObject([
        sent,
        { status: 401, code: 'invalid_token' },
      ]);
    }
  });

  it('asks nobody for a token who wants to buy one', async () => {
    expect(await gated('/gauge/subscribe')).toBeNull();
  });
});

describe('mint()', () => {
  const NETWORK = NETWORKS['base-sepolia'];

  const ITEMS = '/gauge/watch?items=environment:us-denver';

  let gate: TinyGate;

  let shut: TinyGate;

  beforeAll(async () => {
    gate = await tinyGate({ config: { tokenSecret: SECRET, tokenDays: 2 } });
    shut = await tinyGate();
  });

  afterAll(async () => {
    await gate.close();
    await shut.close();
  });

  /** The body of a reply, as far as a test looks into it. */
  const jsonOf = async (reply: Response) => JSON.parse(await reply.text());

  async function paymentOf(): Promise<string> {
    const challenge = await jsonOf(await fetch(`${gate.url}/gauge/subscribe`));
    expect(challenge.accepts[0].maxAmountRequired).toBe('9900000');
    return payer(NETWORK).header(challenge.accepts[0]);
  }

  const subscribe = (header: string, name?: string) => {
    const named: Record<string, string> = name === undefined ? {} : { 'Payment-Identifier': name };
    return fetch(`${gate.url}/gauge/subscribe`, { headers: { 'X-PAYMENT': header, ...named } });
  };

  const watch = (token: string) =>
    fetch(gate.url + ITEMS, { headers: { Authorization: `Bearer ${token}` } });

  it('I45: sells a token that opens the watchlist until its end', async () => {
    const reply = await subscribe(await paymentOf());
    expect(reply.status).toBe(200);
    expect(reply.headers.get('cache-control')).toContain('no-store');
    const { token, days, expires_at } = subscriptionSchema.parse(await reply.json());
    expect(days).toBe(2);
    const opened = await watch(token);
    expect(opened.status).toBe(200);
    expect(opened.headers.get('cache-control')).toBe('private, no-store');
    expect(opened.headers.get('etag')).toBeNull();
    expect((await fetch(`${gate.url}${ITEMS}&token=${token}`)).status).toBe(200);
    expect((await fetch(gate.url + ITEMS)).status).toBe(401);
    const before = gate.now;
    gate.now = Date.parse(expires_at);
    expect(await (await watch(token)).json()).toMatchObject({ code: 'expired_token' });
    gate.now = before;
  });

  it('I45: gives one token with one end for one payment, whenever it is sent again', async () => {
    const header = await paymentOf();
    const first = await (await subscribe(header, 'pay_0123456789abcdef')).text();
    gate.now += 60_000;
    expect(await (await subscribe(header, 'pay_0123456789abcdef')).text()).toBe(first);
    expect((await subscribe(header)).status).toBe(402);
    const other = await (await subscribe(await paymentOf())).text();
    expect(other).not.toBe(first);
  });

  it('I6: hands out no token without a settlement', async () => {
    const refused = await subscribe('e30=');
    expect(refused.status).toBe(402);
    for (const path of ['/gauge/subscribe', '/gauge/subscribe?a=b']) {
      expect(await (await fetch(gate.url + path)).text()).not.toContain('sp1.');
    }
  });

  it('I45: starts without a secret and says so, at these paths only', async () => {
    const reply = await fetch(`${shut.url}/gauge/subscribe`);
    expect([reply.status, (await jsonOf(reply)).code]).toEqual([501, 'not_configured']);
    expect((await fetch(shut.url + ITEMS)).status).toBe(501);
    expect((await fetch(`${shut.url}/gauge/coverage?summary=1`)).status).toBe(200);
    const sold = '/gauge?signal_id=airquality.aqi&entity=us-denver';
    expect((await fetch(shut.url + sold)).status).toBe(402);
  });

  it('I49: writes no token into the log', async () => {
    const { token } = await jsonOf(await subscribe(await paymentOf()));
    await fetch(`${gate.url}${ITEMS}&token=${token}`);
    expect(JSON.stringify(gate.logged)).not.toContain(token.slice(-43));
  });

  it('answers a subscriber with the bodies of the schema', async () => {
    const { token } = await jsonOf(await subscribe(await paymentOf()));
    const body = watchSchema.parse(await (await watch(token)).json());
    expect(body.items[0]?.found).toBe(true);
  });
});

describe('watch()', () => {
  const NOW = '2026-11-20T12:30:00Z';

  let service: Service;

  beforeAll(async () => {
    const { data } = await compileFolder(writeSnapshots(smallSet()));
    service = await compiledService(data, NOW);
  });

  afterAll(removeFolders);

  const ask = async (path: string, query: Readonly<Record<string, string>> = {}, by = service) =>
    jsonOf(await watch(question(`${path}?${new URLSearchParams(query)}`), by));

  const watched = async (items: string) => watchSchema.parse(await ask('/gauge/watch', { items }));

  const changed = async (items: string, since?: string) =>
    watchChangesSchema.parse(
      await ask('/gauge/watch-changes', { items, ...(since === undefined ? {} : { since }) }),
    );

  const industryOf = (signal: string) => lineOf(signal)?.industry ?? '';

  const DENVER = `${industryOf('airquality.aqi')}:us-denver`;

  it('gives the latest reading of every signal of an item, river gauges of a city included', async () => {
    const body = await watched(DENVER);
    expect(body.items[0]?.rows.map((row) => row.signal_id).sort()).toEqual([
      'airquality.aqi',
      'airquality.pm25',
      'hydrology.river-level',
      'precipitation.daily',
      'precipitation.wetness30d',
    ]);
    const aqi = body.items[0]?.rows.find((row) => row.signal_id === 'airquality.aqi');
    expect(aqi).toMatchObject({
      entity_name: 'Denver, CO',
      current: { aqi_index: 120 },
      provenance: { freshness: 'fresh' },
    });
    expect([body.count, body.unknown_items]).toEqual([5, []]);
  });

  it('gives each row the hash and the age that the record itself has', async () => {
    for (const row of (await watched(DENVER)).items[0]?.rows ?? []) {
      const path = `record/${row.signal_id}/${row.entity}.json`;
      const record = JSON.parse((await service.release.body(path, FOR_EVERYBODY)).bytes.toString());
      expect(row.record_hash).toBe(record.record_hash);
      expect(row.current).toEqual(record.current);
      const hours = (Date.parse(NOW) - Date.parse(row.observed_at)) / 3_600_000;
      expect(row.provenance.age_hours_now).toBeCloseTo(hours, 1);
    }
  });

  it('speaks of one instant in all rows, however long it takes to make them', async () => {
    let now = Date.parse('2026-11-20T13:02:58.500Z');
    const clock = () => {
      now += 700;
      return now;
    };
    const body = watchSchema.parse(
      await ask('/gauge/watch', { items: DENVER }, { ...service, clock }),
    );
    const ages = body.items.flatMap(({ rows }) => rows.map((row) => row.provenance.age_hours_now));
    expect(ages).toEqual([3, 3, 3, 3, 3]);
  });

  it('answers item by item, discloses unknown ones and counts a repeated one once', async () => {
    const body = await watched(`${DENVER}, nowhere:at-all,${DENVER},filings:aapl,filings:ZZZZ`);
    expect(body.items.map(({ item, found }) => [item, found])).toEqual([
      [DENVER, true],
      ['nowhere:at-all', false],
      ['filings:aapl', true],
      ['filings:ZZZZ', false],
    ]);
    expect(body.unknown_items).toEqual(['nowhere:at-all', 'filings:ZZZZ']);
    expect(body.items[1]?.rows).toEqual([]);
  });

  it.each([0, 1])('I43: takes %i items over the limit or refuses them', async (over) => {
    const count = WATCH_ITEMS_MAX + over;
    const items = Array.from({ length: count }, (_, at) => `filings:T${at}`).join(',');
    const body = await ask('/gauge/watch', { items });
    if (over === 0) expect(watchSchema.parse(body).items).toHaveLength(count);
    else expect(body).toMatchObject({ status: 422, miss: 'illegal_value', no_charge: true });
  });

  it.each(['nocolon', ':entity', 'industry:', 'a:b,', ',', 'A B:c', 'a: ,b:c'])(
    'refuses the list "%s" with its usage',
    async (items) => {
      const body = await ask('/gauge/watch', { items });
      expect(body).toMatchObject({ status: 422, miss: 'illegal_value' });
      expect(body.usage).toBe('/gauge/watch?items=<value>');
      const example = await watch(question(String(body.example_request)), service);
      expect(example.kind).toBe('content');
    },
  );

  it('gives only what was observed strictly after since', async () => {
    const at = '2026-11-20T10:00:00Z';
    const aqi = async (since: string) => (await changed(DENVER, since)).items[0]?.rows.length;
    const [all, none] = [await aqi('2026-11-20T09:59:59Z'), await aqi(at)];
    expect(all).toBe(5);
    expect(none).toBe(0);
    expect(await aqi('2026-11-20T09:59:59.999Z')).toBe(5);
  });

  it.each([
    ['2026-11-19', '2026-11-19T00:00:00Z'],
    ['2026-11-20T11:00:00+02:00', '2026-11-20T09:00:00Z'],
    ['2026-11-20T11:00:00 02:00', '2026-11-20T09:00:00Z'],
    ['1795168800', '2026-11-20T10:00:00Z'],
    ['0', '1970-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
    [undefined, '2026-11-19T12:30:00Z'],
  ])('reads since %s as %s', async (since, time) => {
    expect((await changed(DENVER, since)).since).toBe(time);
  });

  it.each([
    'yesterday',
    '-1',
    '1e9',
    '2026-02-30',
    '2026-11-20T10:00:00',
    '999999999999',
    '2026-13-01',
    '9999-12-31T23:59:59-12:00',
    '0000-12-31',
  ])('refuses since "%s"', async (since) => {
    const body = await ask('/gauge/watch-changes', { items: DENVER, since });
    expect(body).toMatchObject({ status: 422, miss: 'illegal_value', no_charge: true });
  });

  it('sweeps every latest reading by time and hash, page by page', async () => {
    const body = sweepSchema.parse(await ask('/gauge/manifest-sweep'));
    expect([body.page, body.pages, body.next]).toEqual([1, 1, null]);
    expect(body.total).toBe(service.release.head.counts.records);
    expect(body.rows).toHaveLength(body.total);
    expect(new Set(body.rows.map((row) => `${row.signal_id} ${row.entity}`)).size).toBe(body.total);
    expect(body.rows.every((row) => row.industry === industryOf(row.signal_id))).toBe(true);
    const beyond = sweepSchema.parse(await ask('/gauge/manifest-sweep', { page: '9' }));
    expect([beyond.rows, beyond.next]).toEqual([[], null]);
  });

  it('keeps every page of a sweep under two megabytes', async () => {
    const lines = Array.from({ length: 6000 }, (_, at) =>
      formatCatalogRow({
        signal_id: 'crypto.spot',
        entity: `coin-${'x'.repeat(110)}${at}`,
        entity_name: null,
        observed_at: '2026-11-20T10:00:00Z',
        band: null,
        record_hash: `sha256:${String(at).padStart(64, '0')}`,
        last_looked_at: '2026-11-21T11:00:00Z',
      }),
    );
    const long = await tinyService({
      files: new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]),
    });
    const first = sweepSchema.parse(await ask('/gauge/manifest-sweep', {}, long));
    const second = sweepSchema.parse(await ask('/gauge/manifest-sweep', { page: '2' }, long));
    const next = '/gauge/manifest-sweep?page=2';
    expect([first.rows.length, second.rows.length, first.next]).toEqual([5000, 1000, next]);
    expect(JSON.stringify(first).length).toBeLessThan(2_000_000);
  });

  it('I39: reads each line of the catalogue once for an item, whatever its industry measures', async () => {
    await watched(DENVER);
    const read = vi.spyOn(CatalogTable.prototype, 'row');
    try {
      const { count } = await watched(DENVER);
      const lines = read.mock.calls.map(([number]) => number);
      expect(lines.length).toBeGreaterThanOrEqual(count);
      expect(new Set(lines).size).toBe(lines.length);
    } finally {
      read.mockRestore();
    }
  });

  it('I39: reads one record for each row, so that cost grows with the list alone', async () => {
    const coins = Array.from({ length: 30 }, (_, at) => reading(`coin-${at}`, { price_usd: at }));
    const files = { '2026-11-20T10Z/crypto.spot.ndjson': ndjson(coins) };
    const { data } = await compileFolder(writeSnapshots(files));
    const coined = await compiledService(data, NOW);
    let reads = 0;
    const body = (path: string) => {
      if (path.startsWith('record/')) reads += 1;
      return coined.release.body(path, FOR_EVERYBODY);
    };
    const release = Object.create(coined.release, {
      body: { value: body },
    }) as Service['release'];
    const cost = async (count: number): Promise<number> => {
      reads = 0;
      const items = coins
        .slice(0, count)
        .map((coin) => `${industryOf('crypto.spot')}:${coin.entity}`);
      await ask('/gauge/watch', { items: items.join(',') }, { ...coined, release });
      return reads;
    };
    expect([await cost(7), await cost(15), await cost(30)]).toEqual([7, 15, 30]);
  });
});

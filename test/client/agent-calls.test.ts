import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientError } from '../../compiler/client/client-error.ts';
import type { PayingFetch } from '../../compiler/client/payment-trip.ts';
import {
  type ClientOptions,
  signalpressClient,
  type WatchedReading,
} from '../../compiler/client/signalpress-client.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { sampleGate, sampleToken } from '../gate.ts';
import { NOW_MS, payer } from '../gatekeeper/payer.ts';
import { type Shop, smallShop } from '../shop.ts';

// What an agent calls on its way from a question to a record that it can rely on.

const PAIR = { signal_id: 'airquality.aqi', entity: 'us-denver' } as const;
const ITEM = 'environment:us-denver';

let release: Shop;
let gate: Gatekeeper;
let paid = 0;
beforeAll(async () => {
  release = await smallShop();
  gate = await sampleGate(release.data);
});
afterAll(async () => {
  await gate.close();
  release.dispose();
});

const wallet: PayingFetch = (inner) => async (input, init) => {
  const asked = await inner(input, init);
  if (asked.status !== 402) return asked;
  const { accepts } = (await asked.json()) as { accepts: [never] };
  const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
  const answer = await inner(input, { ...init, headers: { 'X-PAYMENT': header } });
  paid += 1;
  return answer;
};

function client(options: Partial<ClientOptions> = {}) {
  const by = { baseUrl: gate.url, issuer: release.did, pay: wallet, clock: () => NOW_MS };
  return signalpressClient({ ...by, wait: async () => undefined, ...options });
}
async function failure(work: Promise<unknown>): Promise<ClientError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ClientError);
  return error as ClientError;
}

describe('search()', () => {
  it('finds by words what can be bought, at most so many', async () => {
    const results = await client().search('air quality in Denver', 2);
    expect(results.length).toBeGreaterThan(0);
    expect(results.length).toBeLessThanOrEqual(2);
    expect(JSON.stringify(results)).toContain('us-denver');
  });

  it('finds nothing for words that nothing has', async () => {
    expect(await client().search('xyzzyqq')).toEqual([]);
  });

  it('refuses an answer without results', async () => {
    const fetch = async () => Response.json({ results: [1] });
    expect((await failure(client({ fetch }).search('air'))).code).toBe('failed');
  });
});

describe('quote()', () => {
  it('tells the price and the ways to pay, and signs nothing', async () => {
    const before = paid;
    const quote = await client().quote('/gauge', PAIR);
    expect(quote).toMatchObject({ priceUsd: '0.01', accepts: [{ network: 'base-sepolia' }] });
    expect([quote.url.startsWith(`${gate.url}/gauge?`), paid]).toEqual([true, before]);
  });

  it('throws for what the service does not have, and for an answer without a price', async () => {
    const missing = await failure(client().quote('/gauge', { ...PAIR, entity: 'nowhere' }));
    expect([missing.code, missing.facts.status]).toEqual(['not_charged', 422]);
    const fetch = async () => Response.json({ accepts: [] }, { status: 402 });
    expect((await failure(client({ fetch }).quote('/gauge', PAIR))).code).toBe('failed');
  });

  it('throws for what is free', async () => {
    const free = client({ fetch: async () => Response.json({}) });
    expect((await failure(free.quote('/gauge', PAIR))).message).toContain('Use get()');
  });
});

describe('buy() on some networks', () => {
  it('pays where it may', async () => {
    const bought = await client({ networks: ['base-sepolia'] }).buy('/gauge', PAIR);
    expect(bought.report?.verdict).toBe('verified');
  });

  it('sends no payment that a wallet signed for another one', async () => {
    const sent: Request[] = [];
    const counting: typeof fetch = async (...request) => {
      sent.push(new Request(...request));
      return fetch(...request);
    };
    const error = await failure(
      client({ networks: ['base', 'eip155:8453'], fetch: counting }).buy('/gauge', PAIR),
    );
    expect([error.code, error.message]).toEqual([
      'refused',
      'Cannot pay on "base-sepolia": networks has base, eip155:8453; nothing was sent',
    ]);
    expect(sent.map(({ headers }) => headers.has('x-payment'))).toEqual([false]);
  });
});

describe('buy() of a series as CSV', () => {
  const SERIES = '/gauge/history-series';
  const call = { maxUsd: '1' };

  it('verifies a signed one, which verify() accepts as it was saved', async () => {
    const bought = await client().buy(SERIES, { ...PAIR, format: 'csv-signed', days: 7 }, call);
    expect(bought.text).toMatch(/^# \{.*\}\r\nsnapshot_date,/);
    expect(bought.report?.verdict).toBe('verified');
    expect((await client().verify(bought.text)).verdict).toBe('verified');
    const altered = bought.text.replace(/"aqi_index"":/, '"aqi_index"":1');
    expect((await client().verify(altered)).verdict).toBe('failed');
  });

  it('relies on no table with other days, without its first line, or in another format', async () => {
    const swapped = (more: object) => {
      const query = new URLSearchParams({ ...PAIR, ...more });
      const other: typeof fetch = async (input, init) => {
        const request = new Request(input, init);
        const url = `${gate.url}${SERIES}?${query}`;
        return fetch(new Request(url, { headers: request.headers }));
      };
      return client({ fetch: other });
    };
    for (const [format, more] of [
      ['csv-signed', { format: 'csv-signed', days: '1' }],
      ['csv-signed', { format: 'csv', days: '7' }],
      ['csv-signed', { format: 'json', days: '7' }],
      ['json', { format: 'csv-signed', days: '7' }],
    ] as const) {
      const error = await failure(swapped(more).buy(SERIES, { ...PAIR, format, days: 7 }, call));
      expect([format, more, error.code]).toEqual([format, more, 'unverified']);
    }
  });
});

describe('verify()', () => {
  it('accepts what was bought, and refuses it altered or of another issuer', async () => {
    const { text } = await client().buy('/gauge', PAIR);
    expect((await client().verify(text)).verdict).toBe('verified');
    expect((await client().verify(text.replace('us-denver', 'us-boston'))).verdict).toBe('failed');
    const issuer = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';
    expect((await client({ issuer }).verify(text)).verdict).toBe('failed');
  });
});

describe('watch()', () => {
  /** Answers of `/gauge/watch`, one after the other; a status is a failure. */
  async function watching(alter: (turn: number, body: string) => string | number, looks: number) {
    let turn = 0;
    const end = new AbortController();
    const faulty: typeof fetch = async (...request) => {
      const text = await (await fetch(...request)).text();
      const made = alter(turn, text);
      turn += 1;
      if (turn === looks) end.abort();
      return typeof made === 'number'
        ? Response.json({ error: 'x' }, { status: made })
        : new Response(made);
    };
    const seen: WatchedReading[] = [];
    const { signal } = end;
    const options = { token: sampleToken(), signal };
    for await (const one of client({ fetch: faulty }).watch([ITEM], options)) seen.push(one);
    return { seen, turn };
  }
  const otherHash = (body: string): string =>
    body.replaceAll(
      /"record_hash":"sha256:[0-9a-f]{64}"/g,
      `"record_hash":"sha256:${'1'.repeat(64)}"`,
    );

  it('yields each reading once, and again when its hash changes', async () => {
    const { seen } = await watching((turn, body) => (turn < 2 ? body : otherHash(body)), 4);
    const rows = seen.filter(({ row }) => row.signal_id === PAIR.signal_id);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ item: ITEM, row: { entity: PAIR.entity } });
    expect(rows[1]?.row.record_hash).toBe(`sha256:${'1'.repeat(64)}`);
  });

  it('goes on after four failures, and throws the fifth', async () => {
    const { seen, turn } = await watching((at, body) => (at < 4 ? 503 : body), 5);
    expect([seen.length > 0, turn]).toEqual([true, 5]);
    expect((await failure(watching(() => 429, 9))).facts.status).toBe(429);
  });

  it('throws at once for a token that is not valid, and for too short an interval', async () => {
    const token = 'no-token';
    const first = client().watch([ITEM], { token })[Symbol.asyncIterator]().next();
    expect((await failure(first)).facts.status).toBe(401);
    for (const everyMs of [0, 999, Number.NaN]) {
      expect(() => client().watch([ITEM], { token, everyMs })).toThrow(RangeError);
    }
  });
});

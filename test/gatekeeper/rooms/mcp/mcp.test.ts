import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { toolsOf } from '../../../../compiler/catalog/tools.ts';
import { CONTRACT_VERSION } from '../../../../compiler/format/release.ts';
import { parseJson } from '../../../../compiler/format/strict-json.ts';
import { localFacilitator } from '../../../../gatekeeper/settle/facilitator/local-facilitator.ts';
import type { Facilitator } from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { loggedRelease } from '../../logged-service.ts';
import { payer } from '../../payer.ts';
import { rawAnswers, rawHttp } from '../../raw-http.ts';
import { type TinyGate, tinyGate } from '../../tiny-gate.ts';
import { TINY_NOW } from '../../tiny-release.ts';
import {
  asked,
  call,
  type Json,
  listing,
  PAIR,
  RECORD,
  ROWS,
  type Sent,
  stateless,
  type Want,
} from './mcp-corners.ts';

const PAID = '/gauge?signal_id=airquality.aqi&entity=us-denver';

let gate: TinyGate;
let payment = '';
const calls: string[] = [];

/** A facilitator that would settle everything, and remembers what it was asked. */
function watched(): Facilitator {
  const real = localFacilitator({ clock: () => TINY_NOW });
  const remember =
    <Asked, Outcome>(name: string, call: (asked: Asked) => Promise<Outcome>) =>
    (asked: Asked) => {
      calls.push(name);
      return call(asked);
    };
  return {
    verify: remember('verify', real.verify),
    settle: remember('settle', real.settle),
    supported: real.supported,
  };
}

beforeAll(async () => {
  gate = await tinyGate({ facilitator: watched(), release: loggedRelease() });
  const challenge = (await (await fetch(gate.url + PAID)).json()) as { accepts: [never] };
  payment = await payer(NETWORKS['base-sepolia']).header(challenge.accepts[0]);
});
afterAll(() => gate.close());

it('names in the log what a tool and a kept answer had nothing of', async () => {
  await send({ body: call('search', { query: 'price of ivory' }) });
  const absent = `${gate.url}/gauge?signal_id=airquality.aqi&entity=atlantis`;
  for (const _ of ['made', 'ready']) expect((await fetch(absent)).status).toBe(422);
  const wanted = gate.logged.flatMap((entry) => ('wanted' in entry ? [entry.wanted] : []));
  const entity = 'signal_id=airquality.aqi entity=atlantis';
  expect(wanted).toEqual(['q=price of ivory', entity, entity]);
});

interface Got {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends one request over a raw socket; each carries a payment that would buy the record. */
async function send({ method = 'POST', headers = {}, body = '' }: Sent): Promise<Got> {
  const all = {
    host: `127.0.0.1:${gate.port}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(Buffer.byteLength(body)),
    'x-payment': payment,
    connection: 'close',
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === '' ? [] : [`${name}: ${value}`],
  );
  const text = `${method} /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
  const answer = await rawHttp(gate.port, text);
  expect(answer.statuses).toHaveLength(1);
  const cut = answer.text.indexOf('\r\n\r\n');
  return {
    status: answer.statuses[0] ?? 0,
    head: answer.text.slice(0, cut).toLowerCase(),
    body: answer.text.slice(cut + 4),
  };
}

/** As much of a coverage and of its overview as the tests read. */
interface Coverage {
  readonly totals: object;
  readonly signals: readonly {
    readonly signal_id: string;
    readonly industry: string;
    readonly entities_count: number;
  }[];
}
interface Overview {
  readonly totals: object;
  readonly industries: Readonly<Record<string, number>>;
  readonly next: string;
}
const OVERVIEW_BYTES = 1000;

function countedBy(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

interface Answer {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: Json & { readonly isError?: boolean; readonly structuredContent?: Json };
}

function outcomeOf({ body }: Got): Want[1] {
  const answer: Partial<Answer> = body.startsWith('{') ? JSON.parse(body) : {};
  if (answer.jsonrpc !== '2.0') return '';
  if (answer.error !== undefined) return answer.error.code;
  return answer.result?.isError === true ? 'tool error' : 'result';
}

/** Nothing that costs is in an answer, whoever asked for it with whatever payment. */
function expectNothingPaid({ head, body }: Got): void {
  expect(body.match(/paid words|canary|\\?"sources\\?":/)).toBeNull();
  expect(head).not.toMatch(/payment-response:|^etag:|text\/event-stream|mcp-session-id:/m);
}

describe.each(Object.entries(ROWS))('I44: POST /mcp, %s', (_, rows) => {
  it.each(rows)('%s', async (_name, sent, [status, outcome]) => {
    const got = await send(sent);
    expect([got.status, outcomeOf(got)]).toEqual([status, outcome]);
    expectNothingPaid(got);
    if (status === 405) expect(got.head).toMatch(/^allow: post$/m);
    if (status === 202) expect(got.body).toBe('');
    expect(got.head).not.toMatch(/cache-control: public/);
  });
});

describe('I44: POST /mcp', () => {
  const json = async (sent: Sent): Promise<Answer> => JSON.parse((await send(sent)).body);
  const result = async (body: string): Promise<NonNullable<Answer['result']>> =>
    (await json({ body })).result ?? {};

  it('has stood more than 103 corners without a question to the facilitator', () => {
    expect(Object.values(ROWS).flat().length).toBeGreaterThanOrEqual(103);
    expect(calls).toEqual([]);
  });

  it('would be seen: the payment that all of them carried still buys the record', async () => {
    const answer = await fetch(gate.url + PAID, { headers: { 'x-payment': payment } });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/paid words/);
    expect(calls).toEqual(['settle']);
  });

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
    ['', '2025-11-25'],
  ])('answers the handshake of "%s" with %s', async (protocolVersion, want) => {
    const got = await result(asked('initialize', { protocolVersion }));
    expect(got).toMatchObject({
      protocolVersion: want,
      serverInfo: { name: 'Tiny Issuer', version: `${CONTRACT_VERSION}.0.0` },
      capabilities: { tools: {} },
    });
    expect(got.capabilities).toEqual({ tools: {} });
  });

  it('describes itself without a handshake', async () => {
    const { result: got } = await json(stateless('server/discover'));
    expect(got).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: {
        'io.modelcontextprotocol/serverInfo': {
          name: 'Tiny Issuer',
          version: `${CONTRACT_VERSION}.0.0`,
        },
      },
    });
  });

  it('answers an unknown version with all that it knows', async () => {
    const headers = { 'mcp-protocol-version': '2020-01-01' };
    const { error } = await json({ headers, body: asked('ping') });
    const supported = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
    expect(error).toMatchObject({ data: { requested: '2020-01-01', supported } });
  });

  it('lists the tools of the table', async () => {
    const tools = JSON.parse(JSON.stringify(toolsOf(BUILTIN)));
    expect(await result(listing)).toEqual({ tools });
    const { result: got } = await json(stateless('tools/list'));
    expect(got).toMatchObject({ tools, resultType: 'complete', ttlMs: 60_000 });
  });

  it.each([1, 0, -5, 'abc', ''])('answers under the id %j that was asked', async (id) => {
    expect((await json({ body: asked('ping', undefined, id) })).id).toBe(id);
    expect((await json({ body: asked('nowhere', undefined, id) })).id).toBe(id);
    expect((await json({ body: `{"id":${JSON.stringify(id)}}` })).id).toBe(id);
  });

  it('answers each request of a batch and nothing else of it', async () => {
    const parts = [asked('ping', undefined, 'a'), '{"jsonrpc":"2.0","method":"n"}', '7', listing];
    const answers = JSON.parse((await send({ body: `[${parts.join(',')}]` })).body) as Answer[];
    expect(answers.map(({ id, error }) => [id, error?.code ?? 0])).toEqual([
      ['a', 0],
      [null, -32600],
      [1, 0],
    ]);
  });

  it.each([
    ['find_signal', {}],
    ['find_signal', { industry: 'aviation' }],
    ['find_signal', { ...PAIR, full: true }],
    ['find_signal', { query: 'smog' }],
    ['search', { query: 'smog' }],
    ['quote', { request: PAID }],
    ['verify_citation', { record_hash: RECORD.record_hash }],
    ['get_official_record', PAIR],
  ])('%s shows its data as text and as structured content', async (name, given) => {
    const got = await result(call(name, given));
    const [{ type, text }] = got.content as [{ type: string; text: string }];
    expect([type, JSON.parse(text)]).toEqual(['text', got.structuredContent]);
    const { outputSchema } = toolsOf(BUILTIN).find((tool) => tool.name === name) ?? {};
    const schema = z.fromJSONSchema(outputSchema as never);
    expect(schema.safeParse(got.structuredContent).error).toBeUndefined();
    expect(schema.safeParse({ error: 'Not charged' }).success).toBe(false);
  });

  it.each([
    ['find_signal', { industry: 'enviroment' }, /did you mean "environment"/],
    ['find_signal', { signal_id: 'airquality.aq' }, /send its words as query/],
    ['find_signal', { entity: 'us-nowhere' }, /find_signal with signal_id and full=true/],
    [
      'find_signal',
      { limit: 1 },
      /legal arguments: query, industry, signal_id, entity, full, page/,
    ],
    ['verify_citation', {}, /argument missing: record_hash/],
    [
      'verify_citation',
      { record_hash: 'x' },
      /argument "record_hash" is "x"; send "sha256:" and 64 hex digits/,
    ],
    ['get_official_record', { ...PAIR, dim: 'all' }, /one of gauge, ruler, calibrated/],
    [
      'get_official_record',
      { ...PAIR, entity: 'us-nowhere' },
      /Not charged\. Try GET \/gauge\/catalog\?signal_id=airquality\.aqi - /,
    ],
  ])('%s of %j says what to send instead and shows no data', async (name, given, fix) => {
    const got = await result(call(name, given));
    const [{ text }] = got.content as [{ text: string }];
    expect(got).toMatchObject({ isError: true });
    expect(got).not.toHaveProperty('structuredContent');
    expect(text).toMatch(fix);
  });

  it.each([
    [PAIR, PAID],
    [{ ...PAIR, dim: 'ruler' }, `${PAID}&dim=ruler`],
  ])('get_official_record of %j returns the very challenge of %s', async (given, path) => {
    const challenge = await fetch(gate.url + path);
    expect(challenge.status).toBe(402);
    const { structuredContent } = await result(call('get_official_record', given));
    expect(structuredContent).toEqual(await challenge.json());
  });

  it('find_signal and verify_citation return what their URLs answer', async () => {
    const byUrl = async (path: string): Promise<unknown> => (await fetch(gate.url + path)).json();
    const { structuredContent: compact } = await result(
      call('find_signal', { industry: 'aviation' }),
    );
    expect(compact).toEqual(await byUrl('/gauge/coverage?industry=aviation&summary=1'));
    const { structuredContent: found } = await result(call('find_signal', { ...PAIR, full: true }));
    expect(found).toEqual(
      await byUrl('/gauge/coverage?signal_id=airquality.aqi&entity=us-denver&page=1'),
    );
    const given = { record_hash: RECORD.record_hash };
    const { structuredContent: verified } = await result(call('verify_citation', given));
    expect(verified).toEqual(await byUrl(`/gauge/verify?hash=${RECORD.record_hash}`));
    expect(verified).toMatchObject({ found: true, verified: true });
  });

  it('find_signal without arguments shows the totals and the industries, in few bytes', async () => {
    const whole = (await (await fetch(`${gate.url}/gauge/coverage?summary=1`)).json()) as Coverage;
    for (const given of [{}, { full: false }]) {
      const { structuredContent, content } = await result(call('find_signal', given));
      const { totals, industries, next } = structuredContent as unknown as Overview;
      expect(totals).toEqual(whole.totals);
      const held = whole.signals.filter(({ entities_count }) => entities_count > 0);
      expect(industries).toEqual(countedBy(held.map(({ industry }) => industry)));
      expect(JSON.stringify(content).length).toBeLessThan(OVERVIEW_BYTES);
      // What it names is reachable: each industry by itself, and all signals.
      const [url] = /https?:\S+/.exec(next) ?? [];
      expect(new URL(url ?? '').search).toBe('?summary=1');
      const [industry = ''] = Object.keys(industries);
      const page = await result(call('find_signal', { industry }));
      const own = (page.structuredContent as unknown as Coverage).signals;
      expect(own.filter(({ entities_count }) => entities_count > 0)).toHaveLength(
        industries[industry] ?? 0,
      );
    }
  });

  it('find_signal in full lists every signal, page by page', async () => {
    const whole = (await (await fetch(`${gate.url}/gauge/coverage?summary=1`)).json()) as Coverage;
    const listed: string[] = [];
    for (let page = 1; page <= 2; page += 1) {
      const given = { full: true, ...(page === 1 ? {} : { page: String(page) }) };
      const { structuredContent } = await result(call('find_signal', given));
      expect(structuredContent).toMatchObject({ page, pages: 2 });
      const { signals } = structuredContent as unknown as Coverage;
      listed.push(...signals.map(({ signal_id }) => signal_id));
    }
    expect(listed).toEqual(whole.signals.map(({ signal_id }) => signal_id));
    const beyond = await result(call('find_signal', { full: true, page: '3' }));
    expect(beyond).toMatchObject({ isError: true });
    expect(JSON.stringify(beyond.content)).toMatch(/leave page out for the first/);
  });

  it('keeps the connection for the next call once a body was read', async () => {
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    const one = `${head}Content-Length: ${listing.length}\r\n\r\n${listing}`;
    const { statuses } = await rawAnswers(gate.port, one + one, 2);
    expect(statuses).toEqual([200, 200]);
  });

  it('answers a body that stops in the middle by closing', async () => {
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    const { statuses } = await rawHttp(gate.port, `${head}Content-Length: 99\r\n\r\n{`, 300);
    expect(statuses).toEqual([]);
  });
});

it('repeats no half of a character of a method that is cut', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `${'x'.repeat(59)}😀` });
  const headers = { 'content-type': 'application/json' };
  const text = await (await fetch(`${gate.url}/mcp`, { method: 'POST', body, headers })).text();
  expect((parseJson(text) as { error: unknown }).error).toMatchObject({ code: -32601 });
  expect(text).toContain('x\ufffd');
});

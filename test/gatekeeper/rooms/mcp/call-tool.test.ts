import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { toolsOf } from '../../../../compiler/catalog/tools.ts';
import type { JsonObject } from '../../../../compiler/format/strict-json.ts';
import { shown } from '../../../../gatekeeper/heart/offer/no-charge.ts';
import {
  argumentFault,
  callTool,
  nothingFound,
  type Shop,
  succeededAgain,
} from '../../../../gatekeeper/rooms/mcp/call-tool.ts';
import { bodyValue, rpcMessage } from '../../../../gatekeeper/rooms/mcp/json-rpc.ts';
import { mcp } from '../../../../gatekeeper/rooms/mcp/mcp.ts';
import { verifyUsage } from '../../../../gatekeeper/rooms/verify.ts';
import { jsonReply, type Reply } from '../../../../gatekeeper/wire/reply.ts';
import type { HttpRequest } from '../../../../gatekeeper/wire/request.ts';
import { question, tinyService } from '../../tiny-service.ts';

interface VerifyAnswer {
  readonly content: readonly [{ readonly text: string }];
  readonly structuredContent?: object;
  readonly isError: boolean;
}

async function called(name: string, given: JsonObject, ask: Shop['ask']) {
  const tool = toolsOf(BUILTIN).find((each) => each.name === name);
  if (tool === undefined) throw new Error('no such tool');
  let units = 0;
  const { members } = await callTool(tool, given, {
    ask,
    catalog: BUILTIN,
    offers: new Map(),
    baseUrl: 'https://shop.example',
    spend: (more) => {
      units += more;
    },
  });
  return { units, answer: JSON.parse(`{${members}}`) as VerifyAnswer };
}

async function verified(record_hash: string, ask: Shop['ask']): Promise<VerifyAnswer> {
  return (await called('verify_citation', { record_hash }, ask)).answer;
}

describe('callTool()', () => {
  it('says of a bad hash which argument is wrong, in the words of the tool', async () => {
    const { isError, content } = await verified('nowhere"', async () => verifyUsage());
    expect(isError).toBe(true);
    expect(content[0].text).toMatch(
      /^Cannot call "verify_citation": argument "record_hash" is "nowhere\\""; send "sha256:" and 64 hex digits, /,
    );
    expect(content[0].text).not.toMatch(/hash=/);
  });

  it('charges for a call beside what it asks, whatever comes of it', async () => {
    const ask: Shop['ask'] = async () => jsonReply(404, {});
    expect((await called('quote', { request: '/nowhere' }, ask)).units).toBe(1);
    expect((await called('verify_citation', { record_hash: '00ff00ff' }, ask)).units).toBe(1);
  });

  it('hands on any other answer as it is', async () => {
    const asked: string[] = [];
    const answering =
      (status: 200 | 503): Shop['ask'] =>
      async (target) => {
        asked.push(target);
        return jsonReply(status, { status });
      };
    expect(await verified('00ff00ff', answering(200))).toMatchObject({
      isError: false,
      structuredContent: { status: 200 },
    });
    const silent = await verified('00ff00ff', answering(503));
    expect([silent.isError, silent.content[0].text]).toEqual([true, '{"status":503}']);
    expect(new Set(asked)).toEqual(new Set(['/gauge/verify?hash=00ff00ff']));
  });
});

const TOOL_ARGUMENT_CHARS_MAX = 200;
const TOOLS = toolsOf(BUILTIN);
const wrong = (name: string, given: JsonObject): string | null =>
  argumentFault(TOOLS.find((tool) => tool.name === name) ?? (TOOLS[0] as never), given);
const long = 'a'.repeat(TOOL_ARGUMENT_CHARS_MAX);

describe('argumentFault()', () => {
  it.each<[string, JsonObject]>([
    ['find_signal', {}],
    ['find_signal', { full: false, entity: 'x' }],
    ['find_signal', { entity: long }],
    ['get_official_record', { signal_id: 'a', entity: 'b', dim: 'ruler' }],
  ])('finds nothing wrong with %s %j', (name, given) => {
    expect(wrong(name, given)).toBeNull();
  });

  it.each<[string, JsonObject, string]>([
    [
      'get_official_record',
      { entity: 'b' },
      'argument missing: signal_id; legal arguments: signal_id',
    ],
    ['get_official_record', { signal_id: 'a', entity: null }, 'argument "entity" is not a string'],
    ['get_official_record', { signal_id: 'a', entity: '' }, 'argument "entity" is empty'],
    [
      'get_official_record',
      { signal_id: 'a', entity: 'b', dim: 'x' },
      'argument "dim" is "x"; send one of gauge',
    ],
    ['find_signal', { full: 1 }, 'argument "full" is not a boolean; send a boolean'],
    [
      'find_signal',
      { toString: 'x' },
      'unknown argument "toString"; legal arguments: query, industry',
    ],
    ['find_signal', { entity: `${long}a` }, 'argument "entity" is longer than 200 characters'],
  ])('says of %s %j: %s', (name, given, words) => {
    expect(wrong(name, given)).toMatch(new RegExp(`^${words}`));
  });
});

describe('shown()', () => {
  it('repeats a piece of a text, escaped', () => {
    expect(shown('a"\n')).toBe('"a\\"\\n"');
    expect(shown(long)).toHaveLength(63);
  });
});

describe('nothingFound()', () => {
  it.each([
    [
      { industry: 'aviaton' },
      /^No industry "aviaton" \(did you mean "aviation"\?\); send one of ag/,
    ],
    [{ industry: 'zzzzzzzzzzz' }, /^No industry "zzzzzzzzzzz"; send one of /],
    [{ signal_id: 'nas.ground' }, /^No signal "nas.ground"; send its words as query; find_signal/],
    [{ signal_id: 'nas.ground', full: true, page: '2' }, /^No signal "nas.ground"/],
    [{ full: true, page: '99' }, /^Page "99" has nothing; leave page out/],
    [{ entity: 'x', full: true, page: '1' }, /^No reading of entity "x"/],
    [{ signal_id: 'nas.ground_ops', entity: 'x' }, /^No reading of entity "x"/],
    [
      { industry: 'aviation', signal_id: 'airquality.aqi' },
      /another industry; leave industry out$/,
    ],
  ])('%j: %s', (given, words) => {
    expect(nothingFound(given, BUILTIN)).toMatch(words);
  });
});

const replyOf = (text: string): Reply => jsonReply(200, Buffer.from(JSON.stringify({ text })));

describe('succeededAgain()', () => {
  it('prints a body that is given again once', () => {
    const reply = replyOf('kept');
    const first = succeededAgain(reply);
    expect(JSON.parse(`{${first.members}}`)).toEqual({
      content: [{ type: 'text', text: '{"text":"kept"}' }],
      structuredContent: { text: 'kept' },
      isError: false,
    });
    expect(succeededAgain(reply)).toBe(first);
    expect(succeededAgain(replyOf('kept'))).not.toBe(first);
  });

  it('I54: holds no more of them than its bound, also while their bodies are held', () => {
    const replies = Array.from({ length: 12 }, (_, at) => replyOf(`${at}`.repeat(1_000_000)));
    const first = replies.map(succeededAgain);
    const again = replies.toReversed().map(succeededAgain).toReversed();
    const kept = replies.filter((_, at) => first[at] === again[at]);
    expect(kept.length).toBeGreaterThan(2);
    expect(kept.length).toBeLessThan(6);
  });
});

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

const methods = ['initialize', 'ping', 'tools/list', 'tools/call', 'server/discover', 'x'];
const tools = ['find_signal', 'verify_citation', 'get_official_record', '__proto__', 'toString'];
const given = fc.dictionary(
  fc.constantFrom('signal_id', 'entity', 'industry', 'full', 'dim', 'record_hash', 'other'),
  fc.jsonValue({ maxDepth: 2 }),
);
const message = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '1.0', 2),
    id: fc.jsonValue({ maxDepth: 1 }),
    method: fc.oneof(fc.constantFrom(...methods), fc.jsonValue({ maxDepth: 1 })),
    params: fc.oneof(
      fc.record({ name: fc.constantFrom(...tools), arguments: fc.oneof(given, fc.jsonValue()) }),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: [] },
);
/** Calls that get as far as a tool, with texts that mean something in a URL. */
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed()),
  fc.constantFrom('a&b=c', '../x', '%00', '?', '#', 'airquality.aqi', 'us-denver', 'ruler'),
);
const call = fc.record({
  jsonrpc: fc.constant('2.0'),
  id: fc.integer(),
  method: fc.constant('tools/call'),
  params: fc.oneof(
    fc.record({
      name: fc.constant('get_official_record'),
      arguments: fc.record({ signal_id: value, entity: value }),
    }),
    fc.record({
      name: fc.constantFrom('find_signal', 'verify_citation'),
      arguments: fc.oneof(
        fc.record({ entity: value, full: fc.boolean() }),
        fc.record({ record_hash: value }),
      ),
    }),
  ),
});
const body = fc.oneof(
  call.map((one) => JSON.stringify(one)),
  message.map((one) => JSON.stringify(one)),
  fc.array(message, { maxLength: 25 }).map((many) => JSON.stringify(many)),
  fc.string({ maxLength: 50 }),
);
const header = fc.option(fc.constantFrom('2025-03-26', '2026-07-28', 'tools/call', 'x'));
const headers = fc.record({ version: header, method: header, name: header });

describe('I40: mcp()', () => {
  it('answers any body and any headers with one of its own statuses', async () => {
    const tiny = await tinyService();
    const asked: string[] = [];
    const staticFile = ({ target }: HttpRequest): null => {
      asked.push(target);
      return null;
    };
    const service = { ...tiny, rooms: { ...tiny.rooms, staticFile } };
    const property = fc.asyncProperty(body, headers, async (text, rpc) => {
      const posted = { ...question('/mcp'), body: Buffer.from(text), rpc };
      const answered = await mcp(posted, service);
      if (answered.kind !== 'reply') throw new Error('no reply');
      expect([200, 202, 400, 404]).toContain(answered.reply.status);
      const shown = answered.reply.body.toString();
      if (answered.reply.status === 202) expect(shown).toBe('');
      else for (const one of [JSON.parse(shown)].flat()) expect(one.jsonrpc).toBe('2.0');
    });
    await fc.assert(property, { numRuns: RUNS });
    expect(asked.length).toBeGreaterThan(RUNS / 1000);
    expect(asked.filter((target) => !/^\/gauge(\/verify|\/coverage)?\?/.test(target))).toEqual([]);
  });

  it('sorts any value and reads any bytes without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.uint8Array(), (value, bytes) => {
        expect(['request', 'notification', 'response', 'invalid']).toContain(
          rpcMessage(value as never).kind,
        );
        expect(bodyValue(Buffer.from(bytes))).toBeDefined();
      }),
    );
  });
});

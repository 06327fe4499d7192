import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyValue, rpcMessage } from '../../../../gatekeeper/rooms/mcp/json-rpc.ts';
import { mcp } from '../../../../gatekeeper/rooms/mcp/mcp.ts';
import type { HttpRequest } from '../../../../gatekeeper/wire/request.ts';
import { question, tinyService } from '../../tiny-service.ts';

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

import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import type { JsonObject } from '../../../compiler/contract/strict-json.ts';
import { toolsOf } from '../../../compiler/contract/tools.ts';
import { jsonReply } from '../../../gatekeeper/http/reply.ts';
import { callTool, type Shop } from '../../../gatekeeper/mcp/call-tool.ts';
import { verifyUsage } from '../../../gatekeeper/rooms/verify.ts';

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
    hasFile: () => false,
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

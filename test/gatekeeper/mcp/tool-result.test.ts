import { describe, expect, it } from 'vitest';
import { jsonReply, type Reply } from '../../../gatekeeper/http/reply.ts';
import { succeededAgain } from '../../../gatekeeper/mcp/call-tool.ts';

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

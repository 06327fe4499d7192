import { describe, expect, it } from 'vitest';
import { jsonReply } from '../../../gatekeeper/http/reply.ts';

describe('jsonReply()', () => {
  it('I12: jsonReply() marks every refusal no-store', () => {
    for (const status of [400, 401, 402, 404, 422, 429, 500, 503]) {
      expect(jsonReply(status, {}).headers).toContainEqual(['cache-control', 'no-store']);
    }
  });

  it('jsonReply() leaves the caching of a 200 to its caller', () => {
    const reply = jsonReply(200, { a: 1 }, [['etag', '"x"']]);
    expect(reply).toStrictEqual({
      status: 200,
      headers: [
        ['content-type', 'application/json'],
        ['etag', '"x"'],
      ],
      body: '{"a":1}',
    });
  });
});

import { describe, expect, it } from 'vitest';
import { eraOf, type RpcRequest } from '../../../gatekeeper/mcp/json-rpc.ts';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const none = { version: null, method: null, name: null };
const request = (method: string, params: RpcRequest['params'] = {}): RpcRequest => {
  return { kind: 'request', id: 1, method, params };
};

describe('eraOf()', () => {
  it.each([null, '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'takes a request under the version header %s for one of the handshake',
    (version) => {
      expect(eraOf(request('tools/list'), { ...none, version })).toBe('handshake');
    },
  );

  it('takes a claim with its headers for one without handshake', () => {
    const headers = { version: '2026-07-28', method: 'tools/list', name: null };
    expect(eraOf(request('tools/list', { _meta: META }), headers)).toBe('stateless');
  });

  it('takes a progress token alone for no claim', () => {
    expect(eraOf(request('tools/list', { _meta: { progressToken: 1 } }), none)).toBe('handshake');
  });

  it.each([
    ['=?base64?w6Q=?=', 'ä', 'stateless'],
    ['=?base64?w6Q=?=', 'o', 'headerMismatch'],
    ['ä', 'ä', 'stateless'],
    [null, 'ä', 'headerMismatch'],
  ])('reads the name header %s of the tool %s: %s', (name, tool, want) => {
    const headers = { version: '2026-07-28', method: 'tools/call', name };
    const era = eraOf(request('tools/call', { _meta: META, name: tool }), headers);
    expect(typeof era === 'string' ? era : 'name' in era && era.name).toBe(want);
  });

  it('answers an unknown version with all that it knows', () => {
    const era = eraOf(request('ping'), { ...none, version: '2020-01-01' });
    expect(era).toMatchObject({
      name: 'unsupportedVersion',
      data: {
        requested: '2020-01-01',
        supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      },
    });
  });
});

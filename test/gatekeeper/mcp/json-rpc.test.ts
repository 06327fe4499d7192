import { describe, expect, it } from 'vitest';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import { eraOf, mcpRefusal, type RpcRequest } from '../../../gatekeeper/mcp/json-rpc.ts';

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

const BASE_URL = 'https://records.example';
const JSON_TYPE = ['Content-Type', 'application/json'];
const status = (...headers: readonly string[]): number | undefined =>
  mcpRefusal(headerFacts(headers), BASE_URL)?.status;

describe('I44: mcpRefusal()', () => {
  it.each([
    'records.example',
    'Records.Example:443',
    'localhost:4021',
    '127.0.0.1',
    '127.0.0.2',
    '[::1]:80',
  ])('takes the host %s', (host) => {
    expect(status('Host', host, ...JSON_TYPE)).toBeUndefined();
  });

  it.each([
    'evil.example',
    'records.example.evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
  ])('refuses the host %s and pages from there', (host) => {
    expect(status('Host', host, ...JSON_TYPE)).toBe(403);
    expect(status('Host', 'localhost', 'Origin', `http://${host}`, ...JSON_TYPE)).toBe(403);
  });

  it('looks at the host first, then at the page, the body type and the answer type', () => {
    const wrong = ['Content-Type', 'text/plain', 'Accept', 'text/html'];
    expect(status('Host', 'evil.example', ...wrong)).toBe(403);
    expect(status('Host', 'localhost', 'Origin', 'null', ...wrong)).toBe(403);
    expect(status('Host', 'localhost', ...wrong)).toBe(415);
    expect(status('Host', 'localhost', ...JSON_TYPE, 'Accept', 'text/html')).toBe(406);
    expect(status('Host', 'localhost', ...JSON_TYPE, 'Accept', 'text/html, */*;q=0.1')).toBe(
      undefined,
    );
  });
});

import { describe, expect, it } from 'vitest';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import { mcpRefusal } from '../../../gatekeeper/mcp/json-rpc.ts';

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

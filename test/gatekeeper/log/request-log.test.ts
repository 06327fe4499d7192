import { describe, expect, it } from 'vitest';
import type { SentAnswer } from '../../../gatekeeper/http/request.ts';
import { trustedProxies } from '../../../gatekeeper/limits/client-address.ts';
import type { LoggedRequests } from '../../../gatekeeper/log/log-level.ts';
import { requestLog } from '../../../gatekeeper/log/request-log.ts';

const ANSWER: SentAnswer = {
  id: 'a-1',
  method: 'GET',
  path: '/gauge',
  status: 200,
  bytes: 12,
  ms: 0.12345,
  from: 'made',
  address: '203.0.113.7',
  forwardedFor: null,
};

function logged(
  answers: readonly Partial<SentAnswer>[],
  requests: LoggedRequests = 'all',
): Readonly<Record<string, unknown>>[] {
  const entries: Readonly<Record<string, unknown>>[] = [];
  const note = requestLog({
    requests,
    proxies: trustedProxies('10.0.0.0/8'),
    log: (entry) => entries.push(entry),
    clock: () => 0,
    random: (bytes) => Buffer.alloc(bytes),
  });
  for (const answer of answers) note?.({ ...ANSWER, ...answer });
  return entries;
}

describe('requestLog()', () => {
  it('logs what was asked and answered, and never the address', () => {
    const [entry] = logged([{ payer: '0xab' }]);
    expect(entry).toEqual({
      id: 'a-1',
      method: 'GET',
      path: '/gauge',
      status: 200,
      bytes: 12,
      ms: 0.12,
      client: expect.stringMatching(/^[0-9a-f]{16}$/),
      payer: '0xab',
    });
    expect(JSON.stringify(entry)).not.toContain('203.0.113.7');
  });

  it('tells clients behind a trusted proxy apart, and believes nobody else', () => {
    const [first, second, third, fourth] = logged([
      { address: '10.0.0.1', forwardedFor: '203.0.113.7' },
      { address: '10.0.0.1', forwardedFor: '203.0.113.8' },
      { address: '203.0.113.7' },
      { address: '203.0.113.7', forwardedFor: '203.0.113.8' },
    ]).map(({ client }) => client);
    expect(first).not.toBe(second);
    expect(third).toBe(first);
    expect(fourth).toBe(first);
  });

  it.each([
    ['all', [200, 402, 404, 500, 503]],
    ['errors', [500, 503]],
    ['off', []],
  ] as const)('"%s" logs the statuses %j', (requests, statuses) => {
    const all = [200, 402, 404, 500, 503].map((status) => ({ status }));
    expect(logged(all, requests).map(({ status }) => status)).toEqual(statuses);
  });

  it('leaves out probes, and nothing that only looks like one', () => {
    const paths = ['/healthz', '/metrics', '/healthz/x', '/metrics2'];
    const entries = logged(paths.map((path) => ({ path, status: 503 })));
    expect(entries.map(({ path }) => path)).toEqual(['/healthz/x', '/metrics2']);
  });
});

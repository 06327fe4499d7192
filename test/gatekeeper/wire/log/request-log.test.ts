import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../compiler/format/iso-time.ts';
import { trustedProxies } from '../../../../gatekeeper/wire/limits/client-address.ts';
import type { LoggedRequests } from '../../../../gatekeeper/wire/log/line-log.ts';
import { clientHash, requestLog } from '../../../../gatekeeper/wire/log/request-log.ts';
import type { SentAnswer } from '../../../../gatekeeper/wire/request.ts';

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

  it.each([
    ['signal_id=tides.level entity=oslo', 'signal_id=tides.level entity=oslo'],
    ['q=price of ivory at 12:30', 'q=price of ivory at 12:30'],
    ['entity=0000320193 day=2026-11-30', 'entity=0000320193 day=2026-11-30'],
    ['q=is ann@example.org in it', 'q=is … in it'],
    [`entity=0x${'aB'.repeat(20)}`, 'entity=…'],
    [`q=${'ab'.repeat(32)} left`, 'q=… left'],
    ['q=who is 203.0.113.7', 'q=who is …'],
    ['q=2001:db8::1 and ::1', 'q=… and …'],
  ])('logs that %j was wanted, without addresses', (wanted, logs) => {
    expect(logged([{ wanted }])[0]?.wanted).toBe(logs);
    expect(logged([{}])[0]).not.toHaveProperty('wanted');
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

/** Another salt each time. */
function counting(): (bytes: number) => Buffer {
  let count = 0;
  return (bytes) => {
    count += 1;
    return Buffer.alloc(bytes, count);
  };
}

describe('clientHash()', () => {
  it('names a client the same all day, and others differently', () => {
    const nameOf = clientHash({ clock: () => 0, random: counting() });
    const name = nameOf('203.0.113.7');
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    expect(nameOf('203.0.113.7')).toBe(name);
    expect(nameOf('::ffff:203.0.113.7')).toBe(name);
    expect(nameOf('203.0.113.8')).not.toBe(name);
  });

  it('names a whole /64 the same', () => {
    const nameOf = clientHash({ clock: () => 0, random: counting() });
    expect(nameOf('2001:db8::1')).toBe(nameOf('2001:db8::2'));
    expect(nameOf('2001:db8:0:1::1')).not.toBe(nameOf('2001:db8::1'));
  });

  it('gives another name on the next day, and in another process', () => {
    const time = { now: DAY_MS - 1 };
    const nameOf = clientHash({ clock: () => time.now, random: counting() });
    const before = nameOf('203.0.113.7');
    time.now += 1;
    expect(nameOf('203.0.113.7')).not.toBe(before);
    const other = clientHash({ clock: () => 0, random: (bytes) => Buffer.alloc(bytes, 9) });
    expect(other('203.0.113.7')).not.toBe(before);
  });
});

import { describe, expect, it } from 'vitest';
import { Outage } from '../../../gatekeeper/remote/outage.ts';

describe('Outage', () => {
  it('begins and ends in the log once, whoever fails in between', () => {
    const logged: Readonly<Record<string, unknown>>[] = [];
    let now = Date.UTC(2026, 0, 1);
    const outage = new Outage({
      clock: () => now,
      log: (entry) => logged.push(entry),
      begins: { event: 'gone' },
      ends: { event: 'back' },
    });
    outage.end();
    expect([outage.since, logged]).toEqual([null, []]);
    for (let at = 0; at < 50; at += 1) {
      outage.begin(`failure ${at}`);
      now += 10;
    }
    const since = '2026-01-01T00:00:00.000Z';
    expect(outage.since).toBe(since);
    outage.end();
    outage.end();
    expect(logged).toEqual([
      { event: 'gone', since, error: 'failure 0' },
      { event: 'back', since },
    ]);
    expect(outage.since).toBeNull();
  });
});

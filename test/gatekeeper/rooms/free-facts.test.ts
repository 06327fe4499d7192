import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import type { VerifyEntry } from '../../../compiler/contract/release.ts';
import { coreMembers, freeFacts } from '../../../gatekeeper/rooms/verify-hash.ts';

const entry = (more: Partial<VerifyEntry>): VerifyEntry => ({
  record_hash: `sha256:${'0'.repeat(64)}`,
  kind: 'row',
  state: 'current',
  file: 'some/file.json',
  signal_id: null,
  entity: 'somebody',
  observed_at: '2026-11-20T10:45:00Z',
  ...more,
});

describe('freeFacts()', () => {
  it('tells subject and time of a current reading, and of a citation of readings', () => {
    for (const kind of ['reading', 'citation'] as const) {
      expect(freeFacts(entry({ kind, signal_id: 'airquality.aqi' }), BUILTIN)).toEqual({
        signal_id: 'airquality.aqi',
        entity: 'somebody',
        observed_at: '2026-11-20T10:45:00Z',
      });
    }
  });

  it('I52: tells no earlier time of a series, and no time of the citation of a filing', () => {
    const old = entry({ kind: 'reading', state: 'superseded', signal_id: 'airquality.aqi' });
    expect(freeFacts(old, BUILTIN)).toMatchObject({ entity: 'somebody', observed_at: null });
    expect(freeFacts(entry({ kind: 'citation' }), BUILTIN)).toMatchObject({ observed_at: null });
  });

  it.each([
    ['trust.service', 'trust.service'],
    ['stablecoin.death', 'stablecoin.death'],
    ['taiwan-strait.vessel-transits', null],
    [null, null],
  ])('I52: tells of a row of %s its kind alone', (signal_id, want) => {
    const nothing = { signal_id: want, entity: null, observed_at: null };
    expect(freeFacts(entry({ signal_id }), BUILTIN)).toEqual(nothing);
    expect(freeFacts(entry({ signal_id, state: 'superseded' }), BUILTIN)).toEqual(nothing);
  });
});

describe('coreMembers()', () => {
  it.each([
    [{ kind: 'citation' }, 'content_hash', 'source'],
    [{ kind: 'reading', signal_id: 'airquality.aqi' }, 'record_hash', 'lifecycle'],
    [{}, 'note', 'accession'],
    [{ signal_id: 'trust.service' }, 'name', 'demand_class'],
    [{ signal_id: 'mcp.server' }, 'demand_class', 'status'],
    [{ signal_id: 'taiwan-strait.vessel-transits' }, 'row', 'current'],
  ] as const)('of %j names what is hashed, not %s but %s', (more, absent, present) => {
    const members = coreMembers(entry(more));
    expect(members).toContain(present);
    expect(members).not.toContain(absent);
  });
});

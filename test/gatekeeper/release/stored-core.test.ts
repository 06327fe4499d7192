import { describe, expect, it } from 'vitest';
import { rosterCore } from '../../../compiler/contract/collections.ts';
import { hashCore } from '../../../compiler/contract/record-hash.ts';
import type { VerifyEntry } from '../../../compiler/contract/release.ts';
import { storedCore } from '../../../gatekeeper/release/stored-core.ts';
import { tinyRecord } from '../tiny-release.ts';

const HASH = `sha256:${'1'.repeat(64)}`;
const entry = (kind: VerifyEntry['kind']): VerifyEntry => ({
  record_hash: HASH,
  kind,
  state: 'current',
  file: 'roster/x.json',
  signal_id: null,
  entity: 'x',
  observed_at: '2026-11-20T00:00:00Z',
});
const server = {
  server_id: 'a-mcp',
  capture_date: '2026-11-20',
  observed_at: '2026-11-20T00:00:00Z',
  status: 'active',
  source_ref: null,
  source_tier: null,
  record_hash: HASH,
  name: 'not hashed',
};

describe('storedCore()', () => {
  it('takes the pre-image beside a row', () => {
    const row = { record_hash: HASH, _hash_core: { hash_core_version: 3, entity: 'x' } };
    expect(storedCore(entry('row'), { rows: [{ record_hash: null }, row] })).toEqual(
      row._hash_core,
    );
  });

  it('composes the core of a subject from its own members', () => {
    expect(storedCore(entry('row'), server)).toEqual(rosterCore('mcp.server', server));
  });

  it('composes the core of a leg that carries all members', () => {
    const leg = {
      ...tinyRecord('airquality.aqi', 'us-denver', { aqi_index: 1 }),
      record_hash: HASH,
    };
    expect(storedCore(entry('row'), { legs: { air: leg } })).toEqual(hashCore(leg as never));
  });

  it.each([
    { rows: [{ record_hash: HASH, _hash_core: null }] },
    { rows: [{ record_hash: `sha256:${'2'.repeat(64)}`, _hash_core: {} }] },
    { ...server, status: undefined, record_hash: `sha256:${'2'.repeat(64)}` },
    {},
  ])('refuses a body without the row: %j', (body) => {
    expect(() => storedCore(entry('row'), body)).toThrow('not in its file');
  });
});

import { createHash } from 'node:crypto';
import { type HashedRecord, hashCore } from '../../../compiler/contract/record-hash.ts';
import { jcs } from '../../../compiler/stages/seal/jcs.ts';
import type { Vector } from './vector.ts';

const BASE = {
  hash_core_version: 3,
  signal_id: 'hydrology.stage',
  entity: '00000000',
  snapshot_date: '2026-01-02T00:00:00Z',
  observed_at: '2026-01-02T03:45:00Z',
  current: { stage_ft: 13.6, band: 'normal' },
  source_ref: 'https://example.org/00000000',
  source_tier: 'T1',
  sources: [{ name: 'Example Survey', weight: 1, independent: true }],
  lifecycle: null,
};
const SOURCE = { name: 'Example Survey', weight: 1, independent: true };
const LIFE = { state: 'operating', birth_at: null, end_at: null, death_type: null, context: null };

/** `input` is a record, `want` the canonical text of its core and its hash, `error` a part of the message. */
export function recordHashVectors(): readonly Vector[] {
  return [...sameHash(), ...otherHash(), ...refused()];
}

function row(comment: string, input: object): Vector {
  const core = jcs(hashCore(input as HashedRecord));
  const record_hash = `sha256:${createHash('sha256').update(core, 'utf8').digest('hex')}`;
  return { comment, input, want: { core, record_hash } };
}

/** Rows whose hash is that of the first. */
function sameHash(): Vector[] {
  const { hash_core_version, ...unversioned } = BASE;
  const source = { ...SOURCE, value: 13.6, as_of: '2026-01-02T03:45:00Z', role: 'measurement' };
  return [
    row('same: the base', BASE),
    row('same: no version means the current one', unversioned),
    row('same: members in another order', Object.fromEntries(Object.entries(BASE).reverse())),
    row('same: metrics in another order', { ...BASE, current: { band: 'normal', stage_ft: 13.6 } }),
    row('same: value, as_of and role of a source are outside', { ...BASE, sources: [source] }),
    row('same: names, summaries and derived members are outside', {
      ...BASE,
      entity_name: 'Example River',
      summary_en: 'normal',
      data_age_hours: 1.5,
      freshness: 'fresh',
      trend_7d: [1, 2],
    }),
  ];
}

/** Rows that each have a hash of their own. */
function otherHash(): Vector[] {
  const other = (comment: string, part: object) => row(`other: ${comment}`, { ...BASE, ...part });
  return [
    other('signal_id', { signal_id: 'hydrology.flow' }),
    other('entity', { entity: '00000001' }),
    other('snapshot_date', { snapshot_date: '2026-01-03T00:00:00Z' }),
    other('observed_at', { observed_at: '2026-01-02T03:45:01Z' }),
    other('a metric', { current: { stage_ft: 13.7, band: 'normal' } }),
    other('a metric as text', { current: { stage_ft: '13.6', band: 'normal' } }),
    other('a metric of null', { current: { stage_ft: null, band: 'normal' } }),
    other('source_ref of null', { source_ref: null }),
    other('source_tier of null', { source_tier: null }),
    other('no sources', { sources: [] }),
    other('sources of null', { sources: null }),
    other('the name of a source', { sources: [{ ...SOURCE, name: 'Example survey' }] }),
    other('the weight of a source', { sources: [{ ...SOURCE, weight: 0.5 }] }),
    other('independence of a source', { sources: [{ ...SOURCE, independent: false }] }),
    other('relay_of of null is not absence', { sources: [{ ...SOURCE, relay_of: null }] }),
    other('relay_of', { sources: [{ ...SOURCE, relay_of: 'Example Office' }] }),
    other('an absent weight stays absent', { sources: [{ name: SOURCE.name, independent: true }] }),
    other('a source twice', { sources: [SOURCE, SOURCE] }),
    other('a lifecycle', { lifecycle: LIFE }),
    other('a composed name', { entity: 'caf\u00e9' }),
    other('a decomposed name', { entity: 'cafe\u0301' }),
  ];
}

function refused(): Vector[] {
  const names = Object.keys(BASE).filter((name) => name !== 'hash_core_version');
  const missing = names.map((name): Vector => {
    const input = Object.fromEntries(Object.entries(BASE).filter(([key]) => key !== name));
    return { comment: `${name} is missing`, input, error: `"${name}" is missing` };
  });
  const versions = [2, 4, '3', null, 3.5].map((version): Vector => {
    const input = { ...BASE, hash_core_version: version };
    return { comment: `version ${JSON.stringify(version)}`, input, error: 'unknown version' };
  });
  const sources = ['Example Survey', {}, [null], ['Example Survey'], [[]]].map((each): Vector => {
    const input = { ...BASE, sources: each };
    return { comment: `sources ${JSON.stringify(each)}`, input, error: 'is not an' };
  });
  return [...missing, ...versions, ...sources];
}

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type CompileOptions, compile } from '../../../compiler/cli/compile.ts';
import type { JsonObject } from '../../../compiler/format/strict-json.ts';
import { smallSet } from '../../small-set.ts';
import {
  AS_OF,
  compileFolder,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const rows = (count: number) =>
  ndjson(Array.from({ length: count }, (_, at) => reading(`coin-${at}`, { price_usd: at })));
const snapshotsOf = (count: number) =>
  writeSnapshots({ '2026-11-20/crypto.spot.ndjson': rows(count) });

/** Changes one bit of each stored record right before they are read back. */
function flipping(data: string): NonNullable<CompileOptions['progress']> {
  return ({ stage }) => {
    if (stage !== 'publish') return;
    const folder = join(data, 'files/record/crypto.spot');
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name));
      bytes[100] = (bytes[100] ?? 0) ^ 1;
      writeFileSync(join(folder, name), bytes);
    }
  };
}

describe('compile() reads back what it wrote', () => {
  it.each(['sample', 'full'] as const)(
    'I22: publishes nothing of a flipped bit: %s',
    async (how) => {
      const data = join(makeFolder(), 'data');
      const snapshots = snapshotsOf(3);
      const bad = compileFolder(snapshots, { data, readBack: how, progress: flipping(data) });
      await expect(bad).rejects.toThrow('record/crypto.spot/coin-0.json');
      expect(filesBelow(data).size).toBe(0);
      const { release } = await compileFolder(snapshots, { data, readBack: how });
      expect(release.sequence).toBe(1);
    },
  );
});

describe('compile() of less than before', () => {
  it('I23: publishes nothing when a signal lost many entities, unless that is meant', async () => {
    const { data } = await compileFolder(snapshotsOf(10));
    const fewer = snapshotsOf(7);
    const before = filesBelow(data);
    await expect(compileFolder(fewer, { data })).rejects.toThrow(
      'crypto.spot 7 entities where the previous release has 10',
    );
    expect(filesBelow(data)).toEqual(before);
    expect((await compileFolder(fewer, { data, allowShrink: true })).release.counts.entities).toBe(
      7,
    );
    expect((await compileFolder(snapshotsOf(6), { data })).release.counts.entities).toBe(6);
  });

  it('I23: names a signal that is gone', async () => {
    const { data } = await compileFolder(snapshotsOf(1));
    const other = writeSnapshots({
      '2026-11-20/macro.unemployment.ndjson': ndjson([reading('us', { unemployment_pct: 4 })]),
    });
    await expect(compileFolder(other, { data })).rejects.toThrow('crypto.spot 0 entities');
  });
});

describe('compile() on a disk that is full (injected)', () => {
  it('I17: keeps what is there, and goes on once there is room', async () => {
    const { data } = await compileFolder(snapshotsOf(2));
    const before = filesBelow(data);
    const more = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': rows(4) });
    const full: NonNullable<CompileOptions['progress']> = ({ stage }) => {
      if (stage === 'publish') throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    };
    await expect(compileFolder(more, { data, progress: full })).rejects.toThrow('no space left');
    expect(filesBelow(data)).toEqual(before);
    const options = { snapshots: more, data, asOf: AS_OF, seed: SEED, workers: 0 };
    const whole = await compile({ ...options, issuerName: 'x', baseUrl: 'https://example.org' });
    expect(whole.release.counts.entities).toBe(4);
    rmSync(data, { recursive: true });
  });
});

/** What a change of code might leave out of what is delivered. */
let leftOut = (_holder: string, _member: string): boolean => false;

vi.mock('../../../compiler/products/shapes/request-time.ts', async (original) => {
  const module =
    await original<typeof import('../../../compiler/products/shapes/request-time.ts')>();
  const without = (value: unknown, holder: string): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const kept = Object.entries(value).filter(([name]) => !leftOut(holder, name));
    return Object.fromEntries(kept.map(([name, member]) => [name, without(member, name)]));
  };
  return {
    ...module,
    withRequestTime: (body: JsonObject, at: number) =>
      without(module.withRequestTime(body, at), ''),
  };
});

describe('readBack()', () => {
  it.each<[string, string, string]>([
    ['the age of a provenance', 'provenance', 'age_hours_now'],
    ['the word of a provenance', 'provenance', 'freshness'],
    ['the word of a leg', 'aqi', 'freshness'],
    ['the state of a source', '', 'update_status'],
  ])('publishes nothing that would be delivered without %s', async (_, holder, member) => {
    const data = join(makeFolder(), 'data');
    const snapshots = writeSnapshots(smallSet());
    leftOut = (within, name) => within === holder && name === member;
    await expect(compileFolder(snapshots, { data })).rejects.toThrow(
      `${member}: missing, and it follows from time`,
    );
    expect(filesBelow(data).size).toBe(0);
    leftOut = () => false;
    const { release } = await compileFolder(snapshots, { data });
    expect(release.sequence).toBe(1);
  });

  it('publishes nothing that would be delivered without a member that its schema demands', async () => {
    leftOut = (_, name) => name === 'data_age_hours';
    await expect(compileFolder(writeSnapshots(smallSet()))).rejects.toThrow(/data_age_hours: /);
    leftOut = () => false;
  });
});

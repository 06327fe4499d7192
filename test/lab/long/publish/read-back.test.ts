import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../../compiler/format/strict-json.ts';
import { smallSet } from '../../../small-set.ts';
import {
  compileFolder,
  filesBelow,
  makeFolder,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';

afterAll(removeFolders);

/** What a change of code might leave out of what is delivered. */
let leftOut = (_holder: string, _member: string): boolean => false;

vi.mock('../../../../compiler/products/shapes/request-time.ts', async (original) => {
  const module =
    await original<typeof import('../../../../compiler/products/shapes/request-time.ts')>();
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

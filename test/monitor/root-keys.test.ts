import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { firstHistory, formatKeyHistory } from '../../compiler/contract/key-history.ts';
import type { RootStatement } from '../../compiler/contract/root-statement.ts';
import type { MonitorSettings } from '../../compiler/monitor/monitor.ts';
import { trustedBy } from '../../compiler/verify/key-trust.ts';
import { removeFolders } from '../snapshot-folder.ts';
import { hashes } from '../stages/anchor/memory-log.ts';
import { DID, didOfSeed, filesOf, publish, publishHours } from './lying-service.ts';
import { FIRST, ISSUER, root, rooted } from './rooted-keys.ts';
import { sampleBodies } from './sample-bodies.ts';
import { Watching } from './watching.ts';

afterAll(removeFolders);
const ROOTS = [21, 22].map(didOfSeed);
const UNDER_ROOT = formatKeyHistory(rooted(FIRST));
const [first, second] = publishHours(2);
if (!first || !second) throw new Error('too few releases');
const fork = publish(first, { leaves: hashes(700, 10), as_of: second.head.as_of });
const watching = (settings: Partial<MonitorSettings> = {}) =>
  new Watching({ issuers: [], roots: ROOTS, ...settings });

describe('a monitor that knows root keys', () => {
  it('I29: believes the keys that their list names, and proves a fork to whoever knows root keys', async () => {
    const own = watching();
    expect(await own.sees(filesOf(first, UNDER_ROOT))).toEqual([]);
    expect(await own.sees(filesOf(second, UNDER_ROOT))).toEqual([]);
    expect(own.lines.join('\n')).not.toContain('believed from here on');
    expect(await own.sees(filesOf(fork, UNDER_ROOT))).toContain('fork');
    expect(own.verdicts(trustedBy([], ROOTS))).toContain('fork proven');
    expect(own.verdicts(trustedBy())).toContain('fork proven');
    for (const others of [trustedBy([], ROOTS.slice(1)), trustedBy(ROOTS)]) {
      expect(new Set(own.verdicts(others).map((each) => each.split(' ')[1]))).toEqual(
        new Set(['nothing']),
      );
    }
  });

  it('I29: takes no list that they did not sign, and nothing that its keys sign', async () => {
    const [sample] = await sampleBodies();
    for (const list of [formatKeyHistory(firstHistory(DID)), UNDER_ROOT]) {
      const roots = list === UNDER_ROOT ? [didOfSeed(21)] : ROOTS;
      const own = watching({ roots });
      // What else they sign does not hold either, and is not told once more.
      const files = filesOf(first, list).set('/gauge/sample', sample);
      expect(await own.sees(files, { looks: 2 })).toEqual(['unknown_key']);
      expect(own.lines.join('\n')).toContain('enough of the trusted root keys');
    }
  });

  it('tells of each version of a root, and finds an older list, another version and one that is not signed', async () => {
    const later = { version: 2, stated_at: '2026-11-21T12:00:00Z' };
    const listOf = (...versions: RootStatement[]) => formatKeyHistory(rooted(...versions));
    const newest = listOf(FIRST, root(later));
    const seen = async (list: string) => {
      const own = new Watching();
      await own.sees(filesOf(first, formatKeyHistory(firstHistory(DID))));
      expect(await own.sees(filesOf(first, UNDER_ROOT))).toEqual([]);
      expect(await own.sees(filesOf(first, newest))).toEqual([]);
      const alarms = await own.sees(filesOf(second, list), { looks: 2 });
      return { alarms, told: own.lines.join('\n'), verdicts: own.verdicts() };
    };
    const honest = await seen(newest);
    expect(honest.alarms).toEqual([]);
    for (const version of [1, 2]) {
      const line = `version ${version} of a root stands above its keys: 2 of ${ROOTS.join(', ')}`;
      expect(honest.told.split(line)).toHaveLength(2);
    }
    const older = await seen(UNDER_ROOT);
    expect(older).toMatchObject({ alarms: ['key_unlisted'], verdicts: [] });
    expect(older.told).toContain('version 2 of its root is no longer in its list of keys');
    const other = root({ ...later, stated_at: '2026-11-22T12:00:00Z' });
    expect(await seen(listOf(FIRST, other))).toMatchObject({
      alarms: ['key_fork'],
      verdicts: ['keys proven'],
    });
    // A thief of one root key, or of the issuer key, adds no version.
    for (const signers of [[21], [ISSUER, 21], [ISSUER]]) {
      const forged = root({ version: 3, stated_at: '2026-11-22T12:00:00Z' }, signers);
      expect(await seen(listOf(FIRST, root(later), forged))).toMatchObject({
        alarms: ['unreadable'],
        verdicts: [],
      });
    }
  });

  it('I29: says that a root key is no issuer', async () => {
    const own = watching({ issuers: ROOTS, roots: [] });
    expect(await own.sees(filesOf(first, UNDER_ROOT), { looks: 2 })).toEqual(['unknown_key']);
    expect(own.lines.join('\n')).toContain('is a root key');
  });

  it('I29: goes on from the state of before, and under no other root keys', async () => {
    const own = new Watching();
    await own.sees(filesOf(first, UNDER_ROOT));
    const path = join(own.folder, 'state.json');
    const { roots, ...before } = JSON.parse(readFileSync(path, 'utf8'));
    expect(roots).toEqual([]);
    writeFileSync(path, JSON.stringify(before));
    own.reopened();
    expect(await own.sees(filesOf(second, UNDER_ROOT))).toEqual([]);
    expect(() => own.reopenedWith({ roots: ROOTS })).toThrow(`does not believe ${ROOTS[0]}`);
  });
});

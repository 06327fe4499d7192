import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type KeyHistory, withRoots } from '../../../../compiler/format/key-history.ts';
import type { RootStatement } from '../../../../compiler/format/root-statement.ts';
import { folderSource } from '../../../../gatekeeper/heart/release/folder-source.ts';
import {
  keepNewest,
  provenHeads,
  refuseOlder,
} from '../../../../gatekeeper/heart/release/newest-served.ts';
import { openRelease } from '../../../../gatekeeper/heart/release/open-release.ts';
import { revocation } from '../../../verify/monitor/lying-service.ts';
import { type TinyOptions, tinyData } from '../../tiny-release.ts';

const NEWEST_NAME = 'newest-release.json';

const stateDir = () => mkdtempSync(join(tmpdir(), 'signalpress-state-'));

async function releaseOf(options: TinyOptions) {
  const dataDir = tinyData(options);
  return openRelease({ source: folderSource(dataDir), issuerDid: null, baseUrl: null });
}

/** A first version of a root; nobody checks signatures here. */
function rootOver({ keys }: KeyHistory): RootStatement {
  const [first] = keys;
  if (first === undefined) throw new Error('no key');
  const { did, valid_from, valid_until, revoked_from } = first;
  return {
    type: 'root',
    issuer: did,
    version: 1,
    stated_at: '2026-11-20T12:00:00Z',
    threshold: 2,
    root_keys: [],
    issuer_keys: [{ did, valid_from, valid_until, revoked_from }],
    receipt_keys: [],
    signatures: [],
  };
}

describe('refuseOlder()', () => {
  it('I26: takes what is newer, and the same again', async () => {
    const state = stateDir();
    const release = await releaseOf({ sequence: 5 });
    refuseOlder(state, release);
    keepNewest(state, release);
    refuseOlder(state, release);
    refuseOlder(state, await releaseOf({ sequence: 6 }));
  });

  it('I26: refuses what is older, and another release of the same number, also after a restart', async () => {
    const state = stateDir();
    keepNewest(state, await releaseOf({ sequence: 5 }));
    const older = await releaseOf({ sequence: 4 });
    expect(() => refuseOlder(state, older)).toThrow('release 4: older than release 5');
    const other = await releaseOf({ sequence: 5, head: { as_of: '2026-11-21T11:30:00Z' } });
    expect(() => refuseOlder(state, other)).toThrow('a different release with this number');
  });

  it('I26: lets an older one pass that is proven, unless its list of keys forgets what was seen', async () => {
    const state = stateDir();
    const release = await releaseOf({ sequence: 5 });
    const older = await releaseOf({ sequence: 4 });
    keepNewest(state, { ...release, head: { ...release.head, previous: 'sha256:4' } });
    expect(provenHeads(state)).toEqual([
      expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      'sha256:4',
    ]);
    refuseOlder(state, older, true);
    expect(() => refuseOlder(state, older)).toThrow('release 4: older than release 5');
    keepNewest(state, { ...release, keys: { ...release.keys, revocations: [revocation(7)] } });
    expect(() => refuseOlder(state, older, true)).toThrow('lacks a statement that was seen before');
    expect(provenHeads(stateDir())).toEqual([]);
  });

  it('does not compare releases of another issuer: which issuer is served is settled elsewhere', async () => {
    const state = stateDir();
    keepNewest(state, await releaseOf({ sequence: 5 }));
    refuseOlder(state, await releaseOf({ sequence: 1, seed: 2 }));
  });

  it('I26: refuses a list of keys that forgets a root or a statement, or begins before the first key', async () => {
    const state = stateDir();
    const release = await releaseOf({ sequence: 5 });
    const next = await releaseOf({ sequence: 6 });
    const rooted = withRoots(release.keys, [rootOver(release.keys)]);
    keepNewest(state, { ...release, keys: rooted });
    refuseOlder(state, { ...next, keys: rooted });
    expect(() => refuseOlder(state, next)).toThrow('lacks version 1 of the root');
    const other = withRoots(release.keys, [{ ...rootOver(release.keys), threshold: 3 }]);
    expect(() => refuseOlder(state, { ...next, keys: other })).toThrow('another version 1');
    const [first] = release.keys.keys;
    const [stranger] = (await releaseOf({ sequence: 1, seed: 2 })).keys.keys;
    if (first === undefined || stranger === undefined) throw new Error('no key');
    const longer = { ...rooted, keys: [stranger, first] };
    expect(() => refuseOlder(state, { ...next, keys: longer })).toThrow('does not begin with');
    const revoking = { ...release.keys, revocations: [revocation(7)] };
    keepNewest(state, { ...next, keys: revoking });
    refuseOlder(state, { ...next, keys: revoking });
    expect(() => refuseOlder(state, next)).toThrow('lacks a statement that was seen before');
  });

  it('I32: does not take a damaged note for none', async () => {
    const state = stateDir();
    const release = await releaseOf({ sequence: 5 });
    keepNewest(state, release);
    const path = join(state, NEWEST_NAME);
    writeFileSync(path, readFileSync(path, 'utf8').slice(1));
    expect(() => refuseOlder(state, release)).toThrow('damaged');
  });
});

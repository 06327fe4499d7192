import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  formatKeyHistory,
  KEYS_PATH,
  type KeyHistory,
  rootDid,
} from '../../../../compiler/format/key-history.ts';
import { deliveredText } from '../../../../compiler/products/shapes/request-time.ts';
import { revokeKey, rotateKey } from '../../../../compiler/publish/keys/key-command.ts';
import { runVerify } from '../../../../compiler/verify/verify-command.ts';
import { folderSource } from '../../../../gatekeeper/heart/release/folder-source.ts';
import { keepNewest, refuseOlder } from '../../../../gatekeeper/heart/release/newest-served.ts';
import { openRelease } from '../../../../gatekeeper/heart/release/open-release.ts';
import type { ReleaseIndex } from '../../../../gatekeeper/heart/release/release-index.ts';
import { watchRelease } from '../../../../gatekeeper/heart/release/watch-release.ts';
import { check } from '../../../../gatekeeper/rooms/check.ts';
import type { Log } from '../../../../gatekeeper/wire/log/line-log.ts';
import { ServiceState } from '../../../../gatekeeper/wire/service-state.ts';
import { seed } from '../../../seeded-keys.ts';
import {
  AS_OF,
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import {
  type TinyOptions,
  tinyData,
  tinyFiles,
  tinyKey,
  writeTinyRelease,
} from '../../tiny-release.ts';
import { compiledService, jsonOf, question } from '../../tiny-service.ts';

afterAll(removeFolders);
const [K1, K2, K3] = [tinyKey(1).did, tinyKey(2).did, tinyKey(3).did];
const FROM = '2026-11-20T00:00:00Z';
const NOW = '2026-11-19T00:00:00Z';

function rotated(old: number, next: number, data = makeFolder()): KeyHistory {
  return rotateKey({
    data,
    old: seed(old),
    next: seed(next),
    from: FROM,
    now: NOW,
    overlapDays: 2,
  });
}

function revoked(): KeyHistory {
  const data = makeFolder();
  rotated(1, 2, data);
  return revokeKey({ data, seed: seed(2), did: K1, from: '2026-11-20T06:00:00Z', now: FROM });
}

const listing = (keys: KeyHistory | null): Pick<TinyOptions, 'files'> => {
  const files = tinyFiles();
  if (keys !== null) files.set(KEYS_PATH, Buffer.from(formatKeyHistory(keys)));
  return { files };
};

/** A release of a key that lists these keys, opened by a gatekeeper that pins an issuer. */
function opened(keys: KeyHistory | null, by: TinyOptions, issuerDid: string | null = K1) {
  const dataDir = tinyData({ ...listing(keys), ...by });
  return openRelease({ source: folderSource(dataDir), issuerDid, baseUrl: null });
}

/** The last word of a list: what follows the first key is of somebody else. */
function spliced(): KeyHistory {
  const [own, other] = [rotated(1, 2), rotated(3, 2)];
  const [first] = own.keys;
  const [, second] = other.keys;
  if (first === undefined || second === undefined) throw new Error('no keys');
  return { ...own, keys: [first, second] };
}

describe('openRelease() with a pinned issuer', () => {
  it('I28: takes a release of the key that follows the pinned one, and of the pinned one in the overlap', async () => {
    const release = await opened(rotated(1, 2), { seed: 2 });
    expect([release.head.issuer_did, rootDid(release.keys)]).toEqual([K2, K1]);
    expect((await opened(rotated(1, 2), { seed: 1 })).head.issuer_did).toBe(K1);
    expect((await opened(rotated(1, 2), { seed: 2 }, K2)).head.issuer_did).toBe(K2);
    expect((await opened(revoked(), { seed: 2 })).head.issuer_did).toBe(K2);
  });

  it.each<[string, KeyHistory | null, TinyOptions, string, RegExp]>([
    ['a release of another key without a list', null, { seed: 2 }, K1, /SIGNALPRESS_ISSUER_DID/],
    [
      'a list that leads from another key',
      rotated(3, 2),
      { seed: 2 },
      K1,
      /SIGNALPRESS_ISSUER_DID/,
    ],
    ['a list whose statement is of another key', spliced(), { seed: 2 }, K1, /vouch/],
    [
      'a release of the key before the pinned one',
      rotated(1, 2),
      { seed: 1 },
      K2,
      /SIGNALPRESS_ISSUER_DID/,
    ],
    [
      'a release of a key that is on no list',
      rotated(1, 2),
      { seed: 3 },
      K3,
      /SIGNALPRESS_ISSUER_DID/,
    ],
    ['a key before its time', rotated(1, 2), { seed: 2, head: { as_of: NOW } }, K1, /early/],
    [
      'a key after its time',
      rotated(1, 2),
      { seed: 1, head: { as_of: '2026-11-22T00:00:01Z' } },
      K1,
      /stopped/,
    ],
    ['a revoked key', revoked(), { seed: 1 }, K1, /revoked/],
    [
      'a revoked key that is back-dated',
      revoked(),
      { seed: 1, head: { as_of: NOW } },
      K1,
      /suspect/,
    ],
  ])('I28: refuses %s', async (...[, keys, by, issuerDid, says]) => {
    await expect(opened(keys, by, issuerDid)).rejects.toThrow(says);
  });
});

describe('a running gatekeeper', () => {
  async function served(first: KeyHistory | null, by: TinyOptions) {
    const dataDir = tinyData({ ...listing(first), ...by, sequence: 5 });
    const open = () => openRelease({ source: folderSource(dataDir), issuerDid: K1, baseUrl: null });
    let current: ReleaseIndex = await open();
    const logged: string[] = [];
    const log: Log = (entry) => logged.push(`${entry.event} ${entry.error ?? ''}`);
    const watcher = watchRelease({
      source: folderSource(dataDir),
      current: () => current,
      open,
      swap: (next) => {
        current = next;
      },
      log,
      state: new ServiceState({ clock: Date.now, log }),
      pollMs: 60_000,
    });
    const next = async (keys: KeyHistory | null, more: TinyOptions) => {
      writeTinyRelease(dataDir, { ...listing(keys), ...more, sequence: 6 });
      await watcher.check();
      watcher.close();
      return [current.head.sequence, logged.join()] as const;
    };
    return next;
  }

  it('I28: goes on with the key that follows, and not with one that nobody announced', async () => {
    const follow = await served(null, { seed: 1 });
    expect(await follow(rotated(1, 2), { seed: 2 })).toEqual([6, 'release_swapped ']);
    const stay = await served(null, { seed: 1 });
    const [sequence, stated] = await stay(null, { seed: 2 });
    expect([sequence, stated]).toEqual([5, expect.stringContaining('release_refused')]);
  });

  it('I29: never takes a revocation back', async () => {
    const stay = await served(revoked(), { seed: 2 });
    const [sequence, stated] = await stay(rotated(1, 2), { seed: 2 });
    expect([sequence, stated]).toEqual([5, expect.stringContaining('lacks a key or a revocation')]);
  });

  it('I26: refuses an older release of the old key after one of the new key was served', async () => {
    const state = makeFolder();
    keepNewest(state, await opened(rotated(1, 2), { seed: 2, sequence: 6 }));
    const older = await opened(null, { seed: 1, sequence: 5 });
    expect(() => refuseOlder(state, older)).toThrow('older than release 6');
    refuseOlder(state, await opened(rotated(1, 2), { seed: 1, sequence: 7 }));
  });
});

describe('POST /verify after a rotation', () => {
  it('I31: judges a body of the old key as the command with the published list does', async () => {
    const snapshots = writeSnapshots({
      '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
    });
    const { data, folder } = await compileFolder(snapshots);
    const stored = readFileSync(fileOf(folder, 'record/crypto.spot/btc.json'), 'utf8');
    const body = Buffer.from(deliveredText(stored, Date.parse(AS_OF)));
    const next = seed(8);
    rotateKey({ data, old: SEED, next, from: AS_OF, now: AS_OF, overlapDays: 1 });
    const outcome = async (asOf: string) => {
      await compileFolder(snapshots, { data, seed: next, asOf });
      const service = await compiledService(data, AS_OF);
      const asked = question('/verify', 'application/json', body);
      const { verdict, is_issuer_record } = jsonOf(await check(asked, service));
      const issuer = [rootDid(service.release.keys)];
      const list = fileOf(join(data, 'current'), KEYS_PATH);
      const stated = await runVerify('-', {
        issuer,
        keys: list,
        json: true,
        readStdin: () => body,
      });
      return [verdict, is_issuer_record, JSON.parse(stated.text).verdict];
    };
    expect(await outcome(AS_OF.replace('12:', '13:'))).toEqual(['unproven', true, 'unproven']);
    const from = '2026-11-20T12:00:00.001Z';
    revokeKey({ data, seed: next, did: tinyKey(7).did, from, now: from });
    expect(await outcome(AS_OF.replace('12:', '14:'))).toEqual(['unsigned', false, 'unsigned']);
  });
});

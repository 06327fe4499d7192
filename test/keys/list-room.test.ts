import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { summaryText } from '../../compiler/commands/progress.ts';
import { DAY_MS, isoTime } from '../../compiler/contract/iso-time.ts';
import { firstHistory, type KeyHistory, withRoots } from '../../compiler/contract/key-history.ts';
import { keysText } from '../../compiler/keys/key-command.ts';
import { readKeys } from '../../compiler/keys/key-store.ts';
import { draftRoot, draftText, keyWarnings } from '../../compiler/keys/root-draft.ts';
import { DID, revocation } from '../monitor/lying-service.ts';
import { FIRST } from '../monitor/rooted-keys.ts';
import { adoptRoot } from '../rooted-list.ts';
import { didOf, seed } from '../seeded-keys.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);
const NOW = '2026-11-20T12:00:00Z';
const daysOn = (days: number): string => isoTime(Date.parse(NOW) + days * DAY_MS);

/** A list under so many versions of a root; nobody checks signatures here. */
const under = (versions: number): KeyHistory =>
  withRoots(
    firstHistory(DID),
    Array.from({ length: versions }, (_, at) => ({ ...FIRST, version: at + 1 })),
  );
/** A list of about so many bytes. */
const long = (bytes: number): KeyHistory => ({
  ...firstHistory(DID),
  revocations: [{ ...revocation(7), signature: 'A'.repeat(bytes) }],
});
const [issuer] = firstHistory(DID).keys;
const ending = (valid_until: string | null): KeyHistory => ({
  ...firstHistory(DID),
  keys: issuer === undefined ? [] : [{ ...issuer, valid_until }],
});

describe('keyWarnings()', () => {
  it.each<[string, KeyHistory, KeyHistory, string]>([
    ['versions', under(47), under(48), '48 of at most 64 versions of a root'],
    ['bytes', long(780_000), long(786_432), 'of at most 1048576 bytes'],
    ['time', ending(daysOn(91)), ending(daysOn(90)), `no issuer key signs after ${daysOn(90)}`],
  ])('I43: says in time that %s run out, and nothing before', (...[, early, late, words]) => {
    expect(keyWarnings(early, NOW)).toEqual([]);
    expect(keyWarnings(late, NOW)).toEqual([expect.stringMatching(/^Warning: /)]);
    expect(keyWarnings(late, NOW).join()).toContain(words);
  });

  it('says nothing of a key without an end', () => {
    expect(keyWarnings(ending(null), NOW)).toEqual([]);
  });

  it('I43: is said by a compile, by the list and by a draft', async () => {
    const snapshots = writeSnapshots({
      '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
    });
    const data = join(makeFolder(), 'data');
    const usual = { data, seed: seed(1) };
    const before = await compileFolder(snapshots, usual);
    expect(summaryText(before, 1)).not.toContain('Warning');
    const end = [{ did: didOf(1), at: daysOn(30) }];
    const rootKeys = [21, 22, 23].map(didOf);
    const list = adoptRoot(data, { rootKeys, end, now: daysOn(1) }, [seed(21), seed(22), seed(1)]);
    const compiled = await compileFolder(snapshots, { ...usual, asOf: daysOn(2) });
    const said = `Warning: no issuer key signs after ${daysOn(30)}`;
    expect(summaryText(compiled, 1)).toContain(said);
    expect(keysText(readKeys(data), daysOn(2))).toContain(said);
    const nothing = { add: [], end: [], revoke: [], receipt: [], endReceipt: [], overlapDays: 5 };
    const same = { ...nothing, now: daysOn(2) };
    expect(draftText(draftRoot(list, same))).toContain(said);
    const add = [{ did: didOf(2), at: daysOn(3) }];
    expect(draftText(draftRoot(list, { ...same, add }))).not.toContain('Warning');
  });
});

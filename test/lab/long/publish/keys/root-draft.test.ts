import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyStanding, readKeyHistory } from '../../../../../compiler/format/key-history.ts';
import {
  keysText,
  listReceiptKey,
  revokeKey,
  rotateKey,
} from '../../../../../compiler/publish/keys/key-command.ts';
import {
  changeKeys,
  keepKeys,
  readKeys,
  writeIssuerKey,
} from '../../../../../compiler/publish/keys/key-store.ts';
import {
  adoptedList,
  draftRoot,
  draftText,
  formatDraft,
  missingOf,
  type RootChange,
  type RootDraft,
  readDraft,
  signDraft,
} from '../../../../../compiler/publish/keys/root-draft.ts';
import { isSignedBy } from '../../../../../compiler/verify/verify-citation.ts';
import { runVerify } from '../../../../../compiler/verify/verify-command.ts';
import { CommandRuns } from '../../../../command-runs.ts';
import { didOf, seed } from '../../../../seeded-keys.ts';
import {
  AS_OF,
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';

afterAll(removeFolders);

const NOW = '2026-11-08T00:00:00Z';
const LATER = '2026-11-12T00:00:00Z';
const STOLEN = '2026-11-07T00:00:00Z';
const ROOTS = [21, 22, 23];
const NOTHING = { add: [], end: [], revoke: [], receipt: [], endReceipt: [], overlapDays: 5 };
const change = (members: Partial<RootChange> = {}): RootChange => ({
  ...NOTHING,
  now: NOW,
  ...members,
});
const FIRST = change({ rootKeys: ROOTS.map(didOf) });

/** A folder in which the first key was rotated to the second. */
function rotated(): string {
  const data = makeFolder();
  rotateKey({ data, old: seed(1), next: seed(2), from: NOW, now: NOW, overlapDays: 5 });
  return data;
}

const listOf = (data: string) => readKeys(data) ?? expect.fail('no list of keys');
const signed = (draft: RootDraft, ...fills: number[]): RootDraft =>
  fills.reduce((before, fill) => signDraft(before, seed(fill)), draft);
const adopt = (data: string, draft: RootDraft) =>
  changeKeys(data, () => keepKeys(data, adoptedList(listOf(data), draft)));
const underRoot = (): string => {
  const data = rotated();
  adopt(data, signed(draftRoot(listOf(data), FIRST), 21, 22, 2));
  return data;
};

describe('draftRoot()', () => {
  it('I28: names the keys of the list as they stand, and says whose signatures are missing', () => {
    const draft = draftRoot(listOf(rotated()), FIRST);
    expect(draft.statement.issuer_keys.map(({ did }) => did)).toEqual([didOf(1), didOf(2)]);
    expect(draft.statement.issuer_keys[0]?.valid_until).toBe('2026-11-13T00:00:00Z');
    expect(missingOf(draft)).toEqual([
      'signatures of root keys of its own: 0 of the 2 that are needed',
      `the signature of "${didOf(2)}"`,
    ]);
    expect(missingOf(signed(draft, 21, 2))).toEqual([
      'signatures of root keys of its own: 1 of the 2 that are needed',
    ]);
    const whole = signed(draft, 21, 2, 23);
    expect(missingOf(whole)).toEqual([]);
    expect(draftText(whole)).toContain('Complete');
    expect(readDraft(Buffer.from(formatDraft(whole)))).toEqual(whole);
  });

  it('I28: an added key ends the newest one after the overlap, unless its end or revocation is stated', () => {
    const list = listOf(underRoot());
    const add = [{ did: didOf(3), at: LATER }];
    const ends = (members: Partial<RootChange>) =>
      draftRoot(list, change({ add, ...members })).statement.issuer_keys.map((key) => [
        key.valid_until,
        key.revoked_from,
      ]);
    const first = ['2026-11-13T00:00:00Z', null];
    expect(ends({})).toEqual([first, ['2026-11-17T00:00:00Z', null], [null, null]]);
    expect(ends({ end: [{ did: didOf(2), at: LATER }] })[1]).toEqual([LATER, null]);
    expect(ends({ revoke: [{ did: didOf(2), at: NOW }] })[1]).toEqual([null, NOW]);
  });

  it('I28: takes over the receipt keys that count, adds some and ends others', () => {
    const data = rotated();
    const statement = { data, seed: seed(2), since: NOW, until: null, now: LATER };
    listReceiptKey({ ...statement, did: didOf(7) });
    listReceiptKey({ ...statement, did: didOf(7), until: AS_OF });
    listReceiptKey({ ...statement, did: didOf(8) });
    const receipt = [{ did: didOf(9), at: LATER }];
    const endReceipt = [{ did: didOf(8), at: LATER }];
    const draft = draftRoot(listOf(data), { ...FIRST, receipt, endReceipt });
    expect(draft.statement.receipt_keys).toEqual([
      { did: didOf(7), since: NOW, until: AS_OF },
      { did: didOf(8), since: NOW, until: LATER },
      { did: didOf(9), since: LATER, until: null },
    ]);
    const unknown = [{ did: didOf(6), at: LATER }];
    expect(() => draftRoot(listOf(data), { ...FIRST, endReceipt: unknown })).toThrow('not a key');
  });

  it('I29: refuses a first version without root keys, a key twice, a stranger and a threshold that none can reach', () => {
    const list = listOf(rotated());
    expect(() => draftRoot(list, change())).toThrow('it has no root keys');
    const twice = { ...FIRST, rootKeys: [21, 22, 21].map(didOf) };
    expect(() => draftRoot(list, twice)).toThrow(`names "${didOf(21)}" twice`);
    const online = { ...FIRST, rootKeys: [21, 22, 2].map(didOf) };
    expect(() => draftRoot(list, online)).toThrow(`names "${didOf(2)}" twice`);
    const stranger = { ...FIRST, revoke: [{ did: didOf(9), at: NOW }] };
    expect(() => draftRoot(list, stranger)).toThrow('not a key of this issuer');
    expect(() => draftRoot(list, { ...FIRST, threshold: 4 })).toThrow(
      'of 3 root keys: 4 have to sign',
    );
  });
});

describe('draftRoot()', () => {
  it('says how many root keys to name where they are too few to sign', () => {
    const draft = (...seeds: number[]) =>
      draftRoot(listOf(rotated()), { ...FIRST, rootKeys: seeds.map(didOf) });
    expect(() => draft(21)).toThrow(
      'Cannot draft a root of 1 root key: 2 have to sign; name at least 2, each with --root',
    );
    expect(draft(21, 22).statement.root_keys).toHaveLength(2);
  });
});

describe('signDraft()', () => {
  const draft = draftRoot(listOf(rotated()), FIRST);

  it('I29: refuses a second signature of a key, and keys that count for nothing', () => {
    expect(() => signed(draft, 21, 21)).toThrow('it has signed already');
    expect(() => signed(draft, 9)).toThrow('would count for nothing');
    expect(() => signed(draft, 1)).toThrow('would count for nothing');
    expect(signed(draft, 21, 22, 23, 2).statement.signatures).toHaveLength(4);
  });

  it('I29: a draft that was changed, or is none, is refused before anybody signs it', () => {
    const text = formatDraft(signed(draft, 21));
    const changed = text.replaceAll(STATED_NOW, `"stated_at": "${LATER}"`);
    expect(changed).not.toBe(text);
    expect(() => readDraft(Buffer.from(changed))).toThrow('Cannot use the root statement');
    expect(() => readDraft(Buffer.from('{}'))).toThrow('not the draft of a root statement');
    for (const other of ['no JSON', '', '[]', JSON.stringify(listOf(rotated()))]) {
      expect(() => readDraft(Buffer.from(other))).toThrow(
        'not the draft of a root statement; name a file that "signalpress root draft" wrote',
      );
    }
    expect(readDraft(Buffer.from(text)).statement.version).toBe(1);
  });
});
const STATED_NOW = `"stated_at": "${NOW}"`;

describe('adoptedList()', () => {
  it('I29: refuses below the threshold, without the present key, and a list that changed meanwhile', () => {
    const data = rotated();
    const draft = draftRoot(listOf(data), FIRST);
    expect(() => adopt(data, signed(draft, 21, 2))).toThrow('1 of the 2 that are needed');
    expect(() => adopt(data, signed(draft, 21, 22))).toThrow(
      `lacks the signature of "${didOf(2)}"`,
    );
    expect(listOf(data).roots).toBeUndefined();
    revokeKey({ data, seed: seed(2), did: didOf(1), from: LATER, now: LATER });
    expect(() => adopt(data, signed(draft, 21, 22, 2))).toThrow('draft it again');
    const again = draftRoot(listOf(data), FIRST);
    expect(adopt(data, signed(again, 21, 22, 2)).roots).toHaveLength(1);
  });

  it('I29: an older version is never taken up again', () => {
    const data = rotated();
    const first = signed(draftRoot(listOf(data), FIRST), 21, 22, 2);
    adopt(data, first);
    expect(() => adopt(data, first)).toThrow('draft it again');
    const second = signed(draftRoot(listOf(data), change({ now: LATER })), 22, 23);
    expect(adopt(data, second).roots?.map(({ version }) => version)).toEqual([1, 2]);
  });

  it('I29: under a root no issuer key states anything about keys', () => {
    const data = underRoot();
    const at = { data, from: LATER, now: LATER };
    const refused = 'the keys of this issuer are under a root';
    const rotate = () => rotateKey({ ...at, old: seed(2), next: seed(3), overlapDays: 5 });
    expect(rotate).toThrow(refused);
    expect(() => revokeKey({ ...at, seed: seed(2), did: didOf(1) })).toThrow(refused);
    const receipt = { data, seed: seed(2), did: didOf(7), since: LATER, until: null, now: LATER };
    expect(() => listReceiptKey(receipt)).toThrow(refused);
    const text = keysText(listOf(data), LATER);
    expect(text).toContain('Root version 1');
    expect(text).toContain(`root key ${didOf(21)}  signed\n`);
    expect(text).toMatch(new RegExp(`root key ${didOf(23)}$`));
  });
});

const snapshots = writeSnapshots({
  '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
});

describe('a release under a root', () => {
  it('I29: goes on from a list without one, signs with the named key alone, and drops no version', async () => {
    const data = rotated();
    await compileFolder(snapshots, { data, seed: seed(2) });
    adopt(data, signed(draftRoot(listOf(data), FIRST), 21, 22, 2));
    const theft = change({ now: LATER, revoke: [{ did: didOf(1), at: STOLEN }] });
    const behind = adopt(data, signed(draftRoot(listOf(data), theft), 22, 23));
    expect(keyStanding(behind, didOf(1), NOW)).toBe('revoked');
    const at = (hour: number) => `2026-11-20T${hour}:00:00Z`;
    const stolen = compileFolder(snapshots, { data, seed: seed(1), asOf: at(13) });
    await expect(stolen).rejects.toThrow('it is revoked');
    await compileFolder(snapshots, { data, seed: seed(2), asOf: at(14) });
    const path = join(data, 'keys.json');
    const kept = readFileSync(path);
    rmSync(path);
    expect(readKeys(data)).toEqual(behind);
    const { roots: _, ...before } = listOf(rotated());
    writeFileSync(path, JSON.stringify(before));
    const dropped = compileFolder(snapshots, { data, seed: seed(2), asOf: at(15) });
    await expect(dropped).rejects.toThrow('lacks');
    writeFileSync(path, kept);
    const add = [{ did: didOf(3), at: at(15) }];
    const third = draftRoot(behind, change({ now: at(15), add, overlapDays: 0 }));
    adopt(data, signed(third, 21, 23, 3));
    await compileFolder(snapshots, { data, seed: seed(3), asOf: at(16) });
    expect(keyStanding(listOf(data), didOf(2), at(16))).toBe('stopped');
    const issuers = [1, 2, 3].map((fill) => ({ issuer: [didOf(fill)] }));
    for (const pinned of [...issuers, { root: [didOf(21), didOf(23)] }]) {
      const { exitCode, text } = await runVerify(data, pinned);
      expect(exitCode).toBe(0);
      expect(text).toContain(
        `3 issuer keys: 1 valid at ${at(16)}, 1 revoked; named by version 3 of a root, 2 of 3 keys`,
      );
    }
    for (const root of [[didOf(21)], [didOf(22), didOf(9)]]) {
      expect((await runVerify(data, { root })).exitCode).toBe(1);
    }
    const { exitCode, text } = await runVerify(data, { issuer: [didOf(21), didOf(23)] });
    expect([exitCode, text.includes('is a root key')]).toEqual([1, true]);
  });
});

describe('signalpress root', () => {
  it('I28: names a receipt key again from its first time on, whose issuer key was revoked since', () => {
    const data = rotated();
    listReceiptKey({ data, seed: seed(2), did: didOf(7), since: NOW, until: null, now: LATER });
    revokeKey({ data, seed: seed(2), did: didOf(2), from: NOW, now: LATER });
    const draft = join(makeFolder(), 'root-1.json');
    const named = [...ROOTS.map(didOf).flatMap((did) => ['--root', did]), '--receipt', didOf(7)];
    const words = ['root', 'draft', draft, '--data', data, ...named, '--receipt', didOf(8)];
    expect(new CommandRuns().plan(words)().status).toBe(0);
    const { receipt_keys: keys } = readDraft(readFileSync(draft)).statement;
    expect(keys[0]).toEqual({ did: didOf(7), since: NOW, until: null });
    expect([keys[1]?.did, keys[1]?.since === NOW]).toEqual([didOf(8), false]);
  });

  it('I28: a root is made, drafted, carried, signed and adopted by commands', () => {
    const home = makeFolder();
    const data = join(home, 'data');
    const issuer = join(home, 'issuer.key');
    writeIssuerKey(issuer);
    const keygen = new CommandRuns().plan(['root', 'keygen', 'a.key', 'b.key', 'c.key'], {
      cwd: home,
    });
    const commands = new CommandRuns();
    const run = (...args: string[]) => commands.plan(args, { cwd: home });
    const sign = (key: string) => run('root', 'sign', 'root-1.json', '--key', key);
    const dids = [...keygen().stdout.matchAll(/did:key:\w+/g)].map(([did]) => did);
    expect(dids).toHaveLength(3);
    const named = dids.flatMap((did) => ['--root', did]);
    const compile = ['--snapshots', snapshots, '--data', data, '--workers', '0', '--key', issuer];
    const ended = [
      run('root', 'draft', 'root-1.json', '--data', home, ...named),
      run('compile', ...compile),
      run('root', 'draft', 'root-1.json', '--data', data, ...named),
      run('root', 'draft', 'root-1.json', '--data', data, ...named),
      sign('a.key'),
      sign('a.key'),
      sign(issuer),
      run('root', 'adopt', 'root-1.json', '--data', data),
      sign('c.key'),
      run('root', 'show', 'root-1.json'),
      run('root', 'adopt', 'root-1.json', '--data', data),
      run('root', 'keygen', 'd.key', 'd.key'),
      run('key', 'list', '--data', data),
      run('compile', ...compile),
    ].map((end) => end());
    const states = ended.map(({ status }) => status);
    expect(states).toEqual([1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0]);
    expect(ended[0]?.stderr).toContain('it has no issuer key yet');
    expect(ended[7]?.stderr).toContain('1 of the 2 that are needed');
    expect(ended[12]?.stdout).toContain('Root version 1');
    const published = fileOf(join(data, 'current'), 'well-known/keys.json');
    const list = readKeyHistory(JSON.parse(readFileSync(published, 'utf8')), isSignedBy);
    expect(list.roots).toHaveLength(1);
    const output = ended.map(({ stdout, stderr }) => stdout + stderr).join('');
    const files = ['a.key', 'b.key', 'c.key', 'issuer.key'].map((name) => join(home, name));
    const written = output + readFileSync(join(home, 'root-1.json'), 'utf8');
    for (const file of files) expect(written).not.toContain(readFileSync(file, 'utf8').trim());
  });
});

import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyStanding } from '../../compiler/contract/key-history.ts';
import { KeyError, writeIssuerKey } from '../../compiler/keys/issuer-key.ts';
import { keysText, listReceiptKey, revokeKey, rotateKey } from '../../compiler/keys/key-command.ts';
import { readKeys } from '../../compiler/keys/key-store.ts';
import { CommandRuns } from '../command-runs.ts';
import { didOf, seed } from '../seeded-keys.ts';
import {
  AS_OF,
  compileFolder,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

const KEYS_NAME = 'keys.json';

afterAll(removeFolders);
const FROM = '2026-11-10T00:00:00Z';
const NOW = '2026-11-08T00:00:00Z';
const rotate = (data: string, old = 1, next = 2) =>
  rotateKey({ data, old: seed(old), next: seed(next), from: FROM, now: NOW, overlapDays: 5 });
const revoke = (data: string, by: number, of: { readonly did: string; readonly from?: string }) =>
  revokeKey({ data, seed: seed(by), from: FROM, now: FROM, ...of });
const snapshots = writeSnapshots({
  '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
});

describe('rotateKey()', () => {
  it('I28: writes a history that names both windows, and that the next rotation continues', () => {
    const data = makeFolder();
    rotate(data);
    const history = rotate(data, 2, 3);
    expect(readKeys(data)).toEqual(history);
    expect(history.keys.map(({ valid_from, valid_until }) => [valid_from, valid_until])).toEqual([
      [null, '2026-11-15T00:00:00Z'],
      [FROM, '2026-11-15T00:00:00Z'],
      [FROM, null],
    ]);
    expect(keysText(history, AS_OF).split('\n')[2]).toBe(`* ${didOf(3)}  ${FROM} to now on`);
    expect(readdirSync(data)).toEqual([KEYS_NAME]);
  });

  it('I20: refuses beside a compile, says who holds the folder, and works when that has ended', async () => {
    const seeds = { seed: seed(1), asOf: FROM };
    const before = { observed_at: '2026-11-09T10:00:00Z', collected_at: '2026-11-09T11:00:00Z' };
    const early = writeSnapshots({
      '2026-11-09/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 }, before)]),
    });
    const { data } = await compileFolder(early, seeds);
    const refused: unknown[] = [];
    const attempt = (change: () => unknown): void => {
      try {
        refused.push(change());
      } catch (error) {
        refused.push(error);
      }
    };
    const progress = (): void => {
      attempt(() => rotate(data));
      attempt(() => revoke(data, 1, { did: didOf(1) }));
    };
    await compileFolder(early, { ...seeds, data, progress });
    expect(refused.length).toBeGreaterThan(3);
    const state = `Cannot write into "${data}": another command (process ${process.pid} on `;
    for (const error of refused) expect(String(error)).toContain(`LockedError: ${state}`);
    expect(readdirSync(data)).not.toContain(KEYS_NAME);
    expect(rotate(data).keys).toHaveLength(2);
    expect(revoke(data, 2, { did: didOf(1), from: AS_OF }).revocations).toHaveLength(1);
  });

  it('I20: leaves the folder free after a refusal of its own', () => {
    const data = makeFolder();
    rotate(data);
    expect(() => rotate(data, 1, 3)).toThrow('the newest key is');
    expect(() => revoke(data, 1, { did: didOf(9) })).toThrow('not a key of this issuer');
    expect(readdirSync(data)).toEqual([KEYS_NAME]);
    expect(rotate(data, 2, 3).keys).toHaveLength(3);
  });

  it('I28: refuses a key that is not the newest, one that was there before, and an overlap that is none', () => {
    const data = makeFolder();
    rotate(data);
    const before = readFileSync(join(data, KEYS_NAME), 'utf8');
    expect(() => rotate(data, 1, 3)).toThrow(`the newest key is "${didOf(2)}"`);
    expect(() => rotate(data, 2, 1)).toThrow('a key of this issuer already');
    const at = { data, old: seed(2), next: seed(3), from: FROM, now: NOW };
    expect(() => rotateKey({ ...at, overlapDays: Number.NaN })).toThrow('overlap');
    expect(() => rotateKey({ ...at, overlapDays: -1 })).toThrow('overlap');
    expect(readFileSync(join(data, KEYS_NAME), 'utf8')).toBe(before);
  });

  it('I28: lets no rotation end the time of a key that signed since', () => {
    const at = { data: makeFolder(), old: seed(1), next: seed(2), now: NOW };
    const past = { ...at, from: '2026-11-01T00:00:00Z' };
    expect(() => rotateKey({ ...past, overlapDays: 6 })).toThrow('pass a later --from or a longer');
    expect(readdirSync(at.data)).toEqual([]);
    expect(rotateKey({ ...past, overlapDays: 7 }).keys[0]?.valid_until).toBe(NOW);
    const atOnce = { ...at, data: makeFolder(), from: NOW, overlapDays: 0 };
    expect(rotateKey(atOnce).keys[0]?.valid_until).toBe(NOW);
  });

  it('refuses a data folder that is not there, and makes none', () => {
    const data = join(makeFolder(), 'typo');
    expect(() => rotate(data)).toThrow('no such folder; correct --data');
    expect(() => revoke(data, 1, { did: didOf(1) })).toThrow('no such folder; correct --data');
    expect(existsSync(data)).toBe(false);
  });
});

describe('revokeKey()', () => {
  it('I29: by a later key, or by the key itself', () => {
    const data = makeFolder();
    rotate(data);
    expect(revoke(data, 2, { did: didOf(1) }).keys[0]?.revoked_from).toBe(FROM);
    const history = revoke(data, 1, { did: didOf(1), from: '2026-11-09T00:00:00Z' });
    expect(history.keys[0]?.revoked_from).toBe('2026-11-09T00:00:00Z');
    expect(keyStanding(history, didOf(2), AS_OF)).toBe('valid');
  });

  it('I29: refuses an earlier key, a stranger, and a date that would undo the rotation', () => {
    const data = makeFolder();
    rotate(data);
    expect(() => revoke(data, 1, { did: didOf(2) })).toThrow('only the key itself or a later one');
    expect(() => revoke(data, 9, { did: didOf(1) })).toThrow('only the key itself or a later one');
    expect(() => revoke(data, 2, { did: didOf(9) })).toThrow('not a key of this issuer');
    expect(() => revoke(data, 2, { did: didOf(1), from: '2026-11-07T00:00:00Z' })).toThrow(
      'nothing was written',
    );
    expect(readKeys(data)?.keys[0]?.revoked_from).toBeNull();
  });

  it('I29: says what to do when the only key is revoked', async () => {
    const data = makeFolder();
    revoke(data, 1, { did: didOf(1) });
    const refused = compileFolder(snapshots, { data, seed: seed(1) });
    await expect(refused).rejects.toThrow('publish into a new folder');
    expect(() =>
      rotateKey({ data, old: seed(1), next: seed(2), from: AS_OF, now: AS_OF, overlapDays: 1 }),
    ).toThrow('already revoked');
  });
});

describe('readKeys()', () => {
  it('goes on from the last release when the list is lost, and refuses one that lacks what was published', async () => {
    const data = makeFolder();
    rotate(data);
    const path = join(data, KEYS_NAME);
    const rotated = readFileSync(path, 'utf8');
    const known = revoke(data, 2, { did: didOf(1) });
    await compileFolder(snapshots, { data, seed: seed(2) });
    rmSync(path);
    expect(readKeys(data)).toEqual(known);
    await compileFolder(snapshots, { data, seed: seed(2), asOf: '2026-11-20T13:00:00Z' });
    writeFileSync(path, rotated);
    const again = { data, seed: seed(2), asOf: '2026-11-20T14:00:00Z' };
    await expect(compileFolder(snapshots, again)).rejects.toThrow('lacks a key or a revocation');
    writeFileSync(path, '{}');
    expect(() => readKeys(data)).toThrow(KeyError);
  });
});

/** Every spelling in which a seed could leak. */
function spellings(path: string): string[] {
  const hex = readFileSync(path, 'utf8').trim();
  const bytes = Buffer.from(hex, 'hex');
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), bytes]);
  const plain = bytes.toString('base64').replace(/=+$/, '');
  return [
    hex,
    hex.toUpperCase(),
    plain,
    bytes.toString('base64url'),
    bytes.toString('latin1'),
  ].concat([pkcs8.toString('base64').slice(20), 'PRIVATE KEY']);
}

describe('listReceiptKey()', () => {
  interface Listed {
    readonly by: number;
    readonly of: number;
    readonly until?: string;
  }
  const listKey = (data: string, { by, of, until = '' }: Listed) =>
    listReceiptKey({
      ...{ data, seed: seed(by), did: didOf(of), since: FROM, now: FROM },
      until: until === '' ? null : until,
    });

  it('I28: lists a key beside the issuer keys, ends it, and keeps it through rotations and revocations', () => {
    const data = makeFolder();
    rotate(data);
    listKey(data, { by: 2, of: 7 });
    const ended = listKey(data, { by: 2, of: 7, until: AS_OF });
    expect(keysText(ended, NOW).split('\n')[2]).toBe(`  ${didOf(7)}  receipts: early`);
    expect(keysText(ended, AS_OF).split('\n')[2]).toBe(`* ${didOf(7)}  receipts: listed`);
    rotateKey({
      ...{ data, old: seed(2), next: seed(3), from: AS_OF, now: AS_OF, overlapDays: 5 },
    });
    const last = revoke(data, 2, { did: didOf(1) });
    expect(last.receipt_keys).toEqual(ended.receipt_keys);
    expect(readKeys(data)).toEqual(last);
  });

  it('I28: refuses a key of nobody, one that is not valid, an issuer key, and an end before the beginning', () => {
    const data = makeFolder();
    rotate(data);
    expect(() => listKey(data, { by: 9, of: 7 })).toThrow('not a key of this issuer');
    revoke(data, 2, { did: didOf(1) });
    expect(() => listKey(data, { by: 1, of: 7 })).toThrow('it is revoked');
    expect(() => listKey(data, { by: 2, of: 2 })).toThrow('an issuer key and a receipt key');
    expect(() => listKey(data, { by: 2, of: 7, until: NOW })).toThrow('before it begins');
    expect(readKeys(data)?.receipt_keys).toBeUndefined();
  });
});

describe('signalpress key', () => {
  it('I49: no spelling of a seed is in what keygen, rotate, revoke, receipt, list, compile and failures of them print or write', () => {
    const home = makeFolder();
    const [one, two, data] = [join(home, 'one.key'), join(home, 'two.key'), join(home, 'data')];
    const [first, second] = [writeIssuerKey(one), writeIssuerKey(two)];
    const RECEIPTS = didOf(7);
    const commands = new CommandRuns();
    const run = (...args: string[]) => commands.plan(args, { cwd: home });
    const compileWith = (key: string, ...more: string[]) =>
      run(
        'compile',
        '--snapshots',
        snapshots,
        '--data',
        data,
        '--workers',
        '0',
        '--key',
        key,
        ...more,
      );
    const seedText = readFileSync(one, 'utf8').trim();
    const ended = [
      run('keygen', join(home, 'three.key')),
      run('keygen', one),
      compileWith(one),
      compileWith(`${seedText}0`),
      compileWith(two),
      run('key', 'rotate', '--data', data, '--key', one, '--to', two),
      run('key', 'rotate', '--data', data, '--key', one, '--to', `0x${seedText}`),
      run(
        'key',
        'revoke',
        '--data',
        data,
        '--key',
        two,
        '--did',
        first,
        '--from',
        '2099-01-01T00:00:00Z',
      ),
      run('key', 'revoke', '--data', data, '--key', two, '--did', seedText, '--from', FROM),
      run('key', 'receipt', '--data', data, '--key', two, '--did', RECEIPTS),
      run('key', 'receipt', '--data', data, '--key', two, '--did', seedText),
      run('key', 'list', '--data', data),
      compileWith(two),
      compileWith(one),
    ].map((end) => end());
    expect(ended.map(({ status }) => status)).toEqual([0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1]);
    const output = ended.flatMap(({ stdout, stderr }) => [stdout, stderr]);
    expect(output.join('')).toContain(second);
    expect(output.join('')).toContain(`* ${RECEIPTS}  receipts: listed`);
    expect(statSync(one).mode & 0o777).toBe(0o600);
    const written = [...filesBelow(data)].map(([path, text]) => path + text);
    expect(written.length).toBeGreaterThan(50);
    const all = [...output, ...written].join('\n');
    for (const secret of [...spellings(one), ...spellings(two)]) {
      expect(all.includes(secret)).toBe(false);
    }
    expect(spellings(one)[0]).toBe(seedText);
  });
});

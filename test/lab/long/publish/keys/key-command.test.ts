import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { summaryText } from '../../../../../compiler/cli/progress.ts';
import { DAY_MS, isoTime } from '../../../../../compiler/format/iso-time.ts';
import {
  firstHistory,
  type KeyHistory,
  keyStanding,
  withRoots,
} from '../../../../../compiler/format/key-history.ts';
import {
  keysText,
  listReceiptKey,
  revokeKey,
  rotateKey,
} from '../../../../../compiler/publish/keys/key-command.ts';
import {
  KeyError,
  readIssuerKey,
  readKeys,
  writeIssuerKey,
} from '../../../../../compiler/publish/keys/key-store.ts';
import {
  draftRoot,
  draftText,
  keyWarnings,
} from '../../../../../compiler/publish/keys/root-draft.ts';
import { issuerDid, signingKey } from '../../../../../compiler/system/sealer.ts';
import { CommandRuns } from '../../../../command-runs.ts';
import { adoptRoot, didOf, FIRST, seed } from '../../../../seeded-keys.ts';
import {
  AS_OF,
  compileFolder,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';
import { DID, revocation } from '../../../../verify/monitor/lying-service.ts';

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

describe('issuer key', () => {
  afterAll(removeFolders);
  const SECRET = '0123456789abcdef'.repeat(4);

  function errorOf(run: () => unknown): unknown {
    try {
      run();
    } catch (error) {
      return error;
    }
    return undefined;
  }

  describe('writeIssuerKey()', () => {
    it('writes a key that its owner alone can read, and returns its DID', () => {
      const path = join(makeFolder(), 'new', 'issuer.key');
      const did = writeIssuerKey(path);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
      expect(issuerDid(signingKey(readIssuerKey(path)))).toBe(did);
    });

    it('makes another key each time', () => {
      const folder = makeFolder();
      expect(writeIssuerKey(join(folder, 'a'))).not.toBe(writeIssuerKey(join(folder, 'b')));
    });

    it('never replaces a file, nor what a symlink points at', () => {
      const folder = makeFolder();
      const path = join(folder, 'issuer.key');
      writeFileSync(path, SECRET);
      symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'));
      const refused = errorOf(() => writeIssuerKey(path));
      expect(refused).toBeInstanceOf(KeyError);
      expect(inspect(refused)).not.toContain(SECRET);
      expect(() => writeIssuerKey(join(folder, 'link'))).toThrow();
      expect(readFileSync(path, 'utf8')).toBe(SECRET);
    });
  });

  describe('readIssuerKey()', () => {
    it('reads the seed itself, or a file with or without a line end', () => {
      const path = join(makeFolder(), 'issuer.key');
      const seed = new Uint8Array(Buffer.from(SECRET, 'hex'));
      for (const text of [SECRET, `${SECRET}\n`]) {
        writeFileSync(path, text);
        expect(readIssuerKey(path)).toEqual(seed);
      }
      expect(readIssuerKey(SECRET)).toEqual(seed);
    });

    it.each([undefined, ''])('says how to make a key when there is none: %j', (setting) => {
      expect(() => readIssuerKey(setting)).toThrow('signalpress keygen');
    });

    it.each([
      ['in capitals', SECRET.toUpperCase()],
      ['with a prefix', `0x${SECRET}`],
      ['with a line end', `${SECRET}\n`],
      ['cut short', SECRET.slice(0, 60)],
      ['with one digit more', `${SECRET}0`],
    ])('I49: never repeats a secret that is spelled %s, not even as a cause', (_, setting) => {
      const error = errorOf(() => readIssuerKey(setting));
      expect(error).toBeInstanceOf(KeyError);
      expect(inspect(error, { depth: 10 }).toLowerCase()).not.toContain(SECRET.slice(0, 16));
    });

    it('I49: never repeats the content of a file that holds no key', () => {
      const path = join(makeFolder(), 'issuer.key');
      writeFileSync(path, `${SECRET}${SECRET}`);
      const error = errorOf(() => readIssuerKey(path));
      expect(error).toBeInstanceOf(KeyError);
      expect(inspect(error, { depth: 10 })).not.toContain(SECRET.slice(0, 16));
    });
  });
});

describe('keyWarnings()', () => {
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

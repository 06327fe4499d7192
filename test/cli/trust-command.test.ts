import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { rotateKey } from '../../compiler/publish/keys/key-command.ts';
import { policyFile } from '../../compiler/publish/witness/witness-list.ts';
import { type TrustFile, trustOfFile } from '../../compiler/verify/trust-file.ts';
import { InventedWitness } from '../publish/witness/invented-log.ts';
import { didOf, seed, trustText } from '../seeded-keys.ts';
import {
  AS_OF,
  compileFolder,
  makeFolder,
  removeFolders,
  spotPrices,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { ADDRESS, ran, servedFrom } from './served-folder.ts';

const [K1, K2, STRANGER] = [didOf(7), didOf(8), didOf(9)];
const LATER = '2026-11-20T14:00:00Z';
const harbour = new InventedWitness('harbour.example/w1', 77);
let data = '';
let snapshots = '';
let folder = '';

beforeAll(async () => {
  snapshots = writeSnapshots(spotPrices('2026-11-20', 2, 100));
  data = join(makeFolder(), 'data');
  folder = makeFolder();
  await compileFolder(snapshots, { data, seed: seed(7), baseUrl: ADDRESS });
});
afterAll(removeFolders);

const place = (name: string): string => join(folder, name);
const fileAt = (name: string): TrustFile => JSON.parse(readFileSync(place(name), 'utf8'));
const init = (name: string, more: readonly string[], answer?: boolean) =>
  ran('trust', ['init', ADDRESS, '--trust', place(name), ...more], {
    now: AS_OF,
    fetch: servedFrom(data),
    ...(answer === undefined ? {} : { answer }),
  });

describe('signalpress trust init', () => {
  it('shows what a shop says of itself, and writes it once somebody said yes', async () => {
    const { code, text } = await init('own.trust', ['--max-age', '2d'], true);
    expect(code).toBe(0);
    for (const part of [
      `issuer     ${K1}`,
      'log        readings.example/log+',
      'max age    48 h',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toContain('none that you demand (0 sign its log)');
    const file = fileAt('own.trust');
    expect(file).toMatchObject({ url: ADDRESS, issuers: [K1], roots: [], max_age_hours: 48 });
    expect(file.seen[K1]?.sequence).toBe(1);
    expect(trustOfFile(file)).toMatchObject({ trust: [K1], origin: 'readings.example/log' });
  });

  it('writes nothing after a no, without a terminal, or in the place of another file', async () => {
    expect(await init('no.trust', [], false)).toMatchObject({ code: 1 });
    await expect(init('no.trust', [])).rejects.toThrow('pass --yes');
    expect(existsSync(place('no.trust'))).toBe(false);
    await init('there.trust', ['--yes']);
    const before = readFileSync(place('there.trust'));
    await expect(init('there.trust', ['--yes'])).rejects.toThrow('brings it up to date');
    expect(readFileSync(place('there.trust'))).toEqual(before);
  });

  it('refuses another issuer than the one that is named, and what does not hold together', async () => {
    await expect(init('x.trust', ['--yes', '--issuer', STRANGER])).rejects.toThrow(
      'Cannot trust it',
    );
    const serve = servedFrom(data);
    const lying = (path: string, change: (text: string) => string) =>
      ran('trust', ['init', ADDRESS, '--trust', place('x.trust'), '--yes'], {
        now: AS_OF,
        fetch: async (url, by) => {
          const answer = await serve(url, by);
          return url.endsWith(path) ? new Response(change(await answer.text())) : answer;
        },
      });
    await expect(
      lying('release.json', (text) => text.replace('"sequence": 1', '"sequence": 2')),
    ).rejects.toThrow('signature');
    await expect(
      lying('/log/checkpoint', (text) => text.replace(/^.*/, 'other.example/log')),
    ).rejects.toThrow('Cannot trust it');
    await expect(ran('trust', ['init', 'http://readings.example'], { now: AS_OF })).rejects.toThrow(
      'not an address',
    );
    expect(existsSync(place('x.trust'))).toBe(false);
  });

  it('demands the witnesses of a list or of a policy', async () => {
    const named = { name: 'harbour', operator: 'Harbour office', key: harbour.vkey };
    const witnesses = [{ ...named, url: 'https://harbour.example' }];
    const list = { format: 'signalpress-witnesses/1', quorum: 1, witnesses };
    writeFileSync(place('list.json'), JSON.stringify(list));
    writeFileSync(place('policy.txt'), `${harbour.policyLine('harbour')}quorum harbour\n`);
    for (const from of ['list.json', 'policy.txt']) {
      await init(`${from}.trust`, ['--yes', '--witnesses', place(from)]);
      const { policy } = trustOfFile(fileAt(`${from}.trust`));
      expect(policy?.witnesses.map(({ name }) => name)).toEqual(['harbour']);
      expect(policy?.quorum).not.toBeNull();
      const said = await ran('verify', [data, '--trust', place(`${from}.trust`)], { now: AS_OF });
      expect([said.code, said.text]).toEqual([1, expect.stringContaining('not witnessed as')]);
    }
    for (const wrong of [
      { ...list, quorum: 2 },
      { ...list, format: 'x' },
      { ...list, more: 1 },
    ]) {
      writeFileSync(place('wrong.json'), JSON.stringify(wrong));
      expect(() => policyFile(place('wrong.json'))).toThrow('Cannot use');
    }
  });
});

describe('a trust file', () => {
  it('is brought up to date by a release that follows, and notices one that does not', async () => {
    await init('kept.trust', ['--yes']);
    const judge = (from: string, now: string) =>
      ran('verify', [from, '--trust', place('kept.trust')], { now });
    expect((await judge(data, AS_OF)).code).toBe(0);
    const next = join(makeFolder(), 'data');
    mkdirSync(next, { recursive: true });
    rotateKey({ data: next, old: seed(7), next: seed(8), from: AS_OF, now: AS_OF, overlapDays: 1 });
    await compileFolder(snapshots, { data: next, asOf: LATER, seed: seed(8), baseUrl: ADDRESS });
    // Another history of the same issuer.
    expect(await judge(next, LATER)).toMatchObject({
      code: 1,
      text: expect.stringContaining('fork'),
    });
    expect(fileAt('kept.trust').keys).toEqual(fileAt('own.trust').keys);
    rotateKey({ data, old: seed(7), next: seed(8), from: AS_OF, now: AS_OF, overlapDays: 1 });
    await compileFolder(snapshots, { data, asOf: LATER, seed: seed(8), baseUrl: ADDRESS });
    expect((await judge(data, LATER)).code).toBe(0);
    const { keys, seen } = fileAt('kept.trust');
    expect((keys as { keys: { did: string }[] }).keys.map(({ did }) => did)).toEqual([K1, K2]);
    expect(seen[K1]?.sequence).toBe(2);
    const log = await ran('verify', [data, '--log', '--trust', place('kept.trust')], {
      now: LATER,
    });
    expect([log.code, log.text]).toEqual([0, expect.stringContaining('witnessed by nobody')]);
  });

  it('is used alone: not beside --issuer, and not where it does not hold', async () => {
    const both = ['--trust', place('own.trust'), '--issuer', K1];
    expect(await ran('verify', [data, ...both], { now: AS_OF })).toMatchObject({
      code: 2,
      text: expect.stringContaining('leave one out'),
    });
    const broken: readonly [Partial<TrustFile> | string, string][] = [
      ['{}', 'Invalid'],
      ['no JSON', 'Cannot use'],
      [{}, 'it names no issuer'],
      [{ issuers: ['did:key:x'] }, 'did:key'],
      [{ roots: [K1] }, 'root keys need a list'],
      [{ issuers: [K1], log: 'x' }, 'Cannot use'],
      [{ issuers: [K1], witnesses: ['quorum nobody'] }, 'no line above defines'],
      [{ issuers: [K1], keys: { keys: [] } }, 'Cannot trust the list'],
    ];
    for (const [members, why] of broken) {
      const text = typeof members === 'string' ? members : trustText(members);
      writeFileSync(place('broken.trust'), text);
      const said = await ran('verify', [data, '--trust', place('broken.trust')], { now: AS_OF });
      expect([text, said.code, said.text]).toEqual([text, 2, expect.stringContaining(why)]);
      expect(() => verify('{}', { trust: text })).toThrow('Cannot use the trust file');
    }
  });

  it('is found in the current folder, where no other option says whom to trust', async () => {
    const here = process.cwd();
    await init('signalpress.trust', ['--yes']);
    process.chdir(folder);
    try {
      expect((await ran('verify', [data], { now: LATER })).code).toBe(0);
      expect((await ran('verify', [data, '--issuer', STRANGER], { now: LATER })).code).toBe(1);
    } finally {
      process.chdir(here);
    }
    expect((await ran('verify', [data], { now: LATER })).code).toBe(2);
  });
});

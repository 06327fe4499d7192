import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signalpressClient } from '../../compiler/client/signalpress-client.ts';
import { verify } from '../../compiler/client/verify.ts';
import { firstHistory, formatKeyHistory } from '../../compiler/contract/key-history.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import { signingKey } from '../../compiler/stages/seal/sealer.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import {
  runVerify,
  runVerifyLog,
  type VerifyCommandOptions,
} from '../../compiler/verify/verify-command.ts';
import { adoptRoot } from '../rooted-list.ts';
import { didOf, seed } from '../seeded-keys.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { proofBy } from './one-leaf-proof.ts';
import { reseal } from './reseal.ts';

afterAll(removeFolders);
const [ISSUER, STOLEN] = [71, 83];
const ROOTS = [81, 82, STOLEN].map(didOf);
const TWO = ROOTS.slice(0, 2);
const [ADOPTED, LATER] = ['2026-11-20T13:00:00Z', '2026-11-20T14:00:00Z'];
const NOW = Date.parse('2026-11-20T15:00:00Z');

const snapshots = writeSnapshots({
  '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
});
let data: string;
let before: string;
let list: string;
let body: JsonObject;
beforeAll(async () => {
  ({ data } = await compileFolder(snapshots, { seed: seed(ISSUER) }));
  before = kept('before.json', readFileSync(fileOf(join(data, 'current'), 'well-known/keys.json')));
  const change = { rootKeys: ROOTS, now: ADOPTED };
  adoptRoot(data, change, [seed(81), seed(82), seed(ISSUER)]);
  const { folder } = await compileFolder(snapshots, { data, seed: seed(ISSUER), asOf: LATER });
  list = kept('keys.json', readFileSync(fileOf(folder, 'well-known/keys.json')));
  body = JSON.parse(readFileSync(fileOf(folder, 'census/crypto.spot.json'), 'utf8'));
});

function kept(name: string, bytes: Uint8Array | string): string {
  const path = join(makeFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

const judge = (options: VerifyCommandOptions, shown: object = body) =>
  runVerify('-', {
    ...{ now: NOW, proof: false, readStdin: () => Buffer.from(JSON.stringify(shown)) },
    ...options,
  });

/** The body as the thief of one root key signs it. */
const stolenBody = (): object => reseal(body, seed(STOLEN));

describe('verify --root', () => {
  it('I29: as many root keys as a version needs vouch for a body, by the list that holds it', async () => {
    for (const root of [TWO, ROOTS]) {
      expect(await judge({ root, keys: list })).toMatchObject({ exitCode: 0 });
      expect(await judge({ root, keys: data })).toMatchObject({ exitCode: 0 });
    }
    expect(await judge({ root: TWO, issuer: [didOf(ISSUER)], keys: list })).toMatchObject({
      exitCode: 0,
    });
  });

  it('I29: a list that they did not sign is refused, and so is a body without a list', async () => {
    const few = [ROOTS.slice(0, 1), [didOf(81), didOf(STOLEN)], [didOf(91), didOf(92)]];
    for (const root of few) {
      const { exitCode, text } = await judge({ root, keys: list });
      expect([exitCode, text]).toEqual([2, expect.stringContaining('enough of the trusted root')]);
    }
    const older = await judge({ root: TWO, issuer: [didOf(ISSUER)], keys: before });
    expect([older.exitCode, older.text.includes('enough of the trusted root')]).toEqual([2, true]);
    expect(await judge({ root: TWO })).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining('pass it with --keys'),
    });
  });

  it('I29: a root key in the place of an issuer is refused with words', async () => {
    for (const issuer of [TWO, [didOf(STOLEN)]]) {
      const { exitCode, text } = await judge({ issuer, keys: list });
      expect([exitCode, text]).toEqual([2, expect.stringContaining('is a root key')]);
    }
    expect((await judge({ issuer: TWO, root: TWO, keys: list })).exitCode).toBe(2);
    expect(await judge({ issuer: [didOf(ISSUER)], keys: list })).toMatchObject({ exitCode: 0 });
  });

  it('I29: one stolen root key signs no body, neither with the true list nor with one of its own', async () => {
    const own = kept('own.json', formatKeyHistory(firstHistory(didOf(STOLEN))));
    expect((await judge({ root: ROOTS, keys: list }, stolenBody())).exitCode).toBe(1);
    expect((await judge({ root: ROOTS, keys: own }, stolenBody())).exitCode).toBe(2);
    expect((await judge({ keys: list }, stolenBody())).exitCode).toBe(1);
  });

  it('I29: a release and its log stand under root keys by the list that they carry', async () => {
    for (const root of [TWO, ROOTS]) {
      expect(await runVerify(data, { root })).toMatchObject({ exitCode: 0 });
      expect(runVerifyLog(data, { root })).toMatchObject({ exitCode: 0 });
    }
    const own = await compileFolder(snapshots, { seed: seed(STOLEN) });
    for (const folder of [
      own.data,
      (await compileFolder(snapshots, { seed: seed(ISSUER) })).data,
    ]) {
      const { exitCode, text } = await runVerify(folder, { root: ROOTS });
      expect([exitCode, text]).toEqual([1, expect.stringContaining('well-known/keys.json')]);
      expect(runVerifyLog(folder, { root: ROOTS })).toMatchObject({ exitCode: 1 });
    }
  });

  it('I29: a checkpoint that a root key signed proves nothing', () => {
    const { _citation } = body as { _citation: { record_hash: string } };
    const proven = (fill: number): object => {
      const origin = 'example.org/log';
      const _proof = proofBy(_citation.record_hash, { key: signingKey(seed(fill)), origin });
      return { ...body, _proof };
    };
    const keys = JSON.parse(readFileSync(list, 'utf8'));
    const verdict = (fill: number, trusted: object) =>
      verifyBody(proven(fill) as JsonObject, { trust: [], keys, ...trusted }).verdict;
    for (const trusted of [{ roots: ROOTS }, { trust: [...ROOTS, didOf(ISSUER)] }]) {
      expect(verdict(ISSUER, trusted)).toBe('verified');
      expect(verdict(STOLEN, trusted)).toBe('failed');
    }
  });
});

describe('a client under root keys', () => {
  const keys = () => JSON.parse(readFileSync(list, 'utf8'));

  it('I29: judges by them as the command does', () => {
    const text = JSON.stringify(body);
    expect(verify(text, { root: TWO, keys: keys(), now: NOW, demandsProof: false }).verdict).toBe(
      'verified',
    );
    expect(() => verify(text, { root: TWO.slice(1), keys: keys() })).toThrow('enough of the');
    expect(() => verify(text, { root: TWO })).toThrow('pass "keys"');
    expect(() => verify(text, { issuer: TWO, keys: keys() })).toThrow('is a root key');
  });

  it('I29: is made with them in the place of an issuer, and not with neither', () => {
    const baseUrl = 'https://example.org';
    expect(() => signalpressClient({ baseUrl, root: TWO, keys: keys() })).not.toThrow();
    expect(() => signalpressClient({ baseUrl, root: TWO })).toThrow('pass "keys"');
    for (const nobody of [{}, { root: [] }]) {
      expect(() => signalpressClient({ baseUrl, ...nobody })).toThrow('"issuer" is not a did:key');
    }
  });
});

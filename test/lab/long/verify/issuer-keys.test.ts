import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rollBack } from '../../../../compiler/cli/releases-command.ts';
import { signalpressClient } from '../../../../compiler/client/signalpress-client.ts';
import { verify } from '../../../../compiler/client/verify.ts';
import { verifierKey } from '../../../../compiler/format/checkpoint.ts';
import { keyIdOf } from '../../../../compiler/format/citation.ts';
import { parseDidKey } from '../../../../compiler/format/did-key.ts';
import { firstHistory, formatKeyHistory } from '../../../../compiler/format/key-history.ts';
import { hashCore } from '../../../../compiler/format/record-hash.ts';
import type { JsonObject } from '../../../../compiler/format/strict-json.ts';
import { deliveredText } from '../../../../compiler/products/shapes/request-time.ts';
import { revokeKey, rotateKey } from '../../../../compiler/publish/keys/key-command.ts';
import { canonicalHash } from '../../../../compiler/verify/body-check.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import {
  runVerify,
  runVerifyLog,
  type VerifyCommandOptions,
} from '../../../../compiler/verify/verify-command.ts';
import { verifyLog } from '../../../../compiler/verify/verify-log.ts';
import { provenStored } from '../../../public-part.ts';
import { adoptRoot, didOf, seed, trustText } from '../../../seeded-keys.ts';
import {
  compileFolder,
  fileOf,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { Log, sha256, signedBody } from '../../../verify/invented-issuer.ts';
import { reseal, resign } from '../../../verify/resign.ts';

afterAll(removeFolders);

const [S1, S2] = [seed(41), seed(42)];
const [K1, K2, STRANGER] = [didOf(41), didOf(42), didOf(43)];
const REVOKED_FROM = '2026-11-09T00:00:00Z';
const noon = (day: number) => `2026-11-${String(day).padStart(2, '0')}T12:00:00Z`;

/** One more coin, read on a day. */
function addCoin(root: string, day: number, coin: string): void {
  const times = {
    observed_at: noon(day).replace('12:', '10:'),
    collected_at: noon(day).replace('12:', '11:'),
  };
  const batch = noon(day).slice(0, 10);
  writeSnapshots(
    { [`${batch}/crypto.spot.ndjson`]: ndjson([reading(coin, { price_usd: day }, times)]) },
    root,
  );
}

interface World {
  readonly snapshots: string;
  readonly data: string;
}

/** Bodies of a release that are sold, as a buyer of its hour saved them, with their proofs. */
const bodiesIn = (folder: string): string[] => {
  const made = Date.parse(readJson(folder, 'release.json').as_of);
  return [...filesBelow(folder)]
    .filter(([path]) => /^(thin\/)?record\/.*\.json$/.test(path))
    .map(([path]) => deliveredText(readFileSync(fileOf(folder, path), 'utf8'), made))
    .map((text) => JSON.stringify(provenStored(folder, JSON.parse(text))));
};

/** Those that are stored or forged have no proof of their own. */
const stored = (body: string) => ({
  ...bare(JSON.parse(body)),
  readStdin: () => Buffer.from(body),
});
/** The request of a body without a proof left that out. */
function bare({ _proof, _citation }: { _proof?: string; _citation?: { source: { url: string } } }) {
  const url = _citation?.source.url;
  return _proof !== undefined || url === undefined ? {} : { expect: `${url}&proof=0` };
}
const judge = async (body: string, keys: string, issuer = K1, at?: string) => {
  const now = at === undefined ? {} : { now: Date.parse(at) };
  return (await runVerify('-', { issuer: [issuer], keys, ...now, ...stored(body) })).exitCode;
};

/** K1 alone, K1 and K2 in their overlap, K2 alone; the bodies of each. */
async function threeSets(
  world: World,
): Promise<Record<'k1' | 'k1late' | 'k2early' | 'k2', string[]>> {
  const release = async (day: number, coin: string, seed: Uint8Array) => {
    addCoin(world.snapshots, day, coin);
    return bodiesIn(
      (await compileFolder(world.snapshots, { data: world.data, asOf: noon(day), seed })).folder,
    );
  };
  const k1 = await release(5, 'btc', S1);
  const at = { from: noon(10), now: noon(8), overlapDays: 5 };
  rotateKey({ data: world.data, old: S1, next: S2, ...at });
  const k1late = await release(11, 'eth', S1);
  const k2early = await release(12, 'sol', S2);
  return { k1, k1late, k2early, k2: await release(20, 'ada', S2) };
}

let world: World;
let sets: Awaited<ReturnType<typeof threeSets>>;
let published = '';
beforeAll(async () => {
  world = { snapshots: join(makeFolder(), 'snapshots'), data: join(makeFolder(), 'data') };
  sets = await threeSets(world);
  published = join(makeFolder(), 'keys.json');
  writeFileSync(
    published,
    readFileSync(fileOf(join(world.data, 'current'), 'well-known/keys.json')),
  );
});

interface Forgery {
  readonly price?: number;
  readonly words?: string;
  readonly retrieved_at?: string;
}

/** A body that holds by itself, signed with a stolen key, without a proof. */
function forged(genuine: string, key: Uint8Array, { price, words, retrieved_at }: Forgery): string {
  const { _citation, _proof, ...body } = JSON.parse(genuine);
  if (price !== undefined) body.current = { price_usd: price };
  if (words !== undefined) body.scope = words;
  if (retrieved_at !== undefined) {
    const hours = (Date.parse(retrieved_at) - Date.parse(body.observed_at)) / 3_600_000;
    body.data_age_hours = Math.round(hours * 10) / 10;
    body.provenance.data_age_hours = body.data_age_hours;
    body.snapshot_date = `${retrieved_at.slice(0, 10)}T00:00:00Z`;
    body.last_looked_at = retrieved_at;
  }
  const hash = canonicalHash(hashCore(body));
  const text = JSON.stringify({ ...body, record_hash: hash }).replaceAll(body.record_hash, hash);
  const cited = { ..._citation, retrieved_at: retrieved_at ?? _citation.retrieved_at };
  const at = Date.parse(retrieved_at ?? body.provenance.answered_at);
  return JSON.stringify(reseal({ ...JSON.parse(deliveredText(text, at)), _citation: cited }, key));
}

describe('I28: rotation', () => {
  it('I28: the published list of keys alone verifies all three sets, 0 false rejects', async () => {
    const bodies = Object.values(sets).flat();
    expect(bodies.length).toBeGreaterThan(12);
    expect(new Set(bodies.map((body) => JSON.parse(body)._citation.issuer_DID)).size).toBe(2);
    for (const body of bodies) expect(await judge(body, published)).toBe(0);
  });

  it('I28: without the list the new key is a stranger, and for a stranger the list is worth nothing', async () => {
    const [body = ''] = sets.k2;
    const alone = await runVerify('-', { issuer: [K1], ...stored(body) });
    expect(alone.exitCode).toBe(1);
    expect(await judge(body, published, STRANGER)).toBe(1);
    expect(await judge(sets.k1[0] ?? '', published, K2)).toBe(1);
  });

  it('I28: the old key stops after its window, 0 false accepts', async () => {
    const [body = ''] = sets.k1;
    const judged = (day: number, now: string) =>
      judge(forged(body, S1, { retrieved_at: noon(day) }), published, K1, now);
    expect(await judged(15, noon(15))).toBe(0);
    // Later nothing shows that it is older, for want of a proof.
    expect(await judged(15, noon(16))).toBe(2);
    expect(await judged(16, noon(16))).toBe(1);
    expect(await judge(forged(body, seed(43), {}), published)).toBe(1);
  });

  it('I28: the log of today leads every proof to a key that is in use', async () => {
    const now = Date.parse(noon(25));
    const later = async (body: string, keys: string) =>
      (await runVerify('-', { issuer: [K1], keys, now, ...stored(body) })).exitCode;
    for (const body of Object.values(sets).flat()) expect(await later(body, world.data)).toBe(0);
    for (const body of sets.k1) expect(await later(body, published)).toBe(2);
  });

  it('I28: compile refuses a key outside its window and one that nobody announced, and says what to do', async () => {
    const { snapshots, data } = world;
    const at = (day: number, seed: Uint8Array) =>
      compileFolder(snapshots, { data, asOf: noon(day), seed });
    await expect(at(21, S1)).rejects.toThrow(`no longer valid at ${noon(21)}; sign with "${K2}"`);
    await expect(at(21, new Uint8Array(32).fill(43))).rejects.toThrow('signalpress key rotate');
  });

  it('I28: the release and its log verify from the first key on, and not for a stranger', async () => {
    const { data } = world;
    expect((await runVerify(data, { issuer: [K1] })).exitCode).toBe(0);
    expect((await runVerify(data, { issuer: [K2] })).exitCode).toBe(0);
    expect((await runVerify(data, { issuer: [STRANGER] })).exitCode).toBe(1);
    expect(verifyLog(data, { trust: [K1] })).toMatchObject({
      verdict: 'verified',
      entries: 4,
    });
    expect(verifyLog(data, { trust: [STRANGER] }).verdict).toBe('failed');
  });

  it('lists both keys in did.json, the one that may sign as asserting', () => {
    const did = readJson(join(world.data, 'current'), 'well-known/did.json');
    expect(did.alsoKnownAs).toEqual([K2, K1]);
    expect(did.assertionMethod).toEqual([keyIdOf(K2)]);
    expect(did.verificationMethod[1]).toMatchObject({ id: keyIdOf(K1), expires: noon(15) });
  });

  it('I28: a head of the old key after its window, or of the new one before it, is refused', async () => {
    const { folder, data } = await compileFolder(world.snapshots, {
      data: world.data,
      asOf: noon(21),
      seed: S2,
    });
    const own = [join(folder, 'release.json'), join(data, 'log')];
    const kept = makeFolder();
    for (const [at, path] of own.entries()) cpSync(path, join(kept, `${at}`), { recursive: true });
    for (const [seed, as_of] of [
      [S1, noon(21)],
      [S2, noon(9)],
    ] as const) {
      resign(folder, { as_of }, seed);
      const { text, exitCode } = await runVerify(data, { issuer: [K1] });
      expect([exitCode, /FAIL {2}release.json {2}issuer_did/.test(text)]).toEqual([1, true]);
      for (const [at, path] of own.entries())
        cpSync(join(kept, `${at}`), path, { recursive: true });
    }
  });
});

describe('what is remembered, and what is rolled back', () => {
  async function rotatedOnce() {
    const here = { snapshots: join(makeFolder(), 'snapshots'), data: join(makeFolder(), 'data') };
    addCoin(here.snapshots, 5, 'btc');
    const one = await compileFolder(here.snapshots, { data: here.data, asOf: noon(5), seed: S1 });
    rotateKey({ data: here.data, old: S1, next: S2, from: noon(6), now: noon(6), overlapDays: 9 });
    await compileFolder(here.snapshots, { data: here.data, asOf: noon(7), seed: S2 });
    return { ...here, one };
  }

  it('I28: a release of the first key verifies beside the log that the next one signs', async () => {
    const { data, one } = await rotatedOnce();
    const judged = () =>
      runVerify(one.folder, {
        issuer: [K1],
        keys: fileOf(join(data, 'current'), 'well-known/keys.json'),
      });
    expect((await judged()).text).toMatch(/^verified/);
    const other = verifierKey('example.org/log', parseDidKey(STRANGER), sha256);
    writeFileSync(join(data, 'log/vkey'), `${other}\n`);
    const { text, exitCode } = await judged();
    expect([exitCode, /FAIL {2}log\/vkey/.test(text)]).toEqual([1, true]);
  });

  it('I26: an issuer is remembered by the first key, so a rotation hides no rollback', async () => {
    const { data, one } = await rotatedOnce();
    let text: string | null = null;
    const memory = () => ({
      text,
      save: (saved: string) => {
        text = saved;
      },
    });
    expect(
      (await runVerify(data, { issuer: [K1], memory: memory(), now: Date.parse(noon(8)) }))
        .exitCode,
    ).toBe(0);
    expect(Object.keys(JSON.parse(text ?? '{}').issuers)).toEqual([K1]);
    const back = await runVerify(one.folder, {
      issuer: [K1],
      memory: memory(),
      now: Date.parse(noon(8)),
    });
    expect(back.exitCode).toBe(1);
    expect(back.text).toContain('rollback');
  });

  it('I26: a rollback crosses a rotation without the key before, and takes no revocation back', async () => {
    const { data, one, snapshots } = await rotatedOnce();
    const roll = (day: number, seed: Uint8Array) =>
      rollBack({ data, name: one.folder.split('/').at(-1) ?? '', asOf: noon(day), seed });
    const verified = async () =>
      (await runVerify(data, { issuer: [K1], now: Date.parse(noon(20)) })).text;
    // The key before has ended, and may be gone.
    await expect(roll(17, S1)).rejects.toThrow('it is no longer valid');
    const { release } = await roll(17, S2);
    expect(release).toMatchObject({ sequence: 3, issuer_did: K2, key_id: keyIdOf(K2) });
    expect(await verified()).toMatch(/^verified/);
    revokeKey({ data, seed: S2, did: K1, from: noon(8), now: noon(18) });
    await expect(roll(18, S2)).rejects.toThrow('list of keys is not published yet; compile first');
    await compileFolder(snapshots, { data, asOf: noon(18), seed: S2 });
    await roll(19, S2);
    expect(await verified()).toMatch(/^verified/);
    const { keys } = readJson(join(data, 'current'), 'well-known/keys.json');
    expect(keys[0]).toMatchObject({ did: K1, revoked_from: noon(8) });
  });
});

describe('I29: a stolen key', () => {
  let revoked = '';
  let list = '';
  beforeAll(async () => {
    revokeKey({ data: world.data, seed: S2, did: K1, from: REVOKED_FROM, now: noon(22) });
    await compileFolder(world.snapshots, { data: world.data, asOf: noon(22), seed: S2 });
    revoked = world.data;
    list = join(makeFolder(), 'keys.json');
    writeFileSync(list, readFileSync(fileOf(join(revoked, 'current'), 'well-known/keys.json')));
  });

  it('I29: what was published before the revocation verifies with the log, and cannot be judged without', async () => {
    for (const body of sets.k1) expect(await judge(body, revoked)).toBe(0);
    for (const body of sets.k1) expect(await judge(body, list)).toBe(2);
    for (const body of sets.k1late) {
      expect([await judge(body, revoked), await judge(body, list)]).toEqual([1, 1]);
    }
  });

  it('I29: of 150 forgeries, back-dated or not, none is accepted', async () => {
    const [genuine = ''] = sets.k1;
    const forgeries = Array.from({ length: 50 }, (_, at) => [
      forged(genuine, S1, { price: 100 + at }),
      forged(genuine, S1, { words: `other words ${at}` }),
      forged(genuine, S1, { retrieved_at: `2026-11-${10 + (at % 20)}T11:00:00Z` }),
    ]).flat();
    expect(new Set(forgeries).size).toBeGreaterThanOrEqual(100);
    const outcomes = await Promise.all(
      forgeries.flatMap((body) => [judge(body, revoked), judge(body, list)]),
    );
    expect(outcomes).not.toContain(0);
    expect(outcomes.filter((code) => code === 1).length).toBeGreaterThanOrEqual(100);
    // The proof of the genuine body is none of theirs.
    const { _proof } = JSON.parse(genuine);
    for (const body of forgeries) {
      expect(await judge(JSON.stringify({ ...JSON.parse(body), _proof }), revoked)).toBe(1);
    }
    // The same forgeries held while nobody knew of the theft.
    expect(await judge(forgeries[0] ?? '', published)).toBe(0);
  });

  it('I29: what the other key signed is as good as before', async () => {
    for (const body of [...sets.k2early, ...sets.k2]) expect(await judge(body, list)).toBe(0);
    expect((await runVerify(revoked, { issuer: [K1] })).exitCode).toBe(0);
    const did = readJson(join(revoked, 'current'), 'well-known/did.json');
    expect(did.verificationMethod[1]).toMatchObject({ id: keyIdOf(K1), revoked: REVOKED_FROM });
  });

  it('I29: a list that takes the revocation back is a fork of the one that is given', async () => {
    const old = join(makeFolder(), 'data');
    mkdirSync(old);
    const snapshots = join(makeFolder(), 'snapshots');
    addCoin(snapshots, 5, 'btc');
    rotateKey({
      data: old,
      old: S1,
      next: new Uint8Array(32).fill(43),
      from: noon(6),
      now: noon(5),
      overlapDays: 1,
    });
    await compileFolder(snapshots, { data: old, asOf: noon(7), seed: new Uint8Array(32).fill(43) });
    expect((await runVerify(old, { issuer: [K1] })).exitCode).toBe(0);
    const { exitCode, text } = await runVerify(old, { issuer: [K1], keys: list });
    expect(exitCode).toBe(1);
    expect(text).toContain('fork');
    expect(runVerifyLog(old, { issuer: [K1] }).exitCode).toBe(0);
    const log = runVerifyLog(old, { issuer: [K1], keys: list });
    expect([log.exitCode, log.text]).toEqual([1, expect.stringContaining('fork')]);
    expect(runVerifyLog(old, { keys: join(old, 'none') }).exitCode).toBe(2);
    const folder = runVerifyLog(old, { keys: join(old, 'releases') });
    expect([folder.exitCode, folder.text]).toEqual([
      2,
      expect.stringContaining('without a release'),
    ]);
  });

  it('I29: compile refuses the revoked key', async () => {
    const sign = compileFolder(world.snapshots, { data: revoked, asOf: noon(23), seed: S1 });
    await expect(sign).rejects.toThrow('revoked');
  });
});

describe('root keys', () => {
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
    before = kept(
      'before.json',
      readFileSync(fileOf(join(data, 'current'), 'well-known/keys.json')),
    );
    const change = { rootKeys: ROOTS, now: ADOPTED };
    adoptRoot(data, change, [seed(81), seed(82), seed(ISSUER)]);
    const { folder } = await compileFolder(snapshots, { data, seed: seed(ISSUER), asOf: LATER });
    list = kept('keys.json', readFileSync(fileOf(folder, 'well-known/keys.json')));
    const census = readFileSync(fileOf(folder, 'census/crypto.spot.json'), 'utf8');
    body = JSON.parse(deliveredText(census, Date.parse(readJson(folder, 'release.json').as_of)));
  });

  function kept(name: string, bytes: Uint8Array | string): string {
    const path = join(makeFolder(), name);
    writeFileSync(path, bytes);
    return path;
  }

  const judge = (options: VerifyCommandOptions, shown: object = body) =>
    runVerify('-', {
      ...{ now: NOW, ...stored(JSON.stringify(shown)) },
      ...options,
    });

  /** The body as the thief of one root key signs it. */
  const stolenBody = (): object => reseal(body, seed(STOLEN));

  describe('verify under root keys', () => {
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
        expect([exitCode, text]).toEqual([
          2,
          expect.stringContaining('enough of the trusted root'),
        ]);
      }
      const older = await judge({ root: TWO, issuer: [didOf(ISSUER)], keys: before });
      expect([older.exitCode, older.text.includes('enough of the trusted root')]).toEqual([
        2,
        true,
      ]);
      expect(await judge({ root: TWO })).toMatchObject({
        exitCode: 2,
        text: expect.stringContaining('they vouch for a list of keys'),
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
      const log = new Log();
      const cited = signedBody(ISSUER);
      const release = log.add([cited], noon(6));
      const keys = JSON.parse(readFileSync(list, 'utf8'));
      const verdict = (fill: number, trusted: object) =>
        verifyBody(log.proven(cited, release, { signers: [fill] }), {
          ...{ trust: [], keys, ...trusted },
        }).verdict;
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
      const under = (roots: string[], list: unknown = keys()) =>
        verify(text, {
          trust: trustText({ roots, keys: list }),
          now: NOW,
          demandsProof: false,
        }).verdict;
      expect(under(TWO)).toBe('verified');
      expect(() => under(TWO.slice(1))).toThrow('enough of the');
      expect(() => under(TWO, null)).toThrow('root keys need a list of keys');
      expect(() => verify(text, { issuer: TWO, keys: keys() })).toThrow('is a root key');
    });

    it('I29: is made with them in the place of an issuer, and not with neither', () => {
      const baseUrl = 'https://example.org';
      const trust = trustText({ roots: TWO, keys: keys() });
      expect(() => signalpressClient({ baseUrl, trust })).not.toThrow();
      expect(() => signalpressClient({ baseUrl, trust, issuer: TWO[0] ?? '' })).toThrow(
        'names both',
      );
      expect(() => signalpressClient({ baseUrl, trust: trustText({}) })).toThrow('no issuer');
      expect(() => signalpressClient({ baseUrl })).toThrow('"issuer" is not a did:key');
    });
  });
});

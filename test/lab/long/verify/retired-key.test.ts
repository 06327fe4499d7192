import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../../../compiler/client/verify.ts';
import { checkSchema } from '../../../../compiler/contract/free-body-schemas.ts';
import type { JsonObject } from '../../../../compiler/contract/strict-json.ts';
import { revokeKey, rotateKey } from '../../../../compiler/keys/key-command.ts';
import { signingKey } from '../../../../compiler/stages/seal/sealer.ts';
import { readPolicy } from '../../../../compiler/verify/policy-check.ts';
import {
  runVerify,
  type VerifyCommandOptions,
} from '../../../../compiler/verify/verify-command.ts';
import { answer } from '../../../../gatekeeper/answers/answers.ts';
import type { Service } from '../../../../gatekeeper/answers/service.ts';
import { check } from '../../../../gatekeeper/rooms/check.ts';
import { proof } from '../../../../gatekeeper/rooms/proof.ts';
import { proven } from '../../../../gatekeeper/rooms/proven.ts';
import { compiledService, jsonOf, question } from '../../../gatekeeper/tiny-service.ts';
import { adoptRoot } from '../../../rooted-list.ts';
import { didOf, seed } from '../../../seeded-keys.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  spotPrices,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { proofBy } from '../../../verify/one-leaf-proof.ts';
import { reseal } from '../../../verify/reseal.ts';
import { resign } from '../../../verify/resign.ts';
import { changeProof, InventedWitness, withNote } from '../../../witness/invented-witness.ts';

afterAll(removeFolders);

// The first key signs until the 12th, the second one from the 7th on. On the 21st whoever has the first key can still sign.

const [S1, S2] = [seed(91), seed(92)];
const [K1, K2] = [didOf(91), didOf(92)];
const at = (day: number, hour = 12) =>
  `2026-11-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`;
const [IN_WINDOW, LATER] = [Date.parse(at(10)), Date.parse(at(21))];
const ORIGIN = 'example.org/log';
type Cited = JsonObject & { record_hash?: string; _citation: { record_hash: string } };

const snapshots = join(makeFolder(), 'snapshots');
const data = join(makeFolder(), 'data');
let inOverlap = '';
let list = '';
let [record, census, young, thin]: Cited[] = [];
let service: Service;
beforeAll(async () => {
  const release = async (day: number, seed: Uint8Array, coin: string) => {
    const times = { observed_at: at(day, 10), collected_at: at(day, 11) };
    const line = ndjson([reading(coin, { price_usd: day }, times)]);
    writeSnapshots({ [`${at(day).slice(0, 10)}/crypto.spot.ndjson`]: line }, snapshots);
    const { folder } = await compileFolder(snapshots, { data, asOf: at(day), seed });
    return (path: string): Cited => JSON.parse(readFileSync(fileOf(folder, path), 'utf8'));
  };
  const first = await release(5, S1, 'btc');
  record = first('record/crypto.spot/btc.json');
  thin = first('thin/record/crypto.spot/btc.json');
  rotateKey({ data, old: S1, next: S2, from: at(7), now: at(7), overlapDays: 5 });
  census = (await release(8, S1, 'eth'))('census/crypto.spot.json');
  inOverlap = join(makeFolder(), 'data');
  cpSync(data, inOverlap, { recursive: true, verbatimSymlinks: true });
  young = (await release(20, S2, 'ada'))('record/crypto.spot/ada.json');
  list = fileOf(join(data, 'current'), 'well-known/keys.json');
  service = await compiledService(data, at(21));
});

const genuine = (): Cited[] => [record as Cited, census as Cited];

/** A body with other words, as the thief of a key dates it back. */
const forged = (body: Cited): Cited => reseal({ ...body, scope: 'other words' }, S1) as Cited;

const READING_ALONE =
  'its reading is older than the end of the key that signed it, its other words unproven';
const leafOf = ({ record_hash, _citation }: Cited): string => record_hash ?? _citation.record_hash;
/** With a tree of its own, whose checkpoint the key of a seed signed. */
const provenBy = (body: Cited, seed: Uint8Array): Cited => {
  const _proof = proofBy(leafOf(body), { key: signingKey(seed), origin: ORIGIN });
  return { ...body, _proof };
};

async function judge(body: Cited, options: VerifyCommandOptions) {
  const readStdin = () => Buffer.from(JSON.stringify(body));
  const by = { issuer: [K1], now: LATER, proof: false, readStdin, ...options };
  const { exitCode, text } = await runVerify('-', by);
  return { exitCode, text };
}

const answered = async (hash: string) => jsonOf(await proof(question(`/proof/${hash}`), service));

describe('what a retired key signed', () => {
  it('I28: holds with the list alone while the key is in use, and cannot be judged once it has ended', async () => {
    for (const body of genuine()) {
      expect((await judge(body, { keys: list, now: IN_WINDOW })).exitCode).toBe(0);
      const { exitCode, text } = await judge(body, { keys: list });
      expect(exitCode).toBe(2);
      expect(text).toContain('nothing shows that it is older than the end of the key');
      expect(text).toContain(`${K1} was in use until ${at(12)}`);
      expect(text).toContain('--fresh-proof');
      expect((await judge(body, { keys: data })).exitCode).toBe(0);
    }
    expect((await judge(young as Cited, { keys: list })).exitCode).toBe(0);
  });

  it('I29: whoever has the key now makes body, tree and checkpoint, and proves nothing', async () => {
    const dated = forged(census as Cited);
    for (const body of [dated, provenBy(dated, S1)]) {
      expect((await judge(body, { keys: list })).exitCode).toBe(2);
      expect((await judge(body, { keys: data })).exitCode).toBe(1);
    }
    const { exitCode, text } = await judge(provenBy(dated, S1), { keys: list, proof: true });
    expect([exitCode, text.includes('was in use until')]).toEqual([1, true]);
  });

  it('I29: a checkpoint of a key that is still in use counts, for the entry that it proves alone', async () => {
    for (const body of genuine()) {
      const { exitCode, text } = await judge(provenBy(body, S2), { keys: list });
      const isRecord = body === record;
      expect(exitCode).toBe(isRecord ? 2 : 0);
      expect(text).toContain(isRecord ? READING_ALONE : 'ok    anchor');
      expect((await judge(provenBy(body, S1), { keys: list })).exitCode).toBe(2);
    }
    const [, other] = genuine();
    const borrowed = { ...forged(census as Cited), _proof: provenBy(other as Cited, S2)._proof };
    expect((await judge(borrowed as Cited, { keys: list })).exitCode).toBe(1);
  });

  it('I29: other words around a logged reading, or other figures beside its hash, are never verified', async () => {
    const words = provenBy(forged(record as Cited), S2);
    const figures = provenBy(forged({ ...(thin as Cited), current: { price_usd: 9999 } }), S2);
    for (const keys of [list, data]) {
      const around = await judge(words, { keys });
      expect([around.exitCode, around.text.includes(READING_ALONE)]).toEqual([2, true]);
      const beside = await judge(figures, { keys });
      expect([beside.exitCode, beside.text.includes('cannot be judged')]).toEqual([2, true]);
    }
    // What was sold is listed by the release that sold it.
    for (const body of [record, thin]) {
      expect((await judge(body as Cited, { keys: data })).exitCode).toBe(0);
    }
  });

  it('a proof of a form that bears no core says that it shows none of its figures', async () => {
    const { text } = await judge(provenBy(thin as Cited, S1), { now: IN_WINDOW, proof: true });
    expect(text).toContain('the reading that it names, not its own figures, is entry 0');
    const whole = await judge(provenBy(record as Cited, S1), { now: IN_WINDOW, proof: true });
    expect(whole.text).toContain('its reading is entry 0');
  });

  it('I29: a checkpoint that witnesses saw before the end counts, and one of later does not', async () => {
    const witness = new InventedWitness('w.example/1', 1);
    const policy = readPolicy(Buffer.from(`${witness.policyLine('First')}quorum First\n`));
    const seen = (day: number): Cited => {
      const body = provenBy(census as Cited, S1);
      const noted = withNote(String(body._proof), (note) => witness.cosign(note, at(day)));
      return { ...body, _proof: noted };
    };
    expect((await judge(seen(11), { keys: list, policy })).exitCode).toBe(0);
    expect((await judge(seen(13), { keys: list, policy })).exitCode).toBe(2);
  });

  it('I29: a release from before the end shows what its log has, and nothing else', async () => {
    for (const body of genuine()) {
      expect((await judge(body, { keys: inOverlap })).exitCode).toBe(0);
    }
    const dated = forged(census as Cited);
    // Its log may get what the key signs in its last days.
    expect((await judge(dated, { keys: inOverlap, now: IN_WINDOW })).exitCode).toBe(0);
    expect((await judge(dated, { keys: inOverlap })).exitCode).toBe(2);
  });
});

/** An answer of /proof with a checkpoint of the present key, without one, and with one of the past. */
async function answersOfProof(): Promise<object[]> {
  const answer = await answered(leafOf(census as Cited));
  const past = provenBy(census as Cited, S1)._proof;
  return [answer, { ...answer, tlog_proof: null }, { ...answer, tlog_proof: past }];
}

describe('a fresh proof of an old body', () => {
  it('I28: is in the answer of /proof, by a checkpoint of the present key', async () => {
    // A record has an entry of its reading alone.
    const expected = [
      { body: record as Cited, codes: [2, 2], verdict: 'unsigned' },
      { body: census as Cited, codes: [0, 1], verdict: 'verified' },
    ];
    const keys = JSON.parse(readFileSync(list, 'utf8'));
    for (const { body, codes, verdict } of expected) {
      const answer = await answered(leafOf(body));
      expect(answer.tlog_proof).toContain('c2sp.org/tlog-proof@v1');
      for (const text of [JSON.stringify(answer), String(answer.tlog_proof)]) {
        const freshProof = join(makeFolder(), 'proof.json');
        writeFileSync(freshProof, text);
        const own = await judge(body, { keys: list, freshProof, proof: true });
        const other = await judge(forged(body), { keys: list, freshProof });
        expect([own.exitCode, other.exitCode]).toEqual(codes);
        const trusted = { issuer: K1, keys, now: LATER };
        const saved = JSON.stringify(body);
        expect(verify(saved, { ...trusted, freshProof: text }).verdict).toBe(verdict);
        expect(verify(saved, trusted).verdict).toBe('unsigned');
      }
    }
  });

  it('is refused where it is none, and fails where it is of another body', async () => {
    const freshProof = join(makeFolder(), 'proof.json');
    for (const none of ['{}', 'no proof', '', '{"endpoint":"proof","hash":"sha256:00"}']) {
      writeFileSync(freshProof, none);
      const { exitCode, text } = await judge(record as Cited, { keys: list, freshProof });
      expect([exitCode, text.includes('Cannot use the fresh proof')]).toEqual([2, true]);
    }
    writeFileSync(freshProof, JSON.stringify(await answered(leafOf(census as Cited))));
    expect((await judge(record as Cited, { keys: list, freshProof })).exitCode).toBe(1);
    const missing = await judge(record as Cited, { keys: list, freshProof: `${freshProof}.none` });
    expect([missing.exitCode, missing.text.includes('no such file')]).toEqual([2, true]);
  });

  it('I29: an answer of /proof alone counts by it, and one whose checkpoints are all of the past does not', async () => {
    const judged = (await answersOfProof()).map((shown) => judge(shown as Cited, { keys: list }));
    const codes = (await Promise.all(judged)).map(({ exitCode }) => exitCode);
    expect(codes).toEqual([0, 2, 2]);
  });
});

describe('POST /verify', () => {
  const post = async (body: object) => {
    const sent = Buffer.from(JSON.stringify(body));
    return checkSchema.parse(
      jsonOf(await check(question('/verify', 'application/json', sent), service)),
    );
  };

  it('I31: knows what its own past keys signed by its log, and no forgery of today', async () => {
    expect((await post(census as Cited)).verdict).toBe('verified');
    const { verdict, details } = await post(record as Cited);
    expect([verdict, details?.some(({ detail }) => detail.startsWith('only its reading'))]).toEqual(
      ['unsigned', true],
    );
    const dated = forged(census as Cited);
    const figures = forged({ ...(thin as Cited), current: { price_usd: 9999 } });
    for (const body of [
      dated,
      provenBy(dated, S1),
      forged(record as Cited),
      provenBy(figures, S2),
    ]) {
      expect((await post(body)).verdict).not.toBe('verified');
    }
    expect(K2).not.toBe(K1);
  });
});

describe('anchored before', () => {
  const [S1, S2] = [seed(61), seed(62)];
  const [K1, K2] = [didOf(61), didOf(62)];
  const at = (day: number, hour = 12) =>
    `2026-11-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`;

  const snapshots = join(makeFolder(), 'snapshots');
  const data = join(makeFolder(), 'data');

  function addReading(batch: number, coin: string, price: number): void {
    const times = { observed_at: at(batch, 10), collected_at: at(batch, 11) };
    const name = at(batch).slice(0, 10);
    const line = ndjson([reading(coin, { price_usd: price }, times)]);
    writeSnapshots({ [`${name}/crypto.spot.ndjson`]: line }, snapshots);
  }

  interface Sold {
    readonly record: string;
    readonly census: string;
  }

  async function release(day: number, seed: Uint8Array, coin: string): Promise<Sold> {
    const { folder } = await compileFolder(snapshots, { data, asOf: at(day), seed });
    const text = (path: string) => readFileSync(fileOf(folder, path), 'utf8');
    return {
      record: text(`record/crypto.spot/${coin}.json`),
      census: text('census/crypto.spot.json'),
    };
  }

  /** What a thief of the first key makes of a body: other words, or what a later key signed, under the first key. */
  function forged(genuine: string, change: (body: Record<string, unknown>) => void): string {
    const body = JSON.parse(genuine);
    change(body);
    return JSON.stringify(reseal(body, S1));
  }
  const words = (body: Record<string, unknown>): void => {
    body.scope = 'other words';
  };

  let [one, two, late] = [{} as Sold, {} as Sold, {} as Sold];
  /** The data folder without the releases of the first key. */
  let alone = '';
  beforeAll(async () => {
    addReading(5, 'btc', 5);
    one = await release(5, S1, 'btc');
    addReading(6, 'eth', 6);
    two = await release(6, S1, 'eth');
    rotateKey({ data, old: S1, next: S2, from: at(7), now: at(7), overlapDays: 30 });
    addReading(4, 'old', 4);
    addReading(19, 'btc', 19);
    late = await release(20, S2, 'old');
  });

  /** The data folder after a root revoked the first key, also from before it announced the second. */
  async function revokedFrom(from: string): Promise<string> {
    const copy = join(makeFolder(), 'data');
    cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
    const change = {
      rootKeys: [63, 64, 65].map(didOf),
      revoke: [{ did: K1, at: from }],
      now: at(21),
    };
    adoptRoot(copy, change, [seed(64), seed(65), S2]);
    await compileFolder(snapshots, { data: copy, asOf: at(21), seed: S2 });
    return copy;
  }

  function withoutOlder(folder: string): string {
    const copy = join(makeFolder(), 'data');
    cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
    const names = readdirSync(join(copy, 'releases')).sort();
    for (const name of names.slice(0, -1))
      rmSync(join(copy, 'releases', name), { recursive: true });
    return copy;
  }

  async function judge(body: string, keys: string, policy?: string) {
    const more = policy === undefined ? {} : { policy: readPolicy(Buffer.from(policy)) };
    const outcome = await runVerify('-', {
      issuer: [K1],
      keys,
      proof: false,
      readStdin: () => Buffer.from(body),
      ...more,
    });
    return { code: outcome.exitCode, text: outcome.text };
  }

  describe('what a key signed that was revoked later', () => {
    let revoked = '';
    beforeAll(async () => {
      revoked = await revokedFrom(at(9));
      alone = withoutOlder(revoked);
    });

    it('I29: a body that was superseded since is shown by the release that listed it', async () => {
      for (const { record } of [one, two]) expect((await judge(record, revoked)).code).toBe(0);
      expect((await judge(one.record, alone)).code).toBe(2);
    });

    it('I29: without that release only its readings are proven, and that is said', async () => {
      const { code, text } = await judge(one.record, alone);
      expect(code).toBe(2);
      expect(text).toContain('its reading is older than the end of the key');
      expect(text).toContain('only its readings are proven');
      expect((await judge(forged(one.record, words), revoked)).code).toBe(2);
    });

    it('I29: a body that joins readings is shown by its own entry, with no release of its time', async () => {
      for (const { census } of [one, two]) {
        const { code, text } = await judge(census, alone);
        expect([code, text.includes('older than the end')]).toEqual([0, true]);
      }
    });

    it('I29: a back-dated body that joins readings fails, because its statement is not in the log', async () => {
      for (const folder of [revoked, alone]) {
        const { code, text } = await judge(forged(two.census, words), folder);
        expect([code, text.includes('is not in the log')]).toEqual([1, true]);
      }
    });

    it('I29: a reading of an old batch that came to the log after the revocation is no evidence', async () => {
      const genuine = JSON.parse(late.record);
      expect([genuine._citation.issuer_DID, genuine._citation.retrieved_at]).toEqual([
        K2,
        at(4, 11),
      ]);
      expect((await judge(late.record, revoked)).code).toBe(0);
      const { code, text } = await judge(
        forged(late.record, () => undefined),
        revoked,
      );
      expect([code, text.includes(`with the release of ${at(20)}`)]).toEqual([1, true]);
    });

    it('I29: the hour of the release counts, not the day of the batch', async () => {
      const evening = await revokedFrom(at(6, 18));
      const noon = await revokedFrom('2026-11-06T12:30:00Z');
      expect((await judge(two.record, evening)).code).toBe(0);
      expect((await judge(two.census, evening)).code).toBe(0);
      expect((await judge(two.census, noon)).code).toBe(2);
      expect((await judge(one.record, noon)).code).toBe(0);
    });
  });

  describe('a proof that witnesses saw before the revocation', () => {
    const W = new InventedWitness('w.example/1', 1);
    const policy = `${W.policyLine('First')}quorum First\n`;
    const bought = async (target: string): Promise<(at: string) => string> => {
      const service = await compiledService(data, at(20, 13));
      const asked = question(target);
      const answered = await answer(asked, service);
      if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}"`);
      const body = JSON.parse((await proven(answered.content, asked, service)).body.toString());
      return (seen) =>
        JSON.stringify({ ...body, _proof: withNote(body._proof, (note) => W.cosign(note, seen)) });
    };

    it('I29: proves the statement that it is about, and a reading alone where that is its entry', async () => {
      const own = join(makeFolder(), 'keys.json');
      revokeKey({ data, seed: S2, did: K2, from: at(22), now: at(23) });
      cpSync(join(data, 'keys.json'), own);
      const census = await bought('/gauge/census?signal_id=crypto.spot');
      const record = await bought('/gauge?entity=old&signal_id=crypto.spot');
      expect((await judge(census(at(20, 14)), own, policy)).code).toBe(0);
      expect((await judge(census(at(22)), own, policy)).code).toBe(2);
      expect((await judge(census(at(20, 14)), own)).code).toBe(2);
      const alike = await judge(record(at(20, 14)), own, policy);
      expect([alike.code, alike.text.includes('its reading is older')]).toEqual([2, true]);
    });
  });
});

// The first key signs until the 12th, the second one from the 7th on.

const END = '2026-11-12T12:00:00Z';
const [IN_USE, ENDED] = [Date.parse(END), Date.parse('2026-11-12T12:00:01Z')];
const OF_A_THIEF = `in use until ${END}: whoever has that key now may have made it`;

/** The release of the first key in the overlap, and that of the second key behind it. */
let first = '';
let second = '';
beforeAll(async () => {
  const snapshots = writeSnapshots({});
  second = join(makeFolder(), 'data');
  const release = async (day: string, key: Uint8Array) => {
    writeSnapshots(spotPrices(`2026-11-${day}`, 1, 100), snapshots);
    await compileFolder(snapshots, { data: second, asOf: `2026-11-${day}T13:00:00Z`, seed: key });
  };
  await release('05', S1);
  const from = '2026-11-07T12:00:00Z';
  rotateKey({ data: second, old: S1, next: S2, from, now: from, overlapDays: 5 });
  await release('08', S1);
  first = copyOf(second);
  await release('20', S2);
});

function copyOf(folder: string): string {
  const copy = join(makeFolder(), 'data');
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

/** `verify --remember` with a file that holds this text. */
async function follow(folder: string, more: VerifyCommandOptions, text: string | null = null) {
  let saved: string | null = null;
  const save = (next: string): void => {
    saved = next;
  };
  const outcome = await runVerify(folder, { issuer: [K1], memory: { text, save }, ...more });
  return { ...outcome, saved };
}

describe('a release that a key signed which has ended', () => {
  it('I26: is not verified by itself, nor remembered, and the one of the next key is', async () => {
    expect(await follow(first, { now: IN_USE })).toMatchObject({ exitCode: 0 });
    const later = await follow(first, { now: ENDED });
    expect(later).toMatchObject({ exitCode: 2, saved: null });
    expect(later.text).toContain(
      `cannot be judged  ${first}\n  signed by ${K1}, which was ${OF_A_THIEF}`,
    );
    const next = await follow(second, { now: LATER });
    expect([next.exitCode, next.saved === null]).toEqual([0, false]);
    expect(await follow(second, { now: LATER, issuer: [K2] })).toMatchObject({ exitCode: 0 });
  });

  it('I26: is verified where witnesses saw its log while the key was in use', async () => {
    const witness = new InventedWitness('w.example/1');
    const policy = readPolicy(Buffer.from(`${witness.policyLine('First')}quorum First\n`));
    const exitCodes = async (seenAt: string) => {
      const folder = copyOf(first);
      changeProof(join(folder, 'current'), (note) => witness.cosign(note, seenAt));
      return (await follow(folder, { now: ENDED, policy })).exitCode;
    };
    expect(await exitCodes('2026-11-09T12:00:00Z')).toBe(0);
    expect(await exitCodes(END)).toBe(2);
  });

  it('I26: accuses nobody of a fork without saying who may have made it', async () => {
    const { saved } = await follow(first, { now: IN_USE });
    const fork = copyOf(first);
    resign(join(fork, 'current'), { issuer_name: 'Another name' }, S1);
    const inUse = await follow(fork, { now: IN_USE }, saved);
    expect(inUse).toMatchObject({ exitCode: 1, saved: null });
    expect(inUse.text).toContain('fork: another release 2 was seen before');
    expect(inUse.text).not.toContain('whoever has that key');
    const ended = await follow(fork, { now: ENDED }, saved);
    expect(ended).toMatchObject({ exitCode: 1, saved: null });
    expect(ended.text).toContain(OF_A_THIEF);
    expect(await follow(second, { now: LATER }, saved)).toMatchObject({ exitCode: 0 });
  });
});

import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { checkSchema } from '../../compiler/contract/free-body-schemas.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import { rotateKey } from '../../compiler/keys/key-command.ts';
import { signingKey } from '../../compiler/stages/seal/sealer.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { runVerify, type VerifyCommandOptions } from '../../compiler/verify/verify-command.ts';
import type { Service } from '../../gatekeeper/answers/service.ts';
import { check } from '../../gatekeeper/rooms/check.ts';
import { proof } from '../../gatekeeper/rooms/proof.ts';
import { compiledService } from '../gatekeeper/compiled-service.ts';
import { jsonOf, question } from '../gatekeeper/tiny-service.ts';
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
import { InventedWitness, withNote } from '../witness/invented-witness.ts';
import { proofBy } from './one-leaf-proof.ts';
import { hasPython, VERIFY_RECORD } from './python-judge.ts';
import { reseal } from './reseal.ts';

// The first key signs until the 12th, the second one from the 7th on. On the 21st whoever has the first key can still sign.

afterAll(removeFolders);
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

/** The exit code of `verify_record.py`. */
function secondJudge(body: object, flags: readonly string[]): number | null {
  const file = join(makeFolder(), 'body.json');
  writeFileSync(file, JSON.stringify(body));
  const by = ['--issuer', K1, '--keys', list, ...flags, file];
  return spawnSync('python3', [VERIFY_RECORD, ...by]).status;
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

describe.skipIf(!hasPython)('what a retired key signed, by the second judge', () => {
  it('I31: is judged as by the first one', async () => {
    const dated = forged(census as Cited);
    const bodies = [
      ...genuine(),
      young as Cited,
      dated,
      provenBy(dated, S1),
      provenBy(forged(record as Cited), S2),
      provenBy(forged({ ...(thin as Cited), current: { price_usd: 9999 } }), S2),
      provenBy(thin as Cited, S2),
      ...genuine().flatMap((body) => [provenBy(body, S1), provenBy(body, S2)]),
    ];
    for (const now of [IN_WINDOW, LATER]) {
      for (const [at, body] of bodies.entries()) {
        // The second judge takes no body of a time to come.
        if (body === young && now === IN_WINDOW) continue;
        const flags = ['--no-proof', '--now', isoTime(now)];
        const first = await judge(body, { keys: list, now });
        expect([at, now, secondJudge(body, flags)]).toEqual([at, now, first.exitCode]);
      }
    }
  });

  it('I29: nor does it take an answer of /proof whose checkpoints are all of the past', async () => {
    const codes = (await answersOfProof()).map((shown) =>
      secondJudge(shown, ['--now', isoTime(LATER)]),
    );
    expect(codes).toEqual([0, 2, 2]);
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

  it.skipIf(!hasPython)(
    'is taken, and written, by the second judge (skipped without python3)',
    async () => {
      const [one, other] = [census as Cited, record as Cited];
      const answer = await answered(leafOf(one));
      const proofs = {
        answer: JSON.stringify(answer),
        text: String(answer.tlog_proof),
        none: '{}',
      };
      for (const [name, text] of Object.entries(proofs)) {
        const [freshProof, kept] = [join(makeFolder(), name), join(makeFolder(), 'kept')];
        writeFileSync(freshProof, text);
        const flags = ['--now', isoTime(LATER), '--fresh-proof', freshProof, '--write-proof', kept];
        const codes = [secondJudge(one, flags), secondJudge(other, flags)];
        expect([name, codes]).toEqual([name, name === 'none' ? [2, 2] : [0, 1]]);
        if (name !== 'none') expect(readFileSync(kept, 'utf8')).toBe(answer.tlog_proof);
      }
    },
  );

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

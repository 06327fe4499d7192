import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkpointText, formatNote } from '../../../../compiler/contract/checkpoint.ts';
import { defined } from '../../../../compiler/contract/defined.ts';
import type { KeyHistory } from '../../../../compiler/contract/key-history.ts';
import { inclusionRanges } from '../../../../compiler/contract/merkle.ts';
import { type HashedRecord, hashCore } from '../../../../compiler/contract/record-hash.ts';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../../compiler/contract/strict-json.ts';
import { formatTlogProof, parseTlogProof } from '../../../../compiler/contract/tlog-proof.ts';
import { issuerDid, signingKey } from '../../../../compiler/stages/seal/sealer.ts';
import { type BodyTrust, verifyBody } from '../../../../compiler/verify/verify-body.ts';
import {
  runVerify,
  type VerifyCommandOptions,
} from '../../../../compiler/verify/verify-command.ts';
import { answer } from '../../../../gatekeeper/answers/answers.ts';
import type { Service } from '../../../../gatekeeper/answers/service.ts';
import { check } from '../../../../gatekeeper/rooms/check.ts';
import { proven } from '../../../../gatekeeper/rooms/proven.ts';
import { type SoldShop, soldShop } from '../../../gate.ts';
import { compiledService, jsonOf, question } from '../../../gatekeeper/tiny-service.ts';
import { someOf } from '../../../rounds.ts';
import { BASE_URL, type Body, smallShop } from '../../../shop.ts';
import { smallSet } from '../../../small-set.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { alterations } from '../../../verify/alterations.ts';
import { FOREIGN_BODIES } from '../../../verify/foreign-texts.ts';
import { proofBy } from '../../../verify/one-leaf-proof.ts';
import { hasPython, pythonVerdicts } from '../../../verify/python-judge.ts';
import { reseal } from '../../../verify/reseal.ts';

afterAll(removeFolders);

const NOW = '2026-11-20T12:30:00Z';
const RECORD = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const OTHER = '/gauge?entity=07010000&signal_id=hydrology.river-level';
const ORIGIN = `${new URL(BASE_URL).host}/log`;
const _sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

let service: Service;
let did: string;
let [record, other]: [JsonObject, JsonObject] = [{}, {}];
beforeAll(async () => {
  const release = await smallShop();
  did = release.did;
  service = await compiledService(release.data, NOW);
  [record, other] = [await bought(RECORD), await bought(OTHER)];
});

async function bought(target: string): Promise<JsonObject> {
  const asked = question(target);
  const answered = await answer(asked, service);
  if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}"`);
  const body = parseJson((await proven(answered.content, asked, service)).body.toString());
  return isObject(body) ? body : {};
}

function judged(body: JsonObject, more: Partial<BodyTrust> = {}) {
  const report = verifyBody(body, { trust: [did], now: Date.parse(NOW), ...more });
  const logged = report.checks.find(({ check }) => check === 'logged');
  return { verdict: report.verdict, logged };
}

const proofOf = ({ _proof }: JsonObject): string => String(_proof);

/** The list of a revoked key, and of others after it. */
function keysOf(others: number): KeyHistory {
  const { keys, ...list } = service.release.keys;
  const [own] = keys.map((key) => ({ ...key, revoked_from: '2026-11-20T12:00:00Z' }));
  const dids = Array.from({ length: others }, (_, at) =>
    issuerDid(signingKey(createHash('sha256').update(`key ${at}`).digest())),
  );
  const after = dids.map((did) => ({ ...defined(own, 'key'), did, revoked_from: null }));
  return { ...list, keys: [defined(own, 'key'), ...after] };
}

/** What the log answers about the entry of a proof that `proofBy` made. */
function answerOf(proof: string): JsonObject {
  const { index, signed, checkpoint } = parseTlogProof(proof);
  const root = Buffer.from(signed.root).toString('hex');
  const inclusion = { index, size: 1, root, leaf_hash: root, inclusion_proof: [], checkpoint };
  return { endpoint: 'proof', hash: String(record.record_hash), found: true, inclusion };
}

/** Each with another character at one place, and each cut off before one. */
function mutations(proof: string): string[] {
  return [...proof].flatMap((char, at) => {
    const before = proof.slice(0, at);
    return [before + String.fromCharCode(char.charCodeAt(0) ^ 1) + proof.slice(at + 1), before];
  });
}

const forgedKey = (): string =>
  proofBy(String(record.record_hash), { key: signingKey(new Uint8Array(32).fill(9)) });

function statementProof(): string {
  const { _citation } = record;
  return proofBy(isObject(_citation) ? String(_citation.record_hash) : '');
}

describe('the proof of a body', () => {
  it('I72: is accepted from the log of its issuer, of its reading or of its statement', () => {
    const { verdict, logged } = judged(record);
    expect(verdict).toBe('verified');
    expect(logged).toMatchObject({ where: '_proof', status: 'pass' });
    expect(logged?.detail).toMatch(
      /^at size \d+, no time proven \(no witness signed\): its reading is entry \d+ of readings\.example\/log$/,
    );
    expect(judged({ ...record, _proof: statementProof() }).logged?.detail).toContain(
      'its signed statement is entry 0',
    );
    expect(judged(record, { trust: 'any' })).toMatchObject({
      verdict: 'issuer_unknown',
      logged: { status: 'pass' },
    });
  });

  it('I43: reads a note as often for 256 keys, one of them revoked, as for one', () => {
    const answer = answerOf(proofBy(String(record.record_hash)));
    const read = vi.spyOn(globalThis, 'atob');
    const readings = (body: JsonObject, more: number): number => {
      read.mockClear();
      judged(body, { keys: keysOf(more) });
      return read.mock.calls.length;
    };
    try {
      for (const body of [record, answer]) {
        expect(readings(body, 0)).toBeGreaterThan(0);
        expect(readings(body, 255)).toBe(readings(body, 0));
      }
    } finally {
      read.mockRestore();
    }
  });

  it('I72: fails with any other character in it, and cut off anywhere', () => {
    const passed = someOf(mutations(proofOf(record))).filter(
      (_proof) => judged({ ...record, _proof }).verdict !== 'failed',
    );
    expect(passed).toEqual([]);
  });

  it.skipIf(!hasPython)('is judged alike by the second verifier', () => {
    const mutated = mutations(proofOf(record)).filter((_, at) => at % 37 === 0);
    const forged = [...mutated, proofOf(other), forgedKey(), 7, null].map((_proof) => ({
      ...record,
      _proof,
    }));
    const { _proof, ...bare } = record;
    const bodies = [record, { ...record, _proof: statementProof() }, bare, ...forged];
    const lines = bodies.map((body) => JSON.stringify(body));
    const verdicts = pythonVerdicts(lines, [did], Date.parse(NOW)).map(({ verdict }) => verdict);
    expect(verdicts).toEqual(bodies.map((body) => judged(body).verdict));
    expect(new Set(verdicts.slice(0, 3))).toEqual(new Set(['verified']));
    expect(new Set(verdicts.slice(3))).toEqual(new Set(['failed']));
  });

  it('adds at most 1.5 KB to a body in a log of a million entries', () => {
    const million = 1_000_000;
    const bytes = new Uint8Array(32).fill(0xff);
    const sizes = [0, 524_287, million - 1].map((index) => {
      const hashes = inclusionRanges(index, million).map(() => bytes);
      const text = checkpointText({ origin: ORIGIN, size: million, root: bytes });
      const own = { name: ORIGIN, keyHash: bytes.slice(0, 4), signature: new Uint8Array(64) };
      const checkpoint = formatNote({ text, signatures: [own] });
      const proof = formatTlogProof({ index, hashes, checkpoint });
      return Buffer.byteLength(`"_proof":${JSON.stringify(proof)},`);
    });
    expect(Math.max(...sizes)).toBeLessThan(1536);
    expect(Math.min(...sizes)).toBeGreaterThan(500);
  });

  it.each([
    [
      'a true one of another body',
      (): string | number | null => proofOf(other),
      'no hash of this body',
    ],
    ['one of a log of another issuer', () => forgedKey(), 'signed by no key that is known'],
    [
      'one of the log of another service',
      () => proofBy(String(record.record_hash), { origin: 'others.example/log' }),
      'others.example/log',
    ],
    ['what is no text', (): string | number | null => 7, 'not a text'],
    ['nothing at all', (): string | number | null => null, 'not a text'],
    ['an empty one', (): string | number | null => '', 'Cannot read a proof'],
  ] as const)('fails: %s', (_, proof, why) => {
    const { verdict, logged } = judged({ ...record, _proof: proof() });
    expect(verdict).toBe('failed');
    expect(logged).toMatchObject({ status: 'fail', detail: expect.stringContaining(why) });
  });

  it.skipIf(!hasPython)(
    'fails: one of a body that the issuer put into another as its coverage',
    () => {
      const [{ _proof, ...bare }, { _proof: __, ...inside }] = [record, other];
      const { _citation } = inside;
      const hash = isObject(_citation) ? String(_citation.record_hash) : '';
      const smuggled = { ...reseal({ ...bare, coverage: inside } as Body), _proof: proofBy(hash) };
      expect(judged(smuggled)).toMatchObject({
        verdict: 'failed',
        logged: { detail: expect.stringContaining('no hash of this body') },
      });
      const [line] = pythonVerdicts([JSON.stringify(smuggled)], [did], Date.parse(NOW));
      expect(line?.verdict).toBe('failed');
      expect(judged({ ...smuggled, _proof: proofOf(record) }).verdict).toBe('verified');
    },
  );

  describe('of a reading', () => {
    const logged = (body: JsonObject, more: JsonObject = {}) => {
      const { _proof, ...bare } = body;
      return judged({ ...reseal({ ...bare, ...more } as Body), _proof: proofOf(record) }).logged;
    };
    const FAILED = { status: 'fail', detail: 'no hash of this body is the entry that it proves' };
    const cited = (query: string): JsonObject => {
      const citation = Object(record._citation);
      const source = { ...citation.source, url: `${BASE_URL}${query}` };
      return { ...record, _citation: { ...citation, source } };
    };

    it('proves no body that joins readings, whatever its signer puts beside them', async () => {
      const census = await bought('/gauge/census?signal_id=airquality.aqi');
      const { _citation, _proof, nature, provenance, ...core } = record;
      const { record_hash } = core;
      expect(judged(census)).toMatchObject({ verdict: 'verified', logged: { status: 'pass' } });
      expect(logged(census, { record_hash: record_hash ?? null })).toMatchObject(FAILED);
      expect(logged(census, core)).toMatchObject(FAILED);
      expect(logged(cited('/gauge/environment-region?loc=us-denver'))).toMatchObject(FAILED);
      expect(logged(record)).toMatchObject({ status: 'pass' });
    });

    it('proves a body of its own signal and entity, and a whole record by its core', async () => {
      const thin = '/gauge?entity=us-denver&format=thin&signal_id=airquality.aqi';
      const { source_ref, hash_core_version, ...coreless } = cited(thin);
      expect(logged(coreless)).toMatchObject({ status: 'pass' });
      const { _citation } = record;
      expect(logged({ ...coreless, _citation: _citation ?? null })).toMatchObject(FAILED);
      expect(logged(cited(RECORD.replace('us-denver', 'us-boston')))).toMatchObject(FAILED);
      expect(logged(cited(RECORD.replace('.aqi', '.pm25')))).toMatchObject(FAILED);
    });

    /** A record whose signer put other words around a genuine reading, and its core beside them. */
    const beside = (): JsonObject => {
      const core = hashCore(record as unknown as HashedRecord) as JsonObject;
      return { ...record, current: { ...Object(record.current), aqi: 1 }, _hash_core: core };
    };

    it('proves no other words that bring the core of a genuine reading beside them', () => {
      expect(logged(beside())).toMatchObject(FAILED);
    });

    it.skipIf(!hasPython)('is borrowed by nothing in Python either', async () => {
      const census = await bought('/gauge/census?signal_id=airquality.aqi');
      const joined = { ...census, record_hash: record.record_hash ?? null };
      const bodies: JsonObject[] = [
        record,
        joined,
        beside(),
        cited('/gauge/environment-region?loc=us-denver'),
      ];
      const lines = bodies.map(({ _proof, ...bare }) =>
        JSON.stringify({ ...reseal(bare as Body), _proof: proofOf(record) }),
      );
      const said = pythonVerdicts(lines, [did], Date.parse(NOW));
      expect(said.map(({ verdict }) => verdict)).toEqual([
        'verified',
        'failed',
        'failed',
        'failed',
      ]);
      for (const { detail } of said.slice(1))
        expect(detail).toMatch(/^_proof: no hash of this body/);
    });
  });

  it('is no member of anything deeper inside, and of nothing without a citation', () => {
    const { _citation, ...unsigned } = record;
    expect(judged(unsigned).verdict).toBe('failed');
    const { provenance, _proof, ...rest } = record;
    const inside = {
      ...rest,
      _citation: record._citation ?? null,
      provenance: { ...(isObject(provenance) ? provenance : {}), _proof: _proof ?? null },
    };
    expect(judged(inside).verdict).toBe('failed');
  });

  it('is demanded, noted, or not spoken of where none came', () => {
    const { _proof, ...bare } = record;
    expect(judged(bare)).toEqual({ verdict: 'verified', logged: undefined });
    expect(judged(bare, { proof: 'noted' })).toMatchObject({
      verdict: 'verified',
      logged: { status: 'not_applicable' },
    });
    expect(judged(bare, { proof: 'demanded' })).toMatchObject({
      verdict: 'failed',
      logged: { status: 'fail' },
    });
    expect(judged(record, { proof: 'demanded' }).verdict).toBe('verified');
  });
});

describe('verify', () => {
  const command = async (body: JsonObject, more: Partial<VerifyCommandOptions> = {}) => {
    const readStdin = () => Buffer.from(JSON.stringify(body));
    const own = { issuer: [did], now: Date.parse(NOW), readStdin, ...more };
    return runVerify('-', own);
  };

  it('says where it is logged, or that no proof came, and fails that where it is demanded', async () => {
    const { exitCode, text } = await command(record);
    expect(exitCode).toBe(0);
    expect(text).toMatch(
      /^ {2}ok {4}logged {8}at size \d+, .*: its reading is entry \d+ of readings\.example\/log$/m,
    );
    const { _proof, ...bare } = record;
    const open = await command(bare);
    expect(open.exitCode).toBe(2);
    expect(open.text).toMatch(/^cannot be judged: not proven to be in the log {2}-\n {2}subject /);
    expect(open.text).toMatch(/^ {2}- +logged +no proof .*--keys.*--no-proof$/m);
    expect(await command(bare, { proof: true })).toMatchObject({ exitCode: 1 });
    expect(await command(bare, { proof: false })).toMatchObject({ exitCode: 0 });
    expect(await command(record, { proof: true })).toMatchObject({ exitCode: 0 });
    const asked = { expect: RECORD, json: true } as const;
    expect(JSON.parse((await command(bare, asked)).text)).toMatchObject({ verdict: 'unproven' });
    expect(await command(bare, { expect: OTHER })).toMatchObject({ exitCode: 1 });
  });

  it('takes a release whose log holds the body in place of its proof, and of no other service or issuer', async () => {
    const { data } = await smallShop();
    const { _proof, ...bare } = record;
    const held = await command(bare, { keys: data, proof: true });
    expect(held).toMatchObject({
      exitCode: 0,
      text: expect.stringMatching(
        /ok +logged +at size \d+, in the release that was passed: its reading is entry \d+ of /m,
      ),
    });
    const { record_hash, hash_core_version, ...nameless } = bare;
    const unlogged = reseal(nameless as Body);
    expect((await command(unlogged, { keys: data })).exitCode).toBe(2);
    expect((await command(unlogged, { proof: false })).exitCode).toBe(0);
    const seed = new Uint8Array(32).fill(9);
    const others = await compileFolder(writeSnapshots(smallSet()), { seed });
    const issuer = [did, others.release.issuer_did];
    expect((await command(bare, { issuer, keys: others.data })).exitCode).toBe(2);
    const base = { baseUrl: 'https://others.example' };
    const elsewhere = await compileFolder(writeSnapshots(smallSet()), base);
    expect((await command(bare, { keys: elsewhere.data })).exitCode).toBe(2);
  });

  it('is owed by a body that somebody wraps as a sample, and by no body of another form', async () => {
    const { _proof, ...bare } = record;
    expect((await command({ sample: record })).exitCode).toBe(0);
    expect((await command({ sample: bare })).exitCode).toBe(2);
    expect((await command({ sample: { ...bare, _proof: proofOf(other) } })).exitCode).toBe(1);
    for (const { text } of FOREIGN_BODIES) {
      const issuer = [/did:key:z6Mk\w+/.exec(text)?.[0] ?? ''];
      const foreign = parseJson(text);
      expect((await command(isObject(foreign) ? foreign : {}, { issuer })).exitCode).toBe(0);
    }
  });

  it('writes the proof of a body that holds, and of no other', async () => {
    const written: string[] = [];
    const writeProof = (proof: string) => written.push(proof);
    expect((await command(record, { writeProof })).exitCode).toBe(0);
    expect(written).toEqual([proofOf(record)]);
    const { _proof, ...bare } = record;
    expect(await command(bare, { writeProof })).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining('--write-proof'),
    });
    expect((await command({ ...record, entity: 'x' }, { writeProof })).exitCode).toBe(1);
    expect(written).toHaveLength(1);
  });

  it('takes neither option for a release', async () => {
    const { data } = await smallShop();
    const own = { issuer: [did], now: Date.parse(NOW) };
    expect(await runVerify(data, { ...own, proof: true })).toMatchObject({ exitCode: 2 });
    expect(await runVerify(data, { ...own, writeProof: () => undefined })).toMatchObject({
      exitCode: 2,
    });
  });
});

describe('log answer', () => {
  const OTHER_DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
  const RECORD = '/gauge/sample?signal_id=airquality.aqi';
  const FORMS = ['/proof/%', '/gauge/anchor?hash=%'];

  let shop: SoldShop;
  let hash: string;
  beforeAll(async () => {
    shop = await soldShop();
    hash = (JSON.parse((await shop.ask(RECORD)).toString()).sample as Body).record_hash as string;
  });

  const saved = async (form: string, of = hash): Promise<Body> =>
    JSON.parse((await shop.ask(form.replace('%', of))).toString('utf8'));
  const verdict = (body: JsonValue, trust: readonly string[] | 'any' = [shop.did]): string =>
    verifyBody(body, { trust }).verdict;

  /** Words of the service beside the proof, which nobody signs: FORMAT.md, section 9. */
  const WORDS =
    /^((inclusion\.)?(batch|day|size_before)|ots_\w+|bitcoin_\w+|stamped_at|kind|note|signal_id|entity|observed_at|hash_core|recompute)$|^(anchor|record_status|hash_core_members)(\.|$)/;

  describe.each(FORMS)('verifyBody() of a saved answer of %s', (form) => {
    it('judges the proof for the issuer that signed the checkpoint', async () => {
      const body = await saved(form);
      expect(verdict(body)).toBe('partly_verified');
      expect([verdict(body, 'any'), verdict(body, [OTHER_DID])]).toEqual([
        'issuer_unknown',
        'failed',
      ]);
    });

    it('fails it with any part of the proof changed', async () => {
      const body = await saved(form);
      const accepted = [...alterations(body)].filter(
        ({ altered }) => verdict(altered) === 'partly_verified',
      );
      const words = accepted.map(({ path }) => path);
      expect(words.filter((path) => !WORDS.test(path) && path !== 'tlog_proof')).toEqual([]);
      // Answers of before have no proof against the newest checkpoint; one that is there has to hold.
      for (const { path, altered } of accepted) {
        if (path === 'tlog_proof') expect((altered as Body).tlog_proof ?? null).toBeNull();
      }
      for (const part of ['root', 'size', 'index', 'checkpoint', 'inclusion_proof', 'leaf_hash']) {
        expect(words.filter((path) => path.split('.').includes(part))).toEqual([]);
      }
    });

    it('calls an answer that proves nothing unsigned', async () => {
      const body = await saved(form, `sha256:${'0'.repeat(64)}`);
      expect([verdict(body), verdict(body, 'any')]).toEqual(['unsigned', 'unsigned']);
    });

    it('fails one with a member that no answer has, also of the empty name', async () => {
      const body = await saved(form);
      for (const name of ['', 'value']) {
        expect([name, verdict({ ...body, [name]: 'other' })]).toEqual([name, 'failed']);
      }
    });

    it('fails one whose hash is cut, or is that of another entry', async () => {
      const body = await saved(form);
      for (const other of [
        hash.slice(0, 20),
        `${hash.slice(0, -1)}${hash.endsWith('0') ? 1 : 0}`,
      ]) {
        expect([other, verdict({ ...body, hash: other })]).toEqual([other, 'failed']);
      }
    });

    it('says so in words and by its exit code, at the command and at the service', async () => {
      const file = join(makeFolder(), 'proof.json');
      const text = JSON.stringify(await saved(form));
      writeFileSync(file, text);
      const pinned = await runVerify(file, { issuer: [shop.did] });
      expect([pinned.exitCode, pinned.text]).toEqual([
        0,
        expect.stringMatching(
          /^partly verified, the inclusion of its hash alone .*status, batch, timestamp/s,
        ),
      ]);
      const loose = await runVerify(file, {});
      expect([loose.exitCode, loose.text]).toEqual([
        2,
        expect.stringMatching(/^consistent, issuer/),
      ]);
      const posted = question('/verify', 'application/json', Buffer.from(text));
      expect(jsonOf(await check(posted, shop.service))).toMatchObject({
        verdict: 'partly_verified',
        checks: { signature: { status: 'pass' }, content: { status: 'pass' } },
      });
    });
  });

  describe('verifyBody() of a body with an endpoint and a hash', () => {
    it.each(['__proto__', 'constructor', 'toString', 'gauge'])(
      'takes "%s" for no log answer',
      (endpoint) => {
        expect(verdict({ endpoint, hash, found: true })).toBe('unsigned');
      },
    );

    it.each(['proof', 'gauge/anchor'])('takes "%s" for one, which lacks its proof', (endpoint) => {
      expect(verdict({ endpoint, hash, found: true })).toBe('failed');
    });
  });

  describe('verifyBody() of a proof with its core', () => {
    it('fails a core of other facts, and words that differ from the core', async () => {
      const body = await saved('/proof/%');
      const core = body.hash_core as Body;
      expect(verdict({ ...body, hash_core: { ...core, entity: 'x' } })).toBe('failed');
      expect(verdict({ ...body, entity: 'x' })).toBe('failed');
      expect(verdict({ ...body, hash_core: null })).toBe('partly_verified');
    });

    it('is no way around the citation of a body', async () => {
      const record = JSON.parse((await shop.ask(RECORD)).toString()).sample as Body;
      const { _citation, _proof, ...uncited } = record;
      for (const form of FORMS) {
        const proof = await saved(form);
        expect(verdict({ ...proof, ...record, grade: 'buy' })).toBe('failed');
        expect(verdict({ ...proof, ...uncited, current: { aqi_index: 1 } })).toBe('failed');
      }
    });
  });
});

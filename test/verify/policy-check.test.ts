import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { LOG_KEY_PATH } from '../../compiler/contract/log-batch.ts';
import { RELEASE_PROOF_NAME } from '../../compiler/contract/release-leaf.ts';
import { isObject, type JsonObject, parseJson } from '../../compiler/contract/strict-json.ts';
import { parseTlogProof } from '../../compiler/contract/tlog-proof.ts';
import { judgeByPolicy, readPolicy } from '../../compiler/verify/policy-check.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { runVerify, runVerifyLog } from '../../compiler/verify/verify-command.ts';
import { answer } from '../../gatekeeper/answers/answers.ts';
import { proven } from '../../gatekeeper/rooms/proven.ts';
import { compiledService, question } from '../gatekeeper/tiny-service.ts';
import { smallShop } from '../shop.ts';
import {
  changeProof,
  FOREIGN_LINE,
  InventedWitness,
  withNote,
} from '../witness/invented-witness.ts';

const NOW = '2026-11-20T12:30:00Z';
const AT = '2026-11-20T12:05:00Z';
const clock = Date.parse(NOW);
const [W1, W2] = [new InventedWitness('w.example/1', 1), new InventedWitness('w.example/2', 2)];
const policyOf = (text: string) => readPolicy(Buffer.from(text));
const ONE = W1.policyLine('First');
const BOTH = `${ONE}${W2.policyLine('Second')}group Both all First Second\nquorum Both\n`;
const ANY = `${ONE}${W2.policyLine('Second')}group Any any First Second\nquorum Any\n`;

let data: string;
let did: string;
let record: JsonObject;
let vkey: string;
beforeAll(async () => {
  const release = await smallShop();
  did = release.did;
  data = mkdtempSync(join(tmpdir(), 'signalpress-policy-'));
  cpSync(release.data, data, { recursive: true, verbatimSymlinks: true });
  record = await bought();
  const { release: index } = await compiledService(data, NOW);
  vkey = (await index.body(LOG_KEY_PATH, () => undefined)).bytes.toString().trim();
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

/** A record as a gatekeeper sells it that has just opened the release. */
async function bought(): Promise<JsonObject> {
  const service = await compiledService(data, NOW);
  const asked = question('/gauge?entity=us-denver&signal_id=airquality.aqi');
  const answered = await answer(asked, service);
  if (answered.kind !== 'content') throw new Error('Cannot sell a record');
  const body = parseJson((await proven(answered.content, asked, service)).body.toString());
  return isObject(body) ? body : {};
}

const cosigned = (change: (note: string) => string): JsonObject => ({
  ...record,
  _proof: withNote(String(record._proof), change),
});
const byBoth = (note: string): string => W2.cosign(W1.cosign(note, AT), AT);

/** Every body that was judged: the other verifier is asked about all of a policy at once. */
const asked: { readonly body: JsonObject; readonly policy: string; readonly verdict: string }[] =
  [];

function judged(body: JsonObject, policy: string) {
  const trust = { trust: [did], now: clock, policy: policyOf(policy) };
  const { verdict, checks } = verifyBody(body, trust);
  asked.push({ body, policy, verdict });
  return `${verdict}: ${checks.find(({ check }) => check === 'logged')?.detail}`;
}

describe('a body under a policy', () => {
  it('I71: is witnessed by those who cosigned its checkpoint', () => {
    expect(judged(cosigned(byBoth), BOTH)).toMatch(
      /^verified: .*, witnessed by First at 2026-11-20T12:05:00Z, witnessed by Second at 2026-11-20T12:05:00Z: its reading is entry \d+ of /,
    );
    expect(
      judged(
        cosigned((note) => W2.cosign(note, AT)),
        ANY,
      ),
    ).toContain('verified: ');
    expect(judged(cosigned(byBoth), `log ${vkey}\n${BOTH}`)).toContain('verified: ');
  });

  it('I71: fails by name without the quorum', () => {
    expect(judged(record, BOTH)).toBe(
      'failed: not witnessed as the policy demands: 0 of 2 of Both (without First, Second)',
    );
    expect(
      judged(
        cosigned((note) => W1.cosign(note, AT)),
        BOTH,
      ),
    ).toBe('failed: not witnessed as the policy demands: 1 of 2 of Both (without Second)');
    expect(judged(record, `${ONE}quorum First\n`)).toContain('no cosignature of First');
  });

  it('passes without any witness where the policy asks for none', () => {
    expect(judged(record, 'quorum none\n')).toContain('verified: ');
    expect(judged(record, `log ${vkey}\nquorum none\n`)).toContain('verified: ');
  });

  it('fails without a proof', () => {
    const { _proof, ...bare } = record;
    expect(judged(bare, 'quorum none\n')).toContain('failed: no proof');
  });

  it('fails where no log of the policy signed', () => {
    const other = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8';
    expect(judged(record, `log ${other}\nquorum none\n`)).toContain('failed: signed by no log');
  });

  it('fails with a forged line of a witness that is known, and not with one that is not', () => {
    const forge = (note: string): string => {
      const line = W1.cosign(note, AT).slice(note.length);
      const last = line.slice(-10, -9);
      return note + line.slice(0, -10) + (last === 'A' ? 'B' : 'A') + line.slice(-9);
    };
    expect(
      judged(
        cosigned((note) => W2.cosign(forge(note), AT)),
        ANY,
      ),
    ).toBe('failed: the cosignature of First does not hold');
    const only = `${W2.policyLine('Second')}quorum Second\n`;
    expect(
      judged(
        cosigned((note) => W2.cosign(forge(note), AT)),
        only,
      ),
    ).toContain('verified: ');
  });

  it('I71: does not count a time to come, the line of another note, or another name', () => {
    const tomorrow = cosigned((note) => W1.cosign(note, '2026-11-21T12:05:00Z'));
    expect(judged(tomorrow, ANY)).toContain('failed: not witnessed');
    const renamed = new InventedWitness('w.example/3', 1);
    expect(
      judged(
        cosigned((note) => renamed.cosign(note, AT)),
        ANY,
      ),
    ).toContain('failed: not witnessed');
    const elsewhere = cosigned((note) => {
      const other = W1.cosign(note.replace(/\n\d+\n/, '\n7\n'), AT);
      return note + other.slice(other.lastIndexOf('\u2014'));
    });
    expect(judged(elsewhere, ANY)).toBe('failed: the cosignature of First does not hold');
  });

  it('says the earlier of two times', () => {
    const twice = cosigned((note) => W1.cosign(W1.cosign(note, NOW), AT));
    expect(judged(twice, ANY)).toContain(`witnessed by First at ${AT}`);
  });

  it('is judged alike by the client for browsers', () => {
    const saved = JSON.stringify(cosigned(byBoth));
    const options = { issuer: did, now: clock };
    expect(verify(saved, { ...options, policy: BOTH }).verdict).toBe('verified');
    expect(verify(JSON.stringify(record), { ...options, policy: BOTH }).verdict).toBe('failed');
    expect(() => verify(saved, { ...options, policy: 'quorum' })).toThrow('Cannot read the policy');
  });
});

describe('lines of keys that nobody knows', () => {
  const many = (note: string): string => byBoth(note) + FOREIGN_LINE.repeat(3);

  it('change no verdict on a body', async () => {
    const body = cosigned(many);
    const report = verifyBody(body, { trust: [did], now: clock });
    expect(report.verdict).toBe('verified');
    expect(report.checks.find(({ check }) => check === 'logged')?.detail).toContain(
      '5 further signatures, of nobody that is known',
    );
    const disk = { issuer: [did], now: clock, readStdin: () => Buffer.from(JSON.stringify(body)) };
    expect((await runVerify('-', disk)).exitCode).toBe(0);
  });
});

describe('a release under a policy', () => {
  const options = () => ({ issuer: [did], now: clock });

  it('fails before it is witnessed, as its log does', async () => {
    const policy = policyOf(BOTH);
    const { exitCode, text } = await runVerify(data, { ...options(), policy });
    expect([exitCode, text]).toEqual([
      1,
      expect.stringContaining(`FAIL  ${RELEASE_PROOF_NAME}  not witnessed as the policy demands`),
    ]);
    expect(runVerifyLog(data, { ...options(), policy }).exitCode).toBe(1);
  });

  it('verifies once it is, and says by whom and when', async () => {
    const folder = join(data, 'current');
    const before = readFileSync(join(folder, RELEASE_PROOF_NAME), 'utf8');
    changeProof(folder, (note) => byBoth(note) + FOREIGN_LINE);
    const policy = policyOf(BOTH);
    const words = `  witnessed by First at ${AT}\n  witnessed by Second at ${AT}\n`;
    const whole = await runVerify(data, { ...options(), policy });
    expect([whole.exitCode, whole.text]).toEqual([0, expect.stringContaining(words)]);
    const log = runVerifyLog(data, { ...options(), policy });
    expect([log.exitCode, log.text]).toEqual([0, expect.stringContaining(words)]);
    const json = JSON.parse(runVerifyLog(data, { ...options(), policy, json: true }).text);
    expect(json.witnessed).toEqual([
      { name: 'First', at: AT },
      { name: 'Second', at: AT },
    ]);
    expect((await runVerify(data, options())).exitCode).toBe(0);
    const sold = await bought();
    expect(judged(sold, BOTH)).toContain('verified: ');
    expect(String(sold._proof)).toContain(FOREIGN_LINE);
    writeFileSync(join(folder, RELEASE_PROOF_NAME), before);
  });

  it('judges a note by itself', () => {
    const note = parseTlogProof(String(record._proof)).checkpoint;
    expect(judgeByPolicy(note, {})).toEqual({ fault: null, witnessed: [] });
    expect(judgeByPolicy('', { policy: policyOf(ANY) }).fault).toContain('not the signed note');
  });
});

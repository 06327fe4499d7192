import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { check } from '../../gatekeeper/rooms/check.ts';
import { jsonOf, question } from '../gatekeeper/tiny-service.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';
import { type SoldShop, soldShop } from '../sold-shop.ts';
import { alterations } from './alterations.ts';
import type { Body } from './small-release.ts';

const OTHER_DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
const RECORD = '/gauge/sample?signal_id=airquality.aqi';
const FORMS = ['/proof/%', '/gauge/anchor?hash=%'];

let shop: SoldShop;
let hash: string;
beforeAll(async () => {
  shop = await soldShop();
  hash = (JSON.parse((await shop.ask(RECORD)).toString()).sample as Body).record_hash as string;
});
afterAll(removeFolders);

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
    for (const other of [hash.slice(0, 20), `${hash.slice(0, -1)}${hash.endsWith('0') ? 1 : 0}`]) {
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
    expect([loose.exitCode, loose.text]).toEqual([2, expect.stringMatching(/^consistent, issuer/)]);
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

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { storedPath } from '../../compiler/contract/path.ts';
import { formatFiles, parseFiles, type Release } from '../../compiler/contract/release.ts';
import { jcs } from '../../compiler/stages/seal/jcs.ts';
import { makeSealer, signingKey } from '../../compiler/stages/seal/sealer.ts';
import { NO_SIGNATURES } from '../../compiler/stages/seal/signature-store.ts';
import { verifyRelease } from '../../compiler/verify/verify-release.ts';
import { rosterFiles, rosterSet } from '../roster-rows.ts';
import { compileFolder, removeFolders, SEED, writeSnapshots } from '../snapshot-folder.ts';
import { proveAgain } from './resign.ts';

let data: string;
let root: string;
let did: string;
beforeEach(async () => {
  const made = await compileFolder(writeSnapshots(rosterFiles(rosterSet())));
  ({ data, folder: root } = made);
  did = made.release.issuer_did;
});
afterAll(removeFolders);

const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const entries = () => parseFiles(readFileSync(join(root, 'files.txt'), 'utf8'));

function textOf(path: string): string {
  const entry = entries().find((each) => each.path === path);
  return readFileSync(join(data, storedPath(path, entry?.sha256 ?? '')), 'utf8');
}

/** Changes one file and signs the release again, as only its issuer can. */
function republish(changed: string, edit: (text: string) => string): void {
  const made = entries().map((entry) => {
    if (entry.path !== changed) return entry;
    const bytes = Buffer.from(edit(textOf(changed)));
    const fresh = { path: changed, size: bytes.length, sha256: digest(bytes) };
    writeFileSync(join(data, storedPath(changed, fresh.sha256)), bytes);
    return fresh;
  });
  const list = formatFiles(made);
  const head = JSON.parse(readFileSync(join(root, 'release.json'), 'utf8')) as Release;
  const { signature, ...unsigned } = { ...head, files_sha256: `sha256:${digest(list)}` };
  const issuer = { name: head.issuer_name, did, keyId: head.key_id, baseUrl: head.base_url };
  const sealer = makeSealer(issuer, signingKey(SEED), NO_SIGNATURES);
  const signed = { ...unsigned, signature: sealer.signText(jcs(unsigned)) };
  writeFileSync(join(root, 'files.txt'), list);
  writeFileSync(join(root, 'release.json'), `${JSON.stringify(signed, null, 2)}\n`);
  proveAgain(root, signed, { issuer, sealer });
}

const named = async (): Promise<string[]> => {
  const { faults } = await verifyRelease(data, { trust: [did] });
  return faults.map(({ file, where }) => `${file} ${where}`);
};

const SERVICE = 'subject/trust/stays-example.json';
const CENSUS = 'verifiable/roster/stable/census.json';

function shardOf(path: string): string {
  return `verify/${JSON.parse(textOf(path)).record_hash.slice(7, 9)}.txt`;
}

describe('verifyRelease() on rosters, registries and documents', () => {
  it('verifies what compile wrote, and what was only signed again', async () => {
    expect(await named()).toEqual([]);
    republish(SERVICE, (text) => text);
    expect(await named()).toEqual([]);
  });

  it('names a subject with one fact of its core changed', async () => {
    republish(SERVICE, (text) => text.replace('"demand_class":"REAL"', '"demand_class":"WASH"'));
    expect(await named()).toEqual([
      'roster/trust/scorecard.json rows.1.demand_class',
      `${SERVICE} _citation.source.content_hash`,
      `${SERVICE} record_hash`,
    ]);
  });

  it('names a genuine subject at the place of another', async () => {
    republish(SERVICE, () => textOf('subject/trust/back-example.json'));
    expect(await named()).toEqual(expect.arrayContaining([`${SERVICE} service_id`]));
  });

  it('names a document at the place of another', async () => {
    const topic = 'document/chatter/energy.json';
    republish(topic, (text) => text.replace('{"topic":"energy"}', '{"topic":"water"}'));
    expect(await named()).toEqual(
      expect.arrayContaining([`${topic} topic`, `${topic} record_hash`]),
    );
  });

  it('names a row whose pre-image is of another row, or differs from it', async () => {
    republish(CENSUS, (text) => text.replace('"coin_id":"late"', '"coin_id":"large"'));
    expect(await named()).toContain(`${CENSUS} rows.1.record_hash`);
    republish(CENSUS, (text) => text.replace('"rank":2,"entity":"late"', '"rank":2,"entity":"x"'));
    expect(await named()).toContain(`${CENSUS} rows.1.record_hash`);
  });

  it('names a subject whose hash no look-up line has', async () => {
    republish(shardOf(SERVICE), (text) =>
      text.replace(new RegExp(`^.*"row","${SERVICE}".*\n`, 'm'), ''),
    );
    expect(await named()).toEqual([`${SERVICE} record_hash`]);
  });

  it('names a look-up line whose file holds another row, or is not there', async () => {
    const shard = shardOf(SERVICE);
    for (const other of [CENSUS, 'subject/trust/nobody.json']) {
      republish(shard, (text) => text.replace(/"subject\/trust\/[a-z-]+\.json"/, `"${other}"`));
      expect(await named()).toContainEqual(expect.stringMatching(`^${shard} line \\d+$`));
    }
  });
});

import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { revokeKey, rotateKey } from '../../compiler/keys/key-command.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { answer } from '../../gatekeeper/answers/answers.ts';
import { proven } from '../../gatekeeper/rooms/proven.ts';
import { compiledService } from '../gatekeeper/compiled-service.ts';
import { question } from '../gatekeeper/tiny-service.ts';
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
import { InventedWitness, withNote } from '../witness/invented-witness.ts';
import { reseal } from './reseal.ts';

afterAll(removeFolders);
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
  for (const name of names.slice(0, -1)) rmSync(join(copy, 'releases', name), { recursive: true });
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
    expect([genuine._citation.issuer_DID, genuine._citation.retrieved_at]).toEqual([K2, at(4, 11)]);
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

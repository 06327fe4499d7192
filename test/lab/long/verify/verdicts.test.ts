import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verify } from '../../../../compiler/client/verify.ts';
import {
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../../compiler/format/strict-json.ts';
import { deliveredText } from '../../../../compiler/products/shapes/request-time.ts';
import { revokeKey, rotateKey } from '../../../../compiler/publish/keys/key-command.ts';
import { READ_AS, READS } from '../../../../compiler/verify/plain-verdict.ts';
import { ADDRESS, ran, servedFrom } from '../../../cli/served-folder.ts';
import { provenStored } from '../../../public-part.ts';
import { InventedWitness, withNote } from '../../../publish/witness/invented-log.ts';
import { didOf, seed } from '../../../seeded-keys.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { hasPython, PYTHON_JUDGE } from '../../../verify/python-judge.ts';

// What `signalpress verify FILE` prints of ten kinds of body, from a small shop that changes its key on the 10th, and whose
// first key is stolen on the 12th in another life of it.

const RECORD = 'record/crypto.spot/btc.json';
const [K1, K2] = [didOf(1), didOf(2)];
const at = (day: number, hour = 12): string =>
  `2026-11-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`;
const harbour = new InventedWitness('harbour.example/w1', 77);

let folder = '';
const place = (name: string): string => join(folder, name);

function coins(snapshots: string, day: number): void {
  const times = { observed_at: at(day, 10), collected_at: at(day, 11) };
  const rows = ['btc', 'eth'].map((coin, i) =>
    reading(coin, { price_usd: 100 * (i + 1) + day }, times),
  );
  writeSnapshots({ [`${at(day).slice(0, 10)}/crypto.spot.ndjson`]: ndjson(rows) }, snapshots);
}

/** Publishes a day of a shop, and answers its newest body as it is delivered at noon. */
async function published(life: string, day: number, key: number): Promise<JsonObject> {
  const [snapshots, data] = [place(`${life}-snapshots`), place(life)];
  coins(snapshots, day);
  await compileFolder(snapshots, { data, asOf: at(day), seed: seed(key), baseUrl: ADDRESS });
  const root = join(data, 'current');
  const stored = readFileSync(fileOf(root, RECORD), 'utf8');
  return provenStored(root, parseJson(deliveredText(stored, Date.parse(at(day)))) as JsonObject);
}

function save(name: string, body: JsonObject): void {
  writeFileSync(place(name), JSON.stringify(body));
}

const cosigned = (body: JsonObject, when: string): JsonObject => ({
  ...body,
  _proof: withNote(String(body._proof), (note) => harbour.cosign(note, when)),
});
const altered = (body: JsonObject): JsonObject => ({
  ...body,
  current: { price_usd: 999 } as JsonValue,
});

beforeAll(async () => {
  folder = makeFolder();
  // 1. An honest shop of one key.
  const first = await published('shop', 6, 1);
  const init = (name: string, ...more: string[]) =>
    ran('trust', ['init', ADDRESS, '--trust', place(name), '--yes', ...more], {
      now: at(6),
      fetch: servedFrom(place('shop')),
    });
  writeFileSync(place('witnesses.txt'), `${harbour.policyLine('harbour')}quorum harbour\n`);
  await init('plain.trust');
  await init('harbour.trust', '--witnesses', place('witnesses.txt'));
  save('genuine.json', cosigned(first, at(6)));
  save('altered.json', cosigned(altered(first), at(6)));
  save('unwitnessed.json', first);
  const { _proof, ...bare } = first;
  save('cut-out.json', bare);
  // 2. It changes its key: the first one signs until the 11th.
  cpSync(place('shop'), place('rotated'), { recursive: true, verbatimSymlinks: true });
  cpSync(place('shop-snapshots'), place('rotated-snapshots'), { recursive: true });
  const next = { data: place('rotated'), old: seed(1), next: seed(2) };
  rotateKey({ ...next, from: at(10), now: at(9), overlapDays: 1 });
  save('new-key.json', await published('rotated', 10, 2));
  cpSync(place('plain.trust'), place('rotated.trust'));
  const seen = await ran('verify', [place('rotated'), '--trust', place('rotated.trust')], {
    now: at(10),
  });
  expect([seen.code, seen.text]).toEqual([0, expect.stringMatching(/^verified /)]);
  // 3. The first key is stolen on the 12th, and revoked from then on.
  rotateKey({ ...next, data: place('shop'), from: at(10), now: at(9), overlapDays: 20 });
  save('after-theft.json', await published('shop', 13, 1));
  revokeKey({ data: place('shop'), seed: seed(2), did: K1, from: at(12), now: at(14) });
  await published('shop', 14, 2);
  cpSync(place('plain.trust'), place('revoked.trust'));
  const known = await ran('verify', [place('shop'), '--trust', place('revoked.trust')], {
    now: at(14),
  });
  expect([known.code, known.text]).toEqual([0, expect.stringMatching(/^verified /)]);
});
afterAll(removeFolders);

const EXITS = { verified: 0, failed: 1, open: 2 };
const ASKED = 'GET /gauge?signal_id=crypto.spot&entity=btc';

/** Each verdict: what it is of, the words of the command, the hour of its reader, and the exit code. */
const VERDICTS: readonly (readonly [what: string, words: string, now: string, code: number])[] = [
  ['genuine', `genuine.json --trust harbour.trust --expect '${ASKED}'`, at(6), 0],
  ['altered', 'altered.json --trust harbour.trust', at(6), 1],
  ['replayed after 48 hours', 'genuine.json --trust harbour.trust', at(8), 0],
  ['of a rotated key', 'new-key.json --trust rotated.trust', at(10), 0],
  ['of a key that has ended, without the log', 'unwitnessed.json --trust rotated.trust', at(20), 2],
  ['the same, with the log', 'unwitnessed.json --trust rotated.trust --mirror rotated', at(20), 0],
  [
    'of a revoked key, from before',
    'unwitnessed.json --trust revoked.trust --mirror shop',
    at(20),
    0,
  ],
  [
    'of a revoked key, from after',
    'after-theft.json --trust revoked.trust --mirror shop',
    at(20),
    1,
  ],
  ['of an unknown issuer', 'genuine.json', at(6), 2],
  ['its proof cut out', 'cut-out.json --trust plain.trust', at(6), 2],
  ['not witnessed', 'unwitnessed.json --trust plain.trust', at(6), 0],
  ['not witnessed, though that is demanded', 'unwitnessed.json --trust harbour.trust', at(6), 1],
  [
    'of another question',
    `genuine.json --trust harbour.trust --expect '${ASKED.replace('btc', 'eth')}'`,
    at(6),
    1,
  ],
];

it('says each verdict in at most six lines, as the ledger has them', async () => {
  const told: string[] = [];
  const codes: (readonly [string, number])[] = [];
  for (const [what, words, now] of VERDICTS) {
    const args = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => {
      if (quoted !== undefined) return quoted;
      return /^(-|did:)/.test(word) ? word : place(word);
    });
    const said = await ran('verify', args, { now });
    codes.push([what, said.code]);
    expect(said.text.trimEnd().split('\n').length).toBeLessThanOrEqual(6);
    told.push(
      `# ${what}, at ${now}\n$ signalpress verify ${words}\n${said.text}(exit code ${said.code})\n`,
    );
  }
  const text = told
    .join('\n')
    .replaceAll(`${folder}/`, '')
    .replaceAll(K1, 'did:key:FIRST')
    .replaceAll(K2, 'did:key:SECOND');
  await expect(text).toMatchFileSnapshot('verdicts.txt');
  expect(codes).toEqual(VERDICTS.map(([what, , , code]) => [what, code]));
});

it('comes to the same by the library, and in Python (skipped without python3)', () => {
  for (const [what, words, now, code] of VERDICTS) {
    // The log is for the command alone.
    if (words.includes('--mirror')) continue;
    const [, body = '', trust = '', expected] =
      /^(\S+)(?: --trust (\S+))?(?: --expect '(.*)')?$/.exec(words) ?? [];
    const [text, file] = [readFileSync(place(body), 'utf8'), place(trust)];
    const known = trust === '' ? {} : { trust: readFileSync(file, 'utf8') };
    const demanded = expected === undefined ? {} : { expect: expected };
    const { verdict } = verify(text, { ...known, ...demanded, now: Date.parse(now) });
    const read = READ_AS[verdict];
    expect([what, EXITS[read]]).toEqual([what, code]);
    if (!hasPython) continue;
    const flags = trust === '' ? [] : ['--trust', file];
    const more = expected === undefined ? [] : ['--expect', expected];
    const said = spawnSync(
      'python3',
      [PYTHON_JUDGE, place(body), ...flags, ...more, '--now', now],
      { encoding: 'utf8' },
    );
    expect([what, said.status, said.stderr]).toEqual([what, code, '']);
    expect(said.stdout.startsWith(READS[read])).toBe(true);
  }
});

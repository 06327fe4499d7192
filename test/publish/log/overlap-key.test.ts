import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileOptions } from '../../../compiler/cli/compile-options.ts';
import { noteKeyHash, parseNote } from '../../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../../compiler/format/did-key.ts';
import { CHECKPOINT_PATH } from '../../../compiler/format/tiles.ts';
import { rotateKey } from '../../../compiler/publish/keys/key-command.ts';
import { sha256 } from '../../../compiler/release/log-tree.ts';
import { issuerDid, signingKey } from '../../../compiler/system/sealer.ts';
import { isStrictSignature } from '../../../compiler/verify/strict-signature.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { verifyLog } from '../../../compiler/verify/verify-log.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const seed = (fill: number) => new Uint8Array(32).fill(fill);
const seeds = { one: seed(71), two: seed(72), three: seed(73) };
const didOf = (seed: Uint8Array) => issuerDid(signingKey(seed));
const at = (day: number) => `2026-11-${day}T12:00:00Z`;
const snapshots = writeSnapshots({
  '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
});
const data = join(makeFolder(), 'data');
const compileAt = (day: number, seed: Uint8Array, overlapSeed?: Uint8Array) =>
  compileFolder(snapshots, {
    ...{ data, asOf: at(day), seed },
    ...(overlapSeed === undefined ? {} : { overlapSeed }),
  });

/**
 * What a reader of signed notes makes of one by its specification: lines of keys that it knows are verified, all others
 * are left aside; null where a known key signed twice or falsely, or none did.
 */
function opened(note: string, dids: readonly string[]): readonly string[] | null {
  const parsed = parseNote(note);
  if (parsed === null) return null;
  const [origin = ''] = parsed.text.split('\n');
  const signers: string[] = [];
  for (const { name, keyHash, signature } of parsed.signatures) {
    const did = dids.find((each) => {
      const hash = noteKeyHash(origin, parseDidKey(each), sha256);
      return name === origin && Buffer.from(hash).equals(keyHash);
    });
    if (did === undefined) continue;
    const holds = isStrictSignature(signature, Buffer.from(parsed.text), parseDidKey(did));
    if (!holds || signers.includes(did)) return null;
    signers.push(did);
  }
  return signers.length === 0 ? null : signers;
}

/** The checkpoint of the log. */
const newest = () => readFileSync(join(data, CHECKPOINT_PATH), 'utf8');

let [K1, K2] = ['', ''];
/** The checkpoint of before the rotation. */
let before = '';
let summary: Awaited<ReturnType<typeof compileAt>>;
beforeAll(async () => {
  [K1, K2] = [didOf(seeds.one), didOf(seeds.two)];
  await compileAt(20, seeds.one);
  before = newest();
  const rotation = { from: at(21), now: at(21), overlapDays: 3 };
  rotateKey({ data, old: seeds.one, next: seeds.two, ...rotation });
  summary = await compileAt(22, seeds.two, seeds.one);
});

describe('the log in an overlap', () => {
  it('I28: checkpoints carry both signatures, and each of them opens the note alone', () => {
    const note = newest();
    expect(opened(note, [K1, K2])).toEqual([K2, K1]);
    expect(opened(note, [K1])).toEqual([K1]);
    expect(opened(note, [K2])).toEqual([K2]);
    expect(opened(note, [didOf(seeds.three)])).toBeNull();
    expect(opened(note.replace(/^\d+$/m, '99'), [K1])).toBeNull();
    expect(opened(before, [K1, K2])).toEqual([K1]);
    expect(summary.overlapSigned).toBe(true);
  });

  it('I28: release and log verify for a reader of either key', async () => {
    for (const did of [K1, K2]) {
      expect((await runVerify(data, { issuer: [did] })).exitCode).toBe(0);
      expect(verifyLog(data, { trust: [did] }).verdict).toBe('verified');
    }
  });

  it('I28: a false second line fails, a missing one does not', async () => {
    const path = join(data, CHECKPOINT_PATH);
    const whole = readFileSync(path, 'utf8');
    const lines = whole.trimEnd().split('\n');
    writeFileSync(path, `${lines.slice(0, -1).join('\n')}\n`);
    expect((await runVerify(data, { issuer: [K1] })).exitCode).toBe(0);
    const [dash, name, base64 = ''] = lines.at(-1)?.split(' ') ?? [];
    const bytes = Buffer.from(base64, 'base64');
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    writeFileSync(
      path,
      `${[...lines.slice(0, -1), [dash, name, bytes.toString('base64')].join(' ')].join('\n')}\n`,
    );
    expect((await runVerify(data, { issuer: [K1] })).exitCode).toBe(1);
    writeFileSync(path, whole);
  });
});

describe('the overlap key', () => {
  it('comes from its option or its variable, is read like every key, and is absent without them', () => {
    const flags = {
      ...{
        snapshots,
        data,
        key: '47'.repeat(32),
        issuerName: 'Test',
        baseUrl: 'https://example.org',
      },
      ...{ workers: '0', verify: 'sample', maxRejects: '0%', keepLast: '3', seriesDays: '90' },
    };
    const seedOf = (overlapKey: string | undefined, variable?: string) => {
      const env = (name: string) => (name === 'SIGNALPRESS_OVERLAP_KEY' ? variable : undefined);
      const given = overlapKey === undefined ? {} : { overlapKey };
      return compileOptions({ ...flags, ...given }, { env, now: () => Date.parse(at(22)) })
        .overlapSeed;
    };
    expect(seedOf('48'.repeat(32))).toEqual(seeds.two);
    expect(seedOf(undefined, '49'.repeat(32))).toEqual(seeds.three);
    expect(seedOf(undefined)).toBeUndefined();
    expect(seedOf(undefined, '')).toBeUndefined();
    expect(() => seedOf('nowhere.key')).toThrow('--overlap-key or SIGNALPRESS_OVERLAP_KEY');
  });

  it('I28: is refused when nobody announced it, and when it signs the release', async () => {
    const unknown = compileAt(23, seeds.two, seeds.three);
    await expect(unknown).rejects.toThrow('not a key of this issuer');
    await expect(compileAt(23, seeds.two, seeds.two)).rejects.toThrow('signs the release already');
  });

  it('I28: signs nothing once it has ended, and the release goes on', async () => {
    const { overlapSigned } = await compileAt(25, seeds.two, seeds.one);
    expect(overlapSigned).toBe(false);
    expect(opened(newest(), [K1, K2])).toEqual([K2]);
    expect((await compileAt(26, seeds.two)).overlapSigned).toBeNull();
    expect((await runVerify(data, { issuer: [K1] })).exitCode).toBe(0);
  });
});

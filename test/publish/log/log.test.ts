import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompileOptions } from '../../../compiler/cli/compile.ts';
import { compileOptions } from '../../../compiler/cli/compile-options.ts';
import { noteKeyHash, parseNote } from '../../../compiler/format/checkpoint.ts';
import { citedTarget } from '../../../compiler/format/citation.ts';
import { parseDidKey } from '../../../compiler/format/did-key.ts';
import {
  HASH_COUNT_PATH,
  parseHashLine,
  runPath,
  runsOf,
} from '../../../compiler/format/hash-index.ts';
import { completeLevels, HASH_BYTES, subtreesOf } from '../../../compiler/format/merkle.ts';
import { takenLeaf, treeHead } from '../../../compiler/format/release-entry.ts';
import { statementLeaf } from '../../../compiler/format/statement-tree.ts';
import { CHECKPOINT_PATH, takenPath } from '../../../compiler/format/tiles.ts';
import { rotateKey } from '../../../compiler/publish/keys/key-command.ts';
import { openLog } from '../../../compiler/release/log-folder.ts';
import { sha256 } from '../../../compiler/release/log-tree.ts';
import { switchCurrent } from '../../../compiler/release/release-store.ts';
import { canonicalDigest } from '../../../compiler/system/jcs.ts';
import { issuerDid, signingKey } from '../../../compiler/system/sealer.ts';
import { isStrictSignature } from '../../../compiler/verify/strict-signature.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { verifyLog } from '../../../compiler/verify/verify-log.ts';
import { smallSet } from '../../small-set.ts';
import {
  compileFolder,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const COPY = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true } as const;
const TIMES = ['2026-11-20T12:00:00Z', '2026-11-20T13:00:00Z', '2026-11-20T14:00:00Z'] as const;
let snapshots = '';
let data = '';
const names: string[] = [];

beforeAll(async () => {
  snapshots = writeSnapshots(smallSet());
  data = join(makeFolder(), 'data');
  for (const [at, asOf] of TIMES.slice(0, 2).entries()) {
    const rows = [
      reading(`coin-${at}`, { price_usd: at }, { observed_at: `2026-11-20T0${at}:00:00Z` }),
    ];
    writeSnapshots(
      {
        [`2026-11-20T0${at}Z/crypto.spot.ndjson`]: ndjson(
          rows.map((row) => ({ ...row, collected_at: `2026-11-20T0${at}:30:00Z` })),
        ),
      },
      snapshots,
    );
    await compileFolder(snapshots, { data, asOf });
  }
  names.push(...readdirSync(join(data, 'releases')).sort());
});

/** A copy of a shop of two releases. */
function copied(): string {
  const copy = join(makeFolder(), 'data');
  cpSync(data, copy, COPY);
  return copy;
}

const compiled = (into: string, more: Partial<CompileOptions> = {}) =>
  compileFolder(snapshots, { data: into, asOf: TIMES[2], ...more });
const logOf = (folder: string) => {
  const log = openLog(folder);
  if (log === null) throw new Error('no log');
  return log;
};

function headOf(leaves: readonly Uint8Array[]) {
  const levels = completeLevels(leaves, sha256);
  const subtrees = subtreesOf({ start: 0, end: leaves.length });
  const hashes = subtrees.map(({ height, index }) => levels[height]?.[index] as Uint8Array);
  return treeHead(leaves.length, hashes, sha256);
}

/** Target and statement of every body of a release with a citation of its own. */
function statementsIn(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [path, text] of filesBelow(folder)) {
    if (!path.endsWith('.json') || path.startsWith('free/sample/')) continue;
    const citation = JSON.parse(text)?._citation;
    const target = citation?.verify_url === undefined ? null : citedTarget(citation);
    if (target !== null) found.set(target, citation.record_hash);
  }
  return found;
}

describe('the log of a data folder', () => {
  it('I73: has an entry for each release, which states its head, its statements and what it took in', () => {
    const log = logOf(data);
    expect(log.signed.size).toBe(2);
    for (const [at, name] of names.entries()) {
      const head = readJson(join(data, 'releases', name), 'release.json');
      const entry = log.entryOf(at + 1);
      expect(entry).toMatchObject({ sequence: at + 1, as_of: TIMES[at], valid_until: null });
      expect(entry?.head).toBe(canonicalDigest(head));
      expect(head).not.toHaveProperty('log_index');
      const bytes = readFileSync(join(data, takenPath(at + 1)));
      const hexes = Array.from({ length: bytes.length / HASH_BYTES }, (_, one) =>
        bytes.toString('hex', one * HASH_BYTES, (one + 1) * HASH_BYTES),
      );
      expect(hexes).toEqual([...new Set(hexes)].sort());
      expect(entry?.new).toEqual(headOf(hexes.map((hex) => takenLeaf(`sha256:${hex}`, sha256))));
    }
  });

  it('I73: states every statement of the release, each target once, in the order of the targets', () => {
    const statements = statementsIn(join(data, 'current'));
    const sorted = [...statements].sort(([a], [b]) => (a < b ? -1 : 1));
    expect(sorted.length).toBeGreaterThan(40);
    const leaves = sorted.map(([target, hash]) => statementLeaf(target, hash, sha256));
    expect(logOf(data).last.all).toEqual(headOf(leaves));
  });

  it('finds every hash that was ever taken in by the release that brought it', () => {
    const files = filesBelow(join(data, 'current'));
    const total = Number(files.get(HASH_COUNT_PATH));
    const lines = runsOf(total).flatMap((run) =>
      (files.get(runPath(run, 0)) ?? '').split('\n').slice(0, -1).map(parseHashLine),
    );
    expect(lines).toHaveLength(total);
    for (const { record_hash, sequence, index } of lines) {
      const bytes = readFileSync(join(data, takenPath(sequence)));
      const hex = bytes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
      expect(`sha256:${hex}`).toBe(record_hash);
    }
  });

  it('keeps the partial tiles of the newest eight sizes, and takes in nothing twice', async () => {
    const here = copied();
    for (let at = 0; at < 9; at += 1) await compiled(here, { asOf: `2026-11-20T14:0${at}:00Z` });
    const widths = readdirSync(join(here, 'log/tile/0/000.p')).map(Number);
    expect(widths.sort((a, b) => a - b)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
    expect(logOf(here).last).toMatchObject({ sequence: 11, new: { count: 0 } });
    expect(existsSync(join(here, takenPath(11)))).toBe(false);
  });
});

describe('a log that is not what was signed', () => {
  const refusal = async (spoil: (folder: string) => void, expected: RegExp | string) => {
    const here = copied();
    spoil(here);
    await expect(compiled(here)).rejects.toThrow(expected);
    expect(readdirSync(join(here, 'releases')).sort()).toEqual(names);
  };

  it('I27: is refused where it is lost, and goes on where it is not', async () => {
    await refusal((here) => rmSync(join(here, 'log'), { recursive: true }), 'it is lost');
    expect((await compiled(copied())).release.sequence).toBe(3);
  });

  it('I27: is refused where it is shorter than what was published', async () => {
    const first = join(makeFolder(), 'data');
    await compiled(first, { asOf: TIMES[0] });
    await refusal((here) => {
      rmSync(join(here, 'log'), { recursive: true });
      cpSync(join(first, 'log'), join(here, 'log'), COPY);
    }, 'its newest entry is release 1, and release 2 is the current one');
  });

  it('I27: is refused where it is that of other releases', async () => {
    const other = join(makeFolder(), 'data');
    await compiled(other, { asOf: TIMES[0] });
    await compiled(other, { asOf: '2026-11-20T13:30:00Z' });
    await refusal((here) => {
      rmSync(join(here, 'log'), { recursive: true });
      cpSync(join(other, 'log'), join(here, 'log'), COPY);
    }, 'release 2 is another one in it');
  });

  it.each(['0/000.p/2', 'entries/000.p/2'])(
    'is refused where tile %s is damaged or gone',
    async (tile) => {
      await refusal((here) => {
        const path = join(here, 'log/tile', tile);
        const bytes = readFileSync(path);
        bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
        writeFileSync(path, bytes);
      }, /do not give the root|not the one of its hash/);
      await refusal((here) => rmSync(join(here, 'log/tile', tile)), 'ENOENT');
    },
  );

  it('is refused where another key signed it', async () => {
    const here = copied();
    const seed = new Uint8Array(32).fill(9);
    const stranger = join(makeFolder(), 'data');
    await compiled(stranger, { asOf: TIMES[0], seed });
    const note = readFileSync(join(stranger, 'log/checkpoint'), 'utf8');
    const own = readFileSync(join(here, 'log/checkpoint'), 'utf8');
    writeFileSync(
      join(here, 'log/checkpoint'),
      own.slice(0, own.indexOf('\n\n')) + note.slice(note.indexOf('\n\n')),
    );
    await expect(compiled(here)).rejects.toThrow('not a checkpoint that this issuer signed');
  });
});

describe('a release between its entry and the switch', () => {
  it('I16: is switched to by the next compile, which follows it', async () => {
    const here = copied();
    switchCurrent(here, names[0] ?? '');
    const { release } = await compiled(here);
    expect(release).toMatchObject({ sequence: 3, previous: logOf(data).last.head });
    expect(readdirSync(join(here, 'releases'))).toEqual(expect.arrayContaining(names));
  });

  it('I16: is followed where it is lost, and what it took in is found again', async () => {
    const here = copied();
    switchCurrent(here, names[0] ?? '');
    rmSync(join(here, 'releases', names[1] ?? ''), { recursive: true });
    const { folder, release } = await compiled(here);
    expect(release).toMatchObject({ sequence: 3, previous: logOf(data).last.head });
    expect(logOf(here).last.new.count).toBe(0);
    const whole = await compiled(copied());
    const index = (of: string) =>
      [...filesBelow(of)].filter(([path]) => path.startsWith('index/hashes'));
    expect(index(folder)).toEqual(index(whole.folder));
    expect(logOf(here).last.all).toEqual(logOf(join(whole.folder, '../..')).last.all);
  });

  it('is followed in time too: no release is of before its entry', async () => {
    const here = copied();
    switchCurrent(here, names[0] ?? '');
    rmSync(join(here, 'releases', names[1] ?? ''), { recursive: true });
    await expect(compiled(here, { asOf: '2026-11-20T12:30:00Z' })).rejects.toThrow('is before');
  });
});

describe('overlap key', () => {
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
      await expect(compileAt(23, seeds.two, seeds.two)).rejects.toThrow(
        'signs the release already',
      );
    });

    it('I28: signs nothing once it has ended, and the release goes on', async () => {
      const { overlapSigned } = await compileAt(25, seeds.two, seeds.one);
      expect(overlapSigned).toBe(false);
      expect(opened(newest(), [K1, K2])).toEqual([K2]);
      expect((await compileAt(26, seeds.two)).overlapSigned).toBeNull();
      expect((await runVerify(data, { issuer: [K1] })).exitCode).toBe(0);
    });
  });
});

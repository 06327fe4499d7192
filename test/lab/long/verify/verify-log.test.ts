import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rollBack } from '../../../../compiler/commands/releases-command.ts';
import { formatVerifyEntry } from '../../../../compiler/contract/release.ts';
import { RELEASE_PROOF_NAME } from '../../../../compiler/contract/release-leaf.ts';
import { parseTlogProof } from '../../../../compiler/contract/tlog-proof.ts';
import { makeSealer, signingKey } from '../../../../compiler/stages/seal/sealer.ts';
import {
  checkLogIndex,
  KnownHashes,
  sharedDigests,
} from '../../../../compiler/verify/known-hashes.ts';
import type { LogSource } from '../../../../compiler/verify/log-tiles-check.ts';
import { Faults } from '../../../../compiler/verify/release-fault.ts';
import { runVerifyLog } from '../../../../compiler/verify/verify-command.ts';
import { verifyLog } from '../../../../compiler/verify/verify-log.ts';
import { verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import { smallSet } from '../../../small-set.ts';
import {
  compileFolder,
  makeFolder,
  readJson,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { entriesIn, hashes, type LogFiles, memoryLog } from '../../../stages/anchor/memory-log.ts';
import { overlayDisk } from '../../../verify/overlay-disk.ts';
import { headHash, proveAgain, readHeadOf, resign } from '../../../verify/resign.ts';

afterAll(removeFolders);

/** Bytes of a log file in the store of the data folder, which is named after its hash. */
const NAME = /\/files\/(log\/.+?)\.[0-9a-f]{8,64}(\.[a-z]+)?$/;

let data: string;
/** The listed checkpoint, and that with the head of the release. */
let note: string;
let last: string;
let did: string;
beforeAll(async () => {
  const few = Object.entries(smallSet()).filter(([path]) => /^202[16]/.test(path));
  const snapshots = writeSnapshots(Object.fromEntries(few));
  const compiled = await compileFolder(snapshots);
  data = compiled.data;
  did = compiled.release.issuer_did;
  note = verifyLogNote();
  last = parseTlogProof(readFileSync(join(data, 'current', RELEASE_PROOF_NAME), 'utf8')).checkpoint;
});

function verifyLogNote(): string {
  const parts: Uint8Array[] = [];
  const disk = overlayDisk((path, bytes) => {
    if (logPath(path) === 'log/checkpoint') parts.push(bytes);
    return bytes;
  });
  verifyLog(data, { trust: [did], disk });
  return Buffer.from(parts[0] ?? []).toString('utf8');
}

function logPath(full: string): string | null {
  const [, stem, end = ''] = NAME.exec(full) ?? [];
  return stem === undefined ? null : `${stem}${end}`;
}

/** The report on the log when one of its files holds something else. */
function withFile(path: string, change: (bytes: Buffer) => Uint8Array, since?: string) {
  const disk = overlayDisk((full, bytes) =>
    logPath(full) === path ? change(Buffer.from(bytes)) : bytes,
  );
  return verifyLog(data, { trust: [did], disk, ...(since === undefined ? {} : { since }) });
}

/** Paths of the log that a check reads. */
function pathsRead(): string[] {
  const paths = new Set<string>();
  const disk = overlayDisk((full, bytes) => {
    const path = logPath(full);
    if (path !== null) paths.add(path);
    return bytes;
  });
  verifyLog(data, { trust: [did], disk });
  return [...paths];
}

describe('verifyLog()', () => {
  it('I27: accepts the log of a release and finds every published record in it', () => {
    const report = verifyLog(data, { trust: [did] });
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ verdict: 'verified', evidence: [] });
    const { counts } = readJson(join(data, 'current'), 'release.json');
    expect(report.records).toBeGreaterThanOrEqual(counts.records);
    expect(report.entries).toBeGreaterThan(report.records);
    expect(report.checkpoints).toBeGreaterThan(2);
  });

  it('I24: names every file of the log of which a bit is flipped', () => {
    const paths = pathsRead();
    expect(paths.length).toBeGreaterThan(10);
    for (const [number, path] of paths.entries()) {
      const report = withFile(path, (bytes) => {
        const at = Math.floor((bytes.length * (number % 5)) / 5);
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        return bytes;
      });
      expect([path, report.verdict]).toEqual([path, 'failed']);
      if (number % 4 > 0) continue;
      expect(withFile(path, (bytes) => bytes.subarray(1)).verdict).toBe('failed');
    }
  });

  it('I27: sees a log that grew from the checkpoint of a batch, and from that of today', () => {
    const rows: string[] = [];
    withFile('log/batches/000000.txt', (bytes) => {
      rows.push(...bytes.toString('utf8').split('\n').slice(0, -1));
      return bytes;
    });
    for (const since of [last, note, ...rows.map((row) => JSON.parse(row).checkpoint)]) {
      expect(verifyLog(data, { trust: [did], since })).toMatchObject({ verdict: 'verified' });
    }
  });

  it('takes a checkpoint that a witness signed too, and none that its own key signed twice', () => {
    const witness = `\u2014 witness.example/w ${Buffer.alloc(76, 9).toString('base64')}\n`;
    const own = note.slice(note.lastIndexOf('\u2014'));
    const judged = (since: string) => verifyLog(data, { trust: [did], since }).verdict;
    expect(judged(note + witness)).toBe(judged(note));
    expect(judged(note.replace(own, witness + own))).toBe(judged(note));
    expect([judged(note + own), judged(note.replace(own, witness))]).toEqual(['failed', 'failed']);
    const since = join(makeFolder(), 'seen');
    writeFileSync(since, note + witness);
    expect(runVerifyLog(data, { since, issuer: [did] }).exitCode).toBe(0);
  });

  it('I27: keeps two notes as evidence when the log did not grow from what was seen', () => {
    const origin = { baseUrl: 'https://example.org' };
    const forks = [1, 2, 40, 400].map((count) =>
      memoryLog({ '2026-11-20': hashes(0, count) }, origin),
    );
    for (const fork of forks) {
      const since = noteOf(fork);
      const report = verifyLog(data, { trust: [did], since });
      expect(report).toMatchObject({ verdict: 'failed', evidence: [since, last] });
      expect(report.faults[0]?.file).toBe('--since');
    }
  });

  it('takes no checkpoint of another key for one that was seen', () => {
    const since = noteOf(memoryLog({}, { seed: 9, baseUrl: 'https://example.org' }));
    const report = verifyLog(data, { trust: [did], since });
    expect(report.faults).toEqual([expect.objectContaining({ file: '--since' })]);
    expect(report.evidence).toEqual([]);
  });

  it('I27: names an entry, a tile, a batch and a checkpoint that are gone', () => {
    for (const path of pathsRead()) {
      const disk = overlayDisk((_, bytes) => bytes);
      const gone = {
        ...disk,
        entry: (full: string) => (logPath(full) === path ? null : disk.entry(full)),
      };
      const report = verifyLog(data, { trust: [did], disk: gone });
      expect([path, report.verdict]).toEqual([path, 'failed']);
    }
  });

  it('does not judge the log of an issuer that is not trusted', () => {
    const trust = ['did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw'];
    expect(verifyLog(data, { trust })).toMatchObject({ verdict: 'failed', entries: 0 });
  });
});

function noteOf(files: LogFiles): string {
  return files.get('log/checkpoint')?.toString('utf8') ?? '';
}

describe('runVerifyLog()', () => {
  it('says what was looked at, with exit code 0', () => {
    const { exitCode, text } = runVerifyLog(data, { issuer: [did] });
    expect(exitCode).toBe(0);
    expect(text).toMatch(/^verified {2}log of .*\n {2}\d+ entries hashed again, \d+ checkpoints/);
  });

  it('says plainly when no issuer was pinned, and never when one was', () => {
    const { text, exitCode } = runVerifyLog(data, {});
    const did = /anybody can sign as (\S+);/.exec(text)?.[1] ?? '';
    expect([exitCode, did]).toEqual([2, expect.stringMatching(/^did:key:z6Mk/)]);
    expect(runVerifyLog(data, { issuer: [did] }).text).toMatch(/\n {2}issuer: did:key:\S+\n$/);
    const asJson = (issuer: string[]) =>
      JSON.parse(runVerifyLog(data, { issuer, json: true }).text).issuer_pinned;
    expect([asJson([]), asJson([did])]).toEqual([false, true]);
  });

  it('shows both notes of a fork, with exit code 1', () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalpress-since-'));
    const since = join(folder, 'seen');
    const fork = noteOf(
      memoryLog({ '2026-11-20': hashes(0, 9) }, { baseUrl: 'https://example.org' }),
    );
    writeFileSync(since, fork);
    const { exitCode, text } = runVerifyLog(data, { since });
    expect(exitCode).toBe(1);
    expect(text).toContain('keep these two notes');
    expect(text).toContain(`  | ${fork.split('\n')[2]}`);
    const { text: json } = runVerifyLog(data, { since, json: true });
    expect(JSON.parse(json)).toMatchObject({ verdict: 'failed', evidence: [fork, last] });
  });

  it('cannot judge what is no release, with exit code 2 where a file is missing', () => {
    expect(runVerifyLog(data, { since: join(data, 'none') }).exitCode).toBe(2);
    const since = join(data, 'current/release.json');
    const { exitCode, text } = runVerifyLog(data, { since });
    expect([exitCode, text]).toEqual([2, expect.stringContaining('not the signed note of a')]);
    expect(runVerifyLog(join(data, 'none'), {}).exitCode).toBe(2);
  });
});

describe('a whole release with its log', () => {
  it('I27: refuses to compile after an older release was put back, and goes on from the newest', async () => {
    const snapshots = writeSnapshots({
      '2026-11-19/crypto.spot.ndjson': `${JSON.stringify(row('2026-11-19'))}\n`,
    });
    const first = await compileFolder(snapshots);
    const backup = mkdtempSync(join(tmpdir(), 'signalpress-backup-'));
    cpSync(first.data, backup, { recursive: true, verbatimSymlinks: true });
    writeSnapshots(
      { '2026-11-20/crypto.spot.ndjson': `${JSON.stringify(row('2026-11-20'))}\n` },
      snapshots,
    );
    const second = await compileFolder(snapshots, { data: first.data });
    expect(verifyLog(second.data, { trust: [did] })).toMatchObject({
      verdict: 'verified',
      // Two readings, each with the statement of its census, and the head of the first release.
      entries: 5,
    });
    for (const name of ['current', 'releases', 'files']) {
      rmSync(join(first.data, name), { recursive: true, force: true });
      cpSync(join(backup, name), join(first.data, name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
    const again = compileFolder(snapshots, { data: first.data });
    await expect(again).rejects.toThrow('was already signed');
  });
});

function row(day: string): object {
  return {
    entity: 'btc',
    observed_at: `${day}T10:00:00Z`,
    collected_at: `${day}T11:00:00Z`,
    current: { price_usd: Number(day.slice(-2)) },
    sources: [{ name: 'test source', weight: 1, independent: true }],
    source_ref: 'https://example.org/source',
    source_tier: 'T1',
  };
}

/** A log of three runs: two that are full, and what is left. */
const LOG = memoryLog({ '2026-11-20': hashes(0, 2100) });
const [ONE, OTHER] = ['log/index/0-1024/0.txt', 'log/index/1024-1024/0.txt'] as const;

const digestsOf = (recordHashes: readonly string[]): Buffer =>
  Buffer.concat(recordHashes.map((hash) => Buffer.from(hash.slice(7), 'hex')));

/** What is found in the index when some of its files hold something else. */
function judged(edits: Readonly<Record<string, string | null>> = {}) {
  const files: LogFiles = new Map(LOG);
  for (const [path, text] of Object.entries(edits)) {
    if (text === null) files.delete(path);
    else files.set(path, Buffer.from(text));
  }
  const faults = new Faults();
  const read = (path: string): Uint8Array | null => {
    const bytes = files.get(path) ?? null;
    if (bytes === null) faults.add(path, '', 'missing');
    return bytes;
  };
  const source: LogSource = {
    head: {} as LogSource['head'],
    faults,
    isPublic: false,
    paths: new Set(files.keys()),
    read,
    proof: () => null,
  };
  const found = checkLogIndex(source, digestsOf(entriesIn(LOG)));
  return {
    found,
    named: [...new Set(faults.kept.map(({ file, detail }) => `${file}: ${detail}`))],
  };
}

const linesAt = (path: string): string[] => (LOG.get(path)?.toString() ?? '').split(/(?<=\n)/);

describe('checkLogIndex()', () => {
  it('finds each published hash in whatever run it stands, and no other', () => {
    const line = (record_hash: string): string =>
      formatVerifyEntry({
        record_hash,
        kind: 'reading',
        state: 'current',
        file: 'record/a.json',
        signal_id: 'a.b',
        entity: 'c',
        observed_at: '2026-11-20T10:00:00Z',
      });
    expect(judged()).toEqual({ found: 0, named: [] });
    for (const [position, hash] of entriesIn(LOG).entries()) {
      if (position % 300 > 0) continue;
      expect(judged({ [`verify/${hash.slice(7, 9)}.txt`]: line(hash) })).toEqual({
        found: 1,
        named: [],
      });
    }
    const stranger = hashes(9000, 1)[0] ?? '';
    const path = `verify/${stranger.slice(7, 9)}.txt`;
    expect(judged({ [path]: line(stranger) })).toEqual({
      found: 0,
      named: [`${path}: "${stranger}" is not in the log`],
    });
  });

  it('names entries that stand in the run of others', () => {
    const [one, other] = [linesAt(ONE), linesAt(OTHER)];
    const [first = '', second = ''] = [one[0], other[0]];
    const [low, high] = [[...one.slice(1), second].sort(), [...other.slice(1), first].sort()];
    expect(judged({ [ONE]: low.join(''), [OTHER]: high.join('') }).named).toEqual([
      `${ONE}: belongs into another run`,
      `${OTHER}: belongs into another run`,
    ]);
  });

  it.each([
    ['a file that is missing', { [ONE]: null }, [`${ONE}: missing`]],
    [
      'a file of no run',
      { 'log/index/0-2048/0.txt': '' },
      ['log/index/0-2048/0.txt: belongs to no run of this log'],
    ],
    ['a line that is cut off', { [ONE]: linesAt(ONE).join('').slice(0, -1) }, [/cut off/]],
  ])('names %s', (_, edits, want) => {
    for (const one of want) {
      const match = typeof one === 'string' ? one : expect.stringMatching(one);
      expect(judged(edits).named).toContainEqual(match);
    }
  });
});

describe('KnownHashes', () => {
  it('knows the digests of several sorted lists, and no other', () => {
    const lists = [hashes(0, 500), hashes(500, 3), [], hashes(600, 200)].map((some) =>
      [...some].sort(),
    );
    const known = new KnownHashes(sharedDigests(lists.map(digestsOf)));
    for (const hash of lists.flat()) expect(known.has(hash)).toBe(true);
    for (const hash of hashes(2000, 300)) expect(known.has(hash)).toBe(false);
    expect(new KnownHashes(sharedDigests([])).has(hashes(0, 1)[0] ?? '')).toBe(false);
  });
});

describe('release proof', () => {
  let data: string;
  let snapshots: string;
  const hourOf = (hour: number): string => `2026-11-20T${12 + hour}:00:00Z`;

  /** Compiles the next hour, with one reading more. */
  async function hour(at: number, more: object = {}) {
    const day = `2026-11-${10 + at}`;
    writeSnapshots(spotPrices(day, 1, 90_000 + at), snapshots);
    return compileFolder(snapshots, { data, asOf: hourOf(at), ...more });
  }

  beforeEach(async () => {
    snapshots = writeSnapshots({});
    data = join(makeFolder(), 'data');
    await hour(0);
    await hour(1);
  });

  const root = (): string => join(data, 'current');
  const proofOf = (folder: string) =>
    parseTlogProof(readFileSync(join(folder, RELEASE_PROOF_NAME), 'utf8'));
  const lastNote = (): string => readFileSync(join(data, 'log-checkpoint'), 'utf8');

  async function faultsOf(): Promise<readonly string[]> {
    const { faults } = await verifyRelease(data, { trust: 'any' });
    return faults.map(({ file, where, detail }) => `${file} ${where} ${detail}`);
  }

  function signer(seed = SEED) {
    const {
      issuer_name: name,
      base_url: baseUrl,
      issuer_did: did,
      key_id: keyId,
    } = readHeadOf(root());
    const issuer = { name, baseUrl, did, keyId };
    return { issuer, sealer: makeSealer(issuer, signingKey(seed)) };
  }

  describe('the leaf of a release', () => {
    it('I73: comes right behind the listed log, and is the first entry of the next release', async () => {
      const [first = ''] = readdirSync(join(data, 'releases')).sort();
      const older = proofOf(join(data, 'releases', first));
      const { index, signed, checkpoint } = proofOf(root());
      const head = readHeadOf(root());
      expect([index, signed.size]).toEqual([head.log_index, (head.log_index ?? 0) + 1]);
      expect(lastNote()).toBe(checkpoint);
      expect(index).toBeGreaterThan(older.index + 1);
      const report = await verifyRelease(data, { trust: 'any' });
      expect([report.faults, report.checkpoint]).toEqual([[], checkpoint]);
    });

    it.each([
      ['incrementally', {}],
      ['from the snapshots', { full: true }],
    ])('is in the log of each later release, which is compiled %s', async (_, options) => {
      const names = readdirSync(join(data, 'releases'));
      const { isIncremental } = await hour(2, options);
      expect(isIncremental).toBe(!('full' in options));
      await hour(3, options);
      expect(await faultsOf()).toEqual([]);
      const heads = names.map((name) => headHash(readHeadOf(join(data, 'releases', name))));
      const listed = readFileSync(join(root(), 'files.txt'), 'utf8');
      const index = [...listed.matchAll(/^([0-9a-f]{64}) \d+ (log\/index\/.+)$/gm)];
      const lines = index.map(([, sha256 = '', path = '']) => {
        const stored = `files/${path.replace(/\.txt$/, '')}.${sha256.slice(0, 20)}.txt`;
        return readFileSync(join(data, stored), 'utf8');
      });
      for (const [at, name] of names.entries()) {
        expect(lines.join('')).toMatch(`["${heads[at]}",`);
        expect(lines.join('')).toMatch(`"release",null,"${name}"`);
      }
    });

    it('is in the log behind a rollback too', async () => {
      const name = basename((await hour(2)).folder);
      const [first = ''] = readdirSync(join(data, 'releases')).sort();
      const { release } = await rollBack({ data, name: first, asOf: hourOf(3), seed: SEED });
      expect(release.log_index).toBeGreaterThan(
        readHeadOf(join(data, 'releases', name)).log_index ?? 0,
      );
      expect([await faultsOf(), lastNote()]).toEqual([[], proofOf(root()).checkpoint]);
      await hour(4);
      expect(await faultsOf()).toEqual([]);
    });
  });

  describe('verifyRelease() of a proof', () => {
    const at = (): string => join(root(), RELEASE_PROOF_NAME);

    it('I73: names one that is gone, of another release, of another tree, or altered in any byte', async () => {
      const good = readFileSync(at());
      const [first = ''] = readdirSync(join(data, 'releases')).sort();
      const older = readFileSync(join(data, 'releases', first, RELEASE_PROOF_NAME));
      for (const bytes of [older, Buffer.alloc(0), Buffer.alloc(200_000, 'a')]) {
        writeFileSync(at(), bytes);
        expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof /)]);
      }
      for (let byte = 0; byte < good.length; byte += 17) {
        const bytes = Buffer.from(good);
        bytes[byte] = (bytes[byte] ?? 0) ^ 1;
        writeFileSync(at(), bytes);
        expect([byte, await faultsOf()]).toEqual([
          byte,
          [expect.stringMatching(/^release\.tlog-proof /)],
        ]);
      }
      rmSync(at());
      expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof .*missing/)]);
      writeFileSync(at(), good);
      expect(await faultsOf()).toEqual([]);
    });

    it('names one that another key signed', async () => {
      proveAgain(root(), readHeadOf(root()), signer(new Uint8Array(32).fill(8)));
      expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof .*signature/)]);
      proveAgain(root(), readHeadOf(root()), signer());
      expect(await faultsOf()).toEqual([]);
    });

    it('takes lines of witnesses, and refuses a head that states another place', async () => {
      const witness = `\u2014 witness.example/w ${Buffer.alloc(76, 9).toString('base64')}\n`;
      writeFileSync(at(), readFileSync(at(), 'utf8') + witness);
      expect(await faultsOf()).toEqual([]);
      await hour(2);
      expect(await faultsOf()).toEqual([]);
      resign(root(), { log_index: 1 }, SEED);
      expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof .*states 1/)]);
    });

    it('names an older release that is not where it states to be', async () => {
      const [first = ''] = readdirSync(join(data, 'releases')).sort();
      const { log_index = 0 } = readHeadOf(join(data, 'releases', first));
      resign(join(data, 'releases', first), { log_index: log_index + 1 }, SEED);
      expect(await faultsOf()).toContainEqual(
        expect.stringMatching(/^log entry \d+ not the head of/),
      );
    });

    it('verifies a release from before there were any, goes on from it, and takes no proof there', async () => {
      const { log_index: _, ...older } = readHeadOf(root());
      const proof = readFileSync(at());
      const note = readFileSync(join(data, 'log-checkpoint'), 'utf8');
      rmSync(at());
      writeFileSync(join(root(), 'release.json'), JSON.stringify(older));
      resign(root(), {}, SEED);
      expect(await faultsOf()).toEqual([]);
      writeFileSync(at(), proof);
      expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof .*stray/)]);
      rmSync(at());
      await expect(hour(2)).rejects.toThrow('was already signed');
      rmSync(join(data, 'log-checkpoint'));
      expect(note).toContain('example.org/log');
      await hour(2);
      expect(await faultsOf()).toEqual([]);
      expect(existsSync(at())).toBe(true);
    });
  });

  describe('compile', () => {
    it('I73: refuses to go on from a release whose proof is gone or altered, and signs nothing', async () => {
      const at = join(root(), RELEASE_PROOF_NAME);
      const good = readFileSync(at);
      const before = readdirSync(join(data, 'releases'));
      rmSync(at);
      await expect(hour(2)).rejects.toThrow(RELEASE_PROOF_NAME);
      writeFileSync(at, good.toString('utf8').replace('index ', 'index 1'));
      await expect(hour(2)).rejects.toThrow(RELEASE_PROOF_NAME);
      writeFileSync(at, good);
      proveAgain(root(), readHeadOf(root()), signer(new Uint8Array(32).fill(8)));
      await expect(hour(2)).rejects.toThrow('this issuer did not sign its checkpoint');
      expect(readdirSync(join(data, 'releases'))).toEqual(before);
      proveAgain(root(), readHeadOf(root()), signer());
      await hour(2);
      expect(await faultsOf()).toEqual([]);
    });

    it('refuses to go on from a copy whose newest release is not the one that was last signed', async () => {
      const copy = join(makeFolder(), 'copy');
      cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
      await hour(2);
      for (const name of ['current', 'releases', 'files']) {
        rmSync(join(data, name), { recursive: true, force: true });
        cpSync(join(copy, name), join(data, name), { recursive: true, verbatimSymlinks: true });
      }
      await expect(hour(3)).rejects.toThrow('was already signed');
    });
  });
});

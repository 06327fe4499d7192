import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RELEASE_PROOF_NAME } from '../../compiler/contract/release-leaf.ts';
import { parseTlogProof } from '../../compiler/contract/tlog-proof.ts';
import { runVerifyLog } from '../../compiler/verify/verify-command.ts';
import { verifyLog } from '../../compiler/verify/verify-log.ts';
import { smallSet } from '../small-set.ts';
import {
  compileFolder,
  makeFolder,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { hashes, type LogFiles, memoryLog } from '../stages/anchor/memory-log.ts';
import { overlayDisk } from './overlay-disk.ts';

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
afterAll(removeFolders);

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

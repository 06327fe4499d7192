import { createHash } from 'node:crypto';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatFiles, parseFiles } from '../../../compiler/contract/release.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { folderSource } from '../../../gatekeeper/release/folder-source.ts';
import {
  checkFiles,
  checkHead,
  OFFERS_PATH,
  openRelease,
} from '../../../gatekeeper/release/open-release.ts';
import { DamagedFileError } from '../../../gatekeeper/release/read-body.ts';
import { spliceRequestTime } from '../../../gatekeeper/release/request-time.ts';
import {
  TINY_NOW,
  tinyDataDir,
  tinyFilePath,
  tinyFiles,
  writeTinyRelease,
} from '../tiny-release.ts';
import { tinyService } from '../tiny-service.ts';

const ANY = { issuerDid: null, baseUrl: null };
const RECORD = 'record/airquality.aqi/us-denver.json';

describe('openRelease()', () => {
  it('opens what current names and keeps to it after a swap', async () => {
    const dataDir = tinyDataDir();
    const root = writeTinyRelease(dataDir);
    const release = await openRelease({ source: folderSource(dataDir), ...ANY });
    writeTinyRelease(dataDir, { sequence: 2, files: new Map() });
    expect(release.mark).toBe(basename(root));
    expect((await release.body(RECORD, FOR_EVERYBODY)).bytes).toEqual(tinyFiles().get(RECORD));
    expect((await openRelease({ source: folderSource(dataDir), ...ANY })).head.sequence).toBe(2);
  });

  it('I47: says what to do when there is no release', async () => {
    const opening = openRelease({ source: folderSource(tinyDataDir()), ...ANY });
    await expect(opening).rejects.toThrow(/run "signalpress compile" first/);
  });

  it('I47: refuses a release without its list', async () => {
    const dataDir = tinyDataDir();
    rmSync(join(writeTinyRelease(dataDir), 'files.txt'));
    await expect(openRelease({ source: folderSource(dataDir), ...ANY })).rejects.toThrow(
      /compile again/,
    );
  });

  it('I47: refuses a release without its manifest, for nothing would be for sale', async () => {
    const dataDir = tinyDataDir();
    const listed = parseFiles(readFileSync(join(writeTinyRelease(dataDir), 'files.txt'), 'utf8'));
    const entries = listed.filter(({ path }) => path !== OFFERS_PATH);
    expect(entries).toHaveLength(listed.length - 1);
    const text = formatFiles(entries);
    const digest = createHash('sha256').update(text).digest('hex');
    const counted = { files_sha256: `sha256:${digest}`, files_count: entries.length };
    const root = writeTinyRelease(dataDir, { sequence: 2, head: counted });
    writeFileSync(join(root, 'files.txt'), text);
    const opening = openRelease({ source: folderSource(dataDir), ...ANY });
    await expect(opening).rejects.toThrow(`it has no "${OFFERS_PATH}"; compile again`);
  });

  it('reads a list of 100,000 files, and others have their turn meanwhile', async () => {
    const entries = Array.from({ length: 100_000 }, (_, at) => {
      const path = `record/airquality.aqi/e${String(at).padStart(6, '0')}.json`;
      return { path, size: 3400, sha256: 'ab'.repeat(32) };
    });
    const bytes = Buffer.from(formatFiles(entries));
    const digest = createHash('sha256').update(bytes).digest('hex');
    const root = writeTinyRelease(tinyDataDir(), {
      head: { files_sha256: `sha256:${digest}`, files_count: entries.length },
    });
    const head = checkHead(readFileSync(join(root, 'release.json')), ANY);
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });
    expect((await checkFiles(bytes, head)).size).toBe(100_000);
    clearImmediate(next);
    // Between the pieces of a megabyte that are hashed, and between those that are read.
    expect(turns).toBeGreaterThanOrEqual(2 * Math.floor(bytes.length / 1024 ** 2));
  });
});

describe('ReleaseIndex.body()', () => {
  it('I24: throws for a flipped bit and goes on once the file is whole again', async () => {
    const dataDir = tinyDataDir();
    const root = writeTinyRelease(dataDir);
    const release = await openRelease({ source: folderSource(dataDir), ...ANY });
    const whole = readFileSync(tinyFilePath(root, RECORD));
    const flipped = Buffer.from(whole);
    flipped[100] = (flipped[100] ?? 0) ^ 1;
    writeFileSync(tinyFilePath(root, RECORD), flipped);
    await expect(release.body(RECORD, FOR_EVERYBODY)).rejects.toThrow(DamagedFileError);
    writeFileSync(tinyFilePath(root, RECORD), whole);
    expect((await release.body(RECORD, FOR_EVERYBODY)).bytes).toEqual(whole);
  });

  it('I38: throws for a planted link', async () => {
    const dataDir = tinyDataDir();
    const root = writeTinyRelease(dataDir);
    const release = await openRelease({ source: folderSource(dataDir), ...ANY });
    rmSync(tinyFilePath(root, RECORD));
    symlinkSync('/etc/hostname', tinyFilePath(root, RECORD));
    await expect(release.body(RECORD, FOR_EVERYBODY)).rejects.toThrow(DamagedFileError);
  });

  it('I38: looks nothing up that is not listed', async () => {
    const dataDir = tinyDataDir();
    writeTinyRelease(dataDir);
    const release = await openRelease({ source: folderSource(dataDir), ...ANY });
    for (const path of ['../../current/release.json', 'release.json', '/etc/passwd', '', '.']) {
      expect(release.has(path)).toBe(false);
      await expect(release.body(path, FOR_EVERYBODY)).rejects.toThrow(RangeError);
    }
  });

  it('reads a file once for many who ask at the same time', async () => {
    const dataDir = tinyDataDir();
    writeTinyRelease(dataDir);
    let reads = 0;
    const read = async (path: string): Promise<Buffer> => {
      if (path.includes('/record/')) reads += 1;
      return readFileSync(path);
    };
    const release = await openRelease({ source: folderSource(dataDir, read), ...ANY });
    const bodies = await Promise.all(
      Array.from({ length: 50 }, () => release.body(RECORD, FOR_EVERYBODY)),
    );
    await release.body(RECORD, FOR_EVERYBODY);
    expect(new Set(bodies).size).toBe(1);
    expect(reads).toBe(1);
  });

  it('bytesAt() fills in the request-time fields', async () => {
    const dataDir = tinyDataDir();
    writeTinyRelease(dataDir);
    const release = await openRelease({ source: folderSource(dataDir), ...ANY });
    const body = await release.body('bundle/environment/us-denver.json', FOR_EVERYBODY);
    expect(body.points).toHaveLength(3);
    expect(JSON.parse(release.bytesAt(body, TINY_NOW).toString())).toMatchObject({
      legs: { 'air-quality': { freshness: 'fresh' }, river: { freshness: 'stale' } },
      provenance: {
        age_hours_now: 1956,
        freshness: 'stale',
        freshness_leg: 'river',
        dead_source: 'no official reading since 2026-09-01T00:00:00Z',
      },
    });
  });

  it('bytesAt() gives the same buffer until a member changes, and then the bytes of that instant', async () => {
    const dataDir = tinyDataDir();
    writeTinyRelease(dataDir);
    const release = await openRelease({ source: folderSource(dataDir), ...ANY });
    const body = await release.body('bundle/environment/us-denver.json', FOR_EVERYBODY);
    const first = release.bytesAt(body, TINY_NOW);
    expect(release.bytesAt(body, TINY_NOW + 1)).toBe(first);
    for (const later of [3_600_000, 7_200_000, 0]) {
      const now = TINY_NOW + later;
      expect(release.bytesAt(body, now)).toEqual(spliceRequestTime(body.bytes, body.points, now));
    }
    expect(release.bytesAt(body, TINY_NOW + 3_600_000)).not.toEqual(first);
  });
});

describe('ListedFiles.namesUnder()', () => {
  it('lists each file and folder once, in order, without walking through folders', async () => {
    const { release } = await tinyService();
    expect(release.files.namesUnder('record/', 9)).toEqual([
      'airquality.aqi/',
      'filing.insider/',
      'hydrology.river-level/',
    ]);
    expect(release.files.namesUnder('record/airquality.aqi/', 9)).toEqual([
      'us-chicago.json',
      'us-denver.json',
    ]);
    expect(release.files.namesUnder('record/', 1)).toEqual(['airquality.aqi/']);
    expect(release.files.namesUnder('zzz/', 9)).toEqual([]);
  });
});

describe('ListedFiles.pathsUnder()', () => {
  it('lists the paths of a prefix in order, at most as many as asked', async () => {
    const dataDir = tinyDataDir();
    writeTinyRelease(dataDir);
    const release = await openRelease({ source: folderSource(dataDir), ...ANY });
    expect(release.files.pathsUnder('record/airquality.aqi/', 9)).toEqual([
      'record/airquality.aqi/us-chicago.json',
      RECORD,
    ]);
    expect(release.files.pathsUnder('record/', 1)).toHaveLength(1);
    expect(release.files.pathsUnder('zzz', 9)).toEqual([]);
  });
});

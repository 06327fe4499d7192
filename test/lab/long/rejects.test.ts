import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { summaryText } from '../../../compiler/cli/progress.ts';
import { RELEASE_NAME } from '../../../compiler/format/release.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { FILINGS, filingSet, listingRow } from '../../filing-rows.ts';
import {
  compileFaults,
  compileFolder,
  filesBelow,
  ndjson,
  reading,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const SPOT = '2026-11-19/crypto.spot.ndjson';
const LATER = '2026-11-20/crypto.spot.ndjson';
const JOBLESS = '2026-11-20/macro.unemployment.ndjson';
const PERCENT = 10_000;

const coin = (at: number, day = '19'): string => {
  const times = {
    observed_at: `2026-11-${day}T10:00:00Z`,
    collected_at: `2026-11-${day}T11:00:00Z`,
  };
  return ndjson([reading(`coin-${at}`, { price_usd: at + Number(day) }, times)]);
};
const coins = (count: number, day = '19'): string[] =>
  Array.from({ length: count }, (_, at) => coin(at, day));
const jobless = ndjson([reading('us', { unemployment_pct: 4 })]);

/** Every so many lines torn in the middle, the first one never. */
function torn(lines: readonly string[], every: number): string[] {
  return lines.map((line, at) =>
    at % every === every - 1 ? `${line.slice(0, line.length / 2)}\n` : line,
  );
}

/** A release by path, without its head and what is hashed of that, and the counts of the head. */
async function published(files: SnapshotFiles, maxRejectsPpm = 0) {
  const { folder, release } = await compileFolder(writeSnapshots(files), { maxRejectsPpm });
  const below = filesBelow(folder);
  below.delete(RELEASE_NAME);
  return { below, counts: release.counts };
}

describe('compile() of bad lines that may be left out', () => {
  it('I23: half a file that is corrupt publishes nothing and leaves the previous release', async () => {
    const { data } = await compileFolder(writeSnapshots({ [SPOT]: coins(20).join('') }));
    const before = filesBelow(data);
    const corrupt = writeSnapshots({ [SPOT]: torn(coins(20), 2).join(''), [JOBLESS]: jobless });
    const half = compileFolder(corrupt, { data, maxRejectsPpm: 49 * PERCENT });
    await expect(half).rejects.toThrow(
      `Cannot compile: 11 problems, nothing was published\n  ${SPOT} 10 of 20 lines rejected, more than the 49%`,
    );
    await expect(compileFolder(corrupt, { data })).rejects.toThrow('10 problems');
    expect(filesBelow(data)).toEqual(before);
    expect(existsSync(join(data, '.staging'))).toBe(false);
  });

  it('I23: publishes what a folder without those lines gives, and says how many they were', async () => {
    const lines = torn(coins(20), 10);
    const clean = coins(20).filter((_, at) => at % 10 !== 9);
    const bad = await published({ [SPOT]: lines.join(''), [JOBLESS]: jobless }, 10 * PERCENT);
    const good = await published({ [SPOT]: clean.join(''), [JOBLESS]: jobless });
    expect(bad.below).toEqual(good.below);
    expect(bad.counts).toEqual({ ...good.counts, rejects: 2 });
    expect(good.counts).not.toHaveProperty('rejects');
    expect(bad.counts.readings + (bad.counts.rejects ?? 0)).toBe(21);
  });

  it('I23: the lines that are left out stand beside the release, and verify finds nothing amiss', async () => {
    const snapshots = writeSnapshots({ [SPOT]: torn(coins(20), 20).join('') });
    const compiled = await compileFolder(snapshots, { maxRejectsPpm: 5 * PERCENT });
    const { data, release, rejects } = compiled;
    const path = join(data, 'state/rejects', SPOT);
    expect(rejects).toBe(join(data, 'state/rejects'));
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ file: SPOT, line: 20 });
    const text = summaryText(compiled, 1);
    expect(text).toContain(`Warning: bad lines left out: 1; "${rejects}" says why`);
    const report = await verifyRelease(data, { trust: [release.issuer_did] });
    expect([report.faults, report.strayCount]).toEqual([[], 0]);
    expect([...filesBelow(compiled.folder).keys()].join()).not.toContain('rejects');
    const tidy = await compileFolder(writeSnapshots({ [SPOT]: coins(20).join('') }));
    expect(summaryText(tidy, 1)).not.toContain('Warning');
    expect(existsSync(join(tidy.data, 'state/rejects'))).toBe(false);
  });

  it('I23: judges each file, so that a good signal, or its history, covers no bad batch', async () => {
    const files = { [SPOT]: coins(50).join(''), [JOBLESS]: `${jobless}{"entity":"us"\n` };
    const elsewhere = await compileFaults(files, { maxRejectsPpm: 10 * PERCENT });
    expect(elsewhere[0]).toMatchObject({ code: 'too_many_rejects', file: JOBLESS });
    const later = { [SPOT]: coins(50).join(''), [LATER]: torn(coins(4, '20'), 4).join('') };
    const newest = await compileFaults(later, { maxRejectsPpm: 10 * PERCENT });
    expect(newest[0]).toMatchObject({ code: 'too_many_rejects', file: LATER });
  });

  it('I23: a conflict and a bad row of a roster or of filings stop in any case', async () => {
    const twice = ndjson([
      reading('coin-1', { price_usd: 1 }),
      reading('coin-1', { price_usd: 2 }),
    ]);
    const conflict = await compileFaults({ [LATER]: twice }, { maxRejectsPpm: 50 * PERCENT });
    expect(conflict).toMatchObject([{ code: 'conflict', line: 2 }]);
    const half = { maxRejectsPpm: 50 * PERCENT };
    const strange = filingSet([listingRow(), ...FILINGS, { kind: 'x' }]);
    const bad = await compileFaults(strange, half);
    expect(bad).toMatchObject([{ code: 'bad_field', field: 'kind' }]);
    expect(await compileFaults(filingSet([listingRow(), ...FILINGS]), half)).toEqual([]);
  });

  it('I37: leaves out the same lines whatever order files and lines have', async () => {
    const [first = '', ...rest] = torn(coins(12), 4);
    const other = torn(coins(12, '20'), 4);
    const files = (lines: readonly string[]) => ({ [SPOT]: first + lines.join('') });
    const made = await published({ ...files(rest), [LATER]: other.join('') }, 50 * PERCENT);
    const shuffled = fc.shuffledSubarray(rest, { minLength: rest.length, maxLength: rest.length });
    await fc.assert(
      fc.asyncProperty(shuffled, async (lines) => {
        const again = { [LATER]: other.join(''), ...files(lines) };
        expect(await published(again, 50 * PERCENT)).toEqual(made);
      }),
      { numRuns: 3 },
    );
    expect(made.counts.rejects).toBe(6);
  });
});

describe('compile() that goes on from a release with bad lines', () => {
  const share = { maxRejectsPpm: 10 * PERCENT };
  const start = async () => {
    const snapshots = writeSnapshots({ [SPOT]: torn(coins(100), 20).join('') });
    return { snapshots, ...(await compileFolder(snapshots, share)) };
  };
  const next = (snapshots: string) =>
    writeSnapshots({ [LATER]: torn(coins(10, '20'), 10).join('') }, snapshots);

  it('I23: counts them for as long as their files stand, with the bytes of a full compile', async () => {
    const { snapshots, data } = await start();
    const whole = await compileFolder(snapshots, share);
    next(snapshots);
    const on = await compileFolder(snapshots, { ...share, data });
    const full = await compileFolder(snapshots, { ...share, data: whole.data, full: true });
    expect([on.isIncremental, full.isIncremental, on.release.counts.rejects]).toEqual([
      true,
      false,
      6,
    ]);
    expect(filesBelow(on.folder)).toEqual(filesBelow(full.folder));
    const left = (folder: string) => filesBelow(join(folder, 'state/rejects'));
    expect(left(data)).toEqual(left(full.data));
    expect([...left(data).keys()]).toEqual([SPOT, LATER]);
  });

  it('I23: stops without the option, as a compile from nothing does', async () => {
    const { snapshots, data } = await start();
    const before = filesBelow(data);
    next(snapshots);
    await expect(compileFolder(snapshots, { data })).rejects.toThrow('6 problems');
    expect(filesBelow(data)).toEqual(before);
  });

  it('I23: forgets them once the file is stored correctly', async () => {
    const { snapshots, data } = await start();
    writeSnapshots({ [SPOT]: coins(100).join('') }, snapshots);
    const { release } = await compileFolder(snapshots, { ...share, data });
    expect(release.counts).not.toHaveProperty('rejects');
    expect(existsSync(join(data, 'state/rejects'))).toBe(false);
  });
});

describe('compile() of a feed that was cut', () => {
  const whole = { [SPOT]: coins(10).join(''), [LATER]: coins(10, '20').join('') };

  it.each([
    ['emptied', '', 'crypto.spot 10 readings where the previous release has 20'],
    ['cut between two lines', coins(3, '20').join(''), 'crypto.spot 13 readings where'],
    ['cut inside a line', coins(3, '20').join('').slice(0, -9), `${LATER}:3`],
  ])('I23: publishes nothing when the newest file is %s', async (_, text, says) => {
    const { data } = await compileFolder(writeSnapshots(whole));
    const before = filesBelow(data);
    const cut = writeSnapshots({ ...whole, [LATER]: text });
    await expect(compileFolder(cut, { data })).rejects.toThrow(says);
    expect(filesBelow(data)).toEqual(before);
  });

  it('I23: publishes when little of it is missing, or when that is meant', async () => {
    const { data } = await compileFolder(writeSnapshots(whole));
    const little = writeSnapshots({ ...whole, [LATER]: coins(6, '20').join('') });
    expect((await compileFolder(little, { data })).release.counts.readings).toBe(16);
    const much = writeSnapshots({ ...whole, [LATER]: '' });
    const { release } = await compileFolder(much, { data, allowShrink: true });
    expect(release.counts.readings).toBe(10);
  });
});

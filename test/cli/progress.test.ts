import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CompileSummary } from '../../compiler/cli/compile.ts';
import { progressReporter, summaryText, verifyProgress } from '../../compiler/cli/progress.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);

const at = (hour: number) => ({
  observed_at: `2026-11-20T0${hour}:00:00Z`,
  collected_at: `2026-11-20T0${hour}:30:00Z`,
});
/** A batch of one hour, prices by coin. */
const batch = (hour: number, prices: Readonly<Record<string, number>>, observed = hour) => ({
  [`2026-11-20T0${hour}Z/crypto.spot.ndjson`]: ndjson(
    Object.entries(prices).map(([coin, price_usd]) =>
      reading(coin, { price_usd }, { ...at(hour), observed_at: at(observed).observed_at }),
    ),
  ),
});
const changedLine = (summary: CompileSummary) =>
  summaryText(summary, 1)
    .split('\n')
    .find((line) => line.startsWith('  changed'));

describe('progressReporter()', () => {
  const step = (done: number) =>
    ({ stage: 'read', done, total: 40, label: 'tides.level' }) as const;

  it('tells how much of how much: at once on a terminal, now and then elsewhere', () => {
    for (const [isTTY, lines] of [
      [true, 3],
      [false, 2],
    ] as const) {
      const written: string[] = [];
      const screen = { isTTY, write: (text: string) => void written.push(text) };
      let now = 0;
      const { step: told } = progressReporter(screen, () => now);
      told(step(1));
      told(step(2));
      now = 5000;
      told(step(12));
      expect(written).toHaveLength(lines);
      expect(written.at(-1)).toContain('12 of 40  tides.level');
    }
  });
});

describe('summaryText()', () => {
  it('says what changed against the previous release, whichever way it was compiled', async () => {
    const first = batch(1, { btc: 1, eth: 2, sol: 3 });
    const second = { ...batch(2, { btc: 5, ada: 1 }), ...batch(3, { eth: 9 }, 1) };
    const snapshots = writeSnapshots(first);
    const one = await compileFolder(snapshots);
    expect(changedLine(one)).toBe('  changed   3 records new');
    const { data } = one;
    expect(changedLine(await compileFolder(snapshots, { data }))).toBe('  changed   no record');
    writeSnapshots(second, snapshots);
    const on = await compileFolder(snapshots, { data });
    const text = '  changed   1 record new, 1 with a new reading, 1 revised';
    expect([on.isIncremental, changedLine(on)]).toEqual([true, text]);
    const other = await compileFolder(writeSnapshots(first));
    const whole = await compileFolder(snapshots, { data: other.data, full: true });
    expect([whole.isIncremental, changedLine(whole)]).toEqual([false, text]);
    const again = { data, allowShrink: true };
    const less = await compileFolder(writeSnapshots(batch(1, { btc: 1, eth: 2 })), again);
    const back = '  changed   1 record revised, 1 back at an earlier reading, 2 gone';
    expect(changedLine(less)).toBe(back);
  });

  it('says that it does not know where the catalog of the previous release is damaged', async () => {
    const snapshots = writeSnapshots(batch(1, { btc: 1 }));
    const { data } = await compileFolder(snapshots);
    const folder = join(data, 'files/index');
    const listed = readdirSync(folder).filter((name) => name.startsWith('catalog.'));
    for (const name of listed) writeFileSync(join(folder, name), '[]\n');
    writeSnapshots(batch(2, { btc: 2 }), snapshots);
    const summary = await compileFolder(snapshots, { data });
    expect(changedLine(summary)).toBe('  changed   not known: the previous release is damaged');
  });

  it('warns of snapshot files that hold something else than when they were read first', async () => {
    const snapshots = writeSnapshots({ ...batch(1, { btc: 1 }), ...batch(2, { btc: 2 }) });
    const { data } = await compileFolder(snapshots);
    const same = await compileFolder(snapshots, { data, full: true });
    expect(summaryText(same, 1)).not.toContain('Warning');
    writeSnapshots(batch(1, { btc: 3 }), snapshots);
    const text = summaryText(await compileFolder(snapshots, { data, full: true }), 1);
    const name = '2026-11-20T01Z/crypto.spot.ndjson';
    expect(text).toContain(`Warning: snapshot files changed after an earlier compile read them`);
    expect(text).toContain(`"${name}"; this release holds what they hold now`);
    const many = Array.from({ length: 7 }, (_, index) => `${index}`);
    const long = summaryText({ ...same, changed: many }, 1);
    expect(long).toContain('"3", "4" and 2 more; this release');
    expect(long).not.toContain('"5"');
  });
});

/** What a verification of 1000 files writes that looks at `perSecond` of them. */
function written(isTTY: boolean, perSecond: number): string[] {
  const lines: string[] = [];
  let now = 1_000_000;
  const screen = { isTTY, write: (text: string) => void lines.push(text) };
  const progress = verifyProgress(screen, () => now);
  for (let done = 0; done <= 1000; done += 10) {
    progress({ done, total: 1000, label: 'files' });
    now += (10 * 1000) / perSecond;
  }
  progress({ done: 1000, total: 1000, label: 'indexes' });
  return lines;
}

describe('verifyProgress()', () => {
  it('writes a line for each tenth of a long run where there is no terminal', () => {
    const tenths = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
    const lines = tenths.map((percent) => {
      return `verifying ${String(percent).padStart(3)} %  ${percent * 10} of 1000 files\n`;
    });
    expect(written(false, 10)).toEqual(lines);
  });

  it('writes a line every few seconds where a tenth takes less', () => {
    expect(written(false, 50)).toEqual([
      'verifying  25 %  250 of 1000 files\n',
      'verifying  50 %  500 of 1000 files\n',
      'verifying  75 %  750 of 1000 files\n',
      'verifying 100 %  1000 of 1000 files\n',
    ]);
  });

  it('says that the indexes are left where they are all that is left', () => {
    expect(written(false, 201).at(-1)).toBe('verifying indexes …\n');
  });

  it('writes nothing of a short run', () => {
    expect(written(false, 300)).toEqual([]);
  });

  it('moves one line on a terminal, however short the run, and clears it', () => {
    const lines = written(true, 300);
    expect(lines).toHaveLength(102);
    expect(lines[1]).toBe('\r\u001b[2Kverifying   1 %  10 of 1000 files');
    expect(lines.at(-1)).toBe('\r\u001b[2K');
  });
});

import { describe, expect, it } from 'vitest';
import { verifyProgress } from '../../compiler/commands/progress.ts';

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
      return `verifying ${String(percent).padStart(3)} %  ${percent * 10} files\n`;
    });
    expect(written(false, 10)).toEqual(lines);
  });

  it('writes a line every few seconds where a tenth takes less', () => {
    expect(written(false, 50)).toEqual([
      'verifying  25 %  250 files\n',
      'verifying  50 %  500 files\n',
      'verifying  75 %  750 files\n',
      'verifying 100 %  1000 files\n',
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
    expect(lines[1]).toBe('\r\u001b[2Kverifying   1 %  10 files');
    expect(lines.at(-1)).toBe('\r\u001b[2K');
  });
});

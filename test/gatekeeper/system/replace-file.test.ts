import { fstatSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { keepNewest } from '../../../gatekeeper/release/newest-served.ts';
import { replaceFile } from '../../../gatekeeper/system/replace-file.ts';
import { tinyService } from '../tiny-service.ts';

const NEWEST_NAME = 'newest-release.json';

const steps: string[] = [];

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    fsyncSync: (handle: number) => {
      const stats = fstatSync(handle);
      steps.push(stats.isDirectory() ? 'sync folder' : `sync ${stats.size} bytes`);
      fs.fsyncSync(handle);
    },
    renameSync: (from: string, to: string) => {
      steps.push('rename');
      fs.renameSync(from, to);
    },
  };
});

afterEach(() => {
  steps.length = 0;
});

const folder = () => mkdtempSync(join(tmpdir(), 'signalpress-state-'));

describe('replaceFile()', () => {
  it('I17: writes the whole file to the disk before its name, and the name before it returns', () => {
    const path = join(folder(), 'note.json');
    for (const text of ['first', 'second one']) {
      steps.length = 0;
      replaceFile(path, text);
      expect(steps).toEqual([`sync ${text.length} bytes`, 'rename', 'sync folder']);
      expect(readFileSync(path, 'utf8')).toBe(text);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('leaves the old file and throws where nothing can be written', () => {
    expect(() => replaceFile(join(folder(), 'missing', 'note.json'), 'x')).toThrow('ENOENT');
    expect(steps).toEqual([]);
  });
});

describe('keepNewest()', () => {
  it('I26: leaves no note that a power cut could empty', async () => {
    const state = folder();
    const { release } = await tinyService();
    steps.length = 0;
    keepNewest(state, release);
    expect(steps.slice(-3)).toEqual([
      expect.stringMatching(/^sync [1-9]\d+ bytes$/),
      'rename',
      'sync folder',
    ]);
    expect(readdirSync(state)).toEqual([NEWEST_NAME]);
  });
});

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);
const SCRIPT = join(import.meta.dirname, '../../scripts/install-packages.js');

it('install-packages.js installs where the lock file is newer or nothing is there, and says when npm fails', () => {
  const root = makeFolder();
  // Says what it is told, and fails where the folder is called so.
  const npm = '#!/bin/sh\necho "$@"\ncase "$*" in *failing*) exit 9 ;; esac\n';
  writeFileSync(join(root, 'npm'), npm);
  chmodSync(join(root, 'npm'), 0o755);
  const place = (folder: string, lockedAt: number, installedAt: number | null): void => {
    const copy = join(root, folder, 'node_modules/.package-lock.json');
    const lock = join(root, folder, 'package-lock.json');
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(lock, '{}');
    utimesSync(lock, lockedAt, lockedAt);
    if (installedAt === null) return;
    writeFileSync(copy, '{}');
    utimesSync(copy, installedAt, installedAt);
  };
  place('ready', 1000, 2000);
  place('older', 2000, 1000);
  place('bare', 1000, null);
  place('failing', 1000, null);
  const run = (...folders: string[]) => {
    const env = { PATH: `${root}:${process.env.PATH}` };
    const { status, stdout } = spawnSync(process.execPath, [SCRIPT, ...folders], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    return [status, stdout];
  };
  const told = (folder: string) => `ci --prefix ${folder} --ignore-scripts --no-audit --no-fund\n`;
  expect(run('ready', 'older', 'bare')).toEqual([0, told('older') + told('bare')]);
  expect(run('failing', 'bare')).toEqual([1, told('failing')]);
});

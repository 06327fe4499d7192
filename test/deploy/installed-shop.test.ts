import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { built } from '../command-runs.ts';
import { expectPrintedShop } from '../quick-start.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

/** What `npm pack` makes is all that a shop needs: installed apart from this repository, it compiles, sells and buys. */
afterAll(removeFolders);

describe('the packed shop', () => {
  it('is installed from its file, and leads from init to a verified purchase', async () => {
    expect(built('compiler')).toContain('build');
    const folder = makeFolder();
    const npm = (...args: string[]): void => {
      const run = spawnSync('npm', [...args, '--silent'], { cwd: folder, encoding: 'utf8' });
      expect([run.status, run.stderr]).toEqual([0, '']);
    };
    npm('pack', '--pack-destination', folder, resolve('.'));
    const file = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    npm('install', '--global', '--prefix', join(folder, 'installed'), ...flags, join(folder, file));
    const bin = join(folder, 'installed/bin');
    await expectPrintedShop({
      signalpress: join(bin, 'signalpress'),
      'signalpress-gate': join(bin, 'signalpress-gate'),
    });
  });
});

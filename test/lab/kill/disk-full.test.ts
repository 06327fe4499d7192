import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { built } from '../../built.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { fillDisk } from './fill-disk.ts';

afterAll(removeFolders);

const SCRIPT = built('test/lab/kill/disk-full.js');
const MOUNT = 'mount -t tmpfs -o size=1m tmpfs "$1"';
const MOUNTING = ['--user', '--map-root-user', '--mount', 'sh', '-c', MOUNT, 'sh', makeFolder()];
const canMount = spawnSync('unshare', MOUNTING).status === 0;

describe('the disk campaign, its short form', () => {
  it.skipIf(!canMount)(
    'I17: fillDisk() finds what is there whole on a full disk, and goes on once there is room (skipped where nothing may be mounted)',
    () => {
      const { status, stdout } = spawnSync(process.execPath, [SCRIPT, '2'], { encoding: 'utf8' });
      expect(stdout).toMatch(/2 fill points .*: [12] said that the disk is full, .* 0 broken/);
      expect(status).toBe(0);
    },
  );

  it('I17: fillDisk() fills nothing where no point is given', async () => {
    const [disk, root] = [makeFolder(), makeFolder()];
    const tally = await fillDisk({ disk, root, left: [] });
    expect(tally).toEqual({ refused: 0, finished: 0, broken: [] });
  });
});

import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { built } from '../../built.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { fillDisk, mountedFill } from './disk-full.ts';

afterAll(removeFolders);

const MOUNT = 'mount -t tmpfs -o size=1m tmpfs "$1"';
const MOUNTING = ['--user', '--map-root-user', '--mount', 'sh', '-c', MOUNT, 'sh', makeFolder()];
const canMount = spawnSync('unshare', MOUNTING).status === 0;

describe('the disk campaign, its short form', () => {
  it.skipIf(!canMount)(
    'I17: fillDisk() finds what is there whole on a full disk, and goes on once there is room (skipped where nothing may be mounted)',
    () => {
      const tally = mountedFill(makeFolder(), 2, built('test/lab/apart.js'));
      expect(tally.broken).toEqual([]);
      expect(tally.refused).toBeGreaterThan(0);
      expect(tally.refused + tally.finished).toBe(2);
    },
  );

  it('I17: fillDisk() fills nothing where no point is given', async () => {
    const [disk, root] = [makeFolder(), makeFolder()];
    const tally = await fillDisk(disk, root, []);
    expect(tally).toEqual({ refused: 0, finished: 0, broken: [] });
  });
});

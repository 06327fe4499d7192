import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillDisk } from './fill-disk.ts';

/**
 * Compiles on a small disk with ever more room (I17): a compile that finds none says so, what was served stays whole, and
 * the next one goes through once there is room. Needs the right to mount. Usage: campaign-disk-full [points]
 */
const POINTS_DEFAULT = 60;
/** Room of the last point: more than a compile takes. */
const LEFT_MAX = 1_500_000;
const DISK = '256m';
const MOUNT = `mount -t tmpfs -o size=${DISK} tmpfs "$1/disk" && exec "$2" "$3" inside "$1" "$4"`;

const [first = String(POINTS_DEFAULT), root = '', points = ''] = process.argv.slice(2);
if (first === 'inside') await inside(root, Number(points));
else outside(first);

/** Mounts in a name space of its own, so that the disk is gone with the process. */
function outside(wanted: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-disk-full-'));
  try {
    mkdirSync(join(folder, 'disk'));
    const args = [folder, process.execPath, process.argv[1] ?? '', wanted];
    const unshare = ['--user', '--map-root-user', '--mount', 'sh', '-c', MOUNT, 'sh', ...args];
    process.exitCode = spawnSync('unshare', unshare, { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inside(folder: string, wanted: number): Promise<void> {
  const left = Array.from({ length: wanted }, (_, at) => Math.round((at * LEFT_MAX) / wanted));
  const { refused, finished, broken } = await fillDisk({
    disk: join(folder, 'disk'),
    root: folder,
    left,
  });
  console.log(
    `${wanted} fill points up to ${LEFT_MAX} bytes: ${refused} said that the disk is full, ${finished} had room, ` +
      `${broken.length} broken`,
  );
  for (const line of broken.slice(0, 20)) console.log(`  ${line}`);
  if (broken.length > 0) process.exitCode = 1;
}

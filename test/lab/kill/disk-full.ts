import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compile } from '../../../compiler/cli/compile.ts';
import { currentName } from '../../../compiler/release/release-folders.ts';
import { APART, campaign } from '../campaign.ts';
import { expectVerified, optionsOf, writeBatch } from './kill-work.ts';

/** Room of the last point: more than a compile takes. */
const LEFT_MAX = 1_500_000;
/** In a name space of its own, so that the disk is gone with the process. */
const MOUNT = 'mount -t tmpfs -o size=256m tmpfs "$1/disk" && exec "$2" "$3" fill "$1" "$4"';

/**
 * Compiles on a small disk with ever more room (I17): a compile that finds none says so, what was served stays whole, and
 * the next one goes through once there is room.
 */
export const experiment = campaign({ points: 60 }, async ({ flags: { points }, folder, say }) => {
  const { refused, finished, broken } = mountedFill(folder, points);
  say(
    `${points} fill points up to ${LEFT_MAX} bytes: ${refused} said that the disk is full, ${finished} had room`,
  );
  return broken;
});

/** Fills a disk that is mounted for a process alone. */
export function mountedFill(folder: string, points: number, script = APART): FillTally {
  mkdirSync(join(folder, 'disk'));
  const left = Array.from({ length: points }, (_, at) => Math.round((at * LEFT_MAX) / points));
  const args = [folder, process.execPath, script, JSON.stringify(left)];
  const unshare = ['--user', '--map-root-user', '--mount', 'sh', '-c', MOUNT, 'sh', ...args];
  const { status } = spawnSync('unshare', unshare, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`Cannot fill a disk: the process exited with ${status}`);
  return JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as FillTally;
}

interface FillTally {
  /** Compiles that said that the disk is full, and those that had room. */
  refused: number;
  finished: number;
  readonly broken: string[];
}

/**
 * Compiles with ever more room, so many bytes each, on the small disk of a folder; what is current stays whole, and the
 * compile after goes through once there is room. `root` is an empty folder elsewhere.
 */
export async function fillDisk(
  disk: string,
  root: string,
  left: readonly number[],
): Promise<FillTally> {
  const tally: FillTally = { refused: 0, finished: 0, broken: [] };
  const options = (round: number) => ({ ...optionsOf(root, round), data: join(disk, 'data') });
  writeBatch(root, 0);
  await compile(options(0));
  for (const [at, bytes] of left.entries()) {
    const round = at * 2 + 1;
    writeBatch(root, round);
    const wrong = (what: string): void => void tally.broken.push(`${bytes} bytes left: ${what}`);
    await compileWith(bytes, options(round), tally, wrong);
    await expectVerified(options(round).data, wrong);
    await compile(options(round + 1)).catch((error) => wrong(`with room: ${error}`));
    await expectVerified(options(round).data, wrong);
  }
  return tally;
}

async function compileWith(
  bytes: number,
  options: ReturnType<typeof optionsOf>,
  tally: FillTally,
  wrong: (what: string) => void,
): Promise<void> {
  const before = currentName(options.data);
  const filler = join(options.data, '../filler');
  const { bavail, bsize } = statfsSync(dirname(options.data));
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
  try {
    await compile(options);
    tally.finished += 1;
    if (currentName(options.data) === before) wrong('it finished, but the release is the old one');
  } catch (error) {
    tally.refused += 1;
    if (!isFull(error)) wrong(`refused with ${error}`);
    if (currentName(options.data) === before && existsSync(join(options.data, '.staging'))) {
      wrong('it left its staging folder');
    }
  } finally {
    rmSync(filler);
  }
}

/** Whether an error, or what caused it, says that there is no space. */
function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ENOSPC') || isFull(error.cause);
}

import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../../compiler/compile.ts';
import { currentName } from '../../../compiler/stages/publish/release-folders.ts';
import { expectVerified, optionsOf, writeBatch } from './kill-work.ts';

interface FullDisk {
  /** A folder on a small disk of its own. */
  readonly disk: string;
  /** An empty folder elsewhere. */
  readonly root: string;
  /** Bytes that are left for each compile. */
  readonly left: readonly number[];
}

interface FillTally {
  /** Compiles that said that the disk is full, and those that had room. */
  refused: number;
  finished: number;
  readonly broken: string[];
}

/** Compiles with ever more room; what is current stays whole, and the compile after goes through once there is room. */
export async function fillDisk({ disk, root, left }: FullDisk): Promise<FillTally> {
  const tally: FillTally = { refused: 0, finished: 0, broken: [] };
  const options = (round: number) => ({ ...optionsOf(root, round), data: join(disk, 'data') });
  writeBatch(root, 0);
  await compile(options(0));
  for (const [at, bytes] of left.entries()) {
    const round = at * 2 + 1;
    writeBatch(root, round);
    const wrong = (what: string): void => void tally.broken.push(`${bytes} bytes left: ${what}`);
    await compileWith(bytes, { disk, options: options(round), tally, wrong });
    await expectVerified(options(round).data, wrong);
    await compile(options(round + 1)).catch((error) => wrong(`with room: ${error}`));
    await expectVerified(options(round).data, wrong);
  }
  return tally;
}

interface FillAttempt {
  readonly disk: string;
  readonly options: ReturnType<typeof optionsOf>;
  readonly tally: FillTally;
  readonly wrong: (what: string) => void;
}

async function compileWith(
  bytes: number,
  { disk, options, tally, wrong }: FillAttempt,
): Promise<void> {
  const before = currentName(options.data);
  const filler = join(disk, 'filler');
  const { bavail, bsize } = statfsSync(disk);
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

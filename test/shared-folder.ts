import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 50;
/** How long another worker's work is waited for; then it is done once more. */
const POLLS_MAX = 2400;

/**
 * A folder that is made once for all test files of a run, to be read only. `make` fills a new folder, which is moved
 * into its place in one step; whoever needs the folder meanwhile waits.
 */
export async function sharedFolder(
  name: string,
  make: (folder: string) => Promise<void> | void,
): Promise<string> {
  const folder = join(tmpdir(), `signalpress-shared-${name}`);
  if (existsSync(folder)) return folder;
  if (!isFirst(`${folder}.lock`) && (await appears(folder))) return folder;
  const own = mkdtempSync(join(tmpdir(), 'signalpress-made-'));
  await make(own);
  try {
    renameSync(own, folder);
  } catch (cause) {
    if (!existsSync(folder)) throw cause;
    rmSync(own, { recursive: true });
  }
  return folder;
}

function isFirst(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

async function appears(folder: string): Promise<boolean> {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    if (existsSync(folder)) return true;
    await wait(POLL_MS);
  }
  return false;
}

import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../system/message-of.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** A journal grows by what is sold: this much is some 100,000 sales. */
const FREE_BYTES_WANTED = 1_000_000_000;
/** With less than this a write-ahead log may not find room for one burst of sales. */
const FREE_BYTES_MIN = 100_000_000;

/** Whether the state folder can be written, has room and lasts; what is in it must be writable too. */
export async function diskCheck({ config, space }: Examined): Promise<Finding[]> {
  const folder = nearestFolder(resolve(config.stateDir));
  const { stateDir } = config;
  const found = space(folder);
  return [
    writable(stateDir, folder),
    room(found, stateDir),
    ...(found.isLasting ? [] : [passing(stateDir)]),
  ];
}

/** The folder itself, or the one that it would be made in. */
function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

function writable(stateDir: string, folder: string): Finding {
  try {
    if (!statSync(folder).isDirectory()) throw new Error(`"${folder}" is a file`);
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (folder === resolve(stateDir)) {
      for (const name of readdirSync(folder)) accessSync(join(folder, name), constants.W_OK);
    }
    return ok(`"${stateDir}" can be written`);
  } catch (error) {
    return failed(
      `"${stateDir}" cannot be written: ${messageOf(error)}`,
      'give the folder and its files to the user of the gatekeeper, on a disk that is mounted for writing',
    );
  }
}

function room({ free, total }: ReturnType<Examined['space']>, stateDir: string): Finding {
  const text = `${gigabytes(free)} of ${gigabytes(total)} GB are free for "${stateDir}"`;
  if (free >= FREE_BYTES_WANTED) return ok(text);
  const remedy = 'free some space, or set SIGNALPRESS_STATE to a folder on a larger disk';
  return free < FREE_BYTES_MIN ? failed(text, remedy) : warning(text, remedy);
}

function passing(stateDir: string): Finding {
  return warning(
    `"${stateDir}" lies in a container or in memory, and is gone with it`,
    'mount a volume there: without its journal, what was sold could be charged again',
  );
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1);
}

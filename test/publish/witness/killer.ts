import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Loaded before a program: it ends it without a warning at one call of the disk, KILL_AT, counted from 0 once a file with the
 * end KILL_FROM is opened, or else once the file KILL_SWITCH is there.
 */
const KILLER = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { KILL_AT, KILL_FROM, KILL_SWITCH } = process.env;
let left = Number(KILL_AT);
let isBegun = false;
const { existsSync } = fs;
for (const name of ['openSync', 'writeFileSync', 'appendFileSync', 'fsyncSync', 'closeSync', 'renameSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (name === 'openSync' && KILL_FROM !== undefined && String(args[0]).endsWith(KILL_FROM)) isBegun = true;
    const isOn = isBegun || (KILL_SWITCH !== undefined && existsSync(KILL_SWITCH));
    if (isOn && left-- === 0) process.kill(process.pid, 'SIGKILL');
    return real(...args);
  };
}
syncBuiltinESMExports();
`;

/** Options of Node that load it; it is written into a folder. */
export function killerOptions(folder: string): string[] {
  const path = join(folder, 'killer.mjs');
  writeFileSync(path, KILLER);
  return ['--import', pathToFileURL(path).href];
}

import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const PREFIX = 'signalpress-tests-';
/** Files in memory, where Linux has them: there a test waits for no disk, and what it promises about order is the same. */
const IN_MEMORY = '/dev/shm';
/** All tests of a run leave about 2 GB behind, on a machine that needs memory for itself. */
const ROOM_BYTES = 6 * 2 ** 30;

/** One temporary folder for all tests of a run, so that whatever they leave behind goes with it. */
export default function setup(): () => void {
  // Each project of vitest.config.ts sets up, and all share the first one's folder.
  if (basename(tmpdir()).startsWith(PREFIX)) return () => undefined;
  const folder = mkdtempSync(join(isRoomy(IN_MEMORY) ? IN_MEMORY : tmpdir(), PREFIX));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function isRoomy(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, freemem()) > ROOM_BYTES;
}

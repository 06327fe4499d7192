import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One temporary folder for all tests of a run, so that whatever they leave behind goes with it. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-tests-'));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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

// The one way of the tests to the sample that `npm run sample` and `npm start` generate.

/** The hour at which the sample of the tests ends; compile it as of then. */
export const SAMPLE_HOUR = '2026-11-20T12:00:00Z';

interface SampleOptions {
  /** The hour at which it ends. */
  readonly hour?: string;
  /** With the line that needs a data key. */
  readonly isKeyed?: boolean;
}

const HOUR_MS = 3_600_000;

/** Generates the sample in a folder as `npm run sample` does; needs a build. */
export function makeSample(
  folder: string,
  { hour = SAMPLE_HOUR, isKeyed = false }: SampleOptions = {},
): void {
  const told = execFileSync(process.execPath, [resolve('scripts/build-stamp.js'), 'problem']);
  // An old build would generate the sample of yesterday.
  if (told.length > 0) throw new Error(`Cannot make the sample: ${told}`);
  const env = { PATH: process.env.PATH, SIGNALPRESS_SAMPLE_GRID: isKeyed ? '1' : '0' };
  execFileSync(process.execPath, [resolve('build/scripts/make-sample.js'), folder, hour], { env });
}

/** The folder of the whole sample at SAMPLE_HOUR, to be read only. */
export function sampleFolder(): Promise<string> {
  return sharedFolder('sample', (own) => makeSample(own));
}

/** Writes the sample with the line that needs a data key. */
export function writeKeyedSample(snapshots: string): void {
  makeSample(snapshots, { isKeyed: true });
}

/** Writes the sample up to this hour; says at which instant to compile it. */
export function writeFreshSample(snapshots: string): string {
  const nowMs = Math.max(Date.now(), Date.parse(SAMPLE_HOUR));
  const isoOf = (ms: number, stepMs: number): string =>
    new Date(Math.floor(ms / stepMs) * stepMs).toISOString().replace('.000Z', 'Z');
  makeSample(snapshots, { hour: isoOf(nowMs, HOUR_MS) });
  return isoOf(nowMs, 1000);
}

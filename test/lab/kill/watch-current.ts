import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CURRENT_LINK,
  FILES_NAME,
  parseFiles,
  RELEASES_FOLDER,
} from '../../../compiler/format/release.ts';
import { currentName, readRelease } from '../../../compiler/release/release-folders.ts';
import { readStored } from '../../../compiler/release/release-list.ts';
import { nodeDisk } from '../../../compiler/system/disk.ts';
import { Faults } from '../../../compiler/verify/release-fault.ts';
import { readHead } from '../../../compiler/verify/release-head.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { readLog, type SeenLog, seenLog } from '../../publish/log/watch-log.ts';

const TRUST = 'any' as const;
/** Of so many reads one is a whole verification. */
const VERIFY_EVERY = 250;

/** What a reader saw. */
export interface Watch {
  /** Heads with their signature, the whole list and one file of it, and the log. */
  reads: number;
  /** Whole verifications. */
  verified: number;
  /** Sequence of the newest release that was current. */
  newest: number;
  readonly log: SeenLog;
  readonly broken: string[];
}

export function watch(): Watch {
  return { reads: 0, verified: 0, newest: 0, log: seenLog(), broken: [] };
}

/**
 * A forked reader: reads what is current until it is told to stop, and rests so many milliseconds each time; then says
 * what it saw.
 */
export async function watchApart(
  root: string,
  { random, restMs }: { readonly random: (below: number) => number; readonly restMs: number },
): Promise<void> {
  const seen = watch();
  let stop = false;
  process.once('message', () => {
    stop = true;
  });
  process.once('disconnect', () => process.exit(1));
  while (!stop) {
    if (seen.reads % VERIFY_EVERY === 0) await verifyCurrent(root, seen);
    readCurrent(root, seen, random);
    await sleep(restMs);
  }
  process.send?.(seen, () => process.exit(0));
}

/** Head, signature, list and one random file must belong together, and never be older than before. */
export function readCurrent(root: string, seen: Watch, random: (below: number) => number): void {
  const name = nameOf(root, seen);
  if (name === null) return;
  const data = join(root, 'data');
  const folder = join(data, RELEASES_FOLDER, name);
  seen.reads += 1;
  readLog(data, seen.log, (what) => seen.broken.push(`${name}: ${what}`));
  try {
    const faults = new Faults();
    const head = readHead({ disk: nodeDisk, root: folder, trust: TRUST, faults });
    for (const { file, detail } of faults.kept) seen.broken.push(`${name}: ${file} ${detail}`);
    const entries = parseFiles(readFileSync(join(folder, FILES_NAME), 'utf8'));
    const entry = entries[random(entries.length)];
    if (entry === undefined) seen.broken.push(`${name}: lists no files`);
    else readStored(data, entry);
    if (head !== null) noteSequence(name, head.sequence, seen);
  } catch (error) {
    seen.broken.push(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Verifies all of what is current. */
export async function verifyCurrent(root: string, seen: Watch): Promise<void> {
  const name = nameOf(root, seen);
  if (name === null) return;
  const data = join(root, 'data');
  seen.verified += 1;
  const { faults } = await verifyRelease(join(data, RELEASES_FOLDER, name), { trust: TRUST });
  for (const { file, detail } of faults) {
    // A newer release may have been published meanwhile, which only makes this one the one before.
    if (file !== 'current') seen.broken.push(`${name}: ${file} ${detail}`);
  }
  noteSequence(name, readRelease(data, name).sequence, seen);
}

/** A reader pins the release it began with, as the gatekeeper does. */
function nameOf(root: string, seen: Watch): string | null {
  const name = currentName(join(root, 'data'));
  if (name === null) seen.broken.push(`"${CURRENT_LINK}" is gone`);
  return name;
}

function noteSequence(name: string, sequence: number, seen: Watch): void {
  if (sequence < seen.newest) seen.broken.push(`${name}: older than ${seen.newest}`);
  seen.newest = Math.max(seen.newest, sequence);
}

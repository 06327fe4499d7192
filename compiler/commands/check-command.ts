import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type CheckSummary, check } from '../check.ts';
import type { CommandSettings } from './command-settings.ts';
import { publicationTime } from './compile-options.ts';

interface CheckFlags {
  snapshots: string;
  data?: string;
  asOf?: string;
}

export function defineCheck(command: Command, { env, now, print }: CommandSettings): void {
  command
    .option('--snapshots <folder>', 'folder of batches', 'snapshots')
    .option(
      '--data <folder>',
      'folder of releases, to see what the catalogue changes of what was sold',
      env('SIGNALPRESS_DATA'),
    )
    .option('--as-of <time>', 'the time that a release would describe (default: now)')
    .action(async (flags: CheckFlags) => {
      print(checkText(await checked(flags, publicationTime(flags, now()).asOf)));
    });
}

async function checked({ snapshots, data }: CheckFlags, asOf: string): Promise<CheckSummary> {
  const scratch = mkdtempSync(join(tmpdir(), 'signalpress-check-'));
  try {
    return await check({ snapshots, data: data ?? null, asOf, scratch });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What was found right, in one line. */
export function checkText({ lines, signals, batches, readings, rows }: CheckSummary): string {
  return (
    `no problems. catalogue: lines ${lines}, signals ${signals}; ` +
    `snapshots: batches ${batches}, readings ${readings}, rows ${rows}`
  );
}

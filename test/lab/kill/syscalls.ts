import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InjectionTally, runInjections } from './run-injections.ts';
import { injectionsAt, type TracedCall } from './traced-calls.ts';

/**
 * Kills a compile at single system calls on its data folder, or lets them fail with EIO, ENOSPC and EDQUOT, as a trace of a good one
 * numbers them (I16): afterwards the previous release or the new one is served whole, and the next compile succeeds. Needs strace.
 * Usage: campaign-syscalls [runs] ; half of them at a compile that goes on from the previous release, half at a full one.
 */
const RUNS_DEFAULT = 800;
/** What a compile that goes on from the previous release, and one of everything, are told. */
const ROUNDS = [1, 3] as const;

const script = join(import.meta.dirname, `kill${import.meta.url.slice(-3)}`);
const most = Math.ceil(Number(process.argv[2] ?? RUNS_DEFAULT) / ROUNDS.length);
const choose = (calls: readonly TracedCall[]) => injectionsAt(calls, most);
for (const round of ROUNDS) {
  const root = mkdtempSync(join(tmpdir(), 'campaign-syscalls-'));
  try {
    report(round, await runInjections({ root, script, round, choose }));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function report(round: (typeof ROUNDS)[number], tally: InjectionTally): void {
  const { injections, calls, killed, refused, finished, missed, old, fresh, broken } = tally;
  console.log(
    `${round === 1 ? 'going on' : 'full'}: ${injections} injections at ${calls} calls; ${killed} killed, ` +
      `${refused} refused, ${finished} finished (${missed} met no call); ${old} old, ${fresh} new, ` +
      `${broken.length} broken`,
  );
  for (const line of broken.slice(0, 20)) console.log(`  ${line}`);
  if (broken.length > 0) process.exitCode = 1;
}

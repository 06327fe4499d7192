import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeded } from '../flips/flips.ts';
import { compileApart, writeBatch } from './kill-work.ts';
import { type KillTally, runKills } from './run-kills.ts';
import { watchApart } from './watch-current.ts';

/**
 * Kills compiles at random instants of a seeded sequence, half of them while they publish, beside a reader of what is current: the
 * served release is always whole, never goes back, and the next compile succeeds. Usage: campaign-kill [kills] [seed], and for the
 * processes of campaigns: campaign-kill batch|child FOLDER ROUND, campaign-kill reader FOLDER SEED REST_MS
 */
const [first = '200', second = '1', third = '', fourth = '0'] = process.argv.slice(2);
if (first === 'child') await compileApart(second, Number(third));
else if (first === 'reader') {
  await watchApart(second, { random: seeded(Number(third)), restMs: Number(fourth) });
} else if (first === 'batch') writeBatch(second, Number(third));
else await main(Number(first), Number(second));

async function main(kills: number, seed: number): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'campaign-kill-'));
  try {
    const script = process.argv[1] ?? '';
    report(await runKills({ root, kills, random: seeded(seed), script }), { kills, seed });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function report(tally: KillTally, run: { readonly kills: number; readonly seed: number }): void {
  const { killed, killedPublishing, killedSwitched, finished, reads, verified, broken } = tally;
  console.log(
    `seed ${run.seed}: ${killed + finished} compiles, ${killed} killed (${killedPublishing} while publishing, ` +
      `${killedSwitched} after the switch), ${finished} finished; ${reads} reads of the current release and ` +
      `${verified} whole verifications, ${broken.length} broken`,
  );
  for (const line of broken.slice(0, 20)) console.log(`  ${line}`);
  if (broken.length > 0) process.exitCode = 1;
}

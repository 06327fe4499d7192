import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../compiler/compile.ts';
import { seeded } from './campaign-flips.ts';
import { optionsOf, writeBatch } from './kill-campaign/kill-work.ts';
import { runKills, type Tally } from './kill-campaign/run-kills.ts';

/**
 * Kills compiles at random instants of a seeded sequence while a reader verifies what is current in a loop, and compiles again after
 * each: the served release is always whole, never goes back, and the next compile succeeds. Usage: campaign-kill [kills] [seed],
 * and for campaign-syscalls: campaign-kill batch|child FOLDER ROUND
 */
const [first = '200', second = '1', child = ''] = process.argv.slice(2);
if (first === 'child') await compile(optionsOf(second, Number(child)));
else if (first === 'batch') writeBatch(second, Number(child));
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

function report({ killed, finished, reads, broken }: Tally, run: { kills: number; seed: number }) {
  console.log(
    `seed ${run.seed}: ${run.kills} compiles, ${killed} killed, ${finished} finished, ` +
      `${reads} reads of the current release, ${broken.length} broken`,
  );
  for (const line of broken.slice(0, 20)) console.log(`  ${line}`);
  if (broken.length > 0) process.exitCode = 1;
}

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { openStall, type StallOptions } from '../../chain/stall.ts';
import { campaign } from '../campaign.ts';
import { draw } from './client.ts';
import { closingReport, isClean, runCampaign, type TestedShop } from './run-campaign.ts';

/**
 * Shows that nobody pays twice, for nothing, or not at all (I2, I3, I9, I11): purchases on a chain of its own under random
 * faults, kills of the gatekeeper and new releases. Settled by `facilitators` or the `relayer`; the journal is `sqlite` or
 * `postgres` (npm run test:postgres once). `--basket N` pays for so many requests at once. With several workers each kill
 * ends one of them.
 */
export const experiment = campaign(
  {
    ...{ seed: 1, purchases: 500, workers: 1, basket: 1 },
    ...{ settler: 'facilitators', journal: 'sqlite' },
  },
  async ({ flags, say, progress }) => {
    const { seed, purchases, workers } = flags;
    const options = {
      ...z
        .object({
          settler: z.enum(['facilitators', 'relayer']),
          journal: z.enum(['sqlite', 'postgres']),
        })
        .parse(flags),
      ...{ seed, purchases, basket: flags.basket === 1 ? undefined : flags.basket },
      progress: (done: number) => progress(done, purchases),
    };
    const open = (stall: StallOptions) => openWorkersStall({ ...stall, seed, workers });
    const report = await runCampaign({ ...options, ...(workers > 1 ? { open } : {}) });
    say(closingReport(options, report));
    return isClean(report) ? [] : ['the campaign is not clean'];
  },
);

/** Time between two kills, so that a worker lives longer than what its parent takes for a failed start. */
const REST_MS = 4000;

interface WorkersStallOptions extends StallOptions {
  readonly seed: number;
  readonly workers: number;
}

/** One gatekeeper with several workers on one SQLite journal: a kill ends one of them, the last one ends all. */
async function openWorkersStall({
  seed,
  workers,
  ...options
}: WorkersStallOptions): Promise<TestedShop> {
  const env = { ...options.env, SIGNALPRESS_WORKERS: String(workers) };
  const stall = await openStall({ ...options, env });
  let kills = 0;
  return {
    ...stall,
    async kill() {
      kills += 1;
      const children = workersOf(stall.pid());
      const chosen = children[Math.floor(draw(seed, `worker ${kills}`) * children.length)];
      if (chosen !== undefined) endIfThere(chosen);
    },
    // Its parent replaces it; a worker that ends again and again would be replaced later and later.
    start: () => pause(REST_MS),
    async afterwards() {
      await stall.kill();
      await stall.start();
    },
  };
}

function workersOf(pid: number | undefined): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

function endIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openStall, type StallOptions } from '../../chain/stall.ts';
import { draw } from './draw.ts';
import type { TestedShop } from './run-campaign.ts';

/** Time between two kills, so that a worker lives longer than what its parent takes for a failed start. */
const REST_MS = 4000;

interface WorkersStallOptions extends StallOptions {
  readonly seed: number;
  readonly workers: number;
}

/** One gatekeeper with several workers on one SQLite journal: a kill ends one of them, the last one ends all. */
export async function openWorkersStall({
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

import { parseArgs } from 'node:util';
import { Agent, setGlobalDispatcher } from 'undici';
import { z } from 'zod';
import { closingReport, isClean } from './closing-report.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { runCampaign } from './run-campaign.ts';

/**
 * The payment campaign with three gatekeepers on one PostgreSQL behind HAProxy: gatekeepers, database and balancer are
 * killed at random; afterwards every gatekeeper is restarted under load, without a failed answer. Needs haproxy and
 * openssl, and npm run test:chain and test:postgres to have run once.
 * Usage: campaign-fleet [--seed 1] [--purchases 500] [--parallel 24] [--minutes 60]
 */
const optionsSchema = z.object({
  seed: z.coerce.number().int().nonnegative().default(1),
  purchases: z.coerce.number().int().positive().default(500),
  parallel: z.coerce.number().int().positive().default(24),
  minutes: z.coerce.number().positive().default(Number.MAX_SAFE_INTEGER),
});
const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: { seed: text, purchases: text, parallel: text, minutes: text },
});
const options = {
  ...optionsSchema.parse(values),
  settler: 'facilitators',
  journal: 'shared',
} as const;
const PROGRESS_EVERY = 100;

// Whatever it started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

let fleet: Fleet | null = null;
const started = performance.now();
const report = await runCampaign({
  ...options,
  open: async (stall) => {
    fleet = await openFleet({ ...stall, seed: options.seed });
    setGlobalDispatcher(new Agent({ connect: { ca: fleet.ca } }));
    return fleet;
  },
  progress: (done) => {
    if (done % PROGRESS_EVERY > 0) return;
    const seconds = Math.round((performance.now() - started) / 1000);
    console.error(`${done} of ${options.purchases} purchases, ${seconds} s`);
  },
});
const opened = fleet as Fleet | null;
const rolling = opened?.rolling() ?? null;
console.log(closingReport({ ...options, purchases: report.stories.length }, report));
console.log(`killed: ${JSON.stringify(opened?.killed)}`);
console.log(
  `rolling restart under load: ${rolling?.answers} answers, ${rolling?.purchases} purchases, failed answers: ${rolling?.failed}`,
);
for (const words of rolling?.failures ?? []) console.log(`  ${words}`);
process.exitCode = isClean(report) && rolling?.failed === 0 && rolling.purchases > 0 ? 0 : 1;

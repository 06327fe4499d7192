import { parseArgs } from 'node:util';
import { z } from 'zod';
import { closingReport, isClean } from './closing-report.ts';
import { runCampaign } from './run-campaign.ts';
import { openWorkersStall } from './workers-stall.ts';

/**
 * Shows that nobody pays twice, for nothing, or not at all (I2, I3, I9, I11): purchases on a chain of its
 * own under random faults, kills of the gatekeeper and new releases. Needs npm run test:chain to have run
 * once, and for a journal in a database npm run test:postgres.
 * Usage: campaign-payments [--seed 1] [--purchases 500] [--settler facilitators|relayer] [--journal sqlite|postgres]
 *   [--basket 30], so many requests for each payment
 *   [--workers 1]; with several, each kill ends one of them, and their journal is the file
 */
const optionsSchema = z.object({
  seed: z.coerce.number().int().nonnegative().default(1),
  purchases: z.coerce.number().int().positive().default(500),
  settler: z.enum(['facilitators', 'relayer']).default('facilitators'),
  journal: z.enum(['sqlite', 'postgres']).default('sqlite'),
  basket: z.coerce.number().int().min(2).max(30).optional(),
  workers: z.coerce.number().int().positive().default(1),
});
const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    ...{ seed: text, purchases: text, settler: text },
    ...{ journal: text, basket: text, workers: text },
  },
});
const options = optionsSchema.parse(values);
const PROGRESS_EVERY = 50;

const { seed, workers } = options;
const report = await runCampaign({
  ...options,
  ...(workers > 1 ? { open: (stall) => openWorkersStall({ ...stall, seed, workers }) } : {}),
  progress: (done) => {
    if (done % PROGRESS_EVERY === 0) console.error(`${done} of ${options.purchases} purchases`);
  },
});
console.log(closingReport(options, report));
process.exitCode = isClean(report) ? 0 : 1;

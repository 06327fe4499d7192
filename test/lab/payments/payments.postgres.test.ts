import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { closingReport, isClean, runCampaign } from './run-campaign.ts';

const isReady = existsSync('test/chain/node_modules') && existsSync('build/gatekeeper/main.js');

describe.skipIf(!isReady)(
  'the payment campaign over PostgreSQL (skipped without test/chain)',
  () => {
    it('I2, I3, I9, I11, I51: purchases cost once and are delivered while gatekeeper and database are killed', async () => {
      const options = {
        seed: 11,
        purchases: 90,
        settler: 'facilitators',
        journal: 'postgres',
      } as const;
      const report = await runCampaign({ ...options, progress: () => {} });
      expect(isClean(report), closingReport(options, report)).toBe(true);
      expect(report.delivered + report.refused).toBe(options.purchases);
      expect(report.delivered).toBeGreaterThan(options.purchases / 2);
      expect(Math.min(report.kills, report.databaseKills)).toBeGreaterThan(0);
    }, 900_000);
  },
);
